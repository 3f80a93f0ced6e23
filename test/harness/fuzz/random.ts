/** The same numbers for the same seed, on every machine. fast-check's own are as good, and ten times slower. */
export type Random = {
  /** A whole number from 0 to below this. */
  readonly below: (end: number) => number
  readonly pick: <T>(items: readonly T[]) => T
  readonly oneIn: (times: number) => boolean
}

export function makeRandom(seed: number): Random {
  let state = seed >>> 0
  const below = (end: number): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end)
  }
  return { below, pick: (items) => items[below(items.length)] as (typeof items)[number], oneIn: (n) => below(n) === 0 }
}
