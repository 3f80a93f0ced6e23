import { writeSync } from 'node:fs'

/** The code of a system error (a full disk, no permission, no descriptor left); null for any other error. */
export function systemErrorCode(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || !('syscall' in error)) return null
  return typeof error.code === 'string' ? error.code : null
}

/** Nothing is there. Any other error leaves that open. */
export const isNotFound = (errno: string | null | undefined): boolean => errno === 'ENOENT' || errno === 'ENOTDIR'

/** What `read` returns, or `fallback` where that throws, whatever the reason. */
export function orElse<T>(read: () => T, fallback: T): T {
  try {
    return read()
  } catch {
    return fallback
  }
}

/** What `read` returns, or `fallback` if the file is absent. Any other failure throws. */
export function unlessAbsent<T>(read: () => T, fallback: T): T {
  try {
    return read()
  } catch (error) {
    if (isNotFound(systemErrorCode(error))) return fallback
    throw error
  }
}

/** An error of the machine, not of the file: a retry may succeed. */
export const isTransient = (errno: string | null | undefined): boolean => transientErrnos.includes(errno ?? '')
const transientErrnos = ['EIO', 'EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EBUSY', 'EINTR', 'ESTALE', 'ETIMEDOUT']

/** An error that the user can fix: what is wrong, and the next step. Printed without a stack; the exit code is 2. */
export class UserError extends Error {
  readonly nextStep: string
  readonly exitCode: number
  constructor(message: string, nextStep: string, exitCode = 2) {
    super(message)
    this.name = 'UserError'
    this.nextStep = nextStep
    this.exitCode = exitCode
  }
}

export const isDebugging = (): boolean => process.env.PLAN_GATE_DEBUG === '1'

/** Prints with PLAN_GATE_DEBUG=1. Synchronous: hooks end by `process.exit`, which drops pending writes. */
export function debug(line: string): void {
  if (!isDebugging()) return
  try {
    writeSync(2, `plan-gate debug: ${line}\n`)
  } catch {
    // stderr is closed.
  }
}
