import { reviewCase } from '../../../src/calibrate/calibrate.ts'
import { chooseCases, classesOf, readShippedPlans } from '../../../src/calibrate/cases.ts'
import { measureCell } from '../../../src/calibrate/measure.ts'
import { type Cell, type Journal, runTasks, tasksOf } from '../../../src/calibrate/run.ts'
import { defaultConfig } from '../../../src/config/schema.ts'
import { createReviewDependencies } from '../../../src/review/review.ts'
import { defaultRoutes } from '../../../src/reviewers/route-table.ts'
import type { CalibrationLine, CellResult } from '../../../src/schemas/calibration.ts'
import { type Skill, scriptedReviewer } from './scripted-reviewer.ts'

const [, , row] = defaultRoutes
if (row === undefined) throw new Error('the built-in table has three rows')
const cell: Cell = { name: 'scripted', route: { ...row, name: 'scripted' }, effort: null, readers: null }
const bases = readShippedPlans()
const signal = new AbortController().signal
const dependencies = createReviewDependencies({
  config: defaultConfig,
  root: import.meta.dirname,
  env: {},
  signal,
  loadTokenizer: () => import('../../../src/review/count-tokens.ts'),
})

/** A whole run through the real engine, with a reviewer of known skill in the place of a model. */
export async function measureScripted(skill: Skill, seed: string): Promise<CellResult> {
  const choice = {
    classes: classesOf('plan'),
    perClass: 3,
    seed,
    requiredSections: defaultConfig.plan.required_sections,
  }
  const tasks = tasksOf([cell], chooseCases(bases, choice), 2, seed)
  const kept: CalibrationLine[] = []
  const journal: Journal = { lines: () => kept, append: (line) => void kept.push(line) }
  const ask = scriptedReviewer(skill, seed)
  const scripted = { ...dependencies, reviewers: () => ask, passTimes: { expect: () => null, record: () => {} } }
  const end = await runTasks(tasks, null, {
    journal,
    signal,
    now: () => performance.now(),
    onDone: () => {},
    review: (task) => reviewCase({ task, config: defaultConfig, fast: true, root: null, guidelines: null }, scripted),
  })
  if (end.kind !== 'done' || end.dropped.length > 0) throw new Error(JSON.stringify(end))
  return measureCell(cell, { tasks, lines: kept, judge: null })
}
