import { describe, expect, it } from 'vitest'
import { exitCodeOf } from '../../../../src/reviewers/routes.ts'
import { runWith, type Scenario, tableOf } from './run-with.ts'

const hounfour = 'backend=hounfour, conditions=[flatline_routing_enabled, model_invoke_available]'
const codex = 'backend=codex, conditions=[codex_available]'
const curl = 'backend=curl, conditions=[always]'

type Golden = {
  name: string
  yaml?: string
  scenario: Scenario
  trace: readonly string[]
  /** The row that served, or why none did. */
  end: string
  exitCode: number
}

const rows: readonly Golden[] = [
  { name: 'all available', scenario: {}, trace: [`trying ${hounfour}, result=success`], end: 'hounfour', exitCode: 0 },
  {
    name: 'hounfour fails, codex available',
    scenario: { fails: { hounfour: 'server' } },
    trace: [`trying ${hounfour}, result=fail (server)`, `trying ${codex}, result=success`],
    end: 'codex',
    exitCode: 0,
  },
  {
    name: 'full cascade',
    scenario: { fails: { hounfour: 'crashed', codex: 'timeout' } },
    trace: [
      `trying ${hounfour}, result=fail (crashed)`,
      `trying ${codex}, result=fail (timeout)`,
      `trying ${curl}, result=success`,
    ],
    end: 'curl',
    exitCode: 0,
  },
  {
    name: 'full cascade, and curl fails too',
    scenario: { fails: { hounfour: 'crashed', codex: 'timeout', curl: 'server' } },
    trace: [
      `trying ${hounfour}, result=fail (crashed)`,
      `trying ${codex}, result=fail (timeout)`,
      `trying ${curl}, result=fail (server)`,
    ],
    end: 'hard-fail',
    exitCode: 1,
  },
  {
    name: 'execution_mode: curl',
    yaml: 'review: {execution_mode: curl}',
    scenario: {},
    trace: [`trying ${curl}, result=success`],
    end: 'curl',
    exitCode: 0,
  },
  {
    name: 'execution_mode: curl, which fails',
    yaml: 'review: {execution_mode: curl}',
    scenario: { fails: { curl: 'timeout' } },
    trace: [`trying ${curl}, result=fail (timeout)`],
    end: 'hard-fail',
    exitCode: 3,
  },
  {
    name: 'execution_mode: codex',
    yaml: 'review: {execution_mode: codex}',
    scenario: {},
    trace: ['trying backend=codex, conditions=[always], result=success'],
    end: 'codex',
    exitCode: 0,
  },
  {
    name: 'execution_mode: codex, codex unavailable',
    yaml: 'review: {execution_mode: codex}',
    scenario: { machine: { codex: false }, fails: { codex: 'not-installed' } },
    trace: ['trying backend=codex, conditions=[always], result=fail (not-installed)'],
    end: 'hard-fail',
    exitCode: 2,
  },
  {
    name: 'a backend that answers no valid JSON is a failure like any other',
    scenario: { fails: { hounfour: 'malformed' } },
    trace: [`trying ${hounfour}, result=fail (malformed)`, `trying ${codex}, result=success`],
    end: 'codex',
    exitCode: 0,
  },
  {
    name: 'no valid JSON from any reviewer',
    scenario: { fails: { hounfour: 'malformed', codex: 'malformed', curl: 'malformed' } },
    trace: [
      `trying ${hounfour}, result=fail (malformed)`,
      `trying ${codex}, result=fail (malformed)`,
      `trying ${curl}, result=fail (malformed)`,
    ],
    end: 'hard-fail',
    exitCode: 5,
  },
  {
    name: 'no credentials anywhere',
    scenario: { machine: { flatlineRouting: false }, fails: { codex: 'auth', curl: 'auth' } },
    trace: [
      `skipping ${hounfour}, why=hounfour.flatline_routing is not true`,
      `trying ${codex}, result=fail (auth)`,
      `trying ${curl}, result=fail (auth)`,
    ],
    end: 'hard-fail',
    exitCode: 4,
  },
  {
    name: 'nothing installed but a key',
    scenario: { machine: { modelInvoke: false, codex: false } },
    trace: [
      `skipping ${hounfour}, why=model-invoke is not an executable`,
      `skipping ${codex}, why=\`codex\` is not on PATH`,
      `trying ${curl}, result=success`,
    ],
    end: 'curl',
    exitCode: 0,
  },
]

describe('the golden sequences', () => {
  it.each(rows)('$name → $end', async ({ yaml, scenario, trace, end, exitCode }) => {
    const run = await runWith(tableOf(yaml), scenario)
    // Each row that is tried says so before it has a result.
    const lines = trace.flatMap((line) =>
      line.startsWith('trying ') ? [line.replace(/result=.*/, 'result=pending'), line] : [line],
    )
    expect(run.trace).toEqual(lines.map((line) => `[route-table] ${line}`))
    expect(run.outcome.kind === 'served' ? run.outcome.route.backend : run.outcome.because).toBe(end)
    expect(exitCodeOf(run.outcome)).toBe(exitCode)
  })

  it('a table of which no row is left has no reviewer', async () => {
    const { outcome, trace } = await runWith({ routes: [] })
    expect(outcome).toEqual({ kind: 'unserved', because: 'no-route', failures: [], skipped: [] })
    expect(trace).toEqual([])
    expect(exitCodeOf(outcome)).toBe(2)
  })
})
