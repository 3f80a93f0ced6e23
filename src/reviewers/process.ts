import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

const longest = 300

/** What a server or a program says, fit to stand in a sentence of ours: one printable line, without known secrets. */
export function quoteForeign(text: string, secrets: readonly string[]): string {
  const line = withoutSecrets(text.slice(0, 4_000), secrets)
    .replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]+/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .trim()
  return line.length > longest ? `${line.slice(0, longest - 1).trimEnd()}…` : line
}

/** A shorter one is a dummy that a local server is fed with, such as `ollama` or `none`, and would tear up the text. */
const shortestSecret = 12

export const withoutSecrets = (text: string, secrets: readonly string[]): string =>
  secrets
    .filter((secret) => secret.length >= shortestSecret)
    .reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text)

export type GroupOptions = {
  cwd: string
  env: NodeJS.ProcessEnv
  /** All of its stdin; '' is an empty stdin. */
  input: string
  timeoutMs: number
  /** How long it may say nothing at all, on either stream. */
  silenceMs: number | null
  signal: AbortSignal
  /** Each line as it comes, without its end; 'end' stops the program, which then ended as `stopped`. */
  onLine?: (line: string, stream: 'stdout' | 'stderr') => 'end' | undefined
  /** Of each stream that much is kept, and of a single line. What is over it is read and thrown away. */
  maxOutputBytes: number
}

type Output = { stdout: string; stderr: string; truncated: boolean }

export type GroupOutcome =
  | ({ kind: 'ended'; exitCode: number } & Output)
  /** A signal that was not ours. */
  | ({ kind: 'killed-by'; signal: string } & Output)
  | ({ kind: 'timed-out'; afterMs: number } & Output)
  | ({ kind: 'silent'; afterMs: number } & Output)
  | ({ kind: 'cancelled' } & Output)
  | ({ kind: 'stopped' } & Output)
  | { kind: 'not-found' }
  | { kind: 'not-started'; why: string }

/**
 * Runs a program in a process group of its own, so that what it starts ends with it: a launcher that is killed leaves
 * the real program running and billing. When this returns, no process of the group is left.
 */
export function runInGroup(file: string, args: readonly string[], options: GroupOptions): Promise<GroupOutcome> {
  if (options.signal.aborted) return Promise.resolve({ kind: 'cancelled', stdout: '', stderr: '', truncated: false })
  const child = start(file, args, options)
  if (child instanceof Error) return Promise.resolve({ kind: 'not-started', why: child.message })
  return new Promise((resolve) => follow(child, options, resolve))
}

/** `spawn` throws for what it can see by itself, such as a NUL in an argument; the rest arrives as an event. */
function start(
  file: string,
  args: readonly string[],
  { cwd, env }: GroupOptions,
): ChildProcessWithoutNullStreams | Error {
  try {
    return spawn(file, args, { cwd, env, detached: process.platform !== 'win32', windowsHide: true })
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** A program that was asked to end gets this long for it, and then none. */
const graceMs = 1_500
/** For what has been written before the end to arrive, where something else still holds the pipes. */
const lingerMs = 500

type Cause = 'timed-out' | 'silent' | 'cancelled' | 'stopped'

function follow(
  child: ChildProcessWithoutNullStreams,
  options: GroupOptions,
  resolve: (outcome: GroupOutcome) => void,
): void {
  const { pid } = child
  const startedAt = performance.now()
  let cause: Cause | null = null
  let hasExited = false
  const timers = new Set<NodeJS.Timeout>()
  const after = (ms: number, act: () => void): NodeJS.Timeout => {
    const timer = setTimeout(act, ms)
    timers.add(timer)
    return timer
  }

  const stop = (why: Cause): void => {
    if (cause !== null || hasExited) return
    cause = why
    endGroup()
  }
  const endGroup = (): void => {
    if (pid === undefined) return
    killGroup(pid, 'SIGTERM')
    after(graceMs, () => killGroup(pid, 'SIGKILL'))
    // What has left the group may hold the pipes for as long as it likes.
    after(graceMs + lingerMs, () => {
      child.stdout.destroy()
      child.stderr.destroy()
    })
  }
  const cancel = (): void => stop('cancelled')

  // With no descriptor left there are no pipes either, whatever the types say; then only the error will be heard of it.
  if (child.stdout === undefined) {
    child.once('error', (error: NodeJS.ErrnoException) => resolve(notStarted(error, options.cwd)))
    return
  }
  const stdout = readStream(child.stdout, options.maxOutputBytes, (line) => take(line, 'stdout'))
  const stderr = readStream(child.stderr, options.maxOutputBytes, (line) => take(line, 'stderr'))
  const take = (line: string, stream: 'stdout' | 'stderr'): void => {
    if (options.onLine?.(line, stream) === 'end') stop('stopped')
  }

  if (pid !== undefined) rememberGroup(pid)
  options.signal.addEventListener('abort', cancel, { once: true })
  after(Math.max(1, options.timeoutMs), () => stop('timed-out'))
  if (options.silenceMs !== null) {
    const silence = after(options.silenceMs, () => stop('silent'))
    for (const stream of [child.stdout, child.stderr]) stream.on('data', () => silence.refresh())
  }

  const settle = (outcome: GroupOutcome): void => {
    for (const timer of timers) clearTimeout(timer)
    options.signal.removeEventListener('abort', cancel)
    if (pid !== undefined) {
      sweepGroup(pid)
      forgetGroup(pid)
    }
    resolve(outcome)
  }
  // Without a pid it never ran, and nothing else will be heard of it.
  child.once('error', (error: NodeJS.ErrnoException) => {
    if (pid === undefined) settle(notStarted(error, options.cwd))
  })
  child.once('exit', () => {
    hasExited = true
    if (cause === null) after(lingerMs, endGroup)
  })
  child.once('close', (code, signal) => {
    const output = outputOf(stdout, stderr)
    const afterMs = Math.round(performance.now() - startedAt)
    if (cause !== null) settle({ kind: cause, afterMs, ...output })
    else if (code !== null) settle({ kind: 'ended', exitCode: code, ...output })
    else if (pid !== undefined) settle({ kind: 'killed-by', signal: signal ?? 'unknown', ...output })
  })

  // A program that ends without having read everything breaks the pipe; its exit code says the rest.
  child.stdin.on('error', () => {})
  child.stdin.end(options.input)
}

function notStarted(error: NodeJS.ErrnoException, cwd: string): GroupOutcome {
  // A folder that is gone is reported as ENOENT as well.
  if (error.code === 'ENOENT' && existsSync(cwd)) return { kind: 'not-found' }
  return { kind: 'not-started', why: error.code === 'ENOENT' ? `the folder ${cwd} does not exist` : error.message }
}

const outputOf = (stdout: Heard, stderr: Heard): Output => ({
  stdout: stdout.text(),
  stderr: stderr.text(),
  truncated: stdout.isCut() || stderr.isCut(),
})

type Heard = { readonly text: () => string; readonly isCut: () => boolean }

/** Reads a stream to its end and keeps the first bytes of it, and the first characters of each line on the way. */
export function readStream(stream: Readable, maxBytes: number, onLine: (line: string) => void): Heard {
  const pieces: Buffer[] = []
  let kept = 0
  let isCut = false
  const lines = lineSplitter(maxBytes, onLine)
  stream.on('data', (piece: Buffer) => {
    const room = maxBytes - kept
    if (piece.length > room) isCut = true
    if (room > 0) pieces.push(piece.subarray(0, room))
    kept += Math.min(room, piece.length)
    lines.push(piece)
  })
  stream.once('close', () => lines.end())
  // A pipe that breaks has no more to say.
  stream.on('error', () => {})
  return { text: () => Buffer.concat(pieces).toString('utf8'), isCut: () => isCut }
}

function lineSplitter(
  maxLength: number,
  onLine: (line: string) => void,
): { push: (piece: Buffer) => void; end: () => void } {
  const decoder = new StringDecoder('utf8')
  let parts: string[] = []
  let length = 0
  const add = (part: string): void => {
    const fitting = part.slice(0, maxLength - length)
    if (fitting === '') return
    parts.push(fitting)
    length += fitting.length
  }
  const flush = (): void => {
    const line = parts.join('')
    parts = []
    length = 0
    onLine(line.endsWith('\r') ? line.slice(0, -1) : line)
  }
  return {
    push: (piece) => {
      const [first = '', ...others] = decoder.write(piece).split('\n')
      add(first)
      for (const part of others) {
        flush()
        add(part)
      }
    },
    end: () => {
      add(decoder.end())
      if (length > 0) flush()
    },
  }
}

/** What must not outlive this program, however it ends. */
const groups = new Set<number>()
const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

function rememberGroup(pid: number): void {
  if (groups.size === 0) {
    process.on('exit', killAll)
    for (const signal of endings) process.on(signal, endBySignal)
  }
  groups.add(pid)
}

function forgetGroup(pid: number): void {
  if (!groups.delete(pid) || groups.size > 0) return
  process.off('exit', killAll)
  for (const signal of endings) process.off(signal, endBySignal)
}

/** Its members that are left get the signal; a group that is gone is what was wanted. */
function killGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (process.platform === 'win32') {
    // There are no groups; the tree is the nearest thing, and it has no softer way.
    spawn('taskkill', ['/PID', String(pid), '/T', '/F'], { stdio: 'ignore', windowsHide: true }).on('error', () => {})
    return
  }
  try {
    process.kill(-pid, signal)
  } catch {}
}

/** After the leader's end. Where there are no groups its number may be somebody else's by now. */
function sweepGroup(pid: number): void {
  if (process.platform !== 'win32') killGroup(pid, 'SIGKILL')
}

const killAll = (): void => {
  for (const pid of groups) killGroup(pid, 'SIGKILL')
}

/** A signal ends a program without its `exit` event. Who else listens for it decides on the end alone. */
function endBySignal(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return
  killAll()
  for (const each of endings) process.off(each, endBySignal)
  process.kill(process.pid, signal)
}
