import { describe, expect, it } from 'vitest'
import { fuzzTarget } from './fuzz-target.ts'
import { makeRandom } from './random.ts'
import { readRegressions } from './regressions.ts'
import type { Target } from './target.ts'
import { targets } from './targets/all.ts'

/** The same ones each time, and others each time. What takes long is looked for by `npm run fuzz`. */
const seeds = [{ seed: 1 }, { seed: Date.now() % 1_000_000 }]

/** So many of each seed. */
const inputsOf = ({ name }: Target): number => counts[name] ?? 600
const counts: { readonly [target: string]: number } = {
  command: 5_000,
  'gate-hook': 300,
  plan: 250,
  'plan-review': 120,
}

/** A test must not fail because the machine is busy. */
const slack = 6

describe.each(targets)('$name', (target) => {
  it('holds for what was wrong once', async () => {
    const regressions = { ...target, seeds: readRegressions(target.name) }
    expect(await failuresOf(regressions, 1, 0)).toEqual([])
  })

  it.each(seeds)('holds for what is made from seed $seed', async ({ seed }) => {
    expect(await failuresOf(target, seed, inputsOf(target))).toEqual([])
  })
})

describe.each(targets.filter(({ confirm, name }) => confirm !== undefined && name !== 'loaded-text'))(
  '$name',
  (target) => {
    it('does nothing else for real, where it is allowed', { timeout: 60_000 }, async () => {
      const [opened, random] = [target.open(), makeRandom(Date.now() % 1_000_000)]
      for (let made = 0; made < 2_000; made += 1) await opened.look(target.make?.(random) ?? '')
      const found = (opened.found?.() ?? []).slice(0, 48)
      expect(await target.confirm?.(found, 20)).toMatchObject({ ran: found.length, failures: [] })
    })
  },
)

async function failuresOf(target: Target, seed: number, inputs: number) {
  for await (const progress of fuzzTarget(target, { seed, guided: false, slack }))
    if (progress.inputs >= inputs || progress.failures.length > 0) return progress.failures
  return []
}
