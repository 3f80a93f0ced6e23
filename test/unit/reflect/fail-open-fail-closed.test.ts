import { describe, expect, it } from 'vitest'
import { escapeUntrusted } from '../../../src/redact/untrusted-text.ts'
import { formatReflection } from '../../../src/reflect/after-tool.ts'
import { condensed, joinLong, parseReflection, splitLong } from '../../../src/reflect/ask.ts'
import {
  afterAsking,
  beforeAsking,
  type FollowSettings,
  parseSessionState,
  type Subject,
} from '../../../src/reflect/session-state.ts'
import { decideAfterReview, decideStop, formatStop } from '../../../src/reflect/stop.ts'
import { judgePlanPath } from '../../../src/reflect/subject.ts'
import { toHookAnswer } from '../../../src/reflect/values.ts'
import { failureClasses } from '../../../src/schemas/review.ts'

/** What each failure comes to, from the failure itself to the exit code: advisory reviews let through, Stop does not. */
const settings: FollowSettings = {
  ttlMs: 300_000,
  maxEntries: 100,
  quietMs: 0,
  limits: { maxCalls: null, maxTokens: null },
}
const subject: Subject = { hash: 'h', key: 'file a.ts', about: 'a.ts' }
const trace = { trace: null, traceability: 'advisory' } as const
const open = parseSessionState({
  fails: { fails: [{ key: 'file a.ts', verdict: 'FAIL', about: 'a.ts', summary: 'x', at: 1 }] },
})

const afterChange = (answer: Parameters<typeof afterAsking>[2]) => {
  const { state, tell } = afterAsking(open, subject, answer, settings, 5)
  return { state, exitCode: toHookAnswer('PostToolUse', formatReflection('change', tell, escapeUntrusted)).exitCode }
}
const failed = (failure: (typeof failureClasses)[number]) => ({
  kind: 'failed' as const,
  failure,
  why: 'No.',
  nextStep: 'Wait.',
  retryAfterMs: null,
})
const stopWith = (review: Parameters<typeof decideAfterReview>[0]) =>
  toHookAnswer('Stop', formatStop(decideAfterReview(review, trace), escapeUntrusted))

describe('a change', () => {
  it.each(failureClasses)('the reviewer: %s → let through, nothing remembered, what was open stays', (failure) => {
    const { state, exitCode } = afterChange(failed(failure))
    expect(exitCode).toBe(0)
    expect({ fails: state.fails, memory: state.memory }).toEqual({ fails: open.fails, memory: open.memory })
  })

  it('an empty answer is UNCERTAIN → let through, what was open stays', () => {
    const { verdict, toCondense } = parseReflection('', [])
    const { state, exitCode } = afterChange({ kind: 'judged', verdict, summary: toCondense.text, usage: null })
    expect({ verdict, exitCode, fails: state.fails }).toEqual({ verdict: 'UNCERTAIN', exitCode: 0, fails: open.fails })
  })

  it.each(['FAIL', 'UNCERTAIN', 'PASS'] as const)('%s → let through', (verdict) => {
    expect(afterChange({ kind: 'judged', verdict, summary: '', usage: null }).exitCode).toBe(0)
  })

  it.each([undefined, 'half a fi', { memory: { entries: [{ hash: 'h', verdict: 'PASS' }] } }])(
    'a damaged memory (%j) → asked anew',
    (value) => {
      expect(beforeAsking(parseSessionState(value), subject, settings, 5).kind).toBe('ask')
    },
  )
})

describe('a stop', () => {
  it.each(['FAIL', 'UNCERTAIN'] as const)('%s → held back', (verdict) => {
    expect(stopWith({ kind: 'judged', verdict, summary: '' })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('do not stop yet'),
    })
  })

  it('PASS → let go, in silence', () => {
    expect(stopWith({ kind: 'judged', verdict: 'PASS', summary: '' })).toEqual({ exitCode: 0 })
  })

  it.each(failureClasses.filter((failure) => failure !== 'cancelled'))('the reviewer: %s → held back', (failure) => {
    expect(stopWith(failed(failure)).exitCode).toBe(2)
  })

  it('cancelled → let go', () => {
    expect(stopWith(failed('cancelled'))).toEqual({ exitCode: 0 })
  })

  it('whatever held it back, the second stop is let go', () => {
    const end = decideStop({ isActive: true, fails: open.fails, lastMessage: null, transcript: () => '', ...trace })
    if (end.kind === 'ask') throw new Error('asked')
    expect(toHookAnswer('Stop', formatStop(end, escapeUntrusted))).toEqual({
      stdout: JSON.stringify({ systemMessage: 'plan-gate: still open:\n  - a.ts: FAIL' }),
      exitCode: 0,
    })
  })
})

describe('the rest', () => {
  it('nobody condenses → cut', () => {
    const { toCondense } = parseReflection(`FAIL\n${'x'.repeat(5000)}`, [])
    expect(condensed(toCondense, null, 1500)).toHaveLength(1500)
  })

  it('nobody summarises → head and tail', () => {
    expect(joinLong(splitLong('x'.repeat(5000), 2000), null, 2000)).toContain(
      '[… 3,400 characters are left out here …]',
    )
  })

  it('a path that is no plan → that one is rejected, with nothing thrown', () => {
    expect(
      judgePlanPath({ path: '../x', folder: '', realPath: null, realFolder: null, isRegularFile: false }).kind,
    ).toBe('rejected')
  })
})
