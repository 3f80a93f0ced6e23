import type { Revision } from './report-data.ts'

/** What a revision's review took. `tokens` is null where nobody counted them. */
export type Cost = { readonly ms: number; readonly tokens: number | null }

/** By the passes that were kept; where there are none, by what the result says of all of them together. */
export function costOf({ passes, result }: Pick<Revision, 'passes' | 'result'>): Cost {
  if (passes.length > 0) return sumCosts(passes.map(({ duration_ms: ms, tokens }) => ({ ms, tokens })))
  const said = result?.pass_metadata
  if (said === undefined) return { ms: 0, tokens: null }
  const tokens = [said.pass1_tokens, said.pass2_tokens, said.pass3_tokens].map((count) => count ?? null)
  return { ms: said.total_duration_ms, tokens: sumCosts(tokens.map((count) => ({ ms: 0, tokens: count }))).tokens }
}

export const sumCosts = (costs: readonly Cost[]): Cost => ({
  ms: costs.reduce((sum, { ms }) => sum + ms, 0),
  tokens: costs.reduce<number | null>((sum, { tokens }) => (tokens === null ? sum : (sum ?? 0) + tokens), null),
})
