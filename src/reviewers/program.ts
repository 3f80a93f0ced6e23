/** What the reviewers that are programs share: what they can do, one review's folder and deadline, and its answer. */
import { statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import type { AskContext, AskReviewer, Failure, Question } from '../schemas/review.ts'
import { withTemporaryFolder } from '../system/temporary-folder.ts'
import { cancelledFailure, failedAnswer, failureOf, quoteForeign } from './failure.ts'
import { type GroupOptions, type GroupOutcome, runInGroup } from './process.ts'
import { identifyProgram, readCached, writeCached } from './program-cache.ts'
import type { ReviewProgram } from './program-failures.ts'
import { answerFrom, runWithFallbacks, type Turn, type TurnRequest } from './turn-request.ts'

export type ProgramSetup = {
  /** An absolute path. */
  readonly program: string
  readonly env: NodeJS.ProcessEnv
  /** The user's cache of plan-gate; null: nothing is kept. */
  readonly cacheDir: string | null
  /** The parent of the temporary folder; null: the system's own. */
  readonly scratch: string | null
}

export type Within = { readonly timeoutMs: number; readonly signal: AbortSignal }

/** Runs one turn, with what it needs to run a process. */
type RunTurn = (request: TurnRequest, run: RunProcess) => Promise<Turn>

export type RunProcess = <State>(
  file: string,
  args: readonly string[],
  process: Pick<GroupOptions, 'cwd' | 'env' | 'input' | 'silenceMs' | 'maxOutputBytes'>,
  output: OutputFold<State>,
) => Promise<{ readonly outcome: GroupOutcome; readonly state: State }>

/** What it prints is folded line by line. */
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

export type RunHelp = (...args: readonly string[]) => Promise<GroupOutcome>

/** Read once for each version of a program and cached: starting it costs more than all other preparations of a review. */
export async function readCapabilitiesOf<T>(
  { name, install }: ReviewProgram,
  { program, cacheDir }: ProgramSetup,
  env: NodeJS.ProcessEnv,
  { timeoutMs, signal }: Within,
  parse: (text: string) => T | null,
  find: (run: RunHelp) => Promise<T | { readonly failure: Failure }>,
): Promise<T | { readonly failure: Failure }> {
  const identity = identifyProgram(program)
  if (identity === null) return { failure: failureOf('not-installed', `${name} was not found: ${program}.`, install) }
  const key = { name: name.toLowerCase(), identity }
  const cached = cacheDir === null ? null : readCached(cacheDir, key, parse)
  if (cached !== null) return cached
  const limits = { timeoutMs: Math.min(timeoutMs, 15_000), silenceMs: null, maxOutputBytes: 256 * 1024 }
  const found = await find((...args) => runInGroup(program, args, { cwd: tmpdir(), env, input: '', signal, ...limits }))
  const isFailure = typeof found === 'object' && found !== null && 'failure' in found
  if (!isFailure && cacheDir !== null) writeCached(cacheDir, key, found)
  return found
}

/** The failure of a program that did not even show its help. */
export function failureOfHelp({ name, probe, reinstall }: ReviewProgram, outcome: GroupOutcome): Failure {
  switch (outcome.kind) {
    case 'cancelled':
      return cancelledFailure
    case 'timed-out':
    case 'silent':
      return failureOf(
        'timeout',
        `${name} did not even show its help in time.`,
        `Try \`${probe}\` yourself; or use another reviewer.`,
      )
    default:
      return failureOf('not-installed', `${name} does not run.`, `Try \`${probe}\` yourself; ${reinstall}.`)
  }
}

export const tooOld = ({ name, update }: ReviewProgram, missing: readonly string[]): { readonly failure: Failure } => ({
  failure: failureOf(
    'not-installed',
    `This ${name} is too old for reviews: it lacks ${missing.join(', ')}.`,
    `${update}; or use another reviewer.`,
  ),
})

/** Help texts list a flag at the start of its own line: `  -s, --sandbox <MODE>` or `      --json`. */
export function missingFlags(help: string, required: readonly string[]): string[] {
  const known = new Set([...help.matchAll(/^ +(?:-[a-zA-Z], )?(--[a-z][a-z-]*)/gm)].map(([, flag]) => flag))
  return required.filter((flag) => !known.has(flag))
}
