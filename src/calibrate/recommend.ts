/** What the figures prove, and what they do not; and the route table that follows from them. */
import type { Route } from '../reviewers/route-table.ts'
import type { Calibration, CellResult } from '../schemas/calibration.ts'
import type { Cell } from './run.ts'
import { casesToTellApart, fewBases, isApart, type Share } from './statistics.ts'

type Comparison = Calibration['comparisons'][number]

export const formatShare = ({ share, low, high }: Share): string =>
  share === null ? '–' : `${share.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`

export function compareCells(cells: readonly CellResult[]): readonly Comparison[] {
  const measured = cells.filter(({ recall }) => recall.share !== null)
  return measured.flatMap((one, at) =>
    measured.slice(at + 1).map((other) => {
      const apart = isApart(one.recall, other.recall)
      const [better, worse] = (one.recall.share ?? 0) >= (other.recall.share ?? 0) ? [one, other] : [other, one]
      const words = apart
        ? `${better.name} finds more than ${worse.name}: ${formatShare(better.recall)} and ${formatShare(worse.recall)}.${falseBlocksOf(better, worse)}`
        : `${one.name} and ${other.name} cannot be distinguished: ${formatShare(one.recall)} and ${formatShare(other.recall)}. ${moreOf(one, other)}`
      return { one: one.name, other: other.name, is_apart: apart, words }
    }),
  )
}

const falseBlocksOf = (better: CellResult, worse: CellResult): string =>
  isApart(better.false_blocks, worse.false_blocks) && (better.false_blocks.share ?? 0) > (worse.false_blocks.share ?? 0)
    ? ` It also holds up more for nothing: ${formatShare(better.false_blocks)} and ${formatShare(worse.false_blocks)}.`
    : ''

/** From fewer independent cases no order follows, whatever the figures are. */
const minCases = 20
const whatItTakes = `it takes ${minCases} or more for each, so more plans (--plans) or more classes`
const isTooFew = ({ recall }: CellResult): boolean => recall.effective < minCases

/** What the figures do not say. */
export function notesOn(cells: readonly CellResult[], type: Calibration['type']): readonly string[] {
  const measured = cells.filter(({ recall }) => recall.share !== null)
  const few = measured.filter(isTooFew).map(({ name, recall }) => `${name} about ${Math.round(recall.effective)}`)
  const bases = Math.max(0, ...measured.map(({ recall }) => recall.bases))
  const texts = type === 'plan' ? 'plans' : 'changes'
  return [
    ...(bases > 0 && bases < fewBases
      ? [
          `All copies are of ${bases} ${bases === 1 ? texts.slice(0, -1) : texts}: the intervals are about ${bases === 1 ? 'it' : 'these'} only, and not about other ${texts}.`,
        ]
      : []),
    ...(few.length > 0
      ? [`No order is proposed: of independent cases, ${few.join(' and ')}; ${whatItTakes}.`]
      : measured.length > 0 && measured.every(({ recall }) => recall.hits === 0)
        ? ['No order is proposed: nobody found anything.']
        : []),
  ]
}

/** Repeats of a case that is found always or never say little; then it takes other cases. */
function moreOf(one: CellResult, other: CellResult): string {
  const needed = casesToTellApart(one.recall, other.recall)
  if (isTooFew(one) || isTooFew(other))
    return `That is from about ${Math.round(Math.min(one.recall.effective, other.recall.effective))} independent cases, and says nothing: ${whatItTakes}.`
  if (one.recall.hits + other.recall.hits === 0) return 'Neither found anything.'
  if (needed === null) return 'They are as good as the same.'
  const repeats = Math.max(...[one, other].map(({ recall }) => repeatsFor(needed, recall)))
  const cases = `about ${needed} cases that are independent of each other`
  return repeats > maxRepeats
    ? `It would take ${cases}: more plans or classes, since repeats of these hardly differ.`
    : `It would take ${cases}: about ${repeats} more repeats of these.`
}

const maxRepeats = 20

function repeatsFor(needed: number, { of, effective, icc, alike }: Share): number {
  if (effective === 0 || alike === 'bases') return maxRepeats + 1
  // n = cases · repeats / (1 + (repeats − 1) · icc), solved for the repeats.
  const design = of / effective
  const now = icc === 0 ? null : 1 + (design - 1) / icc
  if (now === null) return Math.max(1, Math.ceil((3 * (needed - effective)) / of))
  const cases = of / now
  const then = needed * icc >= cases ? Number.POSITIVE_INFINITY : (needed * (1 - icc)) / (cases - needed * icc)
  return Math.max(1, Math.ceil(then - now))
}

/** Proven to find more and not proven to hold up more for nothing; or as good, and proven to hold up less. */
const isBetter = (one: CellResult, other: CellResult): boolean => {
  const [finds, holds] = [isApart(one.recall, other.recall), isApart(one.false_blocks, other.false_blocks)]
  const findsMore = finds && (one.recall.share ?? 0) > (other.recall.share ?? 0)
  const holdsMore = holds && (one.false_blocks.share ?? 0) > (other.false_blocks.share ?? 0)
  const holdsLess = holds && (one.false_blocks.share ?? 0) < (other.false_blocks.share ?? 0)
  return (findsMore && !holdsMore) || (!finds && holdsLess)
}

/** Cheaper where both prices are known, otherwise faster. */
function isCheaper(one: CellResult, other: CellResult): number {
  const perReview = ({ dollars, reviews }: CellResult): number | null =>
    dollars === null || reviews === 0 ? null : dollars / reviews
  const [a, b] = [perReview(one), perReview(other)]
  if (a !== null && b !== null && a !== b) return a - b
  return (one.seconds ?? 0) - (other.seconds ?? 0)
}

/** By what is proven; where nothing is, by price and time. */
function orderCells(cells: readonly CellResult[]): readonly CellResult[] {
  const ordered: CellResult[] = []
  let left = [...cells]
  while (left.length > 0) {
    const unbeaten = left.filter((one) => !left.some((other) => isBetter(other, one)))
    const [next] = (unbeaten.length > 0 ? unbeaten : left).sort(isCheaper)
    if (next === undefined) break
    ordered.push(next)
    left = left.filter((one) => one !== next)
  }
  return ordered
}

/** null: too little was measured or found. */
export function proposeRoutes(results: readonly CellResult[], cells: readonly Cell[]): Calibration['proposal'] {
  const measured = results.filter(({ recall }) => recall.share !== null)
  if (measured.some(isTooFew) || measured.every(({ recall }) => recall.hits === 0)) return null
  const ordered = orderCells(measured)
  const [best] = ordered
  if (best === undefined) return null
  const names = [...new Set(ordered.map(({ route }) => route))]
  const routes = names.flatMap((name) => cells.find(({ route }) => route.name === name)?.route ?? [])
  const rows = routes.map((route, at) => `    - ${JSON.stringify(asRow(route, at === routes.length - 1))}`)
  const effort =
    best.effort === 'auto'
      ? []
      : [`  effort: ${JSON.stringify({ understand: best.effort, find: best.effort, verify: best.effort })}`]
  const readers = best.readers === null ? [] : [`  readers: ${best.readers}`]
  return {
    yaml: ['review:', '  routes:', ...rows, ...effort, ...readers].join('\n'),
    why: ordered.map((one, at) => reasonFor(one, ordered[at + 1])),
  }
}

function reasonFor(one: CellResult, next: CellResult | undefined): string {
  const what = `${one.name}: finds ${formatShare(one.recall)}, holds up for nothing ${formatShare(one.false_blocks)}`
  if (next === undefined) return `${what}.`
  if (isBetter(one, next)) return `${what}; proven better than ${next.name}.`
  const isPriced = one.dollars !== null && next.dollars !== null && isCheaper(one, next) !== 0
  return `${what}; not proven better than ${next.name}, and stands before it because it is ${isPriced ? 'cheaper' : 'faster'}.`
}

/** As plan-gate.yaml has it. */
function asRow(
  { name, backend, model, endpoint, price, when, capabilities, timeoutMs, retries }: Route,
  isLast: boolean,
) {
  return {
    ...(name === backend ? {} : { name }),
    backend,
    ...(model === null ? {} : { model }),
    ...(endpoint === null ? {} : asEndpoint(endpoint)),
    ...(price === null ? {} : { price }),
    when,
    capabilities,
    fail_mode: isLast ? 'hard_fail' : 'fallthrough',
    ...(timeoutMs === null ? {} : { timeout: timeoutMs / 1000 }),
    ...(retries === 0 ? {} : { retries }),
  }
}

const asEndpoint = ({ baseUrl, apiKeyEnv, api, allowHttp }: NonNullable<Route['endpoint']>) => ({
  ...(baseUrl === null ? {} : { base_url: baseUrl }),
  ...(apiKeyEnv === null ? {} : { api_key_env: apiKeyEnv }),
  ...(api === 'auto' ? {} : { api }),
  ...(allowHttp ? { allow_http: true } : {}),
})
