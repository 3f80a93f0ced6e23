/** What a person should know of a row before it reviews: what it may see, and what it costs. */
import type { EffectiveConfig } from '../config/schema.ts'
import type { Expected, PassTimes } from '../state/pass-times.ts'
import { type ConditionFacts, evaluateConditions } from './conditions.ts'
import { serverHost } from './openai/base-url.ts'
import type { Route, RouteTable } from './route-table.ts'
import { predictRoutes } from './routes.ts'

/** Of a plan; anything else only with `--tool-access`. */
function describeAccess({ backend, capabilities, endpoint }: Route, env: NodeJS.ProcessEnv): string {
  if (backend === 'checklist') return 'nothing leaves this machine'
  const host = backend === 'curl' ? serverHost(endpoint, env) : null
  const where = host === null ? '' : ` at ${host}`
  return capabilities.includes('tool_access') ? `may read the repository${where}` : `sees only what it is sent${where}`
}

/** By its price and by what passes of it have taken so far. */
function describePrice({ backend, price }: Route, expected: Expected | null): string {
  if (backend === 'checklist') return 'free'
  const tokens = expected?.tokens ?? null
  const usual = tokens === null ? '' : `, about ${Math.max(1, Math.round(tokens / 1000))}k tokens a pass`
  return price === null
    ? `its price is not known${usual}`
    : `$${price.input} in and $${price.output} out for a million tokens${usual}`
}

/** `env`: of the user, for OPENAI_BASE_URL. */
export const describeRow = (route: Route, times: PassTimes, env: NodeJS.ProcessEnv): string =>
  [
    ...(route.model === null ? [] : [`model ${route.model}`]),
    describeAccess(route, env),
    describePrice(route, times.expect(route.name, 'high')),
  ].join('; ')

type Serving = {
  /** The name of the row; null: none can be used. */
  readonly row: string | null
  readonly words: string
  /** Readers that are named and cannot be asked, and what else is worth a warning. */
  readonly warnings: readonly string[]
}

/** Who would review now, what it may see and costs, and who reads beside it. */
export async function describeServing(
  { routes }: Pick<RouteTable, 'routes'>,
  { readers, second_opinion }: Pick<EffectiveConfig['review'], 'readers' | 'second_opinion'>,
  facts: ConditionFacts,
  times: PassTimes,
  env: NodeJS.ProcessEnv,
): Promise<Serving> {
  const predictions = await predictRoutes({ routes }, facts)
  const row = predictions.find(({ why }) => why === null)?.route
  if (row === undefined) return { row: null, words: 'nobody can be asked (plan-gate routes)', warnings: [] }
  const named = Array.isArray(readers) ? readers : []
  const beside: string[] = []
  const absent: string[] = []
  const warnings: string[] = []
  for (const { name, when } of routes.filter(({ name }) => named.includes(name) && name !== row.name)) {
    const fact = await evaluateConditions(when, facts)
    if (fact.holds) beside.push(name)
    else {
      absent.push(name)
      warnings.push(`the reader ${name} cannot be asked: ${fact.why}`)
    }
  }
  // Only by `--reviewer`; otherwise such a table is not valid.
  const leftOut = named.filter((reader) => routes.every(({ name }) => name !== reader))
  const hasOther = routes.some((other) => other !== row && other.backend !== 'checklist')
  const advice = familyAdvice(row)
  const words = [
    `${row.name}: ${describeRow(row, times, env)}`,
    typeof readers === 'number' && readers > 1 ? `${readers} readers in the first round` : '',
    beside.length > 0 ? `read as well by ${beside.join(' and ')} in the first round` : '',
    absent.length > 0 ? `without ${absent.join(' and ')}, who cannot be asked` : '',
    leftOut.length > 0 ? `without the reader ${leftOut.join(' and ')}, which --reviewer leaves out` : '',
    second_opinion === 'never'
      ? ''
      : hasOther
        ? `a second opinion ${second_opinion}`
        : 'no second opinion, because there is no other row',
  ].filter((part) => part !== '')
  return { row: row.name, words: words.join('; '), warnings: [...warnings, ...(advice === null ? [] : [advice])] }
}

/** What a reviewer of the planner's own family is worth. null for another family. */
export const familyAdvice = ({ backend, model }: { backend: string; model: string | null }): string | null =>
  backend === 'claude' || /claude|anthropic/i.test(model ?? '')
    ? 'Claude reviews what Claude has planned: models of one family miss the same things, so a reviewer of another family is advised'
    : null
