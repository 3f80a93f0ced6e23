import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  type Dirent,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { findEngine } from '../../gate/sandbox/engine.ts'
import { isHidden, isolation, kernelFiles, neededOfRun } from '../../gate/sandbox/profiles.ts'
import { sensitiveFilePatterns } from '../../redact/sensitive-files.ts'
import type { AskReviewer, Question } from '../../schemas/review.ts'
import { orElse } from '../../system/errors.ts'
import { failureOf, secretsIn, tooOld } from '../failure.ts'
import { programReviewer, type RunProcess, type Turn, type TurnRequest, turnText } from '../program.ts'
import {
  failureOfHelp,
  isPrivate,
  isPrivateFolder,
  missingFlags as missingOf,
  readCapabilitiesOf,
  type Within,
} from '../program-cache.ts'
import {
  type ClaudeSetup,
  claudeArgs,
  claudeEnvironment,
  claudeLimits,
  claudeProgram,
  configDir,
  credentialSettings,
  formatInput,
  homeOf,
  requiredFlags,
} from './program.ts'
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

/** The required flags that this Claude Code lacks, by the text of its help. */
export const missingFlags = (help: string): string[] => missingOf(help, requiredFlags)

const checkCapabilities = (setup: ClaudeSetup, folder: string, within: Within) => {
  const env = { ...claudeEnvironment(setup.env), CLAUDE_CONFIG_DIR: folder }
  const parse = (text: string): true | null => (text === 'true' ? true : null)
  return readCapabilitiesOf<true>(claudeProgram, setup, env, within, parse, async (run) => {
    const help = await run('--help')
    if (help.kind !== 'ended' || help.exitCode !== 0) return { failure: failureOfHelp(claudeProgram, help) }
    const missing = missingFlags(help.stdout)
    return missing.length > 0 ? tooOld(claudeProgram, missing) : true
  })
}

/** Claude Code in a bubblewrap: beside its tools, which only read, the kernel lets it write next to nothing. */

type Places = {
  readonly program: string
  readonly home: string
  readonly configDir: string
  /** Where `.credentials.json` is. */
  readonly loginDir: string
  readonly cwd: string
  readonly folder: string
  /** A program that brings the key may ask an agent for it. */
  readonly needsAgents: boolean
  /** Where its session is written; null: nowhere. */
  readonly sessions: string | null
}

function sandboxArgs(places: Places): string[] {
  const { program, home, configDir, loginDir, cwd, folder, needsAgents, sessions } = places
  const readOnly = (path: string): string[] => ['--ro-bind', path, path]
  const programs = [dirname(program), dirname(real(program))]
  const read = [home, configDir, loginDir, ...programs, cwd, folder].filter((path) => existsSync(path)).map(real)
  return [
    ...isolation,
    '--disable-userns',
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    ...kernelFiles,
    ...['--tmpfs', '/var/tmp', '--tmpfs', '/tmp', '--setenv', 'TMPDIR', '/tmp'],
    ...(needsAgents ? [] : ['--tmpfs', '/run', ...neededOfRun.flatMap((path) => ['--ro-bind-try', path, path])]),
    ...[...new Set(read)].filter(isHidden).flatMap(readOnly),
    ...loginArgs(real(loginDir)),
    ...(sessions === null ? [] : ['--bind', sessions, sessions, '--bind', sessions, join(real(configDir), 'projects')]),
    ...['--chdir', real(cwd)],
    '--',
  ]
}

/**
 * A login that is renewed has to be kept, since the old one ends with that; Claude Code writes it to a new file beside
 * the old, so the folder is writable, and what else is in it is not.
 */
function loginArgs(dir: string): string[] {
  if (!existsSync(join(dir, '.credentials.json'))) return []
  const others = readdirSync(dir, { withFileTypes: true }).filter(
    (entry) => entry.name !== '.credentials.json' && !entry.isSymbolicLink(),
  )
  return [
    ...['--bind', dir, dir],
    ...others.map(({ name }) => join(dir, name)).flatMap((path) => ['--ro-bind-try', path, path]),
  ]
}

const real = (path: string): string => orElse(() => realpathSync(path), path)

/** Whether this machine lets the sandbox be made, with these very arguments, and the program is there in it. */
const canSandbox = (engine: string, args: readonly string[], program: string): boolean =>
  spawnSync(engine, [...args, 'test', '-x', program], { stdio: 'ignore', timeout: 5_000 }).status === 0

/** For people: how Claude is kept from writing. */
export function describeConfinement(engine: string | null = findEngine()): string {
  const everything = ['--unshare-user', '--unshare-pid', '--disable-userns', '--ro-bind', '/', '/', '--']
  return engine !== null && canSandbox(engine, everything, '/')
    ? 'in a read-only sandbox (bubblewrap)'
    : 'read-only by its tools alone: there is no bubblewrap that works here'
}

/**
 * The sessions of reviews. Claude Code keeps a session in its folder for the project, where `claude --continue` would
 * take the reviewer's for the user's own; so each is moved to a folder of plan-gate's after its turn, and resumed from
 * there by its path.
 */

/** A folder for one turn. `file`: the session that goes on. */
type TurnFolder = { readonly folder: string; readonly file: string | null }

/** null: no session can be kept there. */
function openTurnFolder(sessions: string): TurnFolder | null {
  try {
    mkdirSync(sessions, { recursive: true, mode: 0o700 })
    if (!isPrivateFolder(sessions)) return null
    removeOld(sessions)
    return { folder: mkdtempSync(join(sessions, 'turn-')), file: null }
  } catch {
    return null
  }
}

/**
 * Takes a session for this turn, so that no other turn goes on with it at the same time. null: it is gone, in use, or not
 * as its last turn left it; Claude Code leaves out what it cannot read, without a word.
 */
function takeSession(sessions: string, id: string, { folder }: TurnFolder): TurnFolder | null {
  try {
    const name = readdirSync(sessions).find((name) => name.startsWith(`${id}.`) && name.endsWith('.jsonl'))
    if (name === undefined) return null
    const file = join(folder, `${id}.jsonl`)
    renameSync(join(sessions, name), file)
    const stat = lstatSync(file)
    return stat.isFile() && isPrivate(stat) && name === keptName(id, file) ? { folder, file } : null
  } catch {
    return null
  }
}

/** Keeps the session of this turn, wherever Claude Code has written it. false: there is none. */
function keepSession(sessions: string, id: string, { folder }: TurnFolder, projects: string): boolean {
  try {
    const name = `${id}.jsonl`
    const found = [folder, ...subfolders(folder), ...subfolders(projects)].find((dir) => isPlainFile(join(dir, name)))
    if (found === undefined) return false
    const file = join(found, name)
    const moving = join(folder, 'kept')
    copyFileSync(file, moving)
    renameSync(moving, join(sessions, keptName(id, moving)))
    rmSync(file)
    // Long results of its tools.
    rmSync(join(found, id), { recursive: true, force: true })
    return true
  } catch {
    return false
  }
}

const keptName = (id: string, file: string): string =>
  `${id}.${createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 32)}.jsonl`

const isPlainFile = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true

const subfolders = (folder: string): string[] =>
  entriesOf(folder).flatMap((entry) => (entry.isDirectory() ? [join(folder, entry.name)] : []))

const entriesOf = (folder: string): Dirent[] => orElse(() => readdirSync(folder, { withFileTypes: true }), [])

/** As long as Claude Code keeps its own. */
const maxAgeMs = 30 * 24 * 3_600_000

function removeOld(sessions: string): void {
  for (const name of readdirSync(sessions)) {
    const path = join(sessions, name)
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat !== undefined && Date.now() - stat.mtimeMs > maxAgeMs) rmSync(path, { recursive: true, force: true })
  }
}
