import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { ReportData } from '../../../src/report/data.ts'
import { pageParts } from '../../../src/report/generated/page-parts.js'
import type { PageData } from '../../../src/report/page-data.ts'
import { renderReport } from '../../../src/report/report.ts'
import { finding } from '../../support/plan/findings.ts'
import { cycle, event, reportData, result, revision } from '../../support/report/example-data.ts'
import { hostileData, hostileTexts } from '../../support/report/hostile-data.ts'

const render = (data: ReportData): string => renderReport(data, pageParts)

/** The page without our own style and script, and without the data for it. */
const markupOf = (page: string): string =>
  page.replace(/<style>[\s\S]*?<\/style>/, '').replace(/(<script[^>]*>)[\s\S]*?<\/script>/g, '$1</script>')

/** What a reader of the page reads. */
const textOf = (page: string): string =>
  markupOf(page)
    .replace(/<head>[\s\S]*<\/head>/, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')

const dataIn = (page: string): PageData =>
  JSON.parse(/<script type="application\/json" id="page-data">([\s\S]*?)<\/script>/.exec(page)?.[1] ?? '') as PageData

const full = reportData({
  gate: { kind: 'open', words: 'Revision 2 of the plan, as it stands, is approved by codex.' },
  cycles: [
    cycle(1, {
      kind: 'archived',
      revisions: [revision(1)],
      events: [
        event('approved-manually', { plan_hash: 'aa', reason: 'A spike.' }),
        event('approval-revoked', { why: 'It changed.' }),
      ],
    }),
    cycle(2, {
      revisions: [
        revision(1, { result: result({ findings: [finding('F1', { severity: 'critical' })] }) }),
        revision(2, {
          result: result({
            verdict: 'APPROVED',
            previous_findings: [{ id: 'F1', status: 'fixed', reason: 'It is fixed.' }],
          }),
          passes: [
            { pass: 1, does: 'plan', backend: 'codex', outcome: 'valid', why: null, duration_ms: 1500, tokens: 2_000 },
          ],
        }),
      ],
      events: [event('approved', { revision: 2, plan_hash: 'bb', route: 'codex', verification: 'passed' })],
    }),
  ],
  sessions: [
    {
      session: 'abcdefghij',
      client_version: '2.1.326',
      started_at: '2026-03-03T09:00:00.000Z',
      last_seen_at: '2026-03-03T09:10:00.000Z',
      denials: [
        { at: '2026-03-03T09:05:00.000Z', tool: 'Write', target: 'src/a.ts', rule: 'no-plan', reason: 'No plan.' },
      ],
    },
  ],
})

describe('a report', () => {
  it.each([
    'The gate is open Revision 2 of the plan, as it stands, is approved by codex.',
    'Findings open 0 1 in all, 1 fixed',
    'Revision 2 ✓ Approved',
    'What changed since revision 1 +1 −1',
    'What changed since cycle 1, revision 1 +0 −0',
    'F1 Approach critical fixed in v2 Problem F1. Fix Fix it. v1 raised v2 fixed — It is fixed.',
    'Time and tokens of each revision’s review',
    'plan by codex: 1.5 s, 2,000 tokens',
    'Cycle 1 ☞ Approved by hand',
    'Compare any two revisions',
    '☞ By hand A spike. It changed.',
    '✓ codex verification passed stands',
    'Session abcdefgh 1 denial 2026-03-03 09:00:00 to 2026-03-03 09:10:00 · Claude Code 2.1.326',
    'Write src/a.ts no-plan No plan.',
    '✓ holds ledger 3 events',
  ])('says: %s', (words) => {
    expect(textOf(render(full))).toContain(words)
  })

  it.each([
    { name: 'no revision', data: reportData(), says: 'No revision has been sent to review in this cycle.' },
    { name: 'no cycle at all', data: reportData({ cycles: [] }), says: 'Nothing has been approved.' },
    { name: 'no session', data: reportData(), says: 'No session is on record.' },
    {
      name: 'a cycle whose files are gone',
      data: reportData({ cycles: [cycle(1, { kind: 'lost' }), cycle(2)] }),
      says: 'This cycle is in the ledger; its files are gone.',
    },
    {
      name: 'a plan that cannot be read',
      data: reportData({ cycles: [cycle(1, { revisions: [revision(1, { text: null })] })] }),
      says: 'The text of this revision cannot be shown.',
    },
    {
      name: 'a revision without a verdict',
      data: reportData({
        cycles: [cycle(1, { revisions: [revision(1, { result: null, why_none: 'Nobody answered.' })] })],
      }),
      says: `Revision 1 … No verdict 2026-03-03 09:00:00 Nobody answered. Details 20 bytes, SHA-256 ${'1'.repeat(64)}`,
    },
    {
      name: 'kept reviews',
      data: reportData({ gate: { kind: 'kept', words: 'Not here.' }, limit: null }),
      says: '▤ Kept reviews Not here.',
    },
    {
      name: 'a broken record',
      data: reportData({ checks: [{ name: 'ledger', holds: false, detail: 'line 3' }] }),
      says: 'Record does not hold 1 of 1 check',
    },
    {
      name: 'thousands of events',
      data: reportData({ cycles: [cycle(1, { events: Array.from({ length: 5_000 }, () => event('continued')) })] }),
      says: '4,600 events left out here; plan-gate log has them.',
    },
    {
      name: 'an implementation that was reflected on',
      data: reportData({
        cycles: [
          cycle(1, {
            events: ['PASS', 'FAIL', 'PASS'].map((verdict) =>
              event('reflected', { about: 'src/a.ts', verdict, tokens: 700 }),
            ),
          }),
        ],
      }),
      says: 'Reflections 3 1 FAIL, 2,100 tokens',
    },
    { name: 'what could not be read', data: reportData({ problems: ['It is larger.'] }), says: 'It is larger.' },
  ])('of $name says so', ({ data, says }) => {
    expect(textOf(render(data))).toContain(says)
  })

  it('allows its own style and script by their hashes, and nothing else', () => {
    const page = render(full)
    const hashOf = (text: string | undefined): string =>
      createHash('sha256')
        .update(text ?? '')
        .digest('base64')
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1]?.replaceAll('&#39;', "'").split('; ')
    expect(policy).toEqual([
      "default-src 'none'",
      `style-src 'sha256-${hashOf(/<style>([\s\S]*?)<\/style>/.exec(page)?.[1])}'`,
      `script-src 'sha256-${hashOf(/<script>([\s\S]*?)<\/script>/.exec(page)?.[1])}'`,
      "base-uri 'none'",
      "form-action 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ])
  })

  it('names no other place than itself', () => {
    const links = [...markupOf(render(full)).matchAll(/\shref="([^"]*)"/g)].map(([, link = '']) => link)
    expect(links.filter((link) => !link.startsWith('#'))).toEqual([])
    expect(markupOf(render(full))).not.toMatch(/\ssrc=|https?:/)
    expect(pageParts.style.text).not.toMatch(/url\(|@import|https?:/)
    expect(pageParts.script.text).not.toMatch(
      /https?:|fetch|XMLHttp|WebSocket|EventSource|sendBeacon|import\(|innerHTML|eval/,
    )
  })

  it('gives the script each plan once, however many revisions share a line', () => {
    expect(dataIn(render(full)).plans).toEqual({
      lines: ['# Plan', '', 'Revision 1.', 'Revision 2.'],
      texts: [
        [0, 3],
        [0, 3],
        [0, 2, 3, 1],
      ],
    })
  })
})

describe('hostile text', () => {
  const page = render(hostileData())
  const tags = [...markupOf(page).matchAll(/<(\/?[a-zA-Z][^\s>]*)([^>]*)>/g)].map(([, name = '', rest = '']) => ({
    name,
    rest,
  }))

  it('makes no element that we do not make', () => {
    const known = new Set(tagsIn(markupOf(render(full))))
    expect(
      [...new Set(tags.map(({ name }) => name))].filter((name) => !known.has(name) && !/^\/?code$/.test(name)),
    ).toEqual([])
    expect(page.match(/<script/g)).toHaveLength(2)
  })

  it('makes no attribute that we do not make', () => {
    const names = tags.flatMap(({ rest }) =>
      [...rest.replace(/"[^"]*"/g, '""').matchAll(/([^\s="/]+)/g)].map(([name]) => name),
    )
    expect([...new Set(names)].sort()).toEqual(
      [
        'aria-hidden aria-label aria-labelledby charset class content data-after data-before datetime dir height href',
        'http-equiv id lang name open preserveAspectRatio role rx scope tabindex title type viewBox width x y',
      ]
        .join(' ')
        .split(' '),
    )
  })

  it('hides nothing and turns nothing round', () => {
    expect(page).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]|\p{Cf}/u)
    expect(textOf(page)).toContain('user⟨U+202E⟩⟨U+2066⟩ evitcelfer⟨U+2069⟩ ⟨U+200B⟩⟨U+FEFF⟩')
  })

  it('cannot end the data of the script, which has it as it was written', () => {
    const json = /id="page-data">([\s\S]*?)<\/script>/.exec(page)?.[1] ?? ''
    expect(json).not.toContain('<')
    expect(dataIn(page).plans.lines).toContain(hostileTexts[1])
  })
})

describe('the served page', () => {
  const decide = { hash: 'a', isApproved: false, token: 't', again: 'plan-gate report --serve' }
  const [shown] = [hostileTexts.join('\u202e')]
  const served = renderReport(hostileData(), pageParts, {
    ...decide,
    now: [shown],
    reviewed: { revision: 1, lines: [shown] },
  })

  it('has one more script and its data, which nothing in a plan can end', () => {
    expect(served.match(/<script/g)).toHaveLength(4)
    const json = /id="decide-data">([\s\S]*?)<\/script>/.exec(served)?.[1] ?? ''
    expect(json).not.toMatch(/<|\p{Cf}/u)
    expect(JSON.parse(json)).toMatchObject({ hash: 'a', reviewed: { revision: 1 }, token: 't' })
  })

  it('may send to where it came from, and the static page nowhere, which has no part of it', () => {
    expect(served).toContain('connect-src &#39;self&#39;')
    const page = render(full)
    for (const words of ['connect-src', 'decide-data', pageParts.decide.text.slice(0, 200), 'fetch('])
      expect([words, page.includes(words)]).toEqual([words, false])
  })
})

const tagsIn = (markup: string): string[] => [...markup.matchAll(/<(\/?[a-zA-Z][^\s>]*)/g)].map(([, name = '']) => name)

it('has scripts with nothing in them that a page does not need', () => {
  for (const { text } of [pageParts.script, pageParts.decide]) expect(text).not.toMatch(/Schema\b|\brequire\(|objectOf/)
})
