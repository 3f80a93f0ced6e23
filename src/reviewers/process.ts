import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

export type GroupOptions = {
  cwd: string
  env: NodeJS.ProcessEnv
  input: string
  timeoutMs: number
  silenceMs: number | null
  signal: AbortSignal
  /** Each line without its end; 'end' stops the program, with the outcome `stopped`. */
  onLine?: (line: string, stream: 'stdout' | 'stderr') => 'end' | undefined
  /** For each stream and each line; the rest is read and discarded. */
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
 * Runs a program in a process group of its own, so that its children end with it: a launcher that is killed leaves the
 * real program running and billing. When this returns, no process of the group is left.
 */
export function runInGroup(file: string, args: readonly string[], options: GroupOptions): Promise<GroupOutcome> {
  if (options.signal.aborted) return Promise.resolve({ kind: 'cancelled', stdout: '', stderr: '', truncated: false })
  const { cwd, env } = options
  try {
    const child = spawn(file, args, { cwd, env, detached: process.platform !== 'win32', windowsHide: true })
    return new Promise((resolve) => superviseGroup(child, options, resolve))
  } catch (error) {
    // For a NUL in an argument, say; other errors arrive as an event.
    return Promise.resolve({ kind: 'not-started', why: error instanceof Error ? error.message : String(error) })
  }
}

const graceMs = 1_500
/** For output that was written before the exit, where another process still holds the pipes. */
const lingerMs = 500

type StopCause = 'timed-out' | 'silent' | 'cancelled' | 'stopped'

function superviseGroup(
  child: ChildProcessWithoutNullStreams,
  options: GroupOptions,
  resolve: (outcome: GroupOutcome) => void,
): void {
  const { pid } = child
  const startedAt = performance.now()
  let cause: StopCause | null = null
  let hasExited = false
  const timers = new Set<NodeJS.Timeout>()
  const after = (ms: number, act: () => void): NodeJS.Timeout => {
    const timer = setTimeout(act, ms)
    timers.add(timer)
    return timer
  }

  const stop = (why: StopCause): void => {
    if (cause !== null || hasExited) return
    cause = why
    endGroup()
  }
  const endGroup = (): void => {
    if (pid === undefined) return
    killGroup(pid, 'SIGTERM')
    after(graceMs, () => killGroup(pid, 'SIGKILL'))
    // A process that left the group may hold the pipes open.
    after(graceMs + lingerMs, () => {
      child.stdout.destroy()
      child.stderr.destroy()
    })
  }
  const cancel = (): void => stop('cancelled')

  // Without free descriptors there are no pipes, contrary to the types, and only `error` is emitted.
  if (child.stdout === undefined) {
    child.once('error', (error: NodeJS.ErrnoException) => resolve(notStarted(error, options.cwd)))
    return
  }
  const stdout = readStream(child.stdout, options.maxOutputBytes, (line) => handleLine(line, 'stdout'))
  const stderr = readStream(child.stderr, options.maxOutputBytes, (line) => handleLine(line, 'stderr'))
  const handleLine = (line: string, stream: 'stdout' | 'stderr'): void => {
    if (options.onLine?.(line, stream) === 'end') stop('stopped')
  }

  if (pid !== undefined) registerGroup(pid)
  options.signal.addEventListener('abort', cancel, { once: true })
  after(Math.max(1, options.timeoutMs), () => stop('timed-out'))
  if (options.silenceMs !== null) {
    const silence = after(options.silenceMs, () => stop('silent'))
    for (const stream of [child.stdout, child.stderr]) stream.on('data', () => silence.refresh())
  }

  const finish = (outcome: GroupOutcome): void => {
    for (const timer of timers) clearTimeout(timer)
    options.signal.removeEventListener('abort', cancel)
    if (pid !== undefined) {
      // The leader is gone, and on Windows its pid may belong to another process by now.
      if (process.platform !== 'win32') killGroup(pid, 'SIGKILL')
      unregisterGroup(pid)
    }
    resolve(outcome)
  }
  // Without a pid it never ran, and no other event follows.
  child.once('error', (error: NodeJS.ErrnoException) => {
    if (pid === undefined) finish(notStarted(error, options.cwd))
  })
  child.once('exit', () => {
    hasExited = true
    if (cause === null) after(lingerMs, endGroup)
  })
  child.once('close', (code, signal) => {
    const truncated = stdout.isCut() || stderr.isCut()
    const output = { stdout: stdout.text(), stderr: stderr.text(), truncated }
    const afterMs = Math.round(performance.now() - startedAt)
    if (cause !== null) finish({ kind: cause, afterMs, ...output })
    else if (code !== null) finish({ kind: 'ended', exitCode: code, ...output })
    else if (pid !== undefined) finish({ kind: 'killed-by', signal: signal ?? 'unknown', ...output })
  })

  // A program that exits without having read all of its stdin breaks the pipe.
  child.stdin.on('error', () => {})
  child.stdin.end(options.input)
}

function notStarted(error: NodeJS.ErrnoException, cwd: string): GroupOutcome {
  // A missing cwd is reported as ENOENT as well.
  if (error.code === 'ENOENT' && existsSync(cwd)) return { kind: 'not-found' }
  return { kind: 'not-started', why: error.code === 'ENOENT' ? `the folder ${cwd} does not exist` : error.message }
}

type StreamOutput = { readonly text: () => string; readonly isCut: () => boolean }

/** Reads a stream to its end; keeps its first bytes, and the first characters of each line. */
export function readStream(stream: Readable, maxBytes: number, onLine: (line: string) => void): StreamOutput {
  const pieces: Buffer[] = []
  let kept = 0
  let isCut = false
  const lines = lineSplitter(maxBytes, onLine)
  stream.on('data', (piece: Buffer) => {
    const left = maxBytes - kept
    if (piece.length > left) isCut = true
    if (left > 0) pieces.push(piece.subarray(0, left))
    kept += Math.min(left, piece.length)
    lines.push(piece)
  })
  stream.once('close', () => lines.end())
  // A broken pipe is the end of the stream.
  stream.on('error', () => {})
  return { text: () => Buffer.concat(pieces).toString('utf8'), isCut: () => isCut }
}

function lineSplitter(maxLength: number, onLine: (line: string) => void) {
  const decoder = new StringDecoder('utf8')
  let line = ''
  const add = (part: string): void => {
    line += part.slice(0, maxLength - line.length)
  }
  const flush = (): void => {
    const whole = line
    line = ''
    onLine(whole.endsWith('\r') ? whole.slice(0, -1) : whole)
  }
  return {
    push: (piece: Buffer): void => {
      const [first = '', ...others] = decoder.write(piece).split('\n')
      add(first)
      for (const part of others) {
        flush()
        add(part)
      }
    },
    end: (): void => {
      add(decoder.end())
      if (line !== '') flush()
    },
  }
}

/** Killed when this program ends, however it ends. */
const groups = new Set<number>()
const exitSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

function registerGroup(pid: number): void {
  if (groups.size === 0) {
    process.on('exit', killAll)
    for (const signal of exitSignals) process.on(signal, killAllAndExit)
  }
  groups.add(pid)
}

function unregisterGroup(pid: number): void {
  if (!groups.delete(pid) || groups.size > 0) return
  process.off('exit', killAll)
  for (const signal of exitSignals) process.off(signal, killAllAndExit)
}

function killGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (process.platform === 'win32') {
    // No process groups: the process tree is the nearest, and only /F ends it.
    spawn('taskkill', ['/PID', String(pid), '/T', '/F'], { stdio: 'ignore', windowsHide: true }).on('error', () => {})
    return
  }
  try {
    process.kill(-pid, signal)
  } catch {}
}

const killAll = (): void => {
  for (const pid of groups) killGroup(pid, 'SIGKILL')
}

/** A signal ends a program without its `exit` event. With another listener, that one decides about the exit. */
function killAllAndExit(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return
  killAll()
  for (const each of exitSignals) process.off(each, killAllAndExit)
  process.kill(process.pid, signal)
}
