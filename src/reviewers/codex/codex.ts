import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Answer, AskContext, AskReviewer, Failure, Question, Usage } from '../../schemas/review.ts'
import { withTemporaryFolder } from '../../system/temporary-folder.ts'
import { failedAnswer, failureOf, quoteForeign, secretsIn } from '../failure.ts'
import { runInGroup } from '../process.ts'
import { schemaInWords, strictSchema } from '../strict-schema.ts'
import { isSameId, missingRoot, runWithFallbacks, type Turn, type TurnRequest, threadAfter } from '../turn-request.ts'
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
import { foldTurn, initialTurn, isUnrecoverable, readTurn, type TurnState } from './turn.ts'

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
  const common = { setup, question, context, known, folder, limits: codexLimits(setup) }
  const { request, turn } = await runWithFallbacks(
    question,
    (request, timeoutMs) => runTurn(request, { ...common, timeoutMs }),
    timeLeft,
  )
  return answerFrom(request, turn, question)
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
  const missing = missingRoot(root)
  if (missing !== null) return { kind: 'failed', failure: missing, fallback: null, thread: null, total: null }
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
  const thread = threadAfter(request, turn, 'Codex')
  const { notices } = request
  if (turn.kind === 'failed') return { kind: 'failed', ...turn.failure, thread, notices }
  const usage = usageOfTurn(request, turn, question)
  return { kind: 'answered', text: turn.text, usage, model: question.model, thread, notices }
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
