import { mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { EffectiveConfig } from '../config/schema.ts'
import { readPlanScope } from '../gate/scope.ts'
import { makeRedactor } from '../redact/redact.ts'
import { fence, fenceTag } from '../redact/untrusted-text.ts'
import { readGuidelines } from '../review/material.ts'
import type { ReviewDependencies, ReviewOutcome } from '../review/request.ts'
import { createReviewDependencies, type ReviewSetup, reviewContent } from '../review/review.ts'
import { settleReview } from '../review/settle.ts'
import { createReviewers } from '../reviewers/create.ts'
import type { Route } from '../reviewers/route-table.ts'
import type { Calibration, CalibrationLine, ReviewLine } from '../schemas/calibration.ts'
import type { Question } from '../schemas/review.ts'
import { bool, integer, listOf, type Schema, strictObjectOf } from '../schemas/schema.ts'
import type { PassTimes } from '../state/pass-times.ts'
import { sha256 } from '../system/sha256.ts'
import { withTemporaryFolder } from '../system/temporary-folder.ts'
import { asList, asRecord, parseRecord } from '../text/json.ts'
import {
  type Base,
  type Case,
  checkOut,
  codeClasses,
  type Defect,
  type DefectClass,
  planClasses,
  readShippedChanges,
  readShippedPlans,
  shippedFolder,
  writeFiles,
} from './cases.ts'
import { diffOf, seedCodeDefect } from './code-defects.ts'
import {
  answersIn,
  heldBases,
  type Judged,
  judgeFinding,
  judgementKey,
  measureCell,
  type Reported,
  reviewedTasks,
  unsureFindings,
} from './measure.ts'
import { seedPlanDefect } from './plan-defects.ts'
import { compareCells, notesOn, proposeRoutes } from './recommend.ts'
import { type Cell, cellConfig, isForGood, isInPasses, type Journal, type RunEnd, runTasks, type Task } from './run.ts'
import { kappaOf, seededRandom } from './statistics.ts'
import vocabulary from './vocabulary.json'

/** A run from its choice of cases to its result. */

export type Run = {
  readonly tasks: readonly Task[]
  readonly cells: readonly Cell[]
  readonly cases: readonly Case[]
  readonly repeat: number
  readonly seed: string
  readonly type: 'plan' | 'code'
  readonly fast: boolean
  readonly maxCalls: number | null
  /** Decides what code cannot; null: nobody does. */
  readonly judge: Route | null
}

export type Place = {
  /** The user's repository, or the current folder. */
  readonly root: string
  readonly gitDir: string | null
  readonly config: EffectiveConfig
  readonly env: NodeJS.ProcessEnv
  readonly times: PassTimes
  readonly loadTokenizer: ReviewSetup['loadTokenizer']
}

/** What makes two runs the same one; more repeats, or another price, go on with what is there. */
export function runKey(
  { cases, cells, seed, fast }: Run,
  { config: { review, codex } }: Place,
  version: string,
): string {
  const { models, effort, multipass, reasoning_mode, readers, tool_access, guidelines } = review
  const settings = { models, effort, multipass, reasoning_mode, readers, tool_access, guidelines, codex }
  const rows = cells.map(({ route: { price: _, timeoutMs: __, retries: ___, ...route }, ...cell }) => ({
    ...cell,
    route,
  }))
  const texts = cases.map(({ id, hash }) => [id, hash])
  return sha256(JSON.stringify([version, seed, fast, texts, rows, settings])).slice(0, 16)
}

type Effects = {
  readonly journal: Journal
  readonly signal: AbortSignal
  readonly onDone: (task: Task, line: ReviewLine) => void
}

/** With why the judge did not answer everything; null: it did, or there is none. */
type Carried = RunEnd & { readonly judgeFailure: string | null }

/** Reviews what is not in the journal yet, then has the judge decide what code could not. */
export async function carryOut(run: Run, place: Place, effects: Effects): Promise<Carried> {
  const end = await withTemporaryFolder('review', (folder) => {
    const review = createReviewer(run, place, folder, effects.signal)
    return runTasks(run.tasks, run.maxCalls, { ...effects, review, now: () => performance.now() })
  })
  if (end.kind === 'cancelled' || run.judge === null) return { ...end, judgeFailure: null }
  const callsLeft = run.maxCalls === null ? Number.POSITIVE_INFINITY : run.maxCalls - end.calls
  const judgeFailure = await askJudge(run, run.judge, place, effects, callsLeft)
  return { ...end, kind: effects.signal.aborted ? 'cancelled' : end.kind, judgeFailure }
}

type CaseReview = {
  readonly task: Pick<Task, 'cell' | 'case'>
  readonly config: EffectiveConfig
  readonly fast: boolean
  /** The folder that the reviewer may read; null: none. */
  readonly root: string | null
  readonly guidelines: string | null
}

/** As any first review of a plan or of a change: by the engine, on a thread of its own. */
export async function reviewCase(
  { task: { cell, case: one }, config, fast, root, guidelines }: CaseReview,
  dependencies: SharedDependencies,
): Promise<ReviewOutcome> {
  const review = cellConfig(config.review, cell, fast)
  const { base } = one
  // One of its own: what a review listens to ends with it, and a run has hundreds.
  const own = new AbortController()
  const stop = (): void => own.abort()
  if (dependencies.signal.aborted) stop()
  dependencies.signal.addEventListener('abort', stop)
  try {
    return await reviewContent(
      {
        type: base.type,
        content: one.content,
        expertise: null,
        context: null,
        iteration: 1,
        earlier: [],
        lastId: 0,
        changes: null,
        intent: base.intent,
        guidelines,
        replies: null,
        contested: [],
        rounds: base.type === 'plan' ? config.plan.max_revisions : review.max_iterations,
        root,
        // A session that nobody resumes would only stay on the disk.
        thread: base.type === 'plan' && isInPasses(cell, review) ? { kind: 'start' } : { kind: 'none' },
        fast: review.fast,
        settle: settleReview(false),
        passTimeoutMs: review.timeout_seconds * 1000,
        totalMs: Math.max(review.timeout_seconds, review.policy.max_total_seconds) * 1000,
      },
      {
        review,
        table: { origin: 'config', routes: [{ ...cell.route, failMode: 'hard_fail' }], notices: [] },
        maxIterations: null,
      },
      { ...dependencies, signal: own.signal, onEvent: () => {}, savePass: () => {}, saveThread: () => {} },
    )
  } finally {
    dependencies.signal.removeEventListener('abort', stop)
  }
}

type SharedDependencies = Omit<ReviewDependencies, 'onEvent' | 'savePass' | 'saveThread'>

/** Each base has a folder of its own, in which one case takes the place of another. */
function createReviewer(run: Run, place: Place, folder: string, signal: AbortSignal) {
  const { env, loadTokenizer, times } = place
  const config = withOwnPrograms(place)
  const made = new Map<string, Promise<{ readonly root: string; readonly dependencies: SharedDependencies }>>()
  const prepare = async (base: Case['base']) => {
    const root = join(folder, String(made.size + 1), 'project')
    mkdirSync(join(root, '..'), { recursive: true, mode: 0o700 })
    await checkOut(place.root, base, root)
    const dependencies = createReviewDependencies({ config, root, env, signal, loadTokenizer })
    return { root, dependencies: { ...dependencies, passTimes: times } }
  }
  return async (task: Task) => {
    const { case: one } = task
    const { base } = one
    const prepared = made.get(base.id) ?? prepare(base)
    made.set(base.id, prepared)
    const { root, dependencies } = await prepared
    writeFiles(root, one.files)
    const isReadable = base.type === 'plan' || config.review.tool_access
    const guidelines = base.origin === 'own' ? guidelinesFor(one, place) : null
    return reviewCase({ task, config, fast: run.fast, root: isReadable ? root : null, guidelines }, dependencies)
  }
}

/** A relative path is one in the user's repository, and not in the folder of a case. */
const withOwnPrograms = ({ config, root }: Place): EffectiveConfig => {
  const { model_invoke } = config.hounfour
  return model_invoke.includes('/')
    ? { ...config, hounfour: { ...config.hounfour, model_invoke: resolve(root, model_invoke) } }
    : config
}

function guidelinesFor({ base }: Case, { root, gitDir, config }: Place): string | null {
  const touched =
    base.type === 'plan' ? readPlanScope(base.text).map(({ pattern }) => pattern) : base.files.map(({ path }) => path)
  return readGuidelines(root, gitDir, config.review.guidelines, { type: base.type, touched, base: base.commit }).text
}

/** Another model under the same name is another judge. */
const judgeId = ({ name, backend, model, endpoint }: Route): string =>
  `${name} ${sha256(JSON.stringify([backend, model, endpoint])).slice(0, 8)}`

const sampleKey = (judge: string, group: number): string => `${judge} | sample | ${group}`

type JudgeQuestion = { readonly key: string; readonly pairs: readonly Pair[] }

/** About the labelled sample, and about what code has left open in a review; without those that are answered. */
function questionsTo(judge: string, tasks: readonly Task[], lines: readonly CalibrationLine[]) {
  const answers = answersIn(lines)
  const questions: readonly JudgeQuestion[] = [
    ...groupSample(readLabelledSample()).map((pairs, n) => ({ key: sampleKey(judge, n), pairs })),
    ...reviewedTasks(tasks, lines).map((reviewed) => {
      const { defect } = reviewed.task.case
      const pairs = defect === null ? [] : unsureFindings(reviewed).map((finding) => ({ defect, finding }))
      return { key: judgementKey(judge, reviewed.task), pairs }
    }),
  ]
  return questions.filter(({ key, pairs }) => pairs.length > 0 && !answers.has(key))
}

/** So many at most: a review that is still to come may leave nothing open. */
export function judgeQuestionsLeft({ judge, tasks }: Run, lines: readonly CalibrationLine[]): number {
  if (judge === null) return 0
  const reviewed = new Set(reviewedTasks(tasks, lines).map(({ task }) => task.key))
  const open = tasks.filter((task) => task.case.defect !== null && !reviewed.has(task.key))
  return questionsTo(judgeId(judge), tasks, lines).length + open.length
}

/** Why it did not answer everything; null: it did. */
async function askJudge(
  run: Run,
  route: Route,
  place: Place,
  { journal, signal }: Effects,
  callsLeft: number,
): Promise<string | null> {
  const { config, root, env } = place
  const redactor = makeRedactor(config.review.redaction.patterns)
  const ask = createReviewers(config, root, env)(route)
  let [calls, failuresInARow] = [0, 0]
  let why: string | null = null
  for (const { key, pairs } of questionsTo(judgeId(route), run.tasks, journal.lines())) {
    if (signal.aborted) break
    if (calls >= callsLeft) return '--max-calls is used up.'
    calls += 1
    const redacted = redactor.text(JSON.stringify(pairs.map(listedPair), null, 2))
    const question = aboutPairs(redacted.kind === 'redacted' ? redacted.text : '', route, config)
    const answer = await ask(question, { signal, onProgress: () => {} })
    const answers = answer.kind === 'answered' ? readAnswers(answer.text, pairs.length) : null
    if (answers !== null) {
      failuresInARow = 0
      journal.append({ kind: 'judgement', key, answers })
      continue
    }
    failuresInARow += 1
    const isFailed = answer.kind === 'failed'
    why = isFailed ? answer.why : 'Its answer was no list of judgements.'
    if (isForGood(isFailed ? answer.failure : 'malformed', failuresInARow)) break
  }
  return why
}

type Told = Pick<Calibration, 'forecast' | 'why' | 'plan_gate' | 'made_at'> & Pick<Carried, 'judgeFailure'>

export function resultOf(run: Run, journal: Journal, told: Told): Calibration {
  const lines = journal.lines()
  const judge = run.judge === null ? null : judgeId(run.judge)
  const cells = run.cells
    .map((cell) => measureCell(cell, { tasks: run.tasks, lines, judge }))
    .filter(({ reviews, failed }) => reviews + failed > 0)
  const held = heldBases(run.tasks, lines)
  const bases = [...new Map(run.cases.map(({ base }) => [base.id, base])).values()]
  return {
    made_at: told.made_at,
    plan_gate: told.plan_gate,
    type: run.type,
    seed: run.seed,
    repeat: run.repeat,
    defects: run.cases.filter(({ defect }) => defect !== null).length,
    controls: run.cases.filter(({ defect }) => defect === null).length,
    bases: bases.map(({ id, origin, note }) => ({ name: id, origin, note, is_held: held.has(id) })),
    complete: reviewedTasks(run.tasks, lines).length === run.tasks.length,
    why: told.why,
    forecast: told.forecast,
    cells,
    comparisons: compareCells(cells),
    proposal: proposeRoutes(cells, run.cells),
    notes: notesOn(cells, run.type),
    rule: ruleAgreement(),
    judge: run.judge === null ? null : { ...judgeAgreement(run.judge, journal), why: told.judgeFailure },
  }
}

function ruleAgreement(): Calibration['rule'] {
  const decided = judgeSampleByRule(readLabelledSample()).filter(({ judged }) => judged !== 'unsure')
  return agreementOf(decided.map(({ same, judged }) => ({ a: same, b: judged === 'hit' })))
}

function judgeAgreement(route: Route, journal: Journal) {
  const answers = answersIn(journal.lines())
  const pairs = groupSample(readLabelledSample()).flatMap((group, n) => {
    const said = answers.get(sampleKey(judgeId(route), n))
    return said === undefined ? [] : group.map(({ same }, at) => ({ a: same, b: said[at] === true }))
  })
  return { route: route.name, ...agreementOf(pairs) }
}

const agreementOf = (pairs: readonly { readonly a: boolean; readonly b: boolean }[]) => ({
  pairs: pairs.length,
  agreed: pairs.filter(({ a, b }) => a === b).length,
  kappa: kappaOf(pairs),
})

/** Findings that code cannot decide go to a reviewer of another family, whose agreement with a labelled sample is measured. */

type Pair = { readonly defect: Defect; readonly finding: Reported }

const judgeAnswerSchema = {
  $id: 'judge-answer',
  ...strictObjectOf({ answers: listOf(strictObjectOf({ pair: integer, same: bool })) }),
} as const satisfies Schema

const listedPair = ({ defect, finding }: Pair, n: number) => ({
  pair: n + 1,
  defect: { what: defect.why, place: defect.section, before: defect.was, now: defect.is },
  finding: { section: finding.section, problem: finding.problem, evidence: finding.evidence, fix: finding.fix },
})

/** Whether the finding of each pair describes its defect. */
function aboutPairs(material: string, { model }: Route, { review }: EffectiveConfig): Question {
  const tag = fenceTag([material], () => sha256(`${performance.now()}`).slice(0, 12))
  const user = `Whatever stands between lines with the tag ${tag} is material.\n\n${fence(material, 'the pairs', tag)}`
  return {
    system: vocabulary.judge,
    user,
    model,
    effort: null,
    schema: judgeAnswerSchema,
    thread: { kind: 'none' },
    root: null,
    timeoutMs: review.timeout_seconds * 1000,
    subject: { type: 'plan', content: user },
  }
}

function readAnswers(text: string, count: number): readonly boolean[] | null {
  const object = parseRecord(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1))
  const said = new Map(
    asList(object?.answers).map((entry) => {
      const { pair, same } = asRecord(entry)
      return [pair, same] as const
    }),
  )
  const answers = Array.from({ length: count }, (_, n) => said.get(n + 1))
  return answers.every((answer): answer is boolean => typeof answer === 'boolean') ? answers : null
}

/** A finding about a shipped plan or change with one defect, and whether it describes it, as people have said. */
type LabelledPair = Pair & { readonly text: string; readonly same: boolean }

type Labelled = {
  readonly base: string
  readonly class: string
  readonly findings: readonly (Reported & { readonly same: boolean })[]
}

export function readLabelledSample(): readonly LabelledPair[] {
  const bases = new Map([...readShippedPlans(), ...readShippedChanges()].map((base) => [base.id, base]))
  const groups = JSON.parse(readFileSync(join(shippedFolder(), 'labelled.json'), 'utf8')) as readonly Labelled[]
  return groups.flatMap(({ base: id, class: name, findings }) => {
    const base = bases.get(id)
    const defectClass = [...planClasses, ...codeClasses].find((each) => each === name)
    const seeded = base === undefined || defectClass === undefined ? null : seedIn(base, defectClass)
    if (seeded === null) throw new Error(`labelled.json: ${id} has no place for ${name}`)
    return findings.map(({ same, ...finding }) => ({ ...seeded, finding, same }))
  })
}

function seedIn(base: Base, name: DefectClass): Pick<LabelledPair, 'defect' | 'text'> | null {
  const random = seededRandom(`labelled ${base.id} ${name}`)
  if (base.type === 'code') {
    const mutant = seedCodeDefect(base.files, name, random)
    return mutant === null ? null : { defect: mutant.defect, text: diffOf(mutant.files) }
  }
  return seedPlanDefect(base.text, name, { exists: base.exists, hasRequest: true }, random)
}

export const judgeSampleByRule = (
  pairs: readonly LabelledPair[],
): readonly (LabelledPair & { readonly judged: Judged })[] =>
  pairs.map((pair) => ({ ...pair, judged: judgeFinding(pair.finding, pair.defect, pair.text) }))

/** So many in one question, in an order that tells nothing. */
const pairsPerQuestion = 20

export function groupSample(pairs: readonly LabelledPair[]): readonly (readonly LabelledPair[])[] {
  const shuffled = seededRandom('sample').shuffle(pairs)
  const groups = Math.ceil(shuffled.length / pairsPerQuestion)
  return Array.from({ length: groups }, (_, n) => shuffled.slice(n * pairsPerQuestion, (n + 1) * pairsPerQuestion))
}
