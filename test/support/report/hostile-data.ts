import type { Cycle, ReportData } from '../../../src/report/data.ts'
import { finding } from '../plan/findings.ts'
import { cycle, event, reportData, result, revision } from './example-data.ts'

/** Each of them does something where it is taken for markup, for script, or for the end of one. */
export const hostileTexts = [
  '<script>window.__pwned = 1</script>',
  '</script><script>window.__pwned = 2</script>',
  '<img src=x onerror="window.__pwned = 3">',
  '"><svg onload="window.__pwned = 4">',
  "' autofocus onfocus='window.__pwned = 5",
  '</title></style><iframe src="javascript:parent.__pwned = 6"></iframe>',
  '<a href="javascript:window.__pwned = 7">F1</a>',
  '<!-- --><meta http-equiv="refresh" content="0;url=http://127.0.0.1:9/x">',
  '<style>* { display: none } @import "http://127.0.0.1:9/y";</style><link rel=stylesheet href="http://127.0.0.1:9/z">',
  '${window.__pwned = 8} {{constructor.constructor("window.__pwned = 9")()}}',
  '\u2028window.__pwned = 10\u2029\u0000\u001b[2J',
  'user\u202e\u2066 evitcelfer\u2069 \u200b\ufeff',
  '__proto__ constructor toString',
] as const

export const longLine = 'x'.repeat(10_000)
const longWords = 'a very long line of words '.repeat(400)

/** Hostile text wherever there is text that others wrote. */
export function hostileData(): ReportData {
  const all = hostileTexts.join(' ')
  const plan = (change: string): string =>
    `# ${all}\n\n${hostileTexts.join('\n\n')}\n\n${longLine}\n${change}\n${longLine}${change}\n${longWords}\n`
  const findings = hostileTexts.map((text, index) => ({
    ...finding(index === 0 ? all : `F${index}`),
    section: index % 2 === 0 ? `line ${index + 3}` : text,
    problem: text,
    evidence: `${text} \`${text}\``,
    fix: longLine,
  }))
  const said = result({
    summary: all,
    question: all,
    findings,
    previous_findings: findings.map(({ id }) => ({ id, status: 'not_fixed', reason: all })),
    notices: [all, longLine],
    stuck: [all],
    pass_metadata: {
      passes_completed: 1,
      total_duration_ms: 5,
      reasoning_mode: 'single-pass',
      route: all,
      complexity: null,
    },
  })
  const pass = { pass: 1, does: all, backend: all, outcome: all, why: all, duration_ms: 1000, tokens: 10 }
  const events = ['reviewed', 'review-unavailable', 'approved', 'drift-found', 'reflected', 'x-y'].map((type) =>
    event(type, { at: all, revision: all, verdict: all, backend: all, why: all, paths: [all], about: all, [all]: all }),
  )
  const approval = { is_optimal: true, plan_hash: all, route: all, reason: all, approved_at: all }
  const of = (number: number, kind: Cycle['kind']): Cycle =>
    cycle(number, {
      kind,
      approval,
      events: [...events, event('approved-manually', { plan_hash: all, reason: all })],
      revisions: [
        revision(1, { text: plan('one'), plan_hash: all, submitted_at: all, result: said, passes: [pass] }),
        revision(2, { text: plan('two'), result: said, passes: [pass] }),
        revision(3, { text: null, result: null, why_none: all }),
        revision(4, { text: plan('three'), result: said }),
      ],
    })
  return reportData({
    name: all,
    place: all,
    made_at: all,
    version: all,
    gate: { kind: 'closed', words: all },
    cycles: [of(1, 'archived'), of(2, 'current')],
    sessions: [
      {
        session: all,
        client_version: all,
        started_at: all,
        last_seen_at: all,
        denials: hostileTexts.map((text) => ({ at: text, tool: text, target: longLine, rule: text, reason: text })),
      },
    ],
    checks: [{ name: all, holds: false, detail: all }],
    problems: [all],
  })
}
