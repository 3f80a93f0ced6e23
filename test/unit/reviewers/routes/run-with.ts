import { parseConfig } from '../../../../src/config/load.ts'
import { defaultConfig } from '../../../../src/config/schema.ts'
import {
  buildRouteTable,
  type ConditionFacts,
  type Fact,
  type Route,
  type RouteTable,
} from '../../../../src/reviewers/route-table.ts'
import { type RouteEffects, type RouteOutcome, runRoutes } from '../../../../src/reviewers/routes.ts'
import type { BackendName, FailureClass } from '../../../../src/schemas/review.ts'
import { failureOf } from './failure-of.ts'

type Environment = Parameters<typeof buildRouteTable>[1]

/** The table that a configuration makes; throws where there is none. */
export function tableOf(yaml = '', env: Environment = {}): RouteTable {
  const parsed = parseConfig(yaml)
  if (parsed.kind === 'invalid') throw new Error(JSON.stringify(parsed.problems))
  const built = buildRouteTable(parsed.config.review, env)
  if (built.kind === 'invalid') throw new Error(built.problems.join('\n'))
  return built.table
}

export const review = defaultConfig.review

/** A row that sets nothing. */
export const plainRoute: Route = {
  name: 'codex',
  backend: 'codex',
  when: ['always'],
  capabilities: [],
  failMode: 'hard_fail',
  timeoutMs: null,
  retries: 0,
  model: null,
  endpoint: null,
  price: null,
}

const fact = (holds: boolean, why: string): Fact => (holds ? { holds } : { holds, why })

export type Machine = {
  codex?: boolean
  claude?: boolean
  openAiKey?: boolean
  modelInvoke?: boolean
  flatlineRouting?: boolean
}

/** Everything exists unless stated otherwise. */
export const factsOf = (machine: Machine = {}): ConditionFacts => ({
  codex: async () => fact(machine.codex ?? true, '`codex` is not on PATH'),
  claude: async () => fact(machine.claude ?? true, '`claude` is not on PATH'),
  key: async (variable) => fact(machine.openAiKey ?? true, `${variable} is not set`),
  modelInvoke: async () => fact(machine.modelInvoke ?? true, 'model-invoke is not an executable'),
  flatlineRouting: machine.flatlineRouting ?? true,
})

export type Scenario = Partial<Omit<RouteEffects<string>, 'attempt' | 'trace'>> & {
  machine?: Machine
  /** What each backend answers; one that is not named succeeds. */
  fails?: { readonly [name in BackendName]?: FailureClass }
}
export type Run = { outcome: RouteOutcome<string>; trace: string[]; tried: BackendName[] }

export async function runWith(table: Pick<RouteTable, 'routes'>, scenario: Scenario = {}): Promise<Run> {
  const trace: string[] = []
  const tried: BackendName[] = []
  const outcome = await runRoutes<string>(table, {
    facts: factsOf(scenario.machine),
    timeLeftMs: () => 60_000,
    maxAttempts: 10,
    isCancelled: () => false,
    ...scenario,
    trace: (line) => void trace.push(line),
    attempt: async ({ backend }) => {
      tried.push(backend)
      const failure = scenario.fails?.[backend]
      return failure === undefined
        ? { kind: 'success', value: `by ${backend}` }
        : { kind: 'failure', ...failureOf(failure) }
    },
  })
  return { outcome, trace, tried }
}
