export type Point = { readonly size: number; readonly value: number }

export type Growth = 'constant' | 'less than linear' | 'linear' | 'worse than linear' | 'unknown'

/**
 * How a cost grows from the smallest size to the largest, what it costs at size zero (`base`) aside: by the exponent of
 * the power that fits its ends. What stays within twice its base is constant as far as anybody would notice.
 */
export function growthOf(points: readonly Point[], base: number): { growth: Growth; exponent: number | null } {
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined || first.size >= last.size) return { growth: 'unknown', exponent: null }
  const [low, high] = [first, last].map(({ value }) => Math.max(value - base, base * 0.05, 1e-6)) as [number, number]
  if (last.value <= 2 * Math.max(first.value, base)) return { growth: 'constant', exponent: 0 }
  const exponent = Math.log(high / low) / Math.log(last.size / first.size)
  return { growth: nameOf(exponent), exponent }
}

function nameOf(exponent: number): Growth {
  if (exponent < 0.25) return 'constant'
  if (exponent < 0.8) return 'less than linear'
  return exponent <= 1.25 ? 'linear' : 'worse than linear'
}
