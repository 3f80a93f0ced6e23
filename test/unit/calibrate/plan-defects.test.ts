import { describe, expect, it } from 'vitest'
import { controlNames, type DefectClass, planClasses, readShippedPlans } from '../../../src/calibrate/cases.ts'
import { makePlanControl, seedPlanDefect } from '../../../src/calibrate/plan-defects.ts'
import { seededRandom } from '../../../src/calibrate/statistics.ts'
import { defaultConfig } from '../../../src/config/schema.ts'
import { readPlanScope } from '../../../src/gate/scope.ts'
import { checkPlan } from '../../../src/reviewers/checklist/plan.ts'
import { diffLines } from '../../../src/text/diff.ts'

const plans = readShippedPlans().flatMap((base) => (base.type === 'plan' ? [base] : []))
type Plan = (typeof plans)[number]

const seed = (plan: Plan, name: DefectClass, number = 1) =>
  seedPlanDefect(
    plan.text,
    name,
    { exists: plan.exists, hasRequest: true },
    seededRandom(`${number} ${plan.id} ${name}`),
  )

const checked = (text: string, { exists }: Plan) =>
  checkPlan(text, {
    requiredSections: defaultConfig.plan.required_sections,
    maxBytes: 1_000_000,
    readChanges: readPlanScope,
    exists,
  })

/** Doubled blank lines, numbers that do not count on, lines that end in spaces. */
function tracesIn(text: string): readonly string[] {
  const lines = text.split('\n')
  let expected = 1
  return lines.flatMap((line, at) => {
    const number = /^(\d+)\. /.exec(line)?.[1]
    if (line === '') expected = 1
    const isBroken = number !== undefined && Number(number) !== expected
    if (number !== undefined) expected += 1
    const isDoubled = line === '' && lines[at - 1] === '' && at < lines.length - 1
    return isBroken || isDoubled || /\s$/.test(line) ? [`${at + 1}: ${line}`] : []
  })
}

describe('the shipped plans', () => {
  it('are twelve, of 40 to 90 lines, with what was asked for, and without a fault of form', () => {
    expect(plans.map(({ text }) => text.split('\n').length).every((lines) => lines >= 40 && lines <= 90)).toBe(true)
    expect(plans.map((plan) => [plan.id, checked(plan.text, plan), tracesIn(plan.text)])).toEqual(
      plans.map(({ id }) => [id, [], []]),
    )
    expect(plans).toHaveLength(12)
    expect(plans.every(({ intent }) => (intent ?? '').length > 200)).toBe(true)
  })

  it('have a place for eight defects of ten, and each defect has one in nine plans', () => {
    const made = plans.map((plan) => planClasses.filter((name) => seed(plan, name) !== null))
    expect(Math.min(...made.map(({ length }) => length))).toBeGreaterThanOrEqual(8)
    const perClass = planClasses.map((name) => made.filter((names) => names.includes(name)).length)
    expect(Math.min(...perClass)).toBeGreaterThanOrEqual(9)
  })
})

describe.each(planClasses)('%s', (name) => {
  const mutants = plans.flatMap((plan) =>
    [1, 2, 3, 4, 5].flatMap((number) => {
      const mutant = seed(plan, name, number)
      return mutant === null ? [] : [{ plan, mutant }]
    }),
  )

  it('changes the lines that it names and no other', () => {
    for (const { plan, mutant } of mutants) {
      const changes = diffLines(plan.text, mutant.text)
      expect(changes.length).toBeGreaterThan(0)
      let shift = 0
      for (const { before, removed, added } of changes) {
        const was = removed.map((_, n) => before + n)
        expect(was.filter((line) => !mutant.before.includes(line))).toEqual([])
        const is = added.map((_, n) => before + shift + n)
        expect(is.filter((line) => !mutant.defect.lines.includes(line))).toEqual([])
        shift += added.length - removed.length
      }
    }
  })

  it('leaves no trace, and nothing that the checklist sees', () => {
    for (const { plan, mutant } of mutants) {
      expect({ plan: plan.id, traces: tracesIn(mutant.text), found: checked(mutant.text, plan) }).toEqual({
        plan: plan.id,
        traces: [],
        found: [],
      })
      expect(mutant.text).not.toMatch(new RegExp(name, 'i'))
    }
  })

  it('is the same for the same seed', () => {
    for (const { plan } of mutants) expect(seed(plan, name)).toEqual(seed(plan, name))
  })
})

describe.each(controlNames)('the control %s', (name) => {
  it('is as good as the plan', () => {
    const made = plans.map((plan) => ({ plan, text: makePlanControl(plan.text, name, seededRandom(plan.id)) }))
    expect(made.every(({ text }) => text !== null)).toBe(true)
    for (const { plan, text } of made) {
      expect(text === plan.text).toBe(name === 'unchanged')
      expect([checked(text ?? '', plan), tracesIn(text ?? '')]).toEqual([[], []])
      // Nothing is gone: what is named in code is there as often as before.
      const codeIn = (whole: string) => (whole.match(/`[^`]+`/g) ?? []).map((code) => code.replace(/\s+/g, ' ')).sort()
      expect(codeIn(text ?? '')).toEqual(codeIn(plan.text))
    }
  })
})

/** Another hand: other marks, lines that are not wrapped, no section for requirements. */
const foreign = `# Speed up the search

## 1. Goal

* Search answers in 200 ms for 95 % of the requests.
* Results are the same as today.
* The index never holds more than 50 000 documents.

## 2. Context

\`lib/search.py\` scans every document; \`lib/views.py\` calls \`search()\` for each request. 200 ms is what the page allows.

## 3. Approach

1. Add \`build_index()\` in \`lib/index.py\`.
2. Call \`build_index()\` from the nightly job, which holds a lock so that only one of them runs.
3. Read the index in \`search()\`.

## 4. Changes

* \`lib/index.py\` (new): \`build_index()\`
* \`lib/search.py\` (changed): reads the index
* \`lib/views.py\` (changed): calls \`search()\` with the index
* \`tests/test_search.py\` (changed): the same results as before

## 5. Risks

* Rollback: delete the index and deploy the version of before.
* If the index server is unreachable, the old scan is used.
* Only the admins may rebuild the index by hand.

## 6. Open Questions

None
`

it("makes each defect in a plan of somebody else's style", () => {
  const facts = { exists: (path: string) => /^lib\/(?:search|views)\.py$/.test(path), hasRequest: true }
  const texts = planClasses.map(
    (name) => [name, seedPlanDefect(foreign, name, facts, seededRandom(name))?.text ?? null] as const,
  )
  expect(texts.filter(([, text]) => text === null)).toEqual([])
  expect(new Set(texts.map(([, text]) => text)).size).toBe(planClasses.length)
  expect(texts.flatMap(([, text]) => tracesIn(text ?? ''))).toEqual([])
})

it('makes none where there is no place for it', () => {
  const facts = { exists: () => true, hasRequest: false }
  const made = planClasses.filter(
    (name) => seedPlanDefect('# Plan\n\nDo it.\n', name, facts, seededRandom('1')) !== null,
  )
  expect(made).toEqual([])
})
