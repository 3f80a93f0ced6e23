import { sha256 } from '../system/sha256.ts'

export type Random = {
  /** A whole number from 0 on. */
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
