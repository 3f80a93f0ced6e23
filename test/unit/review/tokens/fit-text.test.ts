import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countTokens } from '../../../../src/review/count-tokens.ts'
import { fitText, type TextKind } from '../../../../src/review/fit.ts'
import { estimateTokens } from '../../../../src/review/tokens.ts'

const sample = (name: string): string => readFileSync(new URL(`corpus/${name}.txt`, import.meta.url), 'utf8')
const cut = (text: string, budget: number, kind: TextKind, count = countTokens) => fitText(text, budget, kind, count)

const kinds: readonly TextKind[] = ['document', 'diff', 'json', 'text']

describe('a document', () => {
  const plan = sample('markdown.md')
  const headings = plan.split('\n').filter((line) => line.startsWith('#'))

  it('that fits stays as it is', () => {
    expect(cut(plan, countTokens(plan), 'document')).toEqual({ text: plan, dropped: null })
  })

  it('keeps requirements, acceptance and goals before anything else, and every heading in its place', () => {
    const { text, dropped } = cut(plan, 320, 'document')
    expect(text).toContain('- Nobody at the front desk has to touch the till for it.')
    expect(text).toContain('4. What we store about a card')
    expect(text).toContain('| a free locker | a member pays |')
    expect(text).not.toContain('A nightly job moves rentals')
    expect(text.split('\n').filter((line) => line.startsWith('#'))).toEqual(headings)
    expect(text).toContain('## Design\n[… 14 lines left out …]\n')
    expect(dropped).toMatch(/^\d of 9 sections left out \(.*"Design".*\)\.$/)
  })

  it('keeps the design before the rest', () => {
    const { text } = cut(plan, 560, 'document')
    expect(text).toContain('A nightly job moves rentals')
    expect(text).toContain('`config/prices.yaml`: a key')
    expect(text).toContain('## Risks\n[… 3 lines left out …]\n')
  })

  it('gives appendices and references up first, regardless of their content', () => {
    const more = `${plan}\n## Appendix A\n\n### Requirements of the old system\n\n${'None of this is needed. '.repeat(20)}\n`
    const { text } = cut(more, countTokens(plan) + 60, 'document')
    expect(text).not.toContain('None of this is needed')
    expect(text).toContain('## Risks\n\n> We do not know')
    expect(text).toContain('### Requirements of the old system\n[…')
  })

  it('shortens the first section that does not fit, and keeps its beginning and its end', () => {
    const lines = Array.from({ length: 400 }, (_, index) => `- requirement ${index}`).join('\n')
    const { text, dropped } = cut(`# X\n\n## Requirements\n\n${lines}\n\n## Notes\n\nNone.\n`, 300, 'document')
    expect(text).toContain('- requirement 0\n')
    expect(text).toContain('- requirement 399\n')
    expect(text).toMatch(/\[… \d+ lines left out …\]/)
    expect(dropped).toContain('the section "Requirements" shortened')
  })

  it('does not take comments in code for headings', () => {
    const code = `# A\n\nText.\n\n\`\`\`sh\n# not a heading\n${'echo hello\n'.repeat(200)}\`\`\`\n\n## Goals\n\nOne.\n`
    expect(cut(code, 100, 'document').dropped).toBe('The section "A" shortened.')
  })

  it('says how many sections are missing when their headings do not fit', () => {
    const many = Array.from({ length: 500 }, (_, index) => `## Part ${index}\n\nSome words about it.\n`).join('\n')
    const { text } = cut(many, 200, 'document')
    expect(text).toMatch(/\[… \d+ sections left out …\]\n$/)
    expect(text).toContain('## Part 0\n\nSome words about it.')
  })
})

describe('a diff', () => {
  const diff = sample('diff.diff')
  const other = (path: string, lines: number): string =>
    `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1,0 +1,${lines} @@\n${`+const value = compute(input)\n`.repeat(lines)}`

  it('names every file with the size of its change, and keeps whole hunks only', () => {
    const { text, dropped } = cut(diff, 500, 'diff')
    for (const name of ['src/session/store.ts +14 -7', 'test/session/store.test.ts +22 -0', 'CHANGELOG.md +1 -0'])
      expect(text).toContain(name)
    for (const hunk of text.split(/^(?=@@ |diff --git )/m).slice(1)) expect(diff).toContain(hunk)
    expect(dropped).toMatch(/^\d of 4 hunks left out, in \d of 3 files\.$/)
  })

  it('keeps what is sensitive before what is short', () => {
    const whole = other('src/button.ts', 20) + other('src/auth/login.ts', 40) + other('src/colour.ts', 20)
    const { text } = cut(whole, 400, 'diff')
    expect(text).toContain('+++ b/src/auth/login.ts\n@@ -1,0 +1,40 @@\n')
    expect(text).not.toContain('+++ b/src/button.ts')
    expect(text).toContain('src/button.ts +20 -0\n')
  })

  it('keeps what is generated after everything else', () => {
    const whole = other('package-lock.json', 5) + other('src/button.ts', 40)
    const { text } = cut(whole, 380, 'diff')
    expect(text).toContain('+++ b/src/button.ts')
    expect(text).not.toContain('+++ b/package-lock.json')
  })

  it('cuts a hunk only when it is too long by itself', () => {
    const { text, dropped } = cut(other('src/a.ts', 3) + other('src/big.ts', 2000), 600, 'diff')
    expect(text).toContain('+++ b/src/a.ts')
    expect(text).toContain('@@ -1,0 +1,2000 @@\n+const')
    expect(text).toMatch(/\[… 1,\d{3} lines left out …\]/)
    expect(dropped).toBe('One hunk, too long by itself, shortened.')
  })

  it('does not take a changed line for the head of a file', () => {
    const tricky =
      'diff --git a/q.sql b/q.sql\n--- a/q.sql\n+++ b/q.sql\n@@ -1,3 +1,3 @@\n--- a comment\n+++ b/other\n@@ -9 +9 @@\n x\n'
    const { text } = cut(tricky + other('src/b.ts', 300), 200, 'diff')
    expect(text).toContain('2 files in all:\n')
  })

  it('shortens the list of files only when there are very many', () => {
    const many = Array.from({ length: 900 }, (_, index) => other(`src/file${index}.ts`, 1)).join('')
    const { text } = cut(many, 1000, 'diff')
    expect(text).toMatch(/900 files in all:\n(?:src\/file\d+\.ts \+1 -0\n)+and \d+ more \+\d+ -0\n/)
  })

  it('is cut as text when it is none', () => {
    expect(cut('no diff at all\n'.repeat(500), 100, 'diff').dropped).toMatch(/^The middle was left out: \d+ lines\.$/)
  })
})

describe('JSON', () => {
  const parsed = (text: string): unknown => JSON.parse(text)

  it('loses its white space first, which is no loss', () => {
    const value = { findings: Array.from({ length: 30 }, (_, id) => ({ id, problem: 'Two writers.' })) }
    const { text, dropped } = cut(JSON.stringify(value, null, 8), countTokens(JSON.stringify(value)) + 5, 'json')
    expect([parsed(text), dropped]).toEqual([value, null])
  })

  it('loses its longest texts next, and keeps every key', () => {
    const value = { verdict: 'APPROVED', summary: 'word '.repeat(5000), findings: [{ problem: 'short' }] }
    const { text, dropped } = cut(JSON.stringify(value), 500, 'json')
    expect(parsed(text)).toEqual({
      ...value,
      summary: expect.stringMatching(/^word .*\[… [\d,]+ characters left out …\]$/),
    })
    expect(dropped).toBe('The longest texts and lists were shortened, in 1 place.')
  })

  it('loses the end of its lists then, and says so', () => {
    const value = { findings: Array.from({ length: 3000 }, (_, id) => ({ id, problem: 'Two writers.' })) }
    const short = parsed(cut(JSON.stringify(value), 500, 'json').text) as { findings: unknown[] }
    expect(short.findings.slice(0, 2)).toEqual(value.findings.slice(0, 2))
    expect(short.findings.at(-1)).toMatch(/^\[… [\d,]+ items left out …\]$/)
    expect(short.findings.length).toBeGreaterThan(20)
  })

  it('keeps keys of the language as keys', () => {
    const text = `{"__proto__":{"a":1},"constructor":"${'x '.repeat(2000)}"}`
    expect(cut(text, 100, 'json').text).toMatch(/^\{"__proto__":\{"a":1\},"constructor":"x x/)
  })

  it.each([
    ['an object', { a: 'x '.repeat(500) }],
    ['a list', Array.from({ length: 500 }, () => 'x')],
    ['a text', 'x '.repeat(500)],
    ['an object with very many keys', Object.fromEntries(Array.from({ length: 5000 }, (_, key) => [`key${key}`, key]))],
  ])('stays JSON when next to nothing fits of %s', (_, value) => {
    const text = JSON.stringify(value)
    for (const budget of [200, 50, 20, 10, 3, 1]) {
      const fitted = cut(text, budget, 'json').text
      expect(() => parsed(fitted)).not.toThrow()
      expect(countTokens(fitted)).toBeLessThanOrEqual(budget)
    }
  })

  it('is cut as text when it is none', () => {
    expect(cut(`{"a": ${'[1, 2], '.repeat(500)}`, 100, 'json').dropped).toMatch(/^The middle was left out/)
  })
})

describe('a text', () => {
  it('keeps more of its beginning than of its end, in whole lines', () => {
    const lines = Array.from({ length: 1000 }, (_, index) => `line number ${index}\n`)
    const { text, dropped } = cut(lines.join(''), 300, 'text')
    const [head = '', tail = ''] = text.split(/^\[… \d+ lines left out …\]\n/m)
    expect(lines.join('').startsWith(head) && head.endsWith('\n')).toBe(true)
    expect(lines.join('').endsWith(tail) && tail.startsWith('line')).toBe(true)
    expect(head.length).toBeGreaterThan(tail.length)
    expect(dropped).toMatch(/^The middle was left out: \d+ lines\.$/)
  })

  it('keeps CRLF whole and writes its own mark with it', () => {
    const { text } = cut('some words in a line\r\n'.repeat(1000), 200, 'text')
    expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
  })

  it('of one line is cut within it', () => {
    const { text, dropped } = cut('word '.repeat(5000), 100, 'text')
    expect(text).toMatch(/^(?:word )+\n\[… [\d,]+ characters left out …\]\n.?(?:ord )?(?:word )+$/)
    expect(dropped).toMatch(/^The middle was left out: [\d,]+ characters\.$/)
  })
})

describe('any text', () => {
  const paragraph = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.lorem({ maxCount: 30 }),
    fc.constantFrom('# Goals\n', '## Appendix\r\n', '```\n', '\r\n', '\n\n', '😀'.repeat(40), ' '.repeat(300)),
    fc.constantFrom(
      'diff --git a/x b/x\n',
      '@@ -1,2 +1,2 @@\n',
      '+a\n',
      '-b\n',
      ' c\n',
      '--- a/x\n',
      '{"a":[1,2,{"b":"c"}]}',
    ),
  )
  const text = fc.oneof(
    fc.array(paragraph, { maxLength: 60 }).map((parts) => parts.join('')),
    fc.json({ maxDepth: 6 }),
  )
  const budget = fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 600 }))
  const counter = fc.constantFrom(countTokens, estimateTokens)

  it('it keeps to its budget, cuts no character in two, and says when something is missing', () => {
    fc.assert(
      fc.property(text, budget, fc.constantFrom(...kinds), counter, (text, budget, kind, count) => {
        const fitted = fitText(text, budget, kind, count)
        expect(count(fitted.text)).toBeLessThanOrEqual(budget)
        if (count(text) <= budget) expect(fitted).toEqual({ text, dropped: null })
        else if (kind !== 'json') expect(fitted.dropped).toMatch(/\.$/)
        expect(halves(fitted.text)).toBeLessThanOrEqual(halves(text))
      }),
      { numRuns: 400 },
    )
  })

  it('JSON stays JSON', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), fc.integer({ min: 2, max: 200 }), counter, (text, budget, count) => {
        expect(() => JSON.parse(fitText(text, budget, 'json', count).text)).not.toThrow()
      }),
    )
  })

  it.each(kinds)('an empty %s is empty, and without a budget nothing is left', (kind) => {
    expect(cut('', 100, kind)).toEqual({ text: '', dropped: null })
    expect(cut('', 0, kind)).toEqual({ text: '', dropped: null })
    expect(cut('{"a": 1}', 0, kind).text).toBe('')
    expect(cut('{"a": 1}', -5, kind).text).toBe('')
  })

  const line = 'word ab1 { x: "yy" } '.repeat(250_000)
  it.each<{ name: string; kind: TextKind; text: () => string }>([
    { name: 'code', kind: 'text', text: () => sample('typescript.ts').repeat(1600) },
    { name: 'code with CRLF', kind: 'document', text: () => sample('python.py').replaceAll('\n', '\r\n').repeat(1600) },
    { name: 'one line', kind: 'document', text: () => line },
    {
      name: 'one line in a diff',
      kind: 'diff',
      text: () => `diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+${line}`,
    },
    { name: 'plans', kind: 'document', text: () => sample('markdown.md').repeat(1700) },
    { name: 'headings', kind: 'document', text: () => '# a\n'.repeat(1_200_000) },
    { name: 'diffs', kind: 'diff', text: () => sample('diff.diff').repeat(1600) },
    { name: 'heads of hunks', kind: 'diff', text: () => `diff --git a/x b/x\n${'@@ -1 +1 @@\n'.repeat(400_000)}` },
    {
      name: 'JSON',
      kind: 'json',
      text: () => `[${Array.from({ length: 1200 }, () => sample('json.json')).join(',')}]`,
    },
    { name: 'one text in JSON', kind: 'json', text: () => JSON.stringify(line) },
    { name: 'deep JSON', kind: 'json', text: () => '['.repeat(2_500_000) + ']'.repeat(2_500_000) },
    { name: 'spaces', kind: 'text', text: () => ' '.repeat(5_000_000) },
    { name: 'line ends', kind: 'document', text: () => '\n'.repeat(5_000_000) },
    { name: 'emoji', kind: 'text', text: () => '👩‍👩‍👧'.repeat(600_000) },
  ])('5 MB of $name fit without taking for ever', ({ kind, text }) => {
    const fitted = cut(text(), 20_000, kind)
    expect(countTokens(fitted.text)).toBeLessThanOrEqual(20_000)
    expect(fitted.dropped).not.toBeNull()
  })
})

/** Surrogates without their other half. */
const halves = (text: string): number => text.match(/\p{Cs}/gu)?.length ?? 0
