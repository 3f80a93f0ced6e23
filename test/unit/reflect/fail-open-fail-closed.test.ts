import { describe, expect, it } from 'vitest'
import { decideAfterReview, decideStop, formatReflection, toHookAnswer } from '../../../src/reflect/messages.ts'
import { parseReflection } from '../../../src/reflect/prompts.ts'
import {
  afterAsking,
  beforeAsking,
  openFindings,
  parseSessionState,
  type Subject,
} from '../../../src/reflect/session-state.ts'
import { failureClasses } from '../../../src/schemas/review.ts'

/** From each failure to the exit code: advisory reviews fail open, Stop fails closed. */
const subject: Subject = { hash: 'h', key: 'file a.ts', about: 'a.ts' }
const open = parseSessionState({
  fails: { fails: [{ key: 'file a.ts', verdict: 'FAIL', about: 'a.ts', summary: 'x', at: 1 }] },
})

const afterChange = (answer: Parameters<typeof afterAsking>[2]) => {
  const { state, reflection } = afterAsking(open, subject, answer, 5)
  return {
    state,
    exitCode: toHookAnswer('PostToolUseFailure', formatReflection({ kind: 'change', about: 'a.ts' }, reflection))
      .exitCode,
  }
}
const failed = (failure: (typeof failureClasses)[number]) => ({
  kind: 'failed' as const,
  failure,
  why: 'No.',
  nextStep: 'Wait.',
  retryAfterMs: null,
})
const judged = (verdict: 'PASS' | 'FAIL' | 'UNCERTAIN') =>
  ({ kind: 'judged', verdict, summary: '', cached: false, cleared: false }) as const
const stopWith = (review: Parameters<typeof decideAfterReview>[0]) =>
  toHookAnswer('Stop', decideAfterReview(review, null))

describe('a change', () => {
  it.each(failureClasses)('the reviewer: %s → let through, nothing cached, what was open stays', (failure) => {
    const { state, exitCode } = afterChange(failed(failure))
    expect(exitCode).toBe(0)
    expect({ fails: state.fails, memory: state.memory }).toEqual({ fails: open.fails, memory: open.memory })
  })

  it('an empty answer is UNCERTAIN → let through, what was open stays', () => {
    const { verdict, text: summary } = parseReflection('', [])
    const { state, exitCode } = afterChange({ kind: 'judged', verdict, summary, tokens: null })
    expect({ verdict, exitCode, fails: state.fails }).toEqual({ verdict: 'UNCERTAIN', exitCode: 0, fails: open.fails })
  })

  it.each(['FAIL', 'UNCERTAIN', 'PASS'] as const)('%s → let through', (verdict) => {
    expect(afterChange({ kind: 'judged', verdict, summary: '', tokens: null }).exitCode).toBe(0)
  })

  it.each([undefined, 'half a fi', { memory: { entries: [{ hash: 'h', verdict: 'PASS' }] } }])(
    'a damaged cache (%j) → asked again',
    (value) => {
      expect(beforeAsking(parseSessionState(value), subject, {}, 5_000_000).known).toBeNull()
    },
  )
})

describe('a stop', () => {
  it.each(['FAIL', 'UNCERTAIN'] as const)('%s → held back', (verdict) => {
    expect(stopWith(judged(verdict))).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('do not stop yet') })
  })

  it('PASS → let go without a message', () => {
    expect(stopWith(judged('PASS'))).toEqual({ exitCode: 0 })
  })

  it.each(failureClasses.filter((failure) => failure !== 'cancelled'))('the reviewer: %s → held back', (failure) => {
    expect(stopWith(failed(failure)).exitCode).toBe(2)
  })

  it('cancelled → let go', () => {
    expect(stopWith(failed('cancelled'))).toEqual({ exitCode: 0 })
  })

  it('the second stop is always let go', () => {
    const end = decideStop({ isActive: true, open: openFindings(open), trace: null, traceBlocks: true })
    if (end === null) throw new Error('asked')
    expect(toHookAnswer('Stop', end)).toEqual({
      stdout: JSON.stringify({ systemMessage: 'plan-gate: still open:\n  - a.ts: FAIL' }),
      exitCode: 0,
    })
  })
})
