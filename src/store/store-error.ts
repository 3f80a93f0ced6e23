/**
 * A write that could not be done. Reads answer with values; a write throws, because a caller who forgot to look at its
 * answer would go on as if, say, the approval had been revoked.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly path: string
  readonly next: string

  constructor(path: string, why: string, next = 'Put that right, then try again.', cause?: unknown) {
    super(`${path} ${why}. ${next}`, { cause })
    this.path = path
    this.next = next
  }
}

export const errnoOf = (error: unknown): string => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : 'unknown error'
}
