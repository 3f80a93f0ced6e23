import { describe, expect, it } from 'vitest'
import { isApart, kappaOf, medianOf, seededRandom, shareOf, type Tally } from '../../../src/calibrate/statistics.ts'

const once = (hits: number, of: number): readonly Tally[] =>
  Array.from({ length: of }, (_, n) => ({ hits: Number(n < hits), of: 1, base: `${n}` }))

describe('the interval', () => {
  // Newcombe, Statistics in Medicine 17 (1998), method 4.
  it.each([
    [81, 263, 0.2535, 0.3682],
    [15, 148, 0.0598, 0.1644],
    [0, 20, 0, 0.2005],
    [1, 29, 0.0018, 0.1963],
  ])('of %i in %i', (hits, of, low, high) => {
    const share = shareOf(once(hits, of))
    expect(share.low).toBeCloseTo(low, 4)
    expect(share.high).toBeCloseTo(high, 4)
  })

  it('counts repeats that are all alike as one', () => {
    const alike = shareOf(Array.from({ length: 20 }, (_, n) => ({ hits: n < 10 ? 3 : 0, of: 3, base: `${n}` })))
    expect(alike.effective).toBeCloseTo(20, 6)
    expect(alike.icc).toBe(1)
    expect(shareOf(Array.from({ length: 20 }, (_, n) => ({ hits: 3, of: 3, base: `${n}` }))).effective).toBeCloseTo(
      20,
      6,
    )
  })

  it('is everything where nothing was counted', () => {
    expect(shareOf([])).toMatchObject({ share: null, low: 0, high: 1 })
  })
})

/** Of a case that is hard or easy for good, with a share `mixed` of such cases. */
function draw(seed: string, p: number, cases: number, repeats: number, mixed: number): readonly Tally[] {
  const random = seededRandom(seed)
  const next = (): number => random.below(1_000_000) / 1_000_000
  return Array.from({ length: cases }, (_, n) => {
    const own = next() < mixed ? Number(next() < p) : p
    const hits = Array.from({ length: repeats }, () => Number(next() < own)).reduce((a, b) => a + b, 0)
    return { hits, of: repeats, base: `${n}` }
  })
}

/** A reviewer that is good at some plans and bad at others, by so much on either side of its share. */
function drawByPlan(seed: string, p: number, plans: number, apart: number): readonly Tally[] {
  const random = seededRandom(seed)
  const next = (): number => random.below(1_000_000) / 1_000_000
  return Array.from({ length: plans }, (_, plan) => {
    const own = next() < 0.5 ? p - apart : p + apart
    return Array.from({ length: 3 }, () => ({
      hits: Array.from({ length: 3 }, () => Number(next() < own)).reduce((a, b) => a + b, 0),
      of: 3,
      base: `${plan}`,
    }))
  }).flat()
}

describe('of a thousand samples of three cases of each plan, three times each, it holds it in 95 % as well', () => {
  it.each(
    [6, 10].flatMap((plans) => [[plans, 0.5, 0.4] as const, [plans, 0.5, 0.2] as const, [plans, 0.8, 0.2] as const]),
  )('%i plans, share %f, %f more or less by the plan', (plans, p, apart) => {
    const held = Array.from({ length: 1000 }, (_, n) => shareOf(drawByPlan(`plan ${n}`, p, plans, apart)))
    expect(held.filter(({ low, high }) => low <= p && p <= high).length).toBeGreaterThanOrEqual(940)
  })

  it('and is narrower where the plans do not differ', () => {
    const widths = [0, 0.4].map((apart) => {
      const held = Array.from({ length: 300 }, (_, n) => shareOf(drawByPlan(`width ${n}`, 0.5, 10, apart)))
      return held.reduce((sum, { low, high }) => sum + high - low, 0) / held.length
    })
    expect(widths[0]).toBeLessThan(0.27)
    expect(widths[1]).toBeGreaterThan(0.4)
  })

  it('but is about these plans alone, where they are fewer than four', () => {
    expect(shareOf(drawByPlan('few', 0.5, 3, 0.5))).toMatchObject({ bases: 3, alike: 'repeats' })
    expect(shareOf(drawByPlan('few', 0.5, 10, 0.4))).toMatchObject({ bases: 10, alike: 'bases' })
  })
})

describe('of a thousand samples each, the interval holds the true share in 95 %', () => {
  it.each(
    [0, 0.3, 0.6].flatMap((mixed) =>
      [0.05, 0.4, 0.7, 0.9].flatMap((p) => [[mixed, p, 30, 3] as const, [mixed, p, 10, 3] as const]),
    ),
  )('%f of the cases hard or easy for good, share %f, %i cases, %i repeats', (mixed, p, cases, repeats) => {
    const held = Array.from({ length: 1000 }, (_, n) =>
      shareOf(draw(`held ${mixed} ${p} ${cases} ${n}`, p, cases, repeats, mixed)),
    )
    const holding = held.filter(({ low, high }) => low <= p && p <= high).length
    // Three standard errors below 950 would be 929: chance alone.
    expect(holding).toBeGreaterThanOrEqual(940)
  })
})

it('tells shares apart only where their intervals do not meet', () => {
  expect(isApart(shareOf(once(71, 100)), shareOf(once(66, 100)))).toBe(false)
  expect(isApart(shareOf(once(90, 100)), shareOf(once(40, 100)))).toBe(true)
  expect(isApart(shareOf([]), shareOf(once(40, 100)))).toBe(false)
})

it('has agreement beyond chance, and a median', () => {
  const pairs = [...Array(19).fill([true, true]), [true, false], ...Array(19).fill([false, false]), [false, true]]
  expect(kappaOf(pairs.map(([a, b]) => ({ a, b })))).toBeCloseTo(0.9, 6)
  expect([medianOf([3, 1, null, 2]), medianOf([4, 1, 2, 3]), medianOf([null])]).toEqual([2, 2.5, null])
})
