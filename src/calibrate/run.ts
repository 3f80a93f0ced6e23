import type { EffectiveConfig } from '../config/schema.ts'
import type { ReviewOutcome } from '../review/request.ts'
import type { Route } from '../reviewers/route-table.ts'
import type { ReviewLine } from '../schemas/calibration.ts'
import { type Effort, efforts, type FailureClass } from '../schemas/review.ts'
import type { Case } from './cases.ts'
import type { Journal } from './journal.ts'
import { seededRandom } from './random.ts'

/** The reviews of a run: each case by each cell, in an order that tells nothing, and each of them once. */

export type Cell = {
  readonly name: string
  readonly route: Route
  /** null: as it is configured. */
  readonly effort: Effort | null
  readonly readers: number | null
}

export const asEffort = (name: string): Effort | null => efforts.find((effort) => effort === name) ?? null

/** The configuration of a cell: nothing falls through to another row, and nobody else verifies. */
export function cellConfig(
  review: EffectiveConfig['review'],
  { effort, readers }: Cell,
  fast: boolean,
): EffectiveConfig['review'] {
  const all = effort === null ? null : ({ understand: effort, find: effort, verify: effort } as const)
  const asAll = { understand: 'auto', find: 'auto', verify: 'auto' } as const
  return {
    ...review,
    enabled: true,
    fast: fast || review.fast,
    phases: { ...review.phases, plan: true, implementation: true },
    effort: all === null ? review.effort : { ...all, plan: asAll, code: asAll, documents: asAll },
    // Readers that are named are other rows, and this cell has one.
    readers: (readers ?? (Array.isArray(review.readers) ? null : review.readers)) as typeof review.readers,
    second_opinion: 'never',
  }
}

export type Task = { readonly cell: Cell; readonly case: Case; readonly repeat: number; readonly key: string }

/** Shuffled within each repeat, so that a run that is cut off has seen a bit of everything. */
export function tasksOf(cells: readonly Cell[], cases: readonly Case[], repeat: number, seed: string): readonly Task[] {
  return Array.from({ length: repeat }, (_, n) => n + 1).flatMap((number) =>
    seededRandom(`${seed} order ${number}`).shuffle(
      cells.flatMap((cell) => cases.map((one) => ({ cell, case: one, repeat: number, key: keyOf(cell, one, number) }))),
    ),
  )
}

const keyOf = (cell: Cell, one: Case, repeat: number): string =>
  `${cell.name} | ${one.id} ${one.hash.slice(0, 12)} | ${repeat}`

export type RunEnd = {
  readonly kind: 'done' | 'cancelled' | 'calls-used-up'
  /** Questions to reviewers. */
  readonly calls: number
  /** Cells that cannot go on: there is no point in asking them about the next case. */
  readonly dropped: readonly { readonly cell: string; readonly why: string; readonly nextStep: string }[]
}

type RunEffects = {
  readonly journal: Journal
  readonly review: (task: Task) => Promise<ReviewOutcome>
  readonly signal: AbortSignal
  readonly now: () => number
  readonly onDone: (task: Task, line: ReviewLine) => void
}

const hopeless: readonly FailureClass[] = ['quota', 'auth', 'not-installed']

/** Whether the next question would fail as well; a single one may fail by what was asked. */
export const isForGood = (failure: FailureClass, failuresInARow: number): boolean =>
  hopeless.includes(failure) || failuresInARow >= 3

/** Failures by what was asked, which say nothing about the next question. */
const ofTheCase: readonly FailureClass[] = ['refused', 'rejected', 'malformed']

/** What has a verdict is not asked again, and what has failed before comes last: it may fail for good. */
function openTasks(tasks: readonly Task[], { lines }: Journal): readonly (Task & { readonly failedBefore: boolean })[] {
  const reviews = lines().filter((line) => line.kind === 'review')
  const done = new Set(reviews.flatMap(({ key, failure }) => (failure === null ? [key] : [])))
  const failures = new Map<string, number>()
  for (const { key } of reviews) failures.set(key, (failures.get(key) ?? 0) + 1)
  return tasks
    .filter(({ key }) => !done.has(key))
    .sort((a, b) => (failures.get(a.key) ?? 0) - (failures.get(b.key) ?? 0))
    .map((task) => ({ ...task, failedBefore: failures.has(task.key) }))
}

/** A case that fails is passed over; a cell that fails for good leaves the rest to the others. */
export async function runTasks(tasks: readonly Task[], maxCalls: number | null, effects: RunEffects): Promise<RunEnd> {
  const { journal, signal } = effects
  let calls = 0
  const failures = new Map<string, number>()
  const dropped = new Map<string, RunEnd['dropped'][number]>()
  const end = (kind: RunEnd['kind']): RunEnd => ({ kind, calls, dropped: [...dropped.values()] })
  for (const task of openTasks(tasks, journal)) {
    const { name } = task.cell
    if (dropped.has(name)) continue
    if (signal.aborted) return end('cancelled')
    if (maxCalls !== null && calls >= maxCalls) return end('calls-used-up')
    const startedAt = effects.now()
    const outcome = await effects.review(task)
    if (signal.aborted || (outcome.kind === 'unavailable' && outcome.failure === 'cancelled')) return end('cancelled')
    const line = lineOf(task.key, outcome, (effects.now() - startedAt) / 1000)
    journal.append(line)
    calls += Math.max(1, line.calls)
    effects.onDone(task, line)
    // Once more is all that such a case gets in a run.
    if (line.failure !== null && task.failedBefore && ofTheCase.includes(line.failure)) continue
    const inARow = line.failure === null ? 0 : (failures.get(name) ?? 0) + 1
    failures.set(name, inARow)
    if (outcome.kind === 'unavailable' && isForGood(outcome.failure, inARow))
      dropped.set(name, { cell: name, why: outcome.why, nextStep: outcome.nextStep })
  }
  return end('done')
}

function lineOf(key: string, outcome: ReviewOutcome, seconds: number): ReviewLine {
  const result = outcome.kind === 'reviewed' ? outcome.result : null
  const meta = result?.pass_metadata
  return {
    kind: 'review',
    key,
    failure: outcome.kind === 'unavailable' ? outcome.failure : null,
    why: outcome.kind === 'unavailable' ? outcome.why : null,
    verdict: result?.verdict ?? null,
    findings: (result?.findings ?? []).map(({ severity, section, problem, evidence, fix }) => ({
      ...{ severity, section, problem, evidence, fix },
    })),
    model: meta?.model ?? null,
    seconds,
    calls: meta?.calls ?? 0,
    input: meta?.input_tokens ?? null,
    cached: meta?.cached_input_tokens ?? null,
    output: meta?.output_tokens ?? null,
    dollars: meta?.cost_usd ?? null,
  }
}
