import { describe, expect, it } from 'vitest'
import {
  type Answer,
  type Limits,
  parseSessionState,
  recordCall,
  type Spending,
  takeCall,
} from '../../../src/reflect/session-state.ts'
import { failureClasses } from '../../../src/schemas/review.ts'

const now = 1_000_000_000
const fresh = parseSessionState(null).spending
const judged = (tokens: number | null): Answer => ({ kind: 'judged', verdict: 'PASS', summary: '', tokens })

const rows: { what: string; spending: Partial<Spending>; limits: Limits; expected: 'granted' | RegExp }[] = [
  { what: 'no limits', spending: { calls: 1e6, tokens: 1e9 }, limits: {}, expected: 'granted' },
  { what: 'the last call', spending: { calls: 4 }, limits: { max_calls: 5 }, expected: 'granted' },
  { what: 'one call too many', spending: { calls: 5 }, limits: { max_calls: 5 }, expected: /5 calls .*max_calls/ },
  { what: 'no call at all', spending: {}, limits: { max_calls: 0 }, expected: /0 calls/ },
  { what: 'tokens left', spending: { tokens: 999 }, limits: { max_tokens: 1000 }, expected: 'granted' },
  {
    what: 'no tokens left',
    spending: { tokens: 1200 },
    limits: { max_tokens: 1000 },
    expected: /1,200 tokens.*1,000 tokens.*max_tokens/,
  },
  { what: 'a backoff', spending: { quietUntil: now + 5000 }, limits: {}, expected: /in 5 seconds/ },
  { what: 'a long backoff', spending: { quietUntil: now + 600_000 }, limits: {}, expected: /in 10 minutes/ },
  { what: 'a backoff that is over', spending: { quietUntil: now }, limits: {}, expected: 'granted' },
  {
    what: 'a backoff from before the clock was set back',
    spending: { quietUntil: now * 2 },
    limits: {},
    expected: 'granted',
  },
]

describe('takeCall', () => {
  it.each(rows)('$what → $expected', ({ spending, limits, expected }) => {
    const grant = takeCall({ ...fresh, ...spending }, limits, now)
    if (expected === 'granted') {
      expect(grant).toMatchObject({ refusal: null, spending: { calls: (spending.calls ?? 0) + 1 } })
    } else {
      expect(grant.refusal).toMatchObject({ line: expect.stringMatching(expected) })
      expect(grant.spending.calls).toBe(spending.calls ?? 0)
    }
  })

  it('says it once, and again when there is another reason', () => {
    const limits = { max_calls: 1 }
    const first = takeCall({ ...fresh, calls: 1 }, limits, now)
    expect(first.refusal).toMatchObject({ line: expect.stringContaining('plan-gate: nothing more is reviewed') })
    const second = takeCall(first.spending, limits, now)
    expect(second.refusal).toMatchObject({ because: 'limit', line: null, why: expect.stringContaining('1 call') })
    const quiet = takeCall({ ...second.spending, quietUntil: now + 1000 }, {}, now)
    expect(quiet.refusal).toMatchObject({ because: 'backoff', line: expect.stringContaining('in 1 second') })
  })

  it('an answer to a call from before the limit was reached does not have it said again; a new limit does', () => {
    const first = takeCall({ ...fresh, calls: 2 }, { max_calls: 2 }, now)
    const answered = recordCall(first.spending, judged(120), now)
    expect(takeCall(answered, { max_calls: 2 }, now).refusal).toMatchObject({ line: null })
    const raised = { ...answered, calls: 3 }
    expect(takeCall(raised, { max_calls: 3 }, now).refusal).toMatchObject({ line: expect.stringMatching(/3 calls/) })
  })

  it('twenty hooks at once get five calls when five are left', () => {
    let [spending, granted] = [fresh, 0]
    for (let hook = 0; hook < 20; hook++) {
      const grant = takeCall(spending, { max_calls: 5 }, now)
      if (grant.refusal === null) granted += 1
      spending = grant.spending
    }
    expect(granted).toBe(5)
  })
})

describe('recordCall', () => {
  const limited = (retryAfterMs: number | null = null) =>
    ({ kind: 'failed', failure: 'rate-limited', retryAfterMs, why: '', nextStep: '' }) as const

  it('adds what an answer has cost, and ends the backoff', () => {
    const spent = recordCall({ ...fresh, tokens: 5, quietUntil: now + 1, refusals: 3, said: 'x' }, judged(120), now)
    expect(spent).toEqual({ calls: 0, tokens: 125, quietUntil: 0, refusals: 0, said: 'x' })
    expect(recordCall(fresh, judged(null), now).tokens).toBe(0)
  })

  it('backs off longer with each rate limit, at most half an hour', () => {
    const pauses: number[] = []
    let [spending, at] = [fresh, now]
    for (let n = 0; n < 8; n++) {
      spending = recordCall(spending, limited(), at)
      pauses.push(spending.quietUntil - at)
      at = spending.quietUntil
    }
    expect(pauses.map((ms) => ms / 60_000)).toEqual([1, 2, 4, 8, 16, 30, 30, 30])
  })

  it.each([
    { retryAfterMs: 300_000, seconds: 300 },
    { retryAfterMs: 1000, seconds: 60 },
    { retryAfterMs: 86_400_000, seconds: 1800 },
  ])('Retry-After of $retryAfterMs ms → $seconds s', ({ retryAfterMs, seconds }) => {
    expect(recordCall(fresh, limited(retryAfterMs), now).quietUntil).toBe(now + seconds * 1000)
  })

  it('a shorter backoff does not end a longer one', () => {
    const spending = { ...fresh, quietUntil: now + 900_000 }
    expect(recordCall(spending, limited(), now).quietUntil).toBe(now + 900_000)
  })

  it('only a rate limit or a used quota starts a backoff', () => {
    const pausing = failureClasses.filter((failure) => recordCall(fresh, { ...limited(), failure }, now).quietUntil > 0)
    expect(pausing).toEqual(['quota', 'rate-limited'])
  })

  it.each([undefined, 'x', [], { calls: -1, tokens: 'x', quietUntil: 1.5, refusals: null, said: 7 }])(
    '%j is a session that has spent nothing',
    (value) => {
      expect(parseSessionState({ spending: value }).spending).toEqual({
        calls: 0,
        tokens: 0,
        quietUntil: 0,
        refusals: 0,
        said: '',
      })
    },
  )
})
