import { expect, it } from 'vitest'
import { compareCells } from '../../../src/calibrate/recommend.ts'
import type { Share } from '../../../src/calibrate/statistics.ts'
import { measureScripted } from './measure-scripted.ts'

const skills = [
  { recall: 0.4, falseBlocks: 0.2 },
  { recall: 0.7, falseBlocks: 0.1 },
  { recall: 0.9, falseBlocks: 0.05 },
]
const runs = 100
const holds = ({ low, high }: Share, value: number): boolean => low <= value && value <= high

it.each(skills)(
  'recovers a recall of $recall and false blocks of $falseBlocks in 95 of 100 runs',
  async (skill) => {
    let [recall, falseBlocks, unsure] = [0, 0, 0]
    for (let n = 1; n <= runs; n += 1) {
      const cell = await measureScripted(skill, `run ${n}`)
      recall += Number(holds(cell.recall, skill.recall))
      falseBlocks += Number(holds(cell.false_blocks, skill.falseBlocks))
      unsure += cell.unsure
      // What it holds for a defect it has found, and nothing else is held for one.
      expect(cell.held).toEqual(cell.recall)
    }
    expect({ recall: recall / runs, falseBlocks: falseBlocks / runs }).toEqual({
      recall: expect.toSatisfy((share: number) => share >= 0.95),
      falseBlocks: expect.toSatisfy((share: number) => share >= 0.95),
    })
    expect(unsure / (runs * 60)).toBeLessThan(0.01)
  },
  120_000,
)

it('ranks reviewers of 0.4 and 0.9, and not those of 0.7 and 0.75', async () => {
  const named = async (name: string, recall: number) => ({
    ...(await measureScripted({ recall, falseBlocks: 0.1 }, name)),
    name,
  })
  const [low, middle, same, high] = [
    await named('low', 0.4),
    await named('middle', 0.7),
    await named('same', 0.75),
    await named('high', 0.9),
  ]
  expect(compareCells([low, high])).toMatchObject([
    { is_apart: true, words: expect.stringMatching(/^high finds more than low/) },
  ])
  expect(compareCells([middle, same])).toMatchObject([
    { is_apart: false, words: expect.stringContaining('cannot be distinguished') },
  ])
})
