import { describe, expect, it } from 'vitest'
import { defaultConfig } from '../../../src/config/schema.ts'
import type { Effort, Question } from '../../../src/schemas/review.ts'
import { openPassTimes, type PassTimes } from '../../../src/state/pass-times.ts'
import { temporaryFolder } from '../../support/temporary-repo.ts'
import { type Reviewed, resultOf, reviewWith, type Said } from './review-with.ts'
import { finding } from './reviewer-answers.ts'

const { plan, review } = defaultConfig
/** Complex, so that it is worth all passes and the most effort. */
const content = '# Login\n\n## Changes\n\n- `src/auth/login.ts` (changed): a limit.\n'

/** By the defaults, with passes that take as many seconds as `seconds` says. */
const reviewPlan = (seconds: (effort: Effort) => number, passTimes?: PassTimes): Promise<Reviewed> => {
  const codex = ({ effort, timeoutMs }: Question): Said => {
    const tookMs = 1000 * seconds(effort ?? 'low')
    if (tookMs > timeoutMs) return { fails: 'timeout', tookMs: timeoutMs }
    return { tookMs, says: { verdict: 'CHANGES_REQUIRED', findings: [finding('It has no limit.')] } }
  }
  return reviewWith({
    request: {
      type: 'plan',
      content,
      passTimeoutMs: review.timeout_seconds * 1000,
      totalMs: plan.deadline_seconds * 1000,
      thread: { kind: 'start' },
    },
    backends: { codex, curl: [{ fails: 'auth' }], hounfour: [{ fails: 'not-installed' }] },
    ...(passTimes === undefined ? {} : { passTimes }),
  })
}

const effortsOf = ({ asked }: Reviewed): (string | null)[] =>
  asked.flatMap(({ backend, question }) => (backend === 'codex' ? [question.effort] : []))

describe('a review within the default deadlines', () => {
  it.each([
    { seconds: 60, verification: 'passed' },
    { seconds: 165, verification: 'passed' },
    { seconds: 280, verification: 'passed' },
    { seconds: 400, verification: 'passed' },
    { seconds: 590, verification: 'skipped' },
  ])('ends with a verdict where each pass takes $seconds s: $verification', async ({ seconds, verification }) => {
    const result = resultOf(await reviewPlan(() => seconds))
    expect([result.verdict, result.verification]).toEqual(['CHANGES_REQUIRED', verification])
  })

  it('goes down a step after a pass that was not answered in time, and says so', async () => {
    const done = await reviewPlan((effort) => (effort === 'xhigh' ? 900 : effort === 'high' ? 500 : 250))
    expect([resultOf(done).verdict, effortsOf(done)]).toEqual(['CHANGES_REQUIRED', ['xhigh', 'medium']])
    expect(resultOf(done).notices).toContain(
      'Reasoning effort medium instead of high: a pass before it was not answered in time.',
    )
  })

  it('learns from earlier reviews which effort leaves time for a verdict', async () => {
    const times = openPassTimes(null, temporaryFolder())
    const seconds = (effort: Effort): number => (effort === 'xhigh' ? 900 : effort === 'high' ? 300 : 100)
    const reviews: (string | null)[][] = []
    for (let n = 0; n < 4; n++) reviews.push(effortsOf(await reviewPlan(seconds, times)))
    expect(reviews.slice(0, 3)).toEqual(Array.from({ length: 3 }, () => ['xhigh', 'medium']))
    // understand, find, verify twice
    expect(reviews[3]).toEqual(['high', 'high', 'high', 'high'])
  })

  it('is forecast as soon as such passes are known', async () => {
    const times = openPassTimes(null, temporaryFolder())
    for (let n = 0; n < 3; n++) await reviewPlan((effort) => (effort === 'xhigh' ? 100 : 40), times)
    const forecasts = (await reviewPlan(() => 10, times)).events.flatMap((event) =>
      event.kind === 'pass' ? [event.forecast] : [],
    )
    expect(forecasts).toEqual([
      // On this clock the second reader does not read at the same time.
      { ms: 280_000, tokens: 360 },
      { ms: 180_000, tokens: 240 },
      { ms: 180_000, tokens: 240 },
      { ms: 100_000, tokens: 120 },
      { ms: 100_000, tokens: 120 },
    ])
  })
})
