import { closeSync, read, readFileSync, writeSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { claimAnswer, isAnsweredBySettings } from '../gate/answer-claims.ts'
import { failClosed, type HookAnswer } from '../schemas/hook-answer.ts'
import { describeError, type FromSchema, firstError, type Schema } from '../schemas/schema.ts'
import { hooksDir, localSettings } from '../state/own-paths.ts'
import { readStartCommand } from '../state/start-command.ts'
import { sessionDirVariable } from '../system/environment.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { parseJson } from '../text/json.ts'
import { withCommand } from '../text/own-commands.ts'

export type Hook = {
  /** Well below the timeout of the hook's entry, so that the hook itself says what happened. */
  deadlineMs: number
  /** The answer when the hook itself fails. */
  onFailure: (message: string) => HookAnswer
  /** `extendDeadline`: a new deadline, counted from now, for work that takes minutes. */
  work: (input: string, extendDeadline: (ms: number) => void) => HookAnswer | Promise<HookAnswer>
}

/** Reads the event, answers, exits. Every failure ends in the hook's own `onFailure`. */
export async function runHook({ deadlineMs, onFailure, work }: Hook): Promise<never> {
  const fail = (why: string): HookAnswer => onFailure(`plan-gate: the hook could not do its work: ${why}`)
  process.on('uncaughtException', (error) => endWithAnswer(fail(error.message)))
  const endAfter = (ms: number): NodeJS.Timeout =>
    setTimeout(() => {
      const answer = fail(`it took longer than ${ms / 1000} s`)
      if (onFailure === failClosed) killOwnProcess(answer.stderr ?? '')
      endWithAnswer(answer)
    }, ms).unref()
  let late = endAfter(deadlineMs)
  const extendDeadline = (ms: number): void => {
    clearTimeout(late)
    late = endAfter(ms)
  }
  try {
    const input = await readStdin()
    switch (input.kind) {
      case 'too-large':
        return endWithAnswer(fail('its input is larger than 64 MB'))
      case 'failed':
        return endWithAnswer(fail(`its input could not be read (${input.why})`))
      case 'read':
        if (await isAnsweredByOther(input.text)) return endProcess({ exitCode: 0 })
        return endWithAnswer(await work(input.text, extendDeadline))
    }
  } catch (error) {
    return endWithAnswer(fail(error instanceof Error ? error.message : String(error)))
  }
}

/**
 * In a session that was started by hand, the hooks of the settings and those of the plugin may both run: those of the
 * settings answer. In a folder below, only entries in the local file do besides the plugin; in a session that plan-gate has
 * started, the plugin's loader is silent.
 */
async function isAnsweredByOther(input: string): Promise<boolean> {
  const root = worktreeRoot()
  const sessionDir = process.env[sessionDirVariable]
  if (isOfPlugin() && sessionDir !== root && !isInLocalSettings(root)) return false
  try {
    const gitDirs = readGitDirs(root)
    if (gitDirs === null) return false
    const event = JSON.parse(input)
    if (isOfPlugin()) return await isAnsweredBySettings(gitDirs.own, event)
    claimAnswer(gitDirs.own, event)
  } catch {
    // Two answers are better than none.
  }
  return false
}

function isInLocalSettings(root: string): boolean {
  try {
    return readFileSync(join(root, localSettings), 'utf8').includes(`/${hooksDir}/`)
  } catch {
    return false
  }
}

/** As `pluginLoader` is called. */
const isOfPlugin = (): boolean => process.argv[1] === 'plugin'

type Ending = { stdout?: string; stderr?: string; exitCode: number; afterwards?: () => void }

/**
 * Writes and exits. `process.stdout.write` followed by an exit loses what exceeds the socket's buffer (about 220 kB),
 * and a truncated JSON would let the call through; `writeSync` delivers all of it or throws.
 */
export function endProcess({ stdout, stderr, exitCode, afterwards }: Ending): never {
  if (stderr !== undefined) writeOrGiveUp(2, `${stderr}\n`)
  const delivered = stdout === undefined || writeOrGiveUp(1, stdout)
  try {
    afterwards?.()
  } catch {
    // The answer is out; a note that cannot be kept does not change it.
  }
  process.exit(delivered ? exitCode : 2)
}

/**
 * Ends with an answer in which each command runs in this worktree (the install has recorded what starts plan-gate), and
 * which names files of ours by their absolute paths where the session was started in a folder below.
 */
export function endWithAnswer(answer: HookAnswer): never {
  const { stdout, stderr } = answer
  const start = (stdout ?? stderr)?.includes('plan-gate ') ? startCommand() : null
  const { CLAUDE_PROJECT_DIR: root, [sessionDirVariable]: dir = root } = process.env
  if (start === null && dir === root) return endProcess(answer)
  const told = (text: string): string => {
    const found = dir === root ? text : text.replace(ownPath, () => `${root}/`)
    return start === null ? found : withCommand(found, start)
  }
  return endProcess({
    ...answer,
    ...(stderr === undefined ? {} : { stderr: told(stderr) }),
    ...(stdout === undefined
      ? {}
      : {
          stdout: JSON.stringify(JSON.parse(stdout), (_, value: unknown) =>
            typeof value === 'string' ? told(value) : value,
          ),
        }),
  })
}

/** Where a message names the plan or a file of its review, as a word of its own. */
const ownPath = /(?<=^|[\s`'"(])(?=(?:docs\/plan\.md|\.claude\/review)(?![\w-]))/g

/** Any trouble leaves the messages as they are. */
function startCommand(): string | null {
  try {
    const gitDirs = readGitDirs(worktreeRoot())
    return gitDirs === null ? null : (readStartCommand(gitDirs.own)?.command ?? null)
  } catch {
    return null
  }
}

/** A pending read in the thread pool can delay `process.exit`; SIGKILL cannot be delayed, and `onFailure` blocks. */
function killOwnProcess(stderr: string): void {
  writeOrGiveUp(2, `${stderr}\n`)
  process.kill(process.pid, 'SIGKILL')
}

function writeOrGiveUp(fd: number, text: string): boolean {
  let bytes = Buffer.from(text)
  const giveUpAt = Date.now() + 2_000
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(fd, bytes))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || Date.now() > giveUpAt) return false
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2)
    }
  }
  return true
}

type Stdin = { kind: 'read'; text: string } | { kind: 'too-large' } | { kind: 'failed'; why: string }

const limit = 64 * 1024 * 1024

/**
 * All of stdin, from file descriptor 0: Claude Code gives hooks a socket, which `/dev/stdin` cannot open, and
 * `process.stdin` costs 2 ms. Asynchronous, so that the deadline can fire while nothing arrives.
 */
function readStdin(): Promise<Stdin> {
  // libuv would start four threads, which takes 0.5 ms.
  process.env.UV_THREADPOOL_SIZE ??= '1'
  const chunks: Buffer[] = []
  let size = 0
  return new Promise((resolve) => {
    const next = (): void => {
      const chunk = Buffer.allocUnsafe(65_536)
      read(0, chunk, 0, chunk.length, null, (error, count) => {
        if (error?.code === 'EAGAIN') return void setTimeout(next, 1)
        if (error && error.code !== 'EOF') return resolve({ kind: 'failed', why: error.code ?? error.message })
        if (error || count === 0) return resolve({ kind: 'read', text: Buffer.concat(chunks).toString('utf8') })
        size += count
        if (size > limit) {
          closeSync(0)
          return resolve({ kind: 'too-large' })
        }
        chunks.push(chunk.subarray(0, count))
        if (chunks.length === 1 && isWholeLine(chunk, count))
          return resolve({ kind: 'read', text: chunk.toString('utf8', 0, count) })
        next()
      })
    }
    next()
  })
}

/**
 * Claude Code writes one line of JSON. A complete one is not waited on for the end of stdin; half a line, or more than
 * one, is not JSON.
 */
const isWholeLine = (chunk: Buffer, count: number): boolean =>
  chunk[count - 1] === newline && parseJson(chunk.toString('utf8', 0, count)) !== undefined

const newline = 0x0a

/** The worktree of this hook. `cwd` moves with the session; `CLAUDE_PROJECT_DIR` cannot be set from a settings file. */
export function worktreeRoot(): string {
  const named = process.env.CLAUDE_PROJECT_DIR
  if (named !== undefined && named !== '') return resolve(named)
  throw new Error('CLAUDE_PROJECT_DIR is not set, so the worktree is not known')
}

export const gitDirMissing =
  'plan-gate: the git directory of this worktree is gone, and with it what the gate is compared with. Stop here and tell the user.'

type Parsed<T> = { kind: 'event'; event: T } | { kind: 'malformed'; why: string }

/** One line of hook input, which is the event that the hook is registered for. */
export function parseEvent<const S extends Schema>(schema: S, text: string): Parsed<FromSchema<S>> {
  const value = parseJson(text)
  if (value === undefined) return { kind: 'malformed', why: 'it is not JSON' }
  const error = firstError(schema, value)
  if (error === null) return { kind: 'event', event: value as FromSchema<S> }
  return { kind: 'malformed', why: `${error.instancePath || 'the input'} ${describeError(error)}` }
}
