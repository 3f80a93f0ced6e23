import type { Failure, FailureClass } from '../schemas/review.ts'
import {
  type ConditionFacts,
  cacheFacts,
  evaluateConditions,
  type Fact,
  routeLabel,
  showConditions,
} from './conditions.ts'
import { cancelledFailure, failureOf } from './failure.ts'
import { type AttemptBudget, attemptBudget } from './retry.ts'
import type { Route, RouteTable } from './route-table.ts'

/** `failure` includes an answer without a valid verdict. */
export type Attempt<T> = { readonly kind: 'success'; readonly value: T } | ({ readonly kind: 'failure' } & Failure)

export type RouteEffects<T> = {
  readonly facts: ConditionFacts
  /** A whole review by this row, all its passes. Its first attempt has been taken from the budget. */
  readonly attempt: (route: Route, budget: AttemptBudget) => Promise<Attempt<T>>
  readonly timeLeftMs: () => number
  readonly maxAttempts: number
  readonly trace: (line: string) => void
  readonly isCancelled: () => boolean
}

/** `name`: of the row. */
export type RouteFailure = { readonly name: string } & Failure
export type Unserved = {
  readonly kind: 'unserved'
  readonly because: 'no-route' | 'hard-fail' | 'exhausted' | 'attempts' | 'deadline' | 'cancelled'
  readonly failures: readonly RouteFailure[]
  readonly skipped: readonly { readonly name: string; readonly why: string }[]
}
export type RouteOutcome<T> =
  | ({ readonly kind: 'served'; readonly route: Route; readonly value: T } & Pick<Unserved, 'failures' | 'skipped'>)
  | Unserved

/** Row by row from the top; the first success wins. */
export async function runRoutes<T>(
  { routes }: Pick<RouteTable, 'routes'>,
  effects: RouteEffects<T>,
): Promise<RouteOutcome<T>> {
  const facts = cacheFacts(effects.facts)
  const budget = attemptBudget(effects.maxAttempts)
  const failures: RouteFailure[] = []
  const skipped: { name: string; why: string }[] = []
  const unserved = (because: Unserved['because']): Unserved => ({ kind: 'unserved', because, failures, skipped })

  for (const route of routes) {
    const { name } = route
    const row = `${routeLabel(route)}, conditions=[${showConditions(route.when)}]`
    const fact = await evaluateConditions(route.when, facts)
    const end = effects.isCancelled() ? 'cancelled' : effects.timeLeftMs() > 0 ? null : 'deadline'
    if (end !== null) {
      effects.trace(`[route-table] ended before ${row}, why=${end}`)
      return unserved(end)
    }
    if (!fact.holds) {
      effects.trace(`[route-table] skipping ${row}, why=${fact.why}`)
      skipped.push({ name, why: fact.why })
      continue
    }
    if (!budget.take()) {
      effects.trace(`[route-table] ended before ${row}, why=attempts`)
      return unserved('attempts')
    }
    effects.trace(`[route-table] trying ${row}, result=pending`)
    const attempt = await effects.attempt(route, budget)
    if (attempt.kind === 'success') {
      effects.trace(`[route-table] trying ${row}, result=success`)
      return { kind: 'served', route, value: attempt.value, failures, skipped }
    }
    effects.trace(`[route-table] trying ${row}, result=fail (${attempt.failure})`)
    const { failure, why, nextStep, retryAfterMs } = attempt
    failures.push({ name, failure, why, nextStep, retryAfterMs })
    if (failure === 'cancelled' || effects.isCancelled()) return unserved('cancelled')
    if (route.failMode === 'hard_fail') return unserved('hard-fail')
  }
  return unserved(failures.length === 0 ? 'no-route' : 'exhausted')
}

/** The one failure to report for a review that no row has done. */
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
      return cancelledFailure
  }
}

/**
 * The class of the last failure decides, except that a row which could not even ask does not hide one that did: a missing
 * key after a Codex that timed out is not the problem. The reasons of all rows are reported.
 */
function lastOf(failures: readonly RouteFailure[]): Failure | null {
  const last = failures.findLast(({ failure }) => failure !== 'auth' && failure !== 'not-installed') ?? failures.at(-1)
  if (last === undefined) return null
  return {
    failure: last.failure,
    why: joinReasons(failures, ({ why }) => why),
    nextStep: joinReasons(failures, ({ nextStep }) => nextStep),
    retryAfterMs: last.retryAfterMs,
  }
}

/** With the names of the rows where they differ. */
function joinReasons(failures: readonly RouteFailure[], part: (failure: RouteFailure) => string): string {
  const [first, ...others] = failures
  if (first !== undefined && others.every((other) => part(other) === part(first))) return part(first)
  return failures
    .map((failure) => `${failure.name}: ${part(failure)}`)
    .reduce((before, next) => `${before}${/[.!?]$/.test(before) ? '' : ';'} ${next}`)
}

function withReason(
  failures: readonly RouteFailure[],
  name: Failure['failure'],
  { why, nextStep }: Pick<Failure, 'why' | 'nextStep'>,
): Failure {
  const last = lastOf(failures)
  return last === null
    ? failureOf(name, why, nextStep)
    : { ...last, failure: name, why: `${why} ${last.why}`, nextStep: `${last.nextStep} ${nextStep}` }
}

function noRoute(skipped: Unserved['skipped']): Failure {
  const whys = skipped.map(({ name, why }) => `${name} (${why})`).join('; ')
  return failureOf(
    'not-installed',
    whys === '' ? 'No reviewer is available: the route table is empty.' : `No reviewer is available: ${whys}.`,
    'Install one of them, or change review.routes; `plan-gate routes` shows which row would review, and why the others would not.',
  )
}

/** 1: the service failed; 2: no reviewer; 3: no time; 4: no credentials; 5: an answer without a verdict. */
const exitCodes: { readonly [name in FailureClass]: 1 | 2 | 3 | 4 | 5 } = {
  'not-installed': 2,
  auth: 4,
  quota: 1,
  'rate-limited': 1,
  timeout: 3,
  transport: 1,
  server: 1,
  malformed: 5,
  refused: 1,
  rejected: 1,
  crashed: 1,
  cancelled: 1,
}

/** Of `plan-gate review`. */
export const exitCodeOf = (outcome: RouteOutcome<unknown>): 0 | 1 | 2 | 3 | 4 | 5 =>
  outcome.kind === 'served' ? 0 : exitCodes[mainFailure(outcome).failure]

/** `why` this row would not review; null for the one that would. */
export type Prediction = { readonly route: Route; readonly why: string | null }

/** Which row would review now. No reviewer is asked, and credentials are not tested. */
export async function predictRoutes(
  { routes }: Pick<RouteTable, 'routes'>,
  facts: ConditionFacts,
): Promise<readonly Prediction[]> {
  const cached = cacheFacts(facts)
  const predictions: Prediction[] = []
  /** Why later rows are not used, set by the first row that is reached. */
  let decided: string | null = null
  for (const route of routes) {
    const conditions = await evaluateConditions(route.when, cached)
    const need = await prerequisite(route, cached)
    const unmet = conditions.holds ? (need.holds ? null : `it would fail: ${need.why}`) : conditions.why
    predictions.push({ route, why: unmet ?? decided })
    if (decided !== null || !conditions.holds) continue
    const { name, failMode } = route
    if (failMode === 'hard_fail') decided = `${name} ${need.holds ? 'comes' : 'fails'} first, and ends the review`
    else if (need.holds) decided = `${name} comes first`
  }
  return predictions
}

/** Without it the reviewer fails, even if the row's own conditions hold. */
async function prerequisite({ backend, endpoint }: Route, facts: ConditionFacts): Promise<Fact> {
  switch (backend) {
    case 'hounfour':
      return evaluateConditions(['model_invoke_available'], facts)
    case 'codex':
      return evaluateConditions(['codex_available'], facts)
    case 'claude':
      return evaluateConditions(['claude_available'], facts)
    case 'curl': {
      const variable = endpoint === null ? 'OPENAI_API_KEY' : endpoint.apiKeyEnv
      return variable === null ? { holds: true } : facts.key(variable)
    }
    case 'checklist':
      return { holds: true }
  }
}
