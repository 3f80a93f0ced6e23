import { closeSync, constants, fsyncSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { EffectiveConfig } from '../config/schema.ts'
import { chooseEffort } from '../review/complexity.ts'
import type { PassKind } from '../review/prompts.ts'
import type { ReviewOutcome } from '../review/request.ts'
import { estimateTokens } from '../review/tokens.ts'
import type { Route } from '../reviewers/route-table.ts'
import {
  type Calibration,
  type CalibrationLine,
  calibrationLineSchema,
  type ReviewLine,
} from '../schemas/calibration.ts'
import { type Effort, efforts, type FailureClass } from '../schemas/review.ts'
import { accepts } from '../schemas/schema.ts'
import { ensureFolder, lstatEntry, openRegular, readRegular } from '../state/files.ts'
import type { PassTimes } from '../state/pass-times.ts'
import { parseJson } from '../text/json.ts'
import type { Case } from './cases.ts'
import { seededRandom } from './statistics.ts'

/** What was paid for, so that it is never paid for again: a line for each review, and for each answer of the judge. */

export type Journal = {
  readonly lines: () => readonly CalibrationLine[]
  readonly append: (line: CalibrationLine) => void
}

const maxBytes = 256 * 1024 * 1024

/** A last line that was torn by a crash is left out, and so is what an older version has written otherwise. */
export function openJournal(root: string, folder: string, name: string): Journal {
  const path = `${folder}/${name}`
  const read = readRegular(root, path, maxBytes)
  const text = read.kind === 'read' ? read.bytes.toString('utf8') : ''
  const lines = text
    .split('\n')
    .slice(0, -1)
    .map(parseJson)
    .filter((line): line is CalibrationLine => accepts(calibrationLineSchema, line))
  let isTorn = text !== '' && !text.endsWith('\n')
  return {
    lines: () => lines,
    append: (line) => {
      ensureFolder(root, folder)
      const opened = openRegular(root, path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT)
      if (opened.kind !== 'opened') throw new Error(`${path} cannot be written`)
      try {
        const bytes = Buffer.from(`${isTorn ? '\n' : ''}${JSON.stringify(line)}\n`)
        for (let at = 0; at < bytes.length; ) at += writeSync(opened.fd, bytes, at)
        fsyncSync(opened.fd)
        isTorn = false
      } finally {
        closeSync(opened.fd)
      }
      lines.push(line)
    },
  }
}

/** What was paid for is never deleted: only the one that was set aside before makes room. */
export function setJournalAside(root: string, folder: string, name: string): void {
  const path = `${folder}/${name}`
  if (lstatEntry(root, path).kind === 'entry') renameSync(join(root, path), join(root, `${path}.old`))
}

type Forecast = Calibration['forecast']
type Setup = {
  readonly review: EffectiveConfig['review']
  readonly fast: boolean
  readonly times: PassTimes
  readonly judgeCalls: number
}

export function forecastRun(tasks: readonly Task[], setup: Setup): Forecast {
  const each = tasks.map((task) => forecastReview(task, setup))
  const calls = sum(each.map((one) => one.calls))
  const all = (values: readonly (number | null)[]): number | null =>
    values.length === 0 || values.some((value) => value === null) ? null : sum(values.map((value) => value ?? 0))
  const figures = {
    reviews: tasks.length,
    calls,
    judge_calls: setup.judgeCalls,
    seconds: all(each.map(({ seconds }) => seconds)),
    tokens: all(each.map(({ tokens }) => tokens)),
    dollars: all(each.map(({ dollars }) => dollars)),
  }
  return {
    ...figures,
    words: words(figures, tasks.length === 0 ? 0 : Math.round(sum(each.map(({ sent }) => sent)) / tasks.length)),
  }
}

type ReviewForecast = {
  readonly calls: number
  readonly seconds: number | null
  readonly tokens: number | null
  readonly dollars: number | null
  /** In all questions of the review, without what is read in the repository and without the answers. */
  readonly sent: number
}

function forecastReview({ cell, case: one }: Task, { review, fast, times }: Setup): ReviewForecast {
  const config = cellConfig(review, cell, fast)
  const { type } = one.base
  const passes = passesOf(cell, config, type)
  const known = passes.map((does) =>
    times.expect(cell.route.name, chooseEffort({ does, type, large: false, config: config.effort })),
  )
  const tokens = known.every((each) => each !== null && each.tokens !== null)
    ? sum(known.map((each) => each?.tokens ?? 0))
    : null
  const { price } = cell.route
  return {
    calls: passes.length,
    seconds: known.every((each) => each !== null) ? sum(known.map((each) => each?.ms ?? 0)) / 1000 : null,
    tokens,
    // Nine tenths of what a review uses is what it reads.
    dollars: tokens === null || price === null ? null : (tokens * (0.9 * price.input + 0.1 * price.output)) / 1_000_000,
    sent: passes.length * promptTokens(one),
  }
}

export const isInPasses = ({ route }: Pick<Cell, 'route'>, review: EffectiveConfig['review']): boolean =>
  !review.fast && review.reasoning_mode !== 'single-pass' && route.capabilities.includes('multi_pass')

/** What the engine asks in a first round that does not end after its first pass. */
function passesOf({ route }: Cell, review: EffectiveConfig['review'], type: 'plan' | 'code'): readonly PassKind[] {
  if (!isInPasses({ route }, review)) return ['combined']
  const readers = typeof review.readers === 'number' ? review.readers : type === 'plan' ? 2 : 1
  return ['plan', ...Array.from({ length: readers }, () => 'review' as const), 'verify']
}

/** Our own instructions in a question, about. */
const instructionTokens = 1_500

const promptTokens = ({ base, content }: Task['case']): number =>
  instructionTokens + estimateTokens(content) + estimateTokens(base.intent ?? '')

function words(
  { reviews, calls, judge_calls, seconds, tokens, dollars }: Omit<Forecast, 'words'>,
  sent: number,
): string {
  const toJudge = judge_calls === 0 ? '' : `up to ${countOf(judge_calls, 'question')} to the judge`
  if (reviews === 0) return `Nothing is left to be reviewed${toJudge === '' ? '' : `; ${toJudge}`}.`
  const start = `${countOf(reviews, 'review')}, about ${countOf(calls, 'question')}${toJudge === '' ? '' : ` and ${toJudge}`}`
  if (seconds === null || tokens === null)
    return `${start}. What they take is not known yet: a review is about ${countOf(Math.round(calls / reviews), 'question')} with ${inThousands(sent)} tokens together, besides what the reviewer reads in the repository and what it answers.`
  return `${start}, about ${formatHours(seconds)} and ${inThousands(tokens)} tokens${dollars === null ? '; the row has no price' : `, about $${dollars.toFixed(2)}`}, by what such passes have taken before.`
}

const countOf = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

export const inThousands = (tokens: number): string =>
  tokens < 1000
    ? `${Math.round(tokens)}`
    : tokens < 1_000_000
      ? `${Math.round(tokens / 1000)}k`
      : `${(tokens / 1_000_000).toFixed(1)}M`

export const formatHours = (seconds: number): string =>
  seconds < 90
    ? `${Math.round(seconds)} s`
    : seconds < 5400
      ? `${Math.round(seconds / 60)} min`
      : `${(seconds / 3600).toFixed(1)} h`

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)

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
