import { describe, expect, it } from 'vitest'
import { growthOf } from './growth.ts'
import type { Measured } from './scenario.ts'
import { scenarios } from './scenarios.ts'

/**
 * The scenarios of `npm run load` at sizes that take seconds. Each checks by content and count that every answer was
 * right and nothing was lost; of what it costs only the bytes read are looked at here, which no busy machine changes.
 */
const measured = new Map<string, readonly Measured[]>()

describe.each(scenarios.map((scenario) => [scenario.name, scenario] as const))('%s', (name, { sizes, unit, run }) => {
  it.each(sizes.quick)(
    `holds at %i ${unit}`,
    async (size) => {
      const rows = await run(size)
      measured.set(`${name} ${size}`, rows)
      expect(rows.length).toBeGreaterThan(0)
    },
    180_000,
  )
})

describe('reads no more of what is', () => {
  /** kB read at the larger size less those at the smaller. */
  const more = (name: string, what: string): number => {
    const scenario = scenarios.find((each) => each.name === name)
    const read = (scenario?.sizes.quick ?? []).map(
      (size) => measured.get(`${name} ${size}`)?.find((row) => row.what === what)?.read_kb ?? Number.NaN,
    )
    return Math.round((read.at(-1) ?? Number.NaN) - (read[0] ?? Number.NaN))
  }

  it.skipIf(process.platform !== 'linux').each([
    // Ten times the lines are half a megabyte more.
    { what: 'after a command, approved by hand', of: 'a long ledger', atMost: 40 },
    { what: 'log -n 5', of: 'a long ledger', atMost: 300 },
    { what: 'the end of a cycle appended', of: 'a long ledger', atMost: 300 },
    // Eleven megabytes more of it.
    { what: 'Stop', of: 'a large transcript at Stop', atMost: 8_500 },
    // A thousand kilobytes more; the hook reads its input once.
    { what: 'the gate, a Write', of: 'a large tool input', atMost: 1_200 },
    { what: 'the gate, a Write', of: 'a repository of many files', atMost: 40 },
    { what: 'the gate', of: 'a large plan', atMost: 120 },
  ])('$of: $what', ({ what, of, atMost }) => {
    expect(more(of, what)).toBeLessThan(atMost)
  })
})

/** What runs at once tries again where another git is in its way; the rest is the same at each size. */
const sequences = scenarios.filter(({ sizes }) => sizes.quick.length > 1)

describe('starts git no more often', () => {
  it.each(sequences)('$name', ({ name, sizes }) => {
    const counts = sizes.quick.map((size) =>
      measured.get(`${name} ${size}`)?.map(({ what, git_runs }) => [what, git_runs]),
    )
    expect(counts[0]).toBeDefined()
    expect(counts.at(-1)).toEqual(counts[0])
  })
})

describe('growthOf', () => {
  it.each<{ values: readonly number[]; base: number; expected: string }>([
    { values: [50, 52, 60], base: 50, expected: 'constant' },
    { values: [60, 75, 150], base: 50, expected: 'less than linear' },
    { values: [60, 150, 1_050], base: 50, expected: 'linear' },
    { values: [60, 1_050, 100_050], base: 50, expected: 'worse than linear' },
    { values: [60], base: 50, expected: 'unknown' },
  ])('$values over $base → $expected', ({ values, base, expected }) => {
    const points = values.map((value, i) => ({ size: 10 ** (i + 1), value }))
    expect(growthOf(points, base).word).toBe(expected)
  })
})
