import { describe, expect, it } from 'vitest'
import { exitCodeOf, mainFailure, type RouteFailure, type Unserved } from '../../../../src/reviewers/routes.ts'
import { type BackendName, type Failure, type FailureClass, failureClasses } from '../../../../src/schemas/review.ts'
import { failureOf } from './failure-of.ts'
import { tableOf } from './run-with.ts'

const of = (name: BackendName, failure: FailureClass, retryAfterMs: number | null = null): RouteFailure => ({
  name,
  ...failureOf(failure, retryAfterMs),
})
const unserved = (
  because: Unserved['because'],
  failures: readonly RouteFailure[] = [],
  skipped: Unserved['skipped'] = [],
): Unserved => ({ kind: 'unserved', because, failures, skipped })

const moreTime = 'Allow more with review.policy.max_total_seconds and, for a plan, plan.deadline_seconds.'
const lookAtRoutes =
  'Install one of them, or change review.routes; `plan-gate routes` shows which row would review, and why the others would not.'

describe('mainFailure', () => {
  it.each<{ name: string; outcome: Unserved; expected: Failure; exitCode: number }>([
    {
      name: 'one failure is reported unchanged',
      outcome: unserved('hard-fail', [of('curl', 'rate-limited', 9_000)]),
      expected: failureOf('rate-limited', 9_000),
      exitCode: 1,
    },
    {
      name: 'of more, the last that could ask decides, and all are reported',
      outcome: unserved('exhausted', [of('codex', 'timeout'), of('curl', 'auth')]),
      expected: {
        failure: 'timeout',
        why: 'codex: It was timeout. curl: It was auth.',
        nextStep: 'codex: Fix timeout. curl: Fix auth.',
        retryAfterMs: null,
      },
      exitCode: 3,
    },
    {
      name: 'equal reasons are reported once',
      outcome: unserved('hard-fail', [of('codex', 'server'), of('curl', 'server')]),
      expected: failureOf('server'),
      exitCode: 1,
    },
    {
      name: 'no reviewer is available',
      outcome: unserved('no-route', [], [{ name: 'codex', why: '`codex` is not on PATH' }]),
      expected: {
        failure: 'not-installed',
        why: 'No reviewer is available: codex (`codex` is not on PATH).',
        nextStep: lookAtRoutes,
        retryAfterMs: null,
      },
      exitCode: 2,
    },
    {
      name: 'the table is empty',
      outcome: unserved('no-route'),
      expected: {
        failure: 'not-installed',
        why: 'No reviewer is available: the route table is empty.',
        nextStep: lookAtRoutes,
        retryAfterMs: null,
      },
      exitCode: 2,
    },
    {
      name: 'a skipped row is not reported where another was tried',
      outcome: unserved('exhausted', [of('curl', 'quota')], [{ name: 'codex', why: 'x' }]),
      expected: failureOf('quota'),
      exitCode: 1,
    },
    {
      name: 'the time ran out before a reviewer was asked',
      outcome: unserved('deadline'),
      expected: {
        failure: 'timeout',
        why: 'The time for this review ran out.',
        nextStep: moreTime,
        retryAfterMs: null,
      },
      exitCode: 3,
    },
    {
      name: 'the time ran out after a failure of another kind',
      outcome: unserved('deadline', [of('codex', 'transport')]),
      expected: {
        failure: 'timeout',
        why: 'The time for this review ran out. It was transport.',
        nextStep: `Fix transport. ${moreTime}`,
        retryAfterMs: null,
      },
      exitCode: 3,
    },
    {
      name: 'the attempts are used up',
      outcome: unserved('attempts', [of('codex', 'malformed')]),
      expected: {
        failure: 'malformed',
        why: 'There were no more attempts. It was malformed.',
        nextStep: 'Fix malformed. Allow more of them with review.policy.max_attempts.',
        retryAfterMs: null,
      },
      exitCode: 5,
    },
    {
      name: 'no attempt was allowed',
      outcome: unserved('attempts'),
      expected: {
        failure: 'rejected',
        why: 'There were no more attempts.',
        nextStep: 'Allow more of them with review.policy.max_attempts.',
        retryAfterMs: null,
      },
      exitCode: 1,
    },
    {
      name: 'cancelled, regardless of earlier failures',
      outcome: unserved('cancelled', [of('codex', 'auth')]),
      expected: {
        failure: 'cancelled',
        why: 'The review was cancelled.',
        nextStep: 'Start it again when you want it.',
        retryAfterMs: null,
      },
      exitCode: 1,
    },
  ])('$name', ({ outcome, expected, exitCode }) => {
    expect(mainFailure(outcome)).toEqual(expected)
    expect(exitCodeOf(outcome)).toBe(exitCode)
  })
})

describe('exitCodeOf', () => {
  it('each class has its own', () => {
    const codes = failureClasses.map((name) => [name, exitCodeOf(unserved('hard-fail', [of('curl', name)]))])
    expect(Object.fromEntries(codes)).toEqual({
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
    })
  })

  it('is 0 where a row served', () => {
    const [route] = tableOf().routes
    expect(route && exitCodeOf({ kind: 'served', route, value: null, failures: [], skipped: [] })).toBe(0)
  })
})
