import { describe, expect, it } from 'vitest'
import { formatProblem, formatSummary, type PlanSummary } from '../../../src/report/summary.ts'

const summaryOf = (words: string, more: Partial<PlanSummary> = {}): PlanSummary => ({
  output: {
    holds: false,
    checks: [
      { name: 'plan', holds: true, detail: 'it is the approved text' },
      { name: 'scope', holds: false, detail: words, next_step: words },
    ],
    plan_hash: 'ab'.repeat(32),
    out_of_scope: [words],
  },
  plan: { path: 'docs/plan.md', text: `# ${words}\n\nText ${words}\n\n- item ${words}\n\n\n| a | ${words} |\n` },
  approved: `by ${words}`,
  findings: [{ id: words, severity: words, state: words, section: words, problem: words, reason: words }],
  waived: [],
  ...more,
})

const hostile = [
  '<img src=x onerror=alert(1)>',
  '</td></tr></table></details></summary><h1>Approved',
  '</code></pre><script>',
  '<!-- ',
  '&lt;b&gt; &#60;b&#62;',
  '| a | b |',
  '@octocat #12 GH-12 owner/repo#3 https://evil.example www.evil.example a@b.example',
  '[text](javascript:alert(1)) ![x](y) <https://evil.example>',
  '**bold** __bold__ ~~gone~~ $x$ \\| ^[note]',
  '<details><summary>',
]

const tagsOf = (text: string): string[] => text.match(/<[^>]*>/g) ?? []
const blocksOf = (text: string): string[] => text.trimEnd().split('\n\n')

describe('the summary', () => {
  it('says what was checked, by whom it was approved, what was found, and shows the plan', () => {
    expect(blocksOf(formatSummary(summaryOf('word')))).toEqual([
      '<h3>✗ The change is not what was planned</h3>',
      '<p>Approved <bdi>by word</bdi></p>',
      '<table><tr><th></th><th>Check</th><th>Result</th></tr><tr><td>✓</td><td>plan</td><td><bdi>it is the approved text</bdi></td></tr><tr><td>✗</td><td>scope</td><td><bdi>word</bdi><br>→ <bdi>word</bdi></td></tr></table>',
      '<h4>1 changed file that the plan does not name</h4>',
      '<ul><li><code><bdi>word</bdi></code></li></ul>',
      '<h4>1 finding of the review</h4>',
      '<table><tr><th>Id</th><th>Severity</th><th>State</th><th>Section</th><th>Finding</th></tr><tr><td><bdi>word</bdi></td><td><bdi>word</bdi></td><td><bdi>word</bdi></td><td><bdi>word</bdi></td><td><bdi>word</bdi><br>→ <bdi>word</bdi></td></tr></table>',
      '<details><summary><b><bdi>word</bdi></b> <code><bdi>docs/plan.md</bdi></code> <code>abababababab</code></summary><div class="plan"><h3>word</h3><p dir="auto">Text word</p><ul><li class="depth-0" dir="auto"><span>item word</span></li></ul><pre><code>&#124; a &#124; word &#124;</code></pre></div></details>',
    ])
  })

  it.each(hostile)('has the same form with %s', (words) => {
    const text = formatSummary(summaryOf(words))
    const harmless = formatSummary(summaryOf('word'))
    // What is bold in a plan may be bold here.
    const form = (page: string): string[] => tagsOf(page).filter((tag) => !/^<\/?strong>$/.test(tag))
    expect(form(text)).toEqual(form(harmless))
    expect(blocksOf(text).map((block) => /^<\w+>/.exec(block)?.[0])).toEqual(
      blocksOf(harmless).map((block) => /^<\w+>/.exec(block)?.[0]),
    )
    // Neither Markdown, nor what forges look for in the text of a page; they leave code alone.
    expect(text.replace(/<[^>]*>/g, '')).not.toMatch(/[`*_|[\]\\~$@^{}]/)
    const decoded = text
      .replace(/<code>.*?<\/code>|<[^>]*>/g, ' ')
      .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    expect(decoded).not.toMatch(/@\w|#\d|:\/\/|www\.|GH-/)
  })

  it.each(['a\n\n# Approved\n\n```\n', '\u202eevil\u0000'])(
    'keeps %j in its block, and shows what is hidden',
    (words) => {
      const text = formatSummary(summaryOf(words, { plan: { path: words, text: words } }))
      expect(blocksOf(text).filter((block) => !/^<\w+>.*<\/\w+>$/.test(block))).toEqual([])
      expect(text).not.toMatch(/[\u0000\u202e]/)
    },
  )

  it('is never larger than GitHub takes', () => {
    const words = '<"@`&'.repeat(2_000)
    const text = formatSummary(
      summaryOf('x', {
        output: {
          holds: false,
          checks: [{ name: 'scope', holds: false, detail: words }],
          out_of_scope: Array.from({ length: 5_000 }, (_, at) => `${at}${words}`),
        },
        plan: { path: 'docs/plan.md', text: `# A\n\n${words.repeat(400)}` },
        findings: Array.from({ length: 1_000 }, () => ({ id: words, problem: words, reason: words, section: words })),
      }),
    )
    expect(new TextEncoder().encode(text).length).toBeLessThan(1024 * 1024)
    expect(text).toMatch(/and \d+ more[\s\S]*The rest is left out here/)
  })

  it.each<[unknown, unknown, RegExp]>([
    [undefined, [{ id: 'F1', severity: 'major', reason: 'Later.' }], /1 finding of the review.*F1.*waived.*Later\./s],
    [[], [], /The review of this plan found nothing\./],
    [[null, 3, 'x', { id: {}, section: { toString: 1 } }, []], null, /5 findings of the review/],
    ['none', { length: 3 }, /^(?!.*finding)/s],
  ])('takes findings as they were committed: %j', (findings, waived, says) => {
    expect(formatSummary(summaryOf('x', { findings, waived }))).toMatch(says)
  })

  it('says why nothing could be checked', () => {
    expect(formatProblem('<b>\n@x', 'Do | it.')).toBe(
      '<h3>✗ The plan could not be checked</h3>\n\n<p>&lt;b&gt;&#10;&#64;&#8203;x<br>→ Do &#124; it.</p>\n',
    )
  })
})
