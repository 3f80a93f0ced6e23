import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sensitiveFilePatterns } from '../../redact/sensitive-files.ts'
import type { AskReviewer, Question } from '../../schemas/review.ts'
import { failureOf, secretsIn } from '../failure.ts'
import { programReviewer, type RunProcess } from '../program.ts'
import { type Turn, type TurnRequest, turnText } from '../turn-request.ts'
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
import { claudeProgram } from './failures.ts'
import { canSandbox, sandboxArgs } from './sandbox.ts'
import { keepSession, openTurnFolder, type TurnFolder, takeSession } from './sessions.ts'
import { foldLine, initialTurn, isUnrecoverable, readTurn } from './turn.ts'

/** Claude Code in print mode, with tools that only read; on a thread it remembers the turns before. */
export const claudeReviewer = (setup: ClaudeSetup): AskReviewer =>
  programReviewer(claudeProgram, setup.scratch, async (question, folder, within) => {
    const known = await checkCapabilities(setup, folder, within)
    if (known !== true) return known
    const engine = setup.findEngine()
    return (request, run) => runTurn(request, { setup, question, folder, engine, run })
  })

type RunContext = {
  readonly setup: ClaudeSetup
  readonly question: Question
  readonly folder: string
  readonly engine: string | null
  readonly run: RunProcess
}

/** One process of Claude Code, with the session that it is to go on with and to leave behind. */
async function runTurn(request: TurnRequest, runContext: RunContext): Promise<Turn> {
  const { cacheDir, env } = runContext.setup
  const sessions = cacheDir === null || !request.keepsThread ? null : join(cacheDir, 'claude-sessions')
  const opened = sessions === null ? null : openTurnFolder(sessions)
  if (sessions === null || opened === null)
    return request.resume === null ? { ...(await runClaude(request, null, runContext)), thread: null } : lostSession
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
  { setup, question, folder, engine, run }: RunContext,
): Promise<Turn> {
  const mayReadFiles = question.root !== null
  const { silenceMs, maxOutputBytes, maxRetryWaitMs } = claudeLimits(setup)
  const files = writeFiles(folder, setup, question)
  const args = claudeArgs({
    resume: session?.file ?? null,
    keepsSession: session !== null,
    model: question.model,
    effort: request.effort,
    schema: request.schema,
    mayReadFiles,
    systemFile: files.system,
    settingsFile: files.settings,
  })
  const cwd = question.root ?? files.empty
  const inside = engine === null ? null : enterSandbox(engine, setup, { cwd, folder, session })
  const input = formatInput(turnText(question, request, question.user))
  const { outcome, state } = await run(
    inside === null ? setup.program : inside.file,
    inside === null ? args : [...inside.args, setup.program, ...args],
    { cwd, env: claudeEnvironment(setup.env), input, silenceMs, maxOutputBytes },
    {
      begin: initialTurn,
      read: (state, line, stream) => foldLine(state, line, stream, mayReadFiles),
      isOver: (state) => isUnrecoverable(state, maxRetryWaitMs),
    },
  )
  return readTurn(outcome, state, secretsIn(setup.env))
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
