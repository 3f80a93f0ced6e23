import { describe, expect, it } from 'vitest'
import {
  afterAsking,
  beforeAsking,
  clearOpen,
  type FollowSettings,
  nothingWaits,
  parseSessionState,
  type Reflected,
  type SessionState,
  type Subject,
  waitingFiles,
} from '../../../src/reflect/session-state.ts'
import { failKey } from '../../../src/reflect/values.ts'

const settings: FollowSettings = {
  ttlMs: 300_000,
  maxEntries: 100,
  quietMs: 0,
  limits: { maxCalls: null, maxTokens: null },
}
const empty = parseSessionState(undefined)
const start = 1_000_000
const change = (hash: string, about = 'src/a.ts'): Subject => ({
  hash,
  key: failKey({ kind: 'file', path: about }),
  about,
})
const judged = (verdict: 'PASS' | 'FAIL' | 'UNCERTAIN', summary = ''): Reflected => ({
  kind: 'judged',
  verdict,
  summary,
  usage: null,
})
const limited: Reflected = {
  kind: 'failed',
  failure: 'rate-limited',
  why: 'Busy.',
  nextStep: 'Wait.',
  retryAfterMs: null,
}

type Played = { state: SessionState; calls: number; told: string[] }

/** A session as the hooks would play it: ask where there is something to ask, and settle what comes back. */
function play(
  steps: readonly { subject: Subject; answer: Reflected; at?: number }[],
  with_: Partial<FollowSettings> = {},
): Played {
  const used = { ...settings, ...with_ }
  let [state, calls] = [empty, 0]
  const told: string[] = []
  for (const { subject, answer, at = 0 } of steps) {
    const now = start + at
    const before = beforeAsking(state, subject, used, now)
    if (before.kind === 'ask') calls += 1
    const after = before.kind === 'known' ? before : afterAsking(before.state, subject, answer, used, now)
    // Each hook is a process of its own: all it knows has been a file.
    state = parseSessionState(JSON.parse(JSON.stringify(after.state)))
    told.push(
      after.tell.kind === 'found' ? `${after.tell.verdict}${after.tell.cached ? ' again' : ''}` : after.tell.kind,
    )
  }
  return { state, calls, told }
}

const openIn = ({ state }: Played): string[] => state.fails.fails.map(({ about, verdict }) => `${about} ${verdict}`)

describe('a session', () => {
  it('FAIL, the same again without a call, mended, and nothing is open', () => {
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

  it('UNCERTAIN is open only when it comes back, since nobody looks again', () => {
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

  it('after the time it is asked anew', () => {
    const played = play([
      { subject: change('bad'), answer: judged('FAIL') },
      { subject: change('bad'), answer: judged('PASS'), at: 300_000 },
    ])
    expect(played).toMatchObject({ calls: 2, told: ['FAIL', 'passed'] })
  })

  it('a reviewer that could not answer has said nothing: no memory, nothing open, nothing cleared', () => {
    const crashed: Reflected = { kind: 'failed', failure: 'crashed', why: 'x', nextStep: 'y', retryAfterMs: null }
    const played = play([
      { subject: change('bad'), answer: judged('FAIL') },
      { subject: change('b'), answer: crashed },
      { subject: change('b'), answer: judged('UNCERTAIN') },
    ])
    expect(played).toMatchObject({ calls: 3, told: ['FAIL', 'unavailable', 'UNCERTAIN'] })
    expect(openIn(played)).toEqual(['src/a.ts FAIL'])
  })

  it('a rate limit is followed by a pause', () => {
    const played = play([
      { subject: change('a'), answer: limited },
      { subject: change('a'), answer: judged('PASS'), at: 1000 },
      { subject: change('a'), answer: judged('PASS'), at: 61_000 },
    ])
    expect(played).toMatchObject({ calls: 2, told: ['unavailable', 'refused', 'passed'] })
  })

  it('at the ceiling, what is known is still told', () => {
    const limits = { maxCalls: 1, maxTokens: null }
    const played = play(
      [
        { subject: change('bad'), answer: judged('FAIL') },
        { subject: change('other'), answer: judged('PASS') },
        { subject: change('bad'), answer: judged('PASS') },
      ],
      { limits },
    )
    expect(played).toMatchObject({ calls: 1, told: ['FAIL', 'refused', 'FAIL again'] })
  })

  it('a command that failed is open until it succeeds', () => {
    const key = failKey({ kind: 'command', hash: 'abc' })
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

describe('changes that follow each other closely', () => {
  const quietMs = 30_000

  it('share the review of the first, and the file waits for the last look', () => {
    const played = play(
      [
        { subject: change('1'), answer: judged('PASS') },
        { subject: change('2'), answer: judged('PASS'), at: 10_000 },
        { subject: change('3', 'src/b.ts'), answer: judged('PASS'), at: 11_000 },
      ],
      { quietMs },
    )
    expect(played).toMatchObject({ calls: 2, told: ['passed', 'nothing', 'passed'] })
    expect(waitingFiles(played.state.sharing)).toEqual(['src/a.ts'])
    expect(waitingFiles(nothingWaits(played.state.sharing))).toEqual([])
  })

  it('after the time the next one is looked at, and nothing waits', () => {
    const played = play(
      [
        { subject: change('1'), answer: judged('PASS') },
        { subject: change('2'), answer: judged('PASS'), at: 10_000 },
        { subject: change('3'), answer: judged('PASS'), at: 30_000 },
      ],
      { quietMs },
    )
    expect(played.calls).toBe(2)
    expect(waitingFiles(played.state.sharing)).toEqual([])
  })

  it('but not while something is open about the file, nor when the first was not reviewed, nor when the clock went back', () => {
    const mended = [
      { subject: change('bad'), answer: judged('FAIL') },
      { subject: change('good'), answer: judged('PASS'), at: 1000 },
    ]
    expect(play(mended, { quietMs })).toMatchObject({ calls: 2, told: ['FAIL', 'passed'] })
    const crashed: Reflected = { kind: 'failed', failure: 'crashed', why: '', nextStep: '', retryAfterMs: null }
    expect(
      play(
        [
          { subject: change('1'), answer: crashed },
          { subject: change('2'), answer: judged('PASS'), at: 1000 },
        ],
        { quietMs },
      ).calls,
    ).toBe(2)
    expect(
      play(
        [
          { subject: change('1'), answer: judged('PASS') },
          { subject: change('2'), answer: judged('PASS'), at: -1000 },
        ],
        { quietMs },
      ).calls,
    ).toBe(2)
  })

  it('is not for a session without the setting', () => {
    const played = play([
      { subject: change('1'), answer: judged('PASS') },
      { subject: change('2'), answer: judged('PASS'), at: 1 },
    ])
    expect(played.calls).toBe(2)
  })
})

it.each([undefined, null, 'x', [], { memory: 1, fails: 'x', spending: [], sharing: { files: [{}] } }])(
  '%j is a session that has just begun',
  (value) => {
    expect(parseSessionState(value)).toEqual(empty)
  },
)
