import { describe, expect, it } from 'vitest'
import {
  type Case,
  chooseCases,
  classesOf,
  readShippedChanges,
  readShippedPlans,
} from '../../../src/calibrate/cases.ts'
import { heldBases, measureCell } from '../../../src/calibrate/measure.ts'
import {
  type Cell,
  cellConfig,
  forecastRun,
  type Journal,
  runTasks,
  type Task,
  tasksOf,
} from '../../../src/calibrate/run.ts'
import { defaultConfig } from '../../../src/config/schema.ts'
import type { ReviewOutcome } from '../../../src/review/request.ts'
import { defaultRoutes } from '../../../src/reviewers/route-table.ts'
import type { CalibrationLine } from '../../../src/schemas/calibration.ts'
import type { FailureClass, Finding, Verdict } from '../../../src/schemas/review.ts'

const [, codex] = defaultRoutes
if (codex === undefined) throw new Error('the built-in table has three rows')
const cell = (name: string, more: Partial<Cell> = {}): Cell => ({
  name,
  route: codex,
  effort: null,
  readers: null,
  ...more,
})
const plans = readShippedPlans()
const choose = (perClass: number, seed = '1'): readonly Case[] =>
  chooseCases(plans, {
    classes: classesOf('plan'),
    perClass,
    seed,
    requiredSections: defaultConfig.plan.required_sections,
  })

const reviewed = (verdict: Verdict, findings: readonly Finding[] = []): ReviewOutcome => ({
  kind: 'reviewed',
  lastId: 0,
  earlier: [],
  result: { verdict, is_optimal: verdict === 'APPROVED', summary: '', findings },
})
const failed = (failure: FailureClass): ReviewOutcome => ({
  kind: 'unavailable',
  exitCode: 1,
  notices: [],
  tokens: 0,
  failure,
  why: `It was ${failure}.`,
  nextStep: 'Wait.',
  retryAfterMs: null,
})

function memory(): Journal & { kept: CalibrationLine[] } {
  const kept: CalibrationLine[] = []
  return { kept, lines: () => kept, append: (line) => void kept.push(line) }
}

async function carryOut(
  tasks: readonly Task[],
  journal: Journal,
  answer: (n: number, task: Task) => ReviewOutcome,
  maxCalls: number | null = null,
) {
  const asked: string[] = []
  const end = await runTasks(tasks, maxCalls, {
    journal,
    signal: new AbortController().signal,
    now: () => 0,
    onDone: () => {},
    review: async (task) => {
      asked.push(task.key)
      return answer(asked.length, task)
    },
  })
  return { end, asked }
}

describe('the cases', () => {
  it('are the same for the same seed, others for another, and as many of each class', () => {
    const ids = (seed: string) => choose(3, seed).map(({ id, hash }) => `${id} ${hash}`)
    expect(ids('1')).toEqual(ids('1'))
    expect(ids('1')).not.toEqual(ids('2'))
    expect(choose(3)).toHaveLength(3 * (classesOf('plan').length + 3))
    const changes = chooseCases(readShippedChanges(), {
      classes: classesOf('code'),
      perClass: 2,
      seed: '1',
      requiredSections: [],
    })
    expect(changes).toHaveLength(2 * (classesOf('code').length + 3))
  })

  it('say to a reviewer neither what was done nor that anything was', () => {
    for (const { content, files, defect } of choose(12)) {
      expect(content).not.toContain(defect?.why ?? 'calibration')
      expect(files.map(({ path }) => path)).toEqual(['docs/plan.md', 'docs/request.md'])
    }
  })
})

describe('a run', () => {
  const tasks = tasksOf([cell('a'), cell('b')], choose(1), 2, '1')

  it('asks everything once in each repeat, in an order that is no order of the cases', () => {
    const half = tasks.slice(0, tasks.length / 2)
    expect(new Set(tasks.map(({ key }) => key)).size).toBe(tasks.length)
    expect(half.every(({ repeat }) => repeat === 1)).toBe(true)
    expect(half.map(({ case: one }) => one.id)).not.toEqual(half.map(({ case: one }) => one.id).sort())
    expect(new Set(half.slice(0, 8).map(({ cell: each }) => each.name)).size).toBe(2)
  })

  it('goes on with what is missing, and asks again what has failed', async () => {
    const journal = memory()
    const first = await carryOut(tasks, journal, (n) => (n === 2 ? failed('timeout') : reviewed('APPROVED')), 5)
    expect([first.end.kind, first.asked.length]).toEqual(['calls-used-up', 5])
    const second = await carryOut(tasks, journal, () => reviewed('APPROVED'))
    expect(second.end).toEqual({ kind: 'done', calls: tasks.length - 4, dropped: [] })
    expect(second.asked).toHaveLength(tasks.length - 4)
    // It may fail for good: what is open comes first.
    expect(second.asked.at(-1)).toBe(first.asked[1])
    const cells = ['a', 'b'].flatMap((name) => tasks.find((task) => task.cell.name === name)?.cell ?? [])
    expect(cells.map((each) => measureCell(each, { tasks, lines: journal.kept, judge: null }).failed).sort()).toEqual([
      0, 1,
    ])
    expect((await carryOut(tasks, journal, () => reviewed('APPROVED'))).asked).toEqual([])
  })

  it.each([
    ['quota', 1],
    ['auth', 1],
    ['not-installed', 1],
    ['timeout', 3],
    ['refused', 3],
  ] as const)('asks a cell that fails with %s %i times in a row, and the others go on', async (failure, times) => {
    const journal = memory()
    const { end, asked } = await carryOut(tasks, journal, (_, { cell: { name } }) =>
      name === 'a' ? failed(failure) : reviewed('APPROVED'),
    )
    expect(end).toMatchObject({ kind: 'done', dropped: [{ cell: 'a', why: `It was ${failure}.`, nextStep: 'Wait.' }] })
    expect(asked.filter((key) => key.startsWith('a |'))).toHaveLength(times)
    expect(asked.filter((key) => key.startsWith('b |'))).toHaveLength(tasks.length / 2)
  })

  it('passes over a case that is refused, and asks it once more in each run, those first that failed less', async () => {
    const one = tasksOf([cell('a')], choose(1), 2, '1')
    const journal = memory()
    const refuses = (_: number, { case: { defect } }: Task) =>
      defect?.class === 'two-writers' ? failed('refused') : reviewed('APPROVED')
    expect(await carryOut(one, journal, refuses)).toMatchObject({
      end: { kind: 'done', dropped: [] },
      asked: one.map(({ key }) => key),
    })
    const first = await carryOut(one, journal, refuses, 1)
    const second = await carryOut(one, journal, refuses, 1)
    expect(new Set([...first.asked, ...second.asked]).size).toBe(2)
    expect((await carryOut(one, journal, refuses)).asked).toHaveLength(2)
    const all = await carryOut(one, memory(), () => failed('refused'))
    expect([all.asked.length, all.end.dropped.length]).toEqual([3, 1])
    const most = memory()
    const refusesMost = (n: number) => (n % 3 === 0 ? reviewed('APPROVED') : failed('refused'))
    const before = (await carryOut(one, most, refusesMost)).asked.length
    const again = await carryOut(one, most, () => failed('refused'))
    // Each of them once more, though they are many.
    expect([again.asked.length, again.end.dropped]).toEqual([before - Math.floor(before / 3), []])
  })

  it('goes on after three failures that are not in a row', async () => {
    const one = tasksOf([cell('a')], choose(1), 2, '1')
    const mixed = await carryOut(one, memory(), (n) => (n % 3 === 0 ? reviewed('APPROVED') : failed('timeout')))
    expect([mixed.end.dropped, mixed.asked.length]).toEqual([[], one.length])
  })

  it('keeps nothing of a review that was ended', async () => {
    const journal = memory()
    expect((await carryOut(tasks, journal, () => failed('cancelled'))).end.kind).toBe('cancelled')
    expect(journal.kept).toEqual([])
  })

  it('names a base whose unchanged copy is held up by all', async () => {
    const journal = memory()
    const id = choose(1).find(({ control }) => control === 'unchanged')?.base.id
    await carryOut(tasks, journal, (_, { case: one }) =>
      reviewed(one.control === 'unchanged' ? 'CHANGES_REQUIRED' : 'APPROVED'),
    )
    expect([...heldBases(tasks, journal.kept)]).toEqual([id])
    const other = memory()
    await carryOut(tasks, other, (_, { cell: { name } }) => reviewed(name === 'a' ? 'CHANGES_REQUIRED' : 'APPROVED'))
    expect([...heldBases(tasks, other.kept)]).toEqual([])
  })
})

it('counts no remark as found that a cell makes about the copies without a defect as well', async () => {
  const one = cell('a')
  const tasks = tasksOf([one], choose(3), 1, '1')
  const remark: Finding = {
    id: 'F1',
    severity: 'major',
    section: 'Risks',
    problem: 'There is no rollback described, so a failed deployment cannot be taken back.',
    evidence: 'Risks name none.',
    fix: 'Describe the rollback.',
  }
  const recallOf = async (isSaidOf: (task: Task) => boolean) => {
    const journal = memory()
    await carryOut(tasks, journal, (_, task) => reviewed('CHANGES_REQUIRED', isSaidOf(task) ? [remark] : []))
    const { recall, classes } = measureCell(one, { tasks, lines: journal.kept, judge: null })
    return [recall.hits, classes.find((each) => each.class === 'rollback-removed')?.held.hits]
  }
  const isWithout = ({ case: { defect } }: Task) => defect?.class === 'rollback-removed'
  expect(await recallOf(isWithout)).toEqual([3, 3])
  expect(await recallOf(() => true)).toEqual([0, 0])
  const bases = new Set(tasks.flatMap((task) => (isWithout(task) ? [task.case.base.id] : [])))
  const own = tasks.find(({ case: { base, control } }) => control !== null && bases.has(base.id))?.case.base.id
  expect(own).toBeDefined()
  expect(await recallOf((task) => isWithout(task) || task.case.base.id === own)).toEqual([2, 2])
  // Of one other plan it may be true.
  const other = tasks.find(({ case: { base, control } }) => control !== null && !bases.has(base.id))?.case.base.id
  expect(other).toBeDefined()
  expect(await recallOf((task) => isWithout(task) || task.case.base.id === other)).toEqual([3, 3])
})

it('gives a cell its effort and its readers, and no other row', () => {
  const named = { ...defaultConfig.review, readers: ['other'], second_opinion: 'on-critical' as const, enabled: false }
  expect(cellConfig(named, cell('a', { effort: 'low', readers: 2 }), true)).toMatchObject({
    enabled: true,
    fast: true,
    readers: 2,
    second_opinion: 'never',
    effort: { find: 'low', plan: { find: 'auto' } },
  })
  expect(cellConfig(named, cell('a'), false)).toMatchObject({ readers: null, effort: named.effort, fast: false })
})

describe('the forecast', () => {
  const tasks = tasksOf(
    [cell('a', { route: { ...codex, price: { input: 1, cached: 1, output: 11 } } })],
    choose(1),
    1,
    '1',
  )
  const setup = { review: defaultConfig.review, fast: false, judgeCalls: 0 }

  it('is by what such passes have taken', () => {
    const times = { expect: () => ({ ms: 60_000, tokens: 10_000 }), record: () => {} }
    const forecast = forecastRun(tasks, { ...setup, times })
    expect(forecast).toMatchObject({ reviews: 13, calls: 52, seconds: 3120, tokens: 520_000 })
    expect(forecast.dollars).toBeCloseTo(0.52 * (0.9 + 1.1), 6)
    expect(forecast.words).toContain('about 52 min and 520k tokens, about $1.04')
  })

  it('says that it is not known, and what a review sends', () => {
    const forecast = forecastRun(tasks, { ...setup, times: { expect: () => null, record: () => {} } })
    expect(forecast).toMatchObject({ seconds: null, tokens: null, dollars: null })
    expect(forecast.words).toMatch(/not known yet: a review is about 4 questions with \d+k tokens together/)
    expect(
      forecastRun(tasks, { ...setup, judgeCalls: 9, times: { expect: () => null, record: () => {} } }).words,
    ).toContain('about 52 questions and up to 9 questions to the judge')
    expect(forecastRun([], { ...setup, times: { expect: () => null, record: () => {} } }).words).toBe(
      'Nothing is left to be reviewed.',
    )
  })
})
