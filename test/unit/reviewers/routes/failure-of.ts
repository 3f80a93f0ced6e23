import type { Failure, FailureClass } from '../../../../src/schemas/review.ts'

/** A failure of this class, with words that tell which one it is. */
export const failureOf = (failure: FailureClass, retryAfterMs: number | null = null): Failure => ({
  failure,
  why: `It was ${failure}.`,
  nextStep: `Mend ${failure}.`,
  retryAfterMs,
})
