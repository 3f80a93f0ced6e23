import { execa } from 'execa'
import { withAbsolutePath } from './environment.ts'
import { waitForOwnSignal } from './signals.ts'

export type CommandOutcome =
  | { kind: 'ended'; exitCode: number; stdout: string; stderr: string }
  | { kind: 'not-found' }
  | { kind: 'not-started'; why: string }
  | { kind: 'timed-out'; afterMs: number }
  | { kind: 'killed'; signal: string; stderr: string }

export type CommandOptions = {
  cwd?: string
  env?: NodeJS.ProcessEnv
  input?: string
  timeoutMs: number
  /** Stream the output to stderr; it is then not returned. */
  show?: boolean
}

/** Runs a program within a deadline. Never throws: each outcome is a value. */
export async function runCommand(
  file: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<CommandOutcome> {
  const result = await execa(file, args, {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: withAbsolutePath(options.env ?? process.env),
    extendEnv: false,
    ...(options.input === undefined ? { stdin: 'ignore' as const } : { input: options.input }),
    // Not to stdout, which is for results.
    ...(options.show === true ? { stdout: 2 as const, stderr: 2 as const } : {}),
    timeout: options.timeoutMs,
    killSignal: 'SIGTERM',
    forceKillAfterDelay: 2_000,
    reject: false,
    stripFinalNewline: false,
    maxBuffer: 64 * 1024 * 1024,
  })
  if (result.timedOut) return { kind: 'timed-out', afterMs: options.timeoutMs }
  await waitForOwnSignal(result.exitCode, result.signal)
  if (result.exitCode !== undefined)
    return {
      kind: 'ended',
      exitCode: result.exitCode,
      stdout: String(result.stdout ?? ''),
      stderr: String(result.stderr ?? ''),
    }
  if (result.signal !== undefined) return { kind: 'killed', signal: result.signal, stderr: String(result.stderr ?? '') }
  const { code } = result
  return code === undefined || code === 'ENOENT'
    ? { kind: 'not-found' }
    : { kind: 'not-started', why: `${file} could not be started (${code})` }
}

export function describeOutcome(outcome: CommandOutcome): string {
  switch (outcome.kind) {
    case 'ended':
      return `exit code ${outcome.exitCode}`
    case 'timed-out':
      return `no end within ${outcome.afterMs / 1000} s`
    case 'killed':
      return `ended by ${outcome.signal}`
    case 'not-found':
      return 'it cannot be started'
    case 'not-started':
      return outcome.why
  }
}
