import { sha256 } from '../system/sha256.ts'

/** Shares with their intervals, where neither repeats of one case nor cases of one plan are independent of each other. */

export type Tally = {
  readonly hits: number
  readonly of: number
  /** The plan or change that the case is a copy of. */
  readonly base: string
}

type Cluster = Pick<Tally, 'hits' | 'of'>

export type Share = {
  readonly hits: number
  readonly of: number
  /** null: nothing was counted. */
  readonly share: number | null
  readonly low: number
  readonly high: number
  readonly effective: number
  /** How much the repeats of one case are alike, from 0 to 1. */
  readonly icc: number
  readonly bases: number
  readonly alike: 'repeats' | 'bases'
}

/** With fewer, how much they differ cannot be told, and the interval is about these alone. */
export const fewBases = 4

/** Wilson's interval with continuity correction, 95 %, on the effective size of the sample. */
export function shareOf(cases: readonly Tally[]): Share {
  const asked = cases.filter(({ of }) => of > 0)
  const [hits, of] = [sum(asked.map((each) => each.hits)), sum(asked.map((each) => each.of))]
  if (of === 0) return { hits, of, share: null, low: 0, high: 1, effective: 0, icc: 0, bases: 0, alike: 'repeats' }
  const icc = intraclass(asked)
  const bases = byBase(asked)
  const ofRepeats = designOf(asked, icc)
  // Where nothing varies at all, nothing depends on the base either.
  const isKnown = bases.length >= fewBases && hits > 0 && hits < of
  const ofBases = isKnown ? designOf(bases, intraclass(bases)) : 1
  const effective = of / Math.max(ofRepeats, ofBases)
  // How much bases differ is itself estimated, from few of them.
  const [low, high] = wilson(hits / of, effective, ofBases > ofRepeats ? student(bases.length - 1) : normal)
  return {
    ...{ hits, of, share: hits / of, low, high, effective, icc, bases: bases.length },
    alike: ofBases > ofRepeats ? 'bases' : 'repeats',
  }
}

/** By how much a sample of so alike observations has to be larger than one of independent ones. */
const designOf = (clusters: readonly Cluster[], icc: number): number => Math.max(1, 1 + (meanSize(clusters) - 1) * icc)

function byBase(cases: readonly Tally[]): readonly Cluster[] {
  const all = new Map<string, Cluster>()
  for (const { base, hits, of } of cases) {
    const known = all.get(base) ?? { hits: 0, of: 0 }
    all.set(base, { hits: known.hits + hits, of: known.of + of })
  }
  return [...all.values()]
}

const normal = 1.959964

/** The same quantile of Student's distribution, to its second term. */
const student = (freedom: number): number =>
  normal +
  (normal ** 3 + normal) / (4 * freedom) +
  (5 * normal ** 5 + 16 * normal ** 3 + 3 * normal) / (96 * freedom ** 2)

function wilson(p: number, n: number, z: number): readonly [low: number, high: number] {
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
function intraclass(cases: readonly Cluster[]): number {
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
const meanSize = (cases: readonly Cluster[]): number =>
  sum(cases.map(({ of }) => of * of)) / sum(cases.map(({ of }) => of))

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)

export const isApart = (one: Share, other: Share): boolean =>
  one.share !== null && other.share !== null && (one.low > other.high || other.low > one.high)

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

export type Random = {
  readonly below: (n: number) => number
  readonly shuffle: <T>(list: readonly T[]) => readonly T[]
}

/** The same numbers for the same seed, wherever it runs (mulberry32). */
export function seededRandom(seed: string): Random {
  let state = Number.parseInt(sha256(seed).slice(0, 8), 16)
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (n: number): number => Math.floor(next() * n)
  return {
    below,
    shuffle: (list) => {
      const shuffled = [...list]
      for (let at = shuffled.length - 1; at > 0; at -= 1) {
        const other = below(at + 1)
        const [one, two] = [shuffled[at], shuffled[other]]
        if (one !== undefined && two !== undefined) [shuffled[at], shuffled[other]] = [two, one]
      }
      return shuffled
    },
  }
}
