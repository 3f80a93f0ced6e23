/** The attempts that one review may make: each row that is tried and each retry takes one. */
export type AttemptBudget = {
  /** False when none is left; nothing may be tried then. */
  readonly take: () => boolean
}

export function attemptBudget(attempts: number): AttemptBudget {
  let left = attempts
  return {
    take() {
      if (left <= 0) return false
      left -= 1
      return true
    },
  }
}
