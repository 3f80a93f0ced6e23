/** What a person should know of a row before it reviews: what it may see, and what it costs. */
import type { EffectiveConfig } from '../config/schema.ts'
import type { Expected, PassTimes } from '../state/pass-times.ts'
import { type ConditionFacts, evaluateConditions } from './conditions.ts'
import { familyAdvice } from './family.ts'
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
  const named = Array.isArray(readers) ? routes.filter(({ name }) => readers.includes(name) && name !== row.name) : []
  const known = await Promise.all(
    named.map(async (reader) => ({ reader, fact: await evaluateConditions(reader.when, facts) })),
  )
  const beside =
    typeof readers === 'number' ? (readers > 1 ? [`${readers} readers in the first round`] : []) : names(known)
  const advice = familyAdvice(row)
  return {
    row: row.name,
    words: [
      `${row.name}: ${describeRow(row, times, env)}`,
      ...beside,
      ...leftOut(readers, routes),
      ...(second_opinion === 'never' ? [] : [secondIn(routes, row, second_opinion)]),
    ].join('; '),
    warnings: [
      ...known.flatMap(({ reader, fact }) =>
        fact.holds ? [] : [`the reader ${reader.name} cannot be asked: ${fact.why}`],
      ),
      ...(advice === null ? [] : [advice]),
    ],
  }
}

/** Only by `--reviewer`; otherwise such a table is not valid. */
function leftOut(readers: EffectiveConfig['review']['readers'], routes: readonly Route[]): readonly string[] {
  const missing = Array.isArray(readers) ? readers.filter((reader) => routes.every(({ name }) => name !== reader)) : []
  return missing.length === 0 ? [] : [`without the reader ${missing.join(' and ')}, which --reviewer leaves out`]
}

const secondIn = (routes: readonly Route[], lead: Route, when: string): string =>
  routes.some((row) => row !== lead && row.backend !== 'checklist')
    ? `a second opinion ${when}`
    : 'no second opinion, because there is no other row'

type Asked = { readonly reader: Route; readonly fact: { readonly holds: boolean } }

function names(known: readonly Asked[]): readonly string[] {
  const [there, missing] = [true, false].map((holds) =>
    known.filter(({ fact }) => fact.holds === holds).map(({ reader }) => reader.name),
  )
  return [
    ...(there?.length ? [`read as well by ${there.join(' and ')} in the first round`] : []),
    ...(missing?.length ? [`without ${missing.join(' and ')}, who cannot be asked`] : []),
  ]
}
