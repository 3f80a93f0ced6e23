export type Point = { readonly size: number; readonly value: number }

type Word = 'constant' | 'less than linear' | 'linear' | 'worse than linear' | 'unknown'

export type Growth = {
  readonly word: Word
  /** The exponent of the power that fits the ends, what it costs at size zero aside. */
  readonly exponent: number | null
  /** The cost at the largest size as so many times that at the smallest, all of it counted. */
  readonly ratio: number | null
}

/**
 * How a cost grows from the smallest size to the largest. What every run costs (`base`: bare node) is taken off first,
 * or the start of a process would hide what grows. What stays within twice its start is constant for whoever waits.
 */
export function growthOf(points: readonly Point[], base: number): Growth {
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined || first.size >= last.size)
    return { word: 'unknown', exponent: null, ratio: null }
  const ratio = last.value / Math.max(first.value, 1e-6)
  if (last.value <= 2 * Math.max(first.value, base)) return { word: 'constant', exponent: 0, ratio }
  const [low, high] = [first, last].map(({ value }) => Math.max(value - base, base * 0.05, 1e-6)) as [number, number]
  const exponent = Math.log(high / low) / Math.log(last.size / first.size)
  return { word: wordFor(exponent), exponent, ratio }
}

function wordFor(exponent: number): Word {
  if (exponent < 0.25) return 'constant'
  if (exponent < 0.8) return 'less than linear'
  return exponent <= 1.25 ? 'linear' : 'worse than linear'
}
