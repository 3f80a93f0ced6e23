import { describe, expect, it } from 'vitest'
import {
  afterAsking,
  beforeAsking,
  clearOpen,
  findingKey,
  type Limits,
  parseSessionState,
  type ReflectionAnswer,
  type SessionState,
  type Subject,
} from '../../../src/reflect/session-state.ts'

const noLimits: Limits = { maxCalls: null, maxTokens: null }
const empty = parseSessionState(undefined)
const start = 1_000_000
const change = (hash: string, about = 'src/a.ts'): Subject => ({
  hash,
  key: findingKey({ kind: 'file', path: about }),
  about,
})
const judged = (verdict: 'PASS' | 'FAIL' | 'UNCERTAIN', summary = ''): ReflectionAnswer => ({
  kind: 'judged',
  verdict,
  summary,
  usage: null,
})
const limited: ReflectionAnswer = {
  kind: 'failed',
  failure: 'rate-limited',
  why: 'Busy.',
  nextStep: 'Wait.',
  retryAfterMs: null,
}

type Played = { state: SessionState; calls: number; told: string[] }

/** A session as its hooks play it: each asks where the verdict is not cached, and records the answer. */
function play(
  steps: readonly { subject: Subject; answer: ReflectionAnswer; at?: number }[],
  limits = noLimits,
): Played {
  let [state, calls] = [empty, 0]
  const told: string[] = []
  for (const { subject, answer, at = 0 } of steps) {
    const now = start + at
    const before = beforeAsking(state, subject, limits, now)
    if (before.kind === 'ask') calls += 1
    const after = before.kind === 'known' ? before : afterAsking(before.state, subject, answer, now)
    // Each hook is a process of its own: all it knows has been a file.
    state = parseSessionState(JSON.parse(JSON.stringify(after.state)))
    told.push(
      after.outcome.kind === 'found'
        ? `${after.outcome.verdict}${after.outcome.cached ? ' again' : ''}`
        : after.outcome.kind,
    )
  }
  return { state, calls, told }
}

const openIn = ({ state }: Played): string[] => state.fails.fails.map(({ about, verdict }) => `${about} ${verdict}`)

describe('a session', () => {
  it('FAIL, the same again without a call, fixed, and nothing is open', () => {
    const played = play([
      { subject: change('bad'), answer: judged('FAIL', 'x') },
      { subject: change('bad'), answer: judged('PASS'), at: 1000 },
      { subject: change('good'), answer: judged('PASS'), at: 2000 },
    ])
    expect(played).toMatchObject({ calls: 2, told: ['FAIL', 'FAIL again', 'passed'] })
    expect(openIn(played)).toEqual([])
  })

  it('a change that passed before clears what a later one left open', () => {
    const played = play([
      { subject: change('good'), answer: judged('PASS') },
      { subject: change('bad'), answer: judged('FAIL') },
      { subject: change('good'), answer: judged('FAIL') },
    ])
    expect(played).toMatchObject({ calls: 2, told: ['passed', 'FAIL', 'nothing'] })
    expect(openIn(played)).toEqual([])
  })

  it('a change that failed before is open again when it comes back', () => {
    const played = play([
      { subject: change('bad'), answer: judged('FAIL', 'why') },
      { subject: change('good'), answer: judged('PASS') },
      { subject: change('bad'), answer: judged('PASS') },
    ])
    expect(played.told).toEqual(['FAIL', 'passed', 'FAIL again'])
    expect(played.state.fails.fails).toMatchObject([{ about: 'src/a.ts', verdict: 'FAIL', summary: 'why' }])
  })

  it('UNCERTAIN is open only when it comes back, because it is not sent again', () => {
    const once = play([{ subject: change('hm'), answer: judged('UNCERTAIN') }])
    expect(openIn(once)).toEqual([])
    const twice = play([
      { subject: change('hm'), answer: judged('UNCERTAIN') },
      { subject: change('hm'), answer: judged('PASS') },
    ])
    expect(openIn(twice)).toEqual(['src/a.ts UNCERTAIN'])
  })

  it('a fresh UNCERTAIN hides no FAIL', () => {
    const played = play([
      { subject: change('bad'), answer: judged('FAIL') },
      { subject: change('hm'), answer: judged('UNCERTAIN') },
    ])
    expect(openIn(played)).toEqual(['src/a.ts FAIL'])
  })

  it('after the TTL it is sent again', () => {
    const played = play([
      { subject: change('bad'), answer: judged('FAIL') },
      { subject: change('bad'), answer: judged('PASS'), at: 300_000 },
    ])
    expect(played).toMatchObject({ calls: 2, told: ['FAIL', 'passed'] })
  })

  it('a reviewer that could not answer: nothing cached, nothing open, nothing cleared', () => {
    const crashed: ReflectionAnswer = {
      kind: 'failed',
      failure: 'crashed',
      why: 'x',
      nextStep: 'y',
      retryAfterMs: null,
    }
    const played = play([
      { subject: change('bad'), answer: judged('FAIL') },
      { subject: change('b'), answer: crashed },
      { subject: change('b'), answer: judged('UNCERTAIN') },
    ])
    expect(played).toMatchObject({ calls: 3, told: ['FAIL', 'unavailable', 'UNCERTAIN'] })
    expect(openIn(played)).toEqual(['src/a.ts FAIL'])
  })

  it('a rate limit is followed by a backoff', () => {
    const played = play([
      { subject: change('a'), answer: limited },
      { subject: change('a'), answer: judged('PASS'), at: 1000 },
      { subject: change('a'), answer: judged('PASS'), at: 61_000 },
    ])
    expect(played).toMatchObject({ calls: 2, told: ['unavailable', 'refused', 'passed'] })
  })

  it('at the limit, a cached verdict is still reported', () => {
    const limits = { maxCalls: 1, maxTokens: null }
    const played = play(
      [
        { subject: change('bad'), answer: judged('FAIL') },
        { subject: change('other'), answer: judged('PASS') },
        { subject: change('bad'), answer: judged('PASS') },
      ],
      limits,
    )
    expect(played).toMatchObject({ calls: 1, told: ['FAIL', 'refused', 'FAIL again'] })
  })

  it('a command that failed is open until it succeeds', () => {
    const key = findingKey({ kind: 'command', hash: 'abc' })
    const played = play([{ subject: { hash: null, key, about: 'npm test' }, answer: judged('FAIL') }])
    expect(openIn(played)).toEqual(['npm test FAIL'])
    expect(clearOpen(played.state, key).fails.fails).toEqual([])
  })

  it('what has no key leaves nothing behind', () => {
    const subject: Subject = { hash: null, key: null, about: 'mcp__m__think' }
    const played = play([
      { subject, answer: judged('FAIL') },
      { subject, answer: judged('FAIL') },
    ])
    expect(played).toMatchObject({
      calls: 2,
      told: ['FAIL', 'FAIL'],
      state: { fails: { fails: [] }, memory: { entries: [] } },
    })
  })
})

it.each([undefined, null, 'x', [], { memory: 1, fails: 'x', spending: [] }])(
  '%j is a session that has just begun',
  (value) => {
    expect(parseSessionState(value)).toEqual(empty)
  },
)
