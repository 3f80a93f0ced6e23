import { expect, it } from 'vitest'
import { judgeFinding } from '../../../src/calibrate/hit.ts'
import { groupSample, judgeSampleByRule, readLabelledSample } from '../../../src/calibrate/judge.ts'
import { kappaOf } from '../../../src/calibrate/statistics.ts'

const sample = readLabelledSample()

it('agrees with the labelled sample on nine of ten pairs that it decides, and decides three of four', () => {
  expect(sample.length).toBeGreaterThanOrEqual(40)
  const judged = judgeSampleByRule(sample)
  const decided = judged.filter((pair) => pair.judged !== 'unsure')
  expect(decided.length / judged.length).toBeGreaterThan(0.75)
  const agreed = decided.filter((pair) => (pair.judged === 'hit') === pair.same)
  expect(agreed.length / decided.length).toBeGreaterThanOrEqual(0.9)
  expect(kappaOf(decided.map((pair) => ({ a: pair.same, b: pair.judged === 'hit' })))).toBeGreaterThan(0.8)
})

it('has pairs of both kinds for each defect, and puts them into few questions without an order', () => {
  for (const { defect } of sample) {
    const own = sample.filter((pair) => pair.defect.why === defect.why && pair.defect.was === defect.was)
    expect(new Set(own.map(({ same }) => same)).size).toBe(2)
  }
  const groups = groupSample(sample)
  expect(
    groups
      .flat()
      .map(({ finding }) => finding.problem)
      .sort(),
  ).toEqual(sample.map(({ finding }) => finding.problem).sort())
  expect(groups.length).toBe(Math.ceil(sample.length / 20))
})

it('takes no finding about another plan for a hit', () => {
  const others = sample.flatMap(({ finding, defect }, at) => {
    const other = sample[(at + 17) % sample.length]
    return other === undefined || other.defect.class === defect.class ? [] : [{ finding, other }]
  })
  const hits = others.filter(({ finding, other }) => judgeFinding(finding, other.defect, other.text) === 'hit')
  expect(hits.length / others.length).toBeLessThan(0.1)
})

const code = {
  class: 'await-dropped',
  section: 'src/a.ts',
  sections: ['src/a.ts'],
  file: 'src/a.ts',
  lines: [12],
  why: '',
  was: 'const order = await findOrder(db, id)',
  is: 'const order = findOrder(db, id)',
} as const

it.each([
  ['src/a.ts:12', 'The promise of findOrder is not awaited.', 'hit'],
  ['src/a.ts:11-14', '`findOrder` is called without await, so order is a promise.', 'hit'],
  ['src/b.ts:12', 'The promise of findOrder is not awaited.', 'unsure'],
  ['src/a.ts:40', 'The log grows without a limit.', 'miss'],
] as const)('%s: %s', (section, problem, expected) => {
  expect(judgeFinding({ section, problem, evidence: '', fix: '' }, code, '')).toBe(expected)
})
