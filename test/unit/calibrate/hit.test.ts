import { expect, it } from 'vitest'
import { groupSample, judgeSampleByRule, readLabelledSample } from '../../../src/calibrate/calibrate.ts'
import { chooseCases, classesOf, readShippedChanges, readShippedPlans } from '../../../src/calibrate/cases.ts'
import { judgeFinding } from '../../../src/calibrate/measure.ts'
import { kappaOf } from '../../../src/calibrate/statistics.ts'
import vocabulary from '../../../src/calibrate/vocabulary.json'
import { defaultConfig } from '../../../src/config/schema.ts'

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

const seeded = (['plan', 'code'] as const).flatMap((type) =>
  chooseCases(type === 'plan' ? readShippedPlans() : readShippedChanges(), {
    classes: classesOf(type),
    perClass: 12,
    seed: '1',
    requiredSections: defaultConfig.plan.required_sections,
  }).flatMap(({ defect, content }) => (defect === null || defect.is.trim() === '' ? [] : [{ defect, content }])),
)
const placeOf = ({ file, lines, section }: (typeof seeded)[number]['defect']): string =>
  file === null ? `## ${section}` : `${file}:${lines[0]}`

it.each([
  ['This sentence is too long; a reader has to read it twice.', 'Write two sentences.'],
  ['There is no metric for this, so nobody sees in production whether it works.', 'Add a metric.'],
  ['This is right, and only the wording could be better.', 'Nothing.'],
])('who quotes the changed place has not found what is wrong with it: %s', (problem, fix) => {
  expect(seeded.length).toBeGreaterThan(70)
  const judged = seeded.map(({ defect, content }) =>
    judgeFinding({ section: placeOf(defect), problem, evidence: defect.is, fix }, defect, content),
  )
  expect(judged.filter((each) => each === 'hit')).toHaveLength(0)
})

it('who says what is wrong with the place that is quoted has found it', () => {
  const judged = seeded.map(({ defect, content }) => {
    const finding = { section: placeOf(defect), problem: defect.why, evidence: defect.is, fix: `Say: ${defect.was}` }
    return judgeFinding(finding, defect, content)
  })
  expect(judged.filter((each) => each === 'hit').length / judged.length).toBeGreaterThan(0.95)
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

it('has a vocabulary whose expressions hold, and words for each class', () => {
  expect(Object.keys(vocabulary.defects).sort()).toEqual([...classesOf('plan'), ...classesOf('code')].sort())
  const said = Object.values(vocabulary.defects).flatMap((defect) => defect.said)
  const replaced = [vocabulary.wider, vocabulary.opposites, vocabulary.synonyms].flat()
  for (const source of [...said, ...replaced.map(([from = '']) => from)]) expect(new RegExp(source)).not.toEqual(/(?:)/)
  expect(replaced.filter((row) => row.length !== 2 || row.includes(''))).toEqual([])
})
