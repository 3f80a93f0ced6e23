import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Route } from '../../../../src/reviewers/route-table.ts'
import { askWithRetry, attemptBudget } from '../../../../src/reviewers/routes.ts'
import { type Answer, type FailureClass, failureClasses } from '../../../../src/schemas/review.ts'
import { failureOf } from './failure-of.ts'
import { plainRoute } from './run-with.ts'

type Turn = 'ok' | FailureClass | { failure: FailureClass; retryAfterMs: number }
type Setting = {
  /** What each question is answered with; the last one is given again and again. */
  turns: readonly Turn[]
  retries?: number
  timeoutMs?: number | null
  passTimeoutMs?: number
  totalMs?: number
  /** How long each answer takes. */
  tookMs?: number
  attempts?: number
  cancelledAtMs?: number
}
type Played = {
  end: string
  timeouts: number[]
  sleeps: number[]
  messages: string[]
  traces: string[]
  clock: number
  answer: Answer
}

const thread = { id: 'T', used: null, replaced: null }
const answerOf = (turn: Turn): Answer => {
  if (turn === 'ok') return { kind: 'answered', text: '{}', usage: null, model: null, thread, notices: [] }
  const failure = typeof turn === 'string' ? failureOf(turn) : failureOf(turn.failure, turn.retryAfterMs)
  return { kind: 'failed', ...failure, thread, notices: ['n'] }
}

/** With a clock that only moves by waiting. */
async function play(setting: Setting): Promise<Played> {
  const { turns, retries = 0, timeoutMs = null, passTimeoutMs = 300_000, totalMs = 900_000, tookMs = 1_000 } = setting
  let clock = 0
  const timeouts: number[] = []
  const sleeps: number[] = []
  const messages: string[] = []
  const traces: string[] = []
  const route: Route = { ...plainRoute, name: 'curl', backend: 'curl', timeoutMs, retries }
  const ask = async (timeout: number): Promise<Answer> => {
    const turn = turns[Math.min(timeouts.length, turns.length - 1)] ?? 'ok'
    timeouts.push(timeout)
    clock += Math.min(tookMs, timeout)
    return answerOf(turn)
  }
  const answer = await askWithRetry(ask, {
    route,
    passTimeoutMs,
    timeLeftMs: () => totalMs - clock,
    sleep: async (ms) => {
      sleeps.push(ms)
      clock += ms
    },
    budget: attemptBudget(setting.attempts ?? 10),
    onProgress: (line) => void messages.push(line),
    trace: (line) => void traces.push(line),
    isCancelled: () => clock >= (setting.cancelledAtMs ?? Number.POSITIVE_INFINITY),
  })
  return { end: answer.kind === 'answered' ? 'ok' : answer.failure, timeouts, sleeps, messages, traces, clock, answer }
}

describe('askWithRetry', () => {
  it.each<{ name: string; setting: Setting; end: string; asked: number; sleeps: number[]; messages: string[] }>([
    { name: 'an answer at once', setting: { turns: ['ok'] }, end: 'ok', asked: 1, sleeps: [], messages: [] },
    {
      name: 'rate-limited for a while',
      setting: { turns: ['rate-limited', 'rate-limited', 'ok'] },
      end: 'ok',
      asked: 3,
      sleeps: [5_000, 15_000],
      messages: [
        'curl: rate-limited; asked again after 5 s (1 of 3).',
        'curl: rate-limited; asked again after 15 s (2 of 3).',
      ],
    },
    {
      name: 'always rate-limited, regardless of the retries of the row',
      setting: { turns: ['rate-limited'], retries: 10 },
      end: 'rate-limited',
      asked: 4,
      sleeps: [5_000, 15_000, 45_000],
      messages: [
        'curl: rate-limited; asked again after 5 s (1 of 3).',
        'curl: rate-limited; asked again after 15 s (2 of 3).',
        'curl: rate-limited; asked again after 45 s (3 of 3).',
      ],
    },
    {
      name: 'with a time to wait',
      setting: { turns: [{ failure: 'rate-limited', retryAfterMs: 7_200 }, 'ok'] },
      end: 'ok',
      asked: 2,
      sleeps: [7_200],
      messages: ['curl: rate-limited; asked again after 7.2 s (1 of 3).'],
    },
    {
      name: 'with a time of 0',
      setting: { turns: [{ failure: 'rate-limited', retryAfterMs: 0 }, 'ok'] },
      end: 'ok',
      asked: 2,
      sleeps: [1_000],
      messages: ['curl: rate-limited; asked again after 1 s (1 of 3).'],
    },
    {
      name: 'with a time that outlives the review',
      setting: { turns: [{ failure: 'rate-limited', retryAfterMs: 3_600_000 }] },
      end: 'rate-limited',
      asked: 1,
      sleeps: [],
      messages: ['curl: rate-limited; not asked again, because too little time would be left after waiting 3600 s.'],
    },
    {
      name: 'a wait that leaves no time for an answer',
      setting: { turns: ['rate-limited'], totalMs: 60_000 },
      end: 'rate-limited',
      asked: 3,
      sleeps: [5_000, 15_000],
      messages: [
        'curl: rate-limited; asked again after 5 s (1 of 3).',
        'curl: rate-limited; asked again after 15 s (2 of 3).',
        'curl: rate-limited; not asked again, because too little time would be left after waiting 45 s.',
      ],
    },
    {
      name: 'passes shorter than what is thought useful are asked again all the same',
      setting: { turns: ['rate-limited', 'ok'], passTimeoutMs: 2_000, totalMs: 9_000 },
      end: 'ok',
      asked: 2,
      sleeps: [5_000],
      messages: ['curl: rate-limited; asked again after 5 s (1 of 3).'],
    },
    {
      name: 'the service fails, and the row allows no retry',
      setting: { turns: ['server', 'ok'] },
      end: 'server',
      asked: 1,
      sleeps: [],
      messages: [],
    },
    {
      name: 'the service fails until the retries are used up',
      setting: { turns: ['server'], retries: 5 },
      end: 'server',
      asked: 6,
      sleeps: [1_000, 2_000, 4_000, 8_000, 8_000],
      messages: [1, 2, 4, 8, 8].map((s, index) => `curl: server; asked again after ${s} s (${index + 1} of 5).`),
    },
    {
      name: 'the service says when to come back',
      setting: { turns: [{ failure: 'server', retryAfterMs: 20_000 }, 'ok'], retries: 1 },
      end: 'ok',
      asked: 2,
      sleeps: [20_000],
      messages: ['curl: server; asked again after 20 s (1 of 1).'],
    },
    {
      name: 'who timed out is asked again at once',
      setting: { turns: ['timeout', 'ok'], retries: 3 },
      end: 'ok',
      asked: 2,
      sleeps: [],
      messages: ['curl: timeout; asked again at once (1 of 3).'],
    },
    {
      name: 'a timeout that took nearly all the time',
      setting: { turns: ['timeout'], retries: 3, passTimeoutMs: 300_000, totalMs: 310_000, tookMs: 300_000 },
      end: 'timeout',
      asked: 1,
      sleeps: [],
      messages: ['curl: timeout; not asked again, because too little time is left.'],
    },
    {
      name: 'waiting for the service and retrying are counted apart',
      setting: { turns: ['transport', 'rate-limited', 'crashed', 'rate-limited', 'ok'], retries: 2 },
      end: 'ok',
      asked: 5,
      sleeps: [1_000, 5_000, 2_000, 15_000],
      messages: [
        'curl: transport; asked again after 1 s (1 of 2).',
        'curl: rate-limited; asked again after 5 s (1 of 3).',
        'curl: crashed; asked again after 2 s (2 of 2).',
        'curl: rate-limited; asked again after 15 s (2 of 3).',
      ],
    },
    {
      name: 'a failure that no retry helps, after one that it did',
      setting: { turns: ['server', 'auth', 'ok'], retries: 5 },
      end: 'auth',
      asked: 2,
      sleeps: [1_000],
      messages: ['curl: server; asked again after 1 s (1 of 5).'],
    },
    {
      name: 'the attempts of the review are used up',
      setting: { turns: ['server'], retries: 5, attempts: 1 },
      end: 'server',
      asked: 2,
      sleeps: [1_000],
      messages: [
        'curl: server; asked again after 1 s (1 of 5).',
        'curl: server; not asked again, because the attempts of this review are used up.',
      ],
    },
    {
      name: 'no time at all',
      setting: { turns: ['ok'], totalMs: 0 },
      end: 'timeout',
      asked: 0,
      sleeps: [],
      messages: [],
    },
    {
      name: 'cancelled before',
      setting: { turns: ['ok'], cancelledAtMs: 0 },
      end: 'cancelled',
      asked: 0,
      sleeps: [],
      messages: [],
    },
    {
      name: 'cancelled while waiting',
      setting: { turns: ['rate-limited', 'ok'], cancelledAtMs: 3_000 },
      end: 'cancelled',
      asked: 1,
      sleeps: [5_000],
      messages: ['curl: rate-limited; asked again after 5 s (1 of 3).'],
    },
  ])('$name → $end', async ({ setting, end, asked, sleeps, messages }) => {
    const played = await play(setting)
    expect({
      end: played.end,
      asked: played.timeouts.length,
      sleeps: played.sleeps,
      messages: played.messages,
    }).toEqual({ end, asked, sleeps, messages })
  })

  it('only five classes of failure are asked again', async () => {
    const asked = await Promise.all(
      failureClasses.map(async (name) => (await play({ turns: [name], retries: 2 })).timeouts.length),
    )
    expect(Object.fromEntries(failureClasses.map((name, index) => [name, asked[index]]))).toEqual({
      'not-installed': 1,
      auth: 1,
      quota: 1,
      'rate-limited': 4,
      timeout: 3,
      transport: 3,
      server: 3,
      malformed: 1,
      refused: 1,
      rejected: 1,
      crashed: 3,
      cancelled: 1,
    })
  })

  it.each([
    ['the row’s own', { timeoutMs: 7_000 }, 7_000],
    ['the one of all rows', { passTimeoutMs: 8_000 }, 8_000],
    ['what is left of the review', { totalMs: 5_000 }, 5_000],
  ])('a pass has as much time as: %s', async (_, setting, expected) => {
    expect((await play({ turns: ['ok'], ...setting })).timeouts).toEqual([expected])
  })

  it('a pass that is asked again has what is left', async () => {
    const { timeouts } = await play({ turns: ['server', 'ok'], retries: 1, totalMs: 100_000, tookMs: 30_000 })
    expect(timeouts).toEqual([100_000, 69_000])
  })

  it('a cancelled wait keeps the thread of the turn before', async () => {
    const { answer } = await play({ turns: ['rate-limited'], cancelledAtMs: 3_000 })
    expect(answer).toEqual({
      kind: 'failed',
      failure: 'cancelled',
      why: 'The review was cancelled.',
      nextStep: 'Start it again when you want it.',
      retryAfterMs: null,
      thread,
      notices: ['n'],
    })
  })

  it('it always ends within the time and the attempts', async () => {
    const turn = fc.oneof(
      fc.constantFrom<Turn>('ok', ...failureClasses),
      fc.record({ failure: fc.constantFrom(...failureClasses), retryAfterMs: fc.nat({ max: 100_000 }) }),
    )
    const setting = fc.record({
      turns: fc.array(turn, { minLength: 1, maxLength: 8 }),
      retries: fc.nat({ max: 10 }),
      timeoutMs: fc.option(fc.integer({ min: 1_000, max: 400_000 })),
      totalMs: fc.nat({ max: 900_000 }),
      tookMs: fc.nat({ max: 500_000 }),
      attempts: fc.nat({ max: 10 }),
      cancelledAtMs: fc.nat({ max: 1_000_000 }),
    })
    await fc.assert(
      fc.asyncProperty(setting, async (given) => {
        const { timeouts, clock, messages, sleeps } = await play(given)
        expect(timeouts.length).toBeLessThanOrEqual(1 + Math.min(given.attempts, 3 + given.retries))
        expect(timeouts.every((ms) => ms > 0 && ms <= (given.timeoutMs ?? 300_000))).toBe(true)
        expect(clock).toBeLessThanOrEqual(given.totalMs)
        expect(sleeps.every((ms) => ms >= 1_000)).toBe(true)
        const again = messages.filter((line) => line.includes('; asked again ')).length
        expect(timeouts.length - 1).toBeLessThanOrEqual(again)
        expect(sleeps.length).toBeLessThanOrEqual(again)
      }),
    )
  })

  it('traces each retry, by the row, in one form', async () => {
    const { traces } = await play({ turns: ['server', 'rate-limited', 'timeout', 'ok'], retries: 2 })
    expect(traces).toEqual([
      '[route-table] retry 1/2 for backend=curl, after 1 s, why=server',
      '[route-table] retry 1/3 for backend=curl, after 5 s, why=rate-limited',
      '[route-table] retry 2/2 for backend=curl, at once, why=timeout',
    ])
  })
})
