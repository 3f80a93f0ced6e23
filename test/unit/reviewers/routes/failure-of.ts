import type { Failure, FailureClass } from '../../../../src/schemas/review.ts'

/** A failure of this class, whose words name it. */
export const failureOf = (failure: FailureClass, retryAfterMs: number | null = null): Failure => ({
  failure,
  why: `It was ${failure}.`,
  nextStep: `Fix ${failure}.`,
  retryAfterMs,
})
