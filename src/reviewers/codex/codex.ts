import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type {
  Answer,
  AskContext,
  AskReviewer,
  Effort,
  Failure,
  Question,
  ThreadAfter,
  Usage,
} from '../../schemas/review.ts'
import type { Schema } from '../../schemas/schema.ts'
import { withTemporaryFolder } from '../../system/temporary-folder.ts'
import { failedAnswer, failureOf, quoteForeign, secretsIn } from '../failure.ts'
import { runInGroup } from '../process.ts'
import { schemaInWords, strictSchema } from '../strict-schema.ts'
import { codexArgs, codexSettings } from './args.ts'
import { type Capabilities, readCapabilities } from './capabilities.ts'
import {
  type CodexLimits,
  type CodexSetup,
  codexEnvironment,
  codexLimits,
  mcpServersIn,
  projectFolders,
  projectSkills,
  readUserConfig,
} from './environment.ts'
import { formatProgress, parseLine } from './events.ts'
import { foldTurn, initialTurn, isUnrecoverable, readTurn, type Turn, type TurnState } from './turn.ts'

/** The Codex CLI in its read-only sandbox; on a thread it remembers the turns before. */
export const codexReviewer =
  (setup: CodexSetup): AskReviewer =>
  async (question, context) => {
    const tooLong = checkLength(question)
    if (tooLong !== null) return failedAnswer(tooLong)
    try {
      return await withTemporaryFolder('codex', (folder) => ask(setup, question, context, folder), setup.scratch)
    } catch (error) {
      return failedAnswer(
        failureOf(
          'crashed',
          `Codex could not be asked: ${quoteForeign(String(error), [])}`,
          'Check whether files can be written in the folder for temporary files, or use another reviewer.',
        ),
      )
    }
  }

const maxPromptLength = 1_048_576

/** Codex would refuse it only after its start; it counts characters, not UTF-16 units. */
function checkLength(question: Pick<Question, 'system' | 'user'>): Failure | null {
  const prompt = withSystem(question)
  const length = prompt.length <= maxPromptLength ? prompt.length : [...prompt].length
  return length <= maxPromptLength
    ? null
    : failureOf(
        'rejected',
        `What is to be reviewed has ${length} characters, and Codex takes ${maxPromptLength} in one turn.`,
        'Review it in parts.',
      )
}

const withSystem = ({ system, user }: Pick<Question, 'system' | 'user'>): string => `${system}\n\n${user}`

/** What is said in this turn. The instructions stand before it, unless they replace Codex's own or the thread has them. */
function turnText(question: Question, request: TurnRequest, replacesInstructions: boolean): string {
  const { user, turn = null, schema } = question
  const text = request.resume !== null && turn !== null ? turn : replacesInstructions ? user : withSystem(question)
  return schema !== null && request.schema === null ? `${text}\n\n${schemaInWords(schema)}` : text
}

async function ask(setup: CodexSetup, question: Question, context: AskContext, folder: string): Promise<Answer> {
  const deadline = performance.now() + question.timeoutMs
  const timeLeft = (): number => deadline - performance.now()
  const known = await readCapabilities(setup, folder, { timeoutMs: timeLeft(), signal: context.signal })
  if (known.kind === 'failed') return failedAnswer(known.failure)
  const openShell = checkShellDisabled(question, known)
  if (openShell !== null) return failedAnswer(openShell)
  return runWithFallbacks({ setup, question, context, known, folder, limits: codexLimits(setup) }, timeLeft)
}

/** The read-only sandbox lets a command read every file of this user; only a Codex without commands reads none. */
const checkShellDisabled = ({ root }: Question, { features }: Capabilities): Failure | null =>
  root !== null || features.includes('shell_tool')
    ? null
    : failureOf(
        'not-installed',
        'This Codex cannot be run without its shell tool, and could read any file.',
        'Update it: npm i -g @openai/codex@latest; or allow it to read with review.tool_access: true.',
      )

/** Asks again without the thread, the effort or the schema where Codex or the model did not accept it. */
async function runWithFallbacks(context: Omit<RunContext, 'timeoutMs'>, timeLeft: () => number): Promise<Answer> {
  let request = firstRequest(context.question)
  for (;;) {
    const turn = await runTurn(request, { ...context, timeoutMs: timeLeft() })
    const fallback = fallbackRequest(request, turn)
    if (fallback === null || timeLeft() <= 0) return answerFrom(request, turn, context.question)
    request = fallback
  }
}

export type TurnRequest = {
  /** The id of the thread to continue. */
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
  if (isThreadId(thread.id)) return { ...request, resume: thread.id }
  return replaceThread(request, thread.id, 'what was noted of it is not the id of a thread')
}

/** `codex exec resume` takes any other word for a new thread, without an error. */
const isThreadId = (id: string): boolean => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(id)

const replaceThread = (request: TurnRequest, was: string, why: string): TurnRequest => ({
  ...request,
  resume: null,
  replaced: { was, why },
})

/** null: there is no other way to ask, and this turn is final. */
export function fallbackRequest(request: TurnRequest, turn: Turn): TurnRequest | null {
  if (turn.kind !== 'failed') return null
  switch (turn.fallback) {
    case null:
      return null
    case 'new-thread':
      return request.resume === null ? null : replaceThread(request, request.resume, turn.failure.why)
    case 'no-effort': {
      if (request.effort === null) return null
      const notice = `Reasoning effort ${request.effort} was left out: the model does not take it.`
      return { ...request, effort: null, notices: [...request.notices, notice] }
    }
    case 'no-schema': {
      if (request.schema === null) return null
      const notice = 'The form of the answer was asked for in words only: the schema was refused.'
      return { ...request, schema: null, notices: [...request.notices, notice] }
    }
  }
}

type RunContext = {
  readonly setup: CodexSetup
  readonly question: Question
  readonly context: AskContext
  readonly known: Capabilities
  readonly folder: string
  readonly limits: CodexLimits
  readonly timeoutMs: number
}

/** One process of Codex. */
async function runTurn(request: TurnRequest, runContext: RunContext): Promise<Turn> {
  const { setup, question, context, folder, limits, timeoutMs } = runContext
  const { root } = question
  if (root !== null && statSync(root, { throwIfNoEntry: false })?.isDirectory() !== true)
    return { kind: 'failed', failure: missingRoot(root), fallback: null, thread: null, total: null }
  // New files for each turn: a run that fails leaves an old answer as it was.
  const files = createFiles(folder)
  if (request.schema !== null)
    writeFileSync(files.schema, JSON.stringify(strictSchema(request.schema)), { mode: 0o600 })
  if (replacesInstructions(runContext)) writeFileSync(files.instructions, question.system, { mode: 0o600 })
  let state: TurnState = initialTurn
  const usedForbiddenTool = (): boolean => root === null && state.tools.length > 0
  context.onProgress('starting codex')
  const cwd = root ?? files.emptyDir
  const outcome = await runInGroup(setup.program, argsFor(request, runContext, files, cwd), {
    cwd,
    env: codexEnvironment(setup.env),
    input: turnText(question, request, replacesInstructions(runContext)),
    timeoutMs,
    silenceMs: limits.silenceMs,
    signal: context.signal,
    maxOutputBytes: limits.maxOutputBytes,
    onLine: (line, stream) => {
      const event = parseLine(line, stream)
      state = foldTurn(state, event, performance.now())
      const progress = formatProgress(event)
      if (progress !== null) context.onProgress(progress)
      return isUnrecoverable(state, limits) || usedForbiddenTool() ? 'end' : undefined
    },
  })
  return readTurn(outcome, state, {
    answerFile: files.answer,
    maxAnswerBytes: limits.maxOutputBytes,
    secrets: secretsIn(setup.env),
    usedForbiddenTool: usedForbiddenTool(),
  })
}

const missingRoot = (root: string): Failure =>
  failureOf(
    'rejected',
    `The folder under review is not there: ${root}`,
    'Run plan-gate in the folder that is to be reviewed.',
  )

/** Codex's own instructions are for an agent that writes code, and are three times as long as a review's. */
const replacesInstructions = ({ setup, known }: RunContext): boolean =>
  setup.instructions !== 'keep' && known.canReplaceInstructions

type Files = {
  readonly emptyDir: string
  readonly answer: string
  readonly schema: string
  readonly instructions: string
}

let turns = 0

function createFiles(folder: string): Files {
  const turn = join(folder, `turn-${++turns}`)
  const emptyDir = join(turn, 'empty')
  mkdirSync(emptyDir, { recursive: true, mode: 0o700 })
  const at = (name: string): string => join(turn, name)
  return { emptyDir, answer: at('answer.txt'), schema: at('schema.json'), instructions: at('instructions.md') }
}

function argsFor(request: TurnRequest, runContext: RunContext, files: Files, cwd: string): string[] {
  const { setup, question, known } = runContext
  const projects = question.root === null ? [] : projectFolders(question.root)
  return codexArgs({
    cwd,
    resume: request.resume,
    keepsThread: request.keepsThread,
    model: question.model,
    schemaFile: request.schema === null ? null : files.schema,
    answerFile: files.answer,
    canIgnoreRules: known.canIgnoreRules,
    settings: codexSettings({
      effort: request.effort,
      instructionsFile: replacesInstructions(runContext) ? files.instructions : null,
      features: known.features,
      mayReadFiles: question.root !== null,
      projects,
      skills: projectSkills(projects),
      mcpServers: mcpServersIn(readUserConfig(setup.env)),
    }),
  })
}

/** The answer with the tokens of this turn alone and the thread that can be resumed. */
export function answerFrom(request: TurnRequest, turn: Turn, question: Question): Answer {
  const thread = threadAfter(request, turn)
  const { notices } = request
  if (turn.kind === 'failed') return { kind: 'failed', ...turn.failure, thread, notices }
  const usage = usageOfTurn(request, turn, question)
  return { kind: 'answered', text: turn.text, usage, model: question.model, thread, notices }
}

function threadAfter({ resume, keepsThread, replaced }: TurnRequest, { thread, total }: Turn): ThreadAfter | null {
  if (!keepsThread || thread === null) return null
  const isOther = resume !== null && !isSameId(resume, thread)
  return {
    id: thread,
    used: total,
    replaced: isOther ? { was: resume, why: 'Codex went on with another one.' } : replaced,
  }
}

function usageOfTurn({ resume }: TurnRequest, { thread, total }: Turn, question: Question): Usage | null {
  if (total === null || resume === null || thread === null || !isSameId(resume, thread)) return total
  const before = question.thread.kind === 'resume' ? question.thread.used : null
  return before === null ? null : subtract(total, before)
}

/** Codex reports the total of the whole thread; null where it is less than before, so Codex has started a new count. */
function subtract(total: Usage, before: Usage): Usage | null {
  const rest = {
    input: total.input - before.input,
    cached: total.cached - before.cached,
    output: total.output - before.output,
    reasoning: total.reasoning - before.reasoning,
  }
  return Object.values(rest).some((tokens) => tokens < 0) ? null : rest
}

const isSameId = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()
