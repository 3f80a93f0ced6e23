import type { Failure } from '../schemas/backend.ts'
import type { RouteFailure, Unserved } from './run-routes.ts'

/** The one thing to tell a person about a review that nobody did. */
export function mainFailure({ because, failures, skipped }: Unserved): Failure {
  switch (because) {
    case 'no-route':
      return noRoute(skipped)
    case 'hard-fail':
    case 'exhausted':
      return lastOf(failures) ?? noRoute(skipped)
    case 'attempts':
      return withReason(failures, lastOf(failures)?.failure ?? 'rejected', {
        why: 'There were no more attempts.',
        nextStep: 'Allow more of them with review.policy.max_attempts.',
      })
    case 'deadline':
      return withReason(failures, 'timeout', {
        why: 'The time for this review ran out.',
        nextStep: 'Allow more with review.policy.max_total_seconds and, for a plan, plan.deadline_seconds.',
      })
    case 'cancelled':
      return failure('cancelled', 'The review was cancelled.', 'Start it again when you want it.')
  }
}

/**
 * The class of the last failure decides, but a row that could not even ask says nothing about one that did: a missing
 * key behind a Codex that timed out is not what went wrong. What all rows met is told.
 */
function lastOf(failures: readonly RouteFailure[]): Failure | null {
  const last = failures.findLast(({ failure }) => failure !== 'auth' && failure !== 'not-installed') ?? failures.at(-1)
  if (last === undefined) return null
  return {
    failure: last.failure,
    why: told(failures, ({ why }) => why),
    nextStep: told(failures, ({ nextStep }) => nextStep),
    retryAfterMs: last.retryAfterMs,
  }
}

/** With the names of the rows, as soon as there is more than one. */
function told(failures: readonly RouteFailure[], part: (failure: RouteFailure) => string): string {
  const [first, ...others] = failures
  if (first !== undefined && others.every((other) => part(other) === part(first))) return part(first)
  return failures.map((failure) => `${failure.backend}: ${part(failure)}`).join(' ')
}

function withReason(
  failures: readonly RouteFailure[],
  name: Failure['failure'],
  { why, nextStep }: Pick<Failure, 'why' | 'nextStep'>,
): Failure {
  const last = lastOf(failures)
  return last === null
    ? failure(name, why, nextStep)
    : { ...last, failure: name, why: `${why} ${last.why}`, nextStep: `${last.nextStep} ${nextStep}` }
}

function noRoute(skipped: Unserved['skipped']): Failure {
  const whys = skipped.map(({ backend, why }) => `${backend} (${why})`).join('; ')
  return failure(
    'not-installed',
    whys === ''
      ? 'There is nobody who could review: the route table is empty.'
      : `There is nobody who could review now: ${whys}.`,
    'Install one of them, or change review.routes; `plan-gate routes` shows who would serve, and why the others not.',
  )
}

const failure = (name: Failure['failure'], why: string, nextStep: string): Failure => ({
  failure: name,
  why,
  nextStep,
  retryAfterMs: null,
})
