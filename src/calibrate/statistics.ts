/** Shares with their intervals, where repeats of one case are not independent of each other. */

/** One case: how often it was asked, and how often what was counted happened. */
export type Tally = { readonly hits: number; readonly of: number }

export type Share = {
  readonly hits: number
  readonly of: number
  /** null: nothing was counted. */
  readonly share: number | null
  readonly low: number
  readonly high: number
  /** As many independent observations would say as much. */
  readonly effective: number
  /** How much the repeats of one case are alike, from 0 to 1. */
  readonly icc: number
}

/** Wilson's interval with continuity correction, 95 %, on the effective size of the sample. */
export function shareOf(cases: readonly Tally[]): Share {
  const asked = cases.filter(({ of }) => of > 0)
  const [hits, of] = [sum(asked.map((each) => each.hits)), sum(asked.map((each) => each.of))]
  if (of === 0) return { hits, of, share: null, low: 0, high: 1, effective: 0, icc: 0 }
  const icc = intraclass(asked)
  const design = Math.max(1, 1 + (meanSize(asked) - 1) * icc)
  const effective = of / design
  const [low, high] = wilson(hits / of, effective)
  return { hits, of, share: hits / of, low, high, effective, icc }
}

const z = 1.959964

function wilson(p: number, n: number): readonly [low: number, high: number] {
  const middle = 2 * n * p + z * z
  const [below, above] = [
    z * z - 1 / n + 4 * n * p * (1 - p) + (4 * p - 2),
    z * z - 1 / n + 4 * n * p * (1 - p) - (4 * p - 2),
  ]
  const whole = 2 * (n + z * z)
  const low = p === 0 ? 0 : (middle - (z * Math.sqrt(Math.max(0, below)) + 1)) / whole
  const high = p === 1 ? 1 : (middle + (z * Math.sqrt(Math.max(0, above)) + 1)) / whole
  return [Math.max(0, Math.min(p, low)), Math.min(1, Math.max(p, high))]
}

/** By analysis of variance over the cases; where nothing varies, each case counts once. */
function intraclass(cases: readonly Tally[]): number {
  const [k, n] = [cases.length, sum(cases.map(({ of }) => of))]
  if (k < 2 || n <= k) return n > k ? 1 : 0
  const mean = sum(cases.map(({ hits }) => hits)) / n
  const between = sum(cases.map(({ hits, of }) => of * (hits / of - mean) ** 2)) / (k - 1)
  const within = sum(cases.map(({ hits, of }) => hits * (1 - hits / of))) / (n - k)
  const size = (n - sum(cases.map(({ of }) => of * of)) / n) / (k - 1)
  const total = between + (size - 1) * within
  return total === 0 ? 1 : Math.min(1, Math.max(0, (between - within) / total))
}

/** Larger clusters weigh more. */
const meanSize = (cases: readonly Tally[]): number =>
  sum(cases.map(({ of }) => of * of)) / sum(cases.map(({ of }) => of))

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)

export const isApart = (one: Share, other: Share): boolean =>
  one.share !== null && other.share !== null && (one.low > other.high || other.low > one.high)

/** About how many cases, asked once, would tell two shares apart; null: these shares are the same. */
export function casesToTellApart(one: Share, other: Share): number | null {
  const [p, q] = [one.share ?? 0, other.share ?? 0]
  if (Math.abs(p - q) < 0.005) return null
  const spread = Math.sqrt(p * (1 - p)) + Math.sqrt(q * (1 - q))
  return Math.ceil(Math.max(((z * spread) / (p - q)) ** 2, 2 / Math.abs(p - q)))
}

/** Cohen's kappa: agreement beyond what chance alone gives. */
export function kappaOf(pairs: readonly { readonly a: boolean; readonly b: boolean }[]): number {
  const n = pairs.length
  if (n === 0) return 0
  const share = (is: (pair: { readonly a: boolean; readonly b: boolean }) => boolean): number =>
    pairs.filter(is).length / n
  const agreed = share(({ a, b }) => a === b)
  const [yesA, yesB] = [share(({ a }) => a), share(({ b }) => b)]
  const chance = yesA * yesB + (1 - yesA) * (1 - yesB)
  return chance === 1 ? 1 : (agreed - chance) / (1 - chance)
}

export function medianOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null).sort((a, b) => a - b)
  const middle = Math.floor(known.length / 2)
  const [low, high] = [known[middle - 1], known[middle]]
  if (high === undefined) return null
  return known.length % 2 === 1 || low === undefined ? high : (low + high) / 2
}
