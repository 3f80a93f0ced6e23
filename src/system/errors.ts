/** The code of an error that the system gave (a full disk, no permission, no descriptor left); null for a mistake of ours. */

export function systemErrorCode(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || !('syscall' in error)) return null
  return typeof error.code === 'string' ? error.code : null
}

/** Nothing is there. All else that a look can end with does not say so. */
export const isNotFound = (errno: string | null | undefined): boolean => errno === 'ENOENT' || errno === 'ENOTDIR'

/** A look at what may not be there: `nothing` then. What cannot be looked at is not nothing, and that throws. */
export function unlessAbsent<T>(look: () => T, nothing: T): T {
  try {
    return look()
  } catch (error) {
    if (isNotFound(systemErrorCode(error))) return nothing
    throw error
  }
}

/** Of the machine and not of the file: it says nothing of what is there, and the next look may well succeed. */
export const isTransient = (errno: string | null | undefined): boolean => transientErrnos.includes(errno ?? '')
const transientErrnos = ['EIO', 'EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EBUSY', 'EINTR', 'ESTALE', 'ETIMEDOUT']

/** Something a person can mend: what is wrong, and the next step. Printed without a stack; the exit code is 2. */
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
