import { statSync } from 'node:fs'
import type {
  Answer,
  AskContext,
  AskReviewer,
  Effort,
  Failure,
  Question,
  ThreadAfter,
  Usage,
} from '../schemas/review.ts'
import { embedded, type Schema } from '../schemas/schema.ts'
import { isUuid } from '../state/revisions.ts'
import { withTemporaryFolder } from '../system/temporary-folder.ts'
import { type Classified, failedAnswer, failureOf, quoteForeign, type ReviewProgram } from './failure.ts'
import { type GroupOptions, type GroupOutcome, runInGroup } from './process.ts'
import type { Within } from './program-cache.ts'

/** What the reviewers that are programs share: the folder and the deadline of a question, its turns and its answer. */

type RunTurn = (request: TurnRequest, run: RunProcess) => Promise<Turn>

export type RunProcess = <State>(
  file: string,
  args: readonly string[],
  process: Pick<GroupOptions, 'cwd' | 'env' | 'input' | 'silenceMs' | 'maxOutputBytes'>,
  output: OutputFold<State>,
) => Promise<{ readonly outcome: GroupOutcome; readonly state: State }>

type OutputFold<State> = {
  readonly begin: State
  readonly read: (state: State, line: string, stream: 'stdout' | 'stderr') => LineResult<State>
  readonly isOver: (state: State) => boolean
}

/** The state after a line, and a few words for the user who waits; null for a line without progress. */
export type LineResult<State> = { readonly state: State; readonly progress: string | null }

/** `prepare` finds out whether the program can be asked, and how a turn is run. */
export const programReviewer =
  (
    program: ReviewProgram,
    scratch: string | null,
    prepare: (question: Question, folder: string, within: Within) => Promise<RunTurn | { readonly failure: Failure }>,
  ): AskReviewer =>
  async (question, context) => {
    const deadline = performance.now() + question.timeoutMs
    const timeLeft = (): number => deadline - performance.now()
    const missing = missingRoot(question.root)
    if (missing !== null) return failedAnswer(missing)
    const ask = async (folder: string) => {
      const runTurn = await prepare(question, folder, { timeoutMs: timeLeft(), signal: context.signal })
      if ('failure' in runTurn) return failedAnswer(runTurn.failure)
      const runWithin = (request: TurnRequest, timeoutMs: number): Promise<Turn> => {
        context.onProgress(`starting ${program.name.toLowerCase()}`)
        return runTurn(request, runFolded(timeoutMs, context))
      }
      const { request, turn } = await runWithFallbacks(question, runWithin, timeLeft)
      return answerFrom(request, turn, question, program)
    }
    try {
      return await withTemporaryFolder(program.name.toLowerCase(), ask, scratch)
    } catch (error) {
      const why = `${program.name} could not be asked: ${quoteForeign(String(error), [])}`
      const nextStep = 'Check whether files can be written in the folder for temporary files, or use another reviewer.'
      return failedAnswer(failureOf('crashed', why, nextStep))
    }
  }

const runFolded =
  (timeoutMs: number, { signal, onProgress }: AskContext): RunProcess =>
  async (file, args, process, { begin, read, isOver }) => {
    let state = begin
    const outcome = await runInGroup(file, args, {
      ...process,
      timeoutMs,
      signal,
      onLine: (line, stream) => {
        const after = read(state, line, stream)
        state = after.state
        if (after.progress !== null) onProgress(after.progress)
        return isOver(state) ? 'end' : undefined
      },
    })
    return { outcome, state }
  }

const missingRoot = (root: string | null): Failure | null =>
  root === null || statSync(root, { throwIfNoEntry: false })?.isDirectory() === true
    ? null
    : failureOf(
        'rejected',
        `The folder under review is not there: ${root}`,
        'Run plan-gate in the folder that is to be reviewed.',
      )

/** One turn with a program that remembers: on which thread, with what, and how to ask again where it was not accepted. */

export type TurnRequest = {
  readonly resume: string | null
  readonly keepsThread: boolean
  readonly effort: Effort | null
  readonly schema: Schema | null
  readonly replaced: { readonly was: string; readonly why: string } | null
  readonly notices: readonly string[]
}

export function firstRequest({ thread, effort, schema }: Question): TurnRequest {
  const request = { resume: null, keepsThread: thread.kind !== 'none', effort, schema, replaced: null, notices: [] }
  if (thread.kind !== 'resume') return request
  if (isUuid(thread.id)) return { ...request, resume: thread.id }
  return replaceThread(request, thread.id, 'what was noted of it is not the id of a thread')
}

/** What is said in this turn: `first`, where the thread has not been told it yet. */
export function turnText({ turn = null, schema }: Question, request: TurnRequest, first: string): string {
  const text = request.resume !== null && turn !== null ? turn : first
  return schema !== null && request.schema === null ? `${text}\n\n${schemaInWords(schema)}` : text
}

/** For a backend, or a model, that takes no schema. */
export const schemaInWords = (schema: Schema): string =>
  `Answer with one JSON object by this JSON schema, and nothing around it:\n${JSON.stringify(embedded(schema))}`

const replaceThread = (request: TurnRequest, was: string, why: string): TurnRequest => ({
  ...request,
  resume: null,
  replaced: { was, why },
})

/** `thread` can be resumed; `total` is what all of it has used, where known. */
export type Turn =
  | { readonly kind: 'answered'; readonly text: string; readonly thread: string | null; readonly total: Usage | null }
  | ({ readonly kind: 'failed'; readonly thread: string | null; readonly total: null } & Classified)

export function fallbackRequest(request: TurnRequest, turn: Turn): TurnRequest | null {
  const { resume, effort, schema, notices } = request
  switch (turn.kind === 'failed' ? turn.fallback : null) {
    case null:
      return null
    case 'new-thread':
      return resume === null || turn.kind !== 'failed' ? null : replaceThread(request, resume, turn.failure.why)
    case 'no-effort': {
      const notice = `Reasoning effort ${effort} was left out: the model does not take it.`
      return effort === null ? null : { ...request, effort: null, notices: [...notices, notice] }
    }
    case 'no-schema': {
      const notice = 'The form of the answer was asked for in words only: the schema was refused.'
      return schema === null ? null : { ...request, schema: null, notices: [...notices, notice] }
    }
  }
}

/** Asks again without the thread, the effort or the schema where the program or the model did not accept it. */
async function runWithFallbacks(
  question: Question,
  runTurn: (request: TurnRequest, timeoutMs: number) => Promise<Turn>,
  timeLeft: () => number,
): Promise<{ readonly request: TurnRequest; readonly turn: Turn }> {
  let request = firstRequest(question)
  for (;;) {
    const turn = await runTurn(request, timeLeft())
    const fallback = fallbackRequest(request, turn)
    if (fallback === null || timeLeft() <= 0) return { request, turn }
    request = fallback
  }
}

/** The answer with the tokens of this turn alone and the thread that can be resumed. */
export function answerFrom(
  request: TurnRequest,
  turn: Turn,
  question: Question,
  { name, countsThread }: Pick<ReviewProgram, 'name' | 'countsThread'>,
): Answer {
  const after = { thread: threadAfter(request, turn, countsThread, name), notices: request.notices }
  if (turn.kind === 'failed') return { kind: 'failed', ...turn.failure, ...after }
  const usage = countsThread ? usageOfTurn(request, turn, question) : turn.total
  return { kind: 'answered', text: turn.text, usage, model: question.model, ...after }
}

function threadAfter(
  { resume, keepsThread, replaced }: TurnRequest,
  { thread, total }: Turn,
  countsThread: boolean,
  program: string,
): ThreadAfter | null {
  if (!keepsThread || thread === null) return null
  const isOther = resume !== null && !isSameId(resume, thread)
  return {
    id: thread,
    used: countsThread ? total : null,
    replaced: isOther ? { was: resume, why: `${program} went on with another one.` } : replaced,
  }
}

const isSameId = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()

/** Of what the whole thread has used; null where it is less than before, so a new count has begun. */
function usageOfTurn({ resume }: TurnRequest, { thread, total }: Turn, question: Question): Usage | null {
  if (total === null || resume === null || thread === null || !isSameId(resume, thread)) return total
  const before = question.thread.kind === 'resume' ? question.thread.used : null
  if (before === null) return null
  const rest = {
    input: total.input - before.input,
    cached: total.cached - before.cached,
    output: total.output - before.output,
    reasoning: total.reasoning - before.reasoning,
  }
  return Object.values(rest).some((tokens) => tokens < 0) ? null : rest
}
