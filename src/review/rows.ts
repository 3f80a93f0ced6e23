import type { EffectiveConfig } from '../config/schema.ts'
import { type ConditionFacts, evaluateConditions, type Route, type RouteTable } from '../reviewers/route-table.ts'
import type { ReviewType, Usage } from '../schemas/review.ts'
import type { SecondOpinion } from './passes.ts'
import type { Reader } from './readers.ts'
import type { ReviewRequest } from './request.ts'

/** What a row of the route table means for the questions of a review: its model, its folder, its passes and its price. */

/** For a plan, Codex uses the model that the user chose in its own configuration; `review.models` names none of Claude's. */
export function chooseModel(
  type: ReviewType,
  { backend, model }: Route,
  { documents, code, plan }: EffectiveConfig['review']['models'],
): string | null {
  if (backend === 'checklist' || backend === 'claude' || model !== null) return model
  switch (type) {
    case 'code':
      return code
    case 'plan':
      return plan ?? (backend === 'codex' ? null : documents)
    case 'prd':
    case 'sdd':
    case 'sprint':
      return documents
  }
}

export const rowOf = (reader: string, routes: readonly Route[]): Route | undefined =>
  routes.find(({ name }) => name === reader) ?? routes.find(({ name }) => reader.startsWith(`${name} `))

/** Of a reader by its name: that of a row, or `codex 2` for a further one of the same row. */
export function modelOf(
  reader: string,
  type: ReviewType,
  routes: readonly Route[],
  models: EffectiveConfig['review']['models'],
): string | null {
  const row = rowOf(reader, routes)
  return row === undefined ? null : chooseModel(type, row, models)
}

/** Why a review by this row has a single pass; null for several passes. */
export function singlePassReason(
  { fast }: ReviewRequest,
  review: EffectiveConfig['review'],
  { name, capabilities }: Route,
  notice: (text: string) => void,
): string | null {
  if (fast || review.fast) return 'asked for with --fast or review.fast'
  if (review.reasoning_mode === 'single-pass') return 'review.reasoning_mode is single-pass'
  if (capabilities.includes('multi_pass')) return null
  notice(`The row for ${name} lacks the capability multi_pass, so there is a single pass.`)
  return `${name} lacks the capability multi_pass`
}

/** The folder that the reviewer may read; null for one without tools. */
export function rootFor(
  { root }: ReviewRequest,
  { name, backend, capabilities }: Route,
  notice: (text: string) => void,
): string | null {
  if (root === null || capabilities.includes('tool_access')) return root
  // The checklist reads the worktree without tools.
  if (backend !== 'checklist')
    notice(`The row for ${name} lacks the capability tool_access, so the reviewer sees only what it is sent.`)
  return null
}

/** In dollars; null where the price of the row is not known. */
const costOf = ({ input, cached, output }: Usage, price: Route['price']): number | null =>
  price === null ? null : ((input - cached) * price.input + cached * price.cached + output * price.output) / 1e6

export function countQuestions() {
  const sum = { calls: 0, failed_calls: 0, malformed_calls: 0 }
  const usages: (Usage | null)[] = []
  let cost: number | null = 0
  // One turn whose tokens are not known makes the sum unknown.
  const all = (tokens: keyof Usage): number | null =>
    usages.reduce<number | null>((total, usage) => (total === null || usage === null ? null : total + usage[tokens]), 0)
  return {
    count: (question: Usage | null | 'failed' | 'malformed', { price }: Pick<Route, 'price'>): void => {
      sum.calls += Number(question !== 'malformed')
      if (question === 'failed' || question === 'malformed') {
        sum[`${question}_calls`] += 1
        return
      }
      usages.push(question)
      const more = question === null ? null : costOf(question, price)
      cost = cost === null || more === null ? null : cost + more
    },
    known: (): number => usages.reduce((total, usage) => total + (usage === null ? 0 : usage.input + usage.output), 0),
    total: () => ({
      ...sum,
      input_tokens: all('input'),
      cached_input_tokens: all('cached'),
      output_tokens: all('output'),
      cost_usd: sum.calls === 0 || cost === null ? null : Math.round(cost * 1e6) / 1e6,
    }),
  }
}

type RowEffects = { readonly facts: ConditionFacts; readonly notice: (text: string) => void }

/** Who reads beside the row that leads: in the first round, and where `review.readers` says so. */
export async function openReaders(
  { iteration }: ReviewRequest,
  { readers: wanted }: EffectiveConfig['review'],
  { routes }: RouteTable,
  lead: Route,
  effects: RowEffects & {
    readonly open: (row: Route, name: string, signal: AbortSignal) => Reader['ask']
    readonly expectedMs: (row: Route) => number | null
    readonly signal: AbortSignal
  },
): Promise<readonly Reader[]> {
  if (wanted === null || iteration > 1 || lead.backend === 'checklist') return []
  const rows =
    typeof wanted === 'number'
      ? Array.from({ length: wanted - 1 }, (_, n) => ({ row: lead, name: `${lead.name} ${n + 2}` }))
      : routes.flatMap((row) => (wanted.includes(row.name) && row !== lead ? [{ row, name: row.name }] : []))
  const opened = rows.map(async ({ row, name }): Promise<Reader[]> => {
    const fact = row === lead ? yes : await evaluateConditions(row.when, effects.facts)
    if (!fact.holds) {
      effects.notice(`The reader ${name} was not asked: ${fact.why}.`)
      return []
    }
    const { signal, stop } = stoppable(effects.signal)
    const ask = effects.open(row, name, signal)
    return [{ name, ask, stop, expectedMs: effects.expectedMs(row) }]
  })
  return (await Promise.all(opened)).flat()
}

/** Of the first other row that can be used, of another backend if there is one. */
export async function openSecond(
  { second_opinion: when }: EffectiveConfig['review'],
  { routes }: RouteTable,
  lead: Route,
  { facts, notice, open }: RowEffects & { readonly open: (row: Route) => SecondOpinion['ask'] },
): Promise<SecondOpinion | null> {
  if (when === 'never' || lead.backend === 'checklist') return null
  const others = routes.filter((row) => row !== lead && row.backend !== 'checklist')
  const foreign = others.filter(({ backend }) => backend !== lead.backend)
  for (const row of new Set([...foreign, ...others])) {
    const fact = await evaluateConditions(row.when, facts)
    if (fact.holds) return { name: row.name, when, ask: open(row) }
  }
  notice('There is no other row for a second opinion (review.second_opinion).')
  return null
}

const yes = { holds: true } as const

/** A signal of its own, which the one of the review aborts as well. Not `AbortSignal.any`, which could be collected. */
export function stoppable(signal: AbortSignal): { readonly signal: AbortSignal; readonly stop: () => void } {
  const controller = new AbortController()
  const stop = (): void => controller.abort()
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true, signal: controller.signal })
  return { signal: controller.signal, stop }
}
