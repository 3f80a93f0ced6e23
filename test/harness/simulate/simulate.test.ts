import { describe, expect, it } from 'vitest'
import { type PolicyName, simulate, simulatePlan } from './simulate.ts'
import { assumptions, type CellName, cells } from './world.ts'

const setup = (cell: CellName, policy: PolicyName = 'chosen', seed = 1) => ({ cell, policy, seed, given: assumptions })
const plans = 40

describe('a simulation', () => {
  it('ends the same way for the same seed, and another way for another', async () => {
    const [once, again, other] = [1, 1, 2].map((seed) => simulate(setup('noisy', 'chosen', seed), 10))
    expect(await again).toEqual(await once)
    expect(await other).not.toEqual(await once)
  })

  it('approves a plan without defects and false findings in the first round', async () => {
    const perfect = { ...cells.good, defects: 0, falseFirst: 0 }
    const ended = await simulatePlan({ ...setup('good'), given: assumptions, world: perfect }, 1)
    // understand, find, the second reader, verify
    expect(ended).toEqual({ isApproved: true, rounds: 1, calls: 4, left: 0, known: 0, isAskedInVain: false })
  })

  it('shows what the policy is for: fewer rounds, and the user is asked in vain less often', async () => {
    const [chosen, without] = await Promise.all([
      simulate(setup('typical'), plans),
      simulate(setup('typical', 'no-question'), plans),
    ])
    expect(chosen['approved ≤ 3 %']).toBeGreaterThan(without['approved ≤ 3 %'] + 10)
    expect(chosen['in vain %']).toBeLessThan(without['in vain %'])
    expect(chosen.rounds).toBeLessThan(without.rounds)
  })
})
