/** What the reviewers that are programs share: the folder and the deadline of a question, its turns and its answer. */
import { statSync } from 'node:fs'
import type { AskContext, AskReviewer, Failure, Question } from '../schemas/review.ts'
import { withTemporaryFolder } from '../system/temporary-folder.ts'
import { failedAnswer, failureOf, quoteForeign } from './failure.ts'
import { type GroupOptions, type GroupOutcome, runInGroup } from './process.ts'
import type { Within } from './program-cache.ts'
import type { ReviewProgram } from './program-failures.ts'
import { answerFrom, runWithFallbacks, type Turn, type TurnRequest } from './turn-request.ts'

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
