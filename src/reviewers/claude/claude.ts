import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sensitiveFilePatterns } from '../../redact/is-sensitive-file.ts'
import type { Answer, AskContext, AskReviewer, Question } from '../../schemas/review.ts'
import { withTemporaryFolder } from '../../system/temporary-folder.ts'
import { failedAnswer, failureOf, quoteForeign, secretsIn } from '../failure.ts'
import { runInGroup } from '../process.ts'
import { schemaInWords } from '../strict-schema.ts'
import { missingRoot, runWithFallbacks, type Turn, type TurnRequest, threadAfter } from '../turn-request.ts'
import { claudeArgs, formatInput } from './args.ts'
import { checkCapabilities } from './capabilities.ts'
import {
  type ClaudeSetup,
  claudeEnvironment,
  claudeLimits,
  configDir,
  credentialSettings,
  homeOf,
} from './environment.ts'
import { formatProgress, parseLine } from './events.ts'
import { canSandbox, sandboxArgs } from './sandbox.ts'
import { keepSession, openTurnFolder, type TurnFolder, takeSession } from './sessions.ts'
import { foldTurn, initialTurn, isUnrecoverable, readTurn, type TurnState } from './turn.ts'

/** Claude Code in print mode, with tools that only read; on a thread it remembers the turns before. */
export const claudeReviewer =
  (setup: ClaudeSetup): AskReviewer =>
  async (question, context) => {
    try {
      return await withTemporaryFolder('claude', (folder) => ask(setup, question, context, folder), setup.scratch)
    } catch (error) {
      return failedAnswer(
        failureOf(
          'crashed',
          `Claude could not be asked: ${quoteForeign(String(error), [])}`,
          'Check whether files can be written in the folder for temporary files, or use another reviewer.',
        ),
      )
    }
  }

async function ask(setup: ClaudeSetup, question: Question, context: AskContext, folder: string): Promise<Answer> {
  const deadline = performance.now() + question.timeoutMs
  const timeLeft = (): number => deadline - performance.now()
  const missing = missingRoot(question.root)
  if (missing !== null) return failedAnswer(missing)
  const unable = await checkCapabilities(setup, folder, { timeoutMs: timeLeft(), signal: context.signal })
  if (unable !== null) return failedAnswer(unable)
  const engine = setup.findEngine()
  const { request, turn } = await runWithFallbacks(
    question,
    (request, timeoutMs) => runTurn(request, { setup, question, context, folder, engine, timeoutMs }),
    timeLeft,
  )
  // Claude Code reports each turn for itself, so what the thread has used is not needed.
  const after = { thread: threadAfter(request, { ...turn, total: null }, 'Claude'), notices: request.notices }
  return turn.kind === 'failed'
    ? { kind: 'failed', ...turn.failure, ...after }
    : { kind: 'answered', text: turn.text, usage: turn.total, model: question.model, ...after }
}

type RunContext = {
  readonly setup: ClaudeSetup
  readonly question: Question
  readonly context: AskContext
  readonly folder: string
  readonly engine: string | null
  readonly timeoutMs: number
}

/** One process of Claude Code, with the session that it is to go on with and to leave behind. */
async function runTurn(request: TurnRequest, runContext: RunContext): Promise<Turn> {
  const { cacheDir, env } = runContext.setup
  const sessions = cacheDir === null || !request.keepsThread ? null : join(cacheDir, 'claude-sessions')
  const opened = sessions === null ? null : openTurnFolder(sessions)
  if (sessions === null || opened === null) return withoutSession(request, runContext)
  try {
    const turnFolder = request.resume === null ? opened : takeSession(sessions, request.resume, opened)
    if (turnFolder === null) return lostSession
    const turn = await runClaude(request, turnFolder, runContext)
    const isKept =
      turn.thread !== null && keepSession(sessions, turn.thread, turnFolder, join(configDir(env), 'projects'))
    return isKept ? turn : { ...turn, thread: null }
  } finally {
    rmSync(opened.folder, { recursive: true, force: true })
  }
}

async function withoutSession(request: TurnRequest, runContext: RunContext): Promise<Turn> {
  if (request.resume !== null) return lostSession
  return { ...(await runClaude(request, null, runContext)), thread: null }
}

const lostSession: Turn = {
  kind: 'failed',
  failure: failureOf('rejected', 'Its session is gone, in use or damaged.', 'Start a new thread.'),
  fallback: 'new-thread',
  thread: null,
  total: null,
}

async function runClaude(
  request: TurnRequest,
  session: TurnFolder | null,
  { setup, question, context, folder, engine, timeoutMs }: RunContext,
): Promise<Turn> {
  const { root } = question
  const limits = claudeLimits(setup)
  const files = writeFiles(folder, setup, question)
  const args = claudeArgs({
    resume: session?.file ?? null,
    keepsSession: session !== null,
    model: question.model,
    effort: request.effort,
    schema: request.schema,
    mayReadFiles: root !== null,
    systemFile: files.system,
    settingsFile: files.settings,
  })
  const cwd = root ?? files.empty
  const inside = engine === null ? null : enterSandbox(engine, setup, { cwd, folder, session })
  let state: TurnState = initialTurn
  context.onProgress('starting claude')
  const outcome = await runInGroup(
    inside === null ? setup.program : inside.file,
    inside === null ? args : [...inside.args, setup.program, ...args],
    {
      cwd,
      env: claudeEnvironment(setup.env),
      input: formatInput(turnText(question, request)),
      timeoutMs,
      silenceMs: limits.silenceMs,
      signal: context.signal,
      maxOutputBytes: limits.maxOutputBytes,
      onLine: (line, stream) => {
        for (const event of parseLine(line, stream)) {
          state = foldTurn(state, event, root !== null)
          const progress = formatProgress(event)
          if (progress !== null) context.onProgress(progress)
        }
        return isUnrecoverable(state, limits.maxRetryWaitMs) ? 'end' : undefined
      },
    },
  )
  return readTurn(outcome, state, secretsIn(setup.env))
}

function turnText({ user, turn = null, schema }: Question, request: TurnRequest): string {
  const text = request.resume !== null && turn !== null ? turn : user
  return schema !== null && request.schema === null ? `${text}\n\n${schemaInWords(schema)}` : text
}

/** null: the machine does not let it be made; the tools still only read. */
function enterSandbox(
  engine: string,
  { program, env }: ClaudeSetup,
  { cwd, folder, session }: { cwd: string; folder: string; session: TurnFolder | null },
): { readonly file: string; readonly args: readonly string[] } | null {
  const config = configDir(env)
  if (session !== null) mkdirSync(join(config, 'projects'), { recursive: true, mode: 0o700 })
  const args = sandboxArgs({
    program,
    home: homeOf(env),
    configDir: config,
    loginDir: env.CLAUDE_SECURESTORAGE_CONFIG_DIR || config,
    needsAgents: Object.keys(credentialSettings(env)).length > 0,
    cwd,
    folder,
    sessions: session?.folder ?? null,
  })
  return canSandbox(engine, args, program) ? { file: engine, args } : null
}

/** Not on the command line, which everyone on this machine can read and which has a limit. */
function writeFiles(
  folder: string,
  { env, sensitiveFiles }: ClaudeSetup,
  { system }: Question,
): { readonly system: string; readonly settings: string; readonly empty: string } {
  const at = (name: string): string => join(folder, name)
  const files = { system: at('system.md'), settings: at('settings.json'), empty: at('empty') }
  mkdirSync(files.empty, { recursive: true, mode: 0o700 })
  writeFileSync(files.system, system, { mode: 0o600 })
  // A remote may have a password in its address.
  const deny = [...sensitiveFilePatterns(sensitiveFiles), '.git/**'].map((pattern) => `Read(**/${pattern})`)
  const settings = { ...credentialSettings(env), disableAllHooks: true, permissions: { deny } }
  writeFileSync(files.settings, JSON.stringify(settings), { mode: 0o600 })
  return files
}
