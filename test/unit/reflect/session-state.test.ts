import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Answer,
  afterAsking,
  beforeAsking,
  clearOpen,
  type Limits,
  openFindings,
  parseSessionState,
  type SessionState,
  type Subject,
} from '../../../src/reflect/session-state.ts'

const empty = parseSessionState(undefined)
const start = 1_000_000
const change = (hash: string, about = 'src/a.ts'): Subject => ({ hash, key: `file ${about}`, about })
const judged = (verdict: 'PASS' | 'FAIL' | 'UNCERTAIN', summary = ''): Answer => ({
  kind: 'judged',
  verdict,
  summary,
  tokens: null,
})
const limited: Answer = { kind: 'failed', failure: 'rate-limited', why: 'Busy.', nextStep: 'Wait.', retryAfterMs: null }

type Played = { state: SessionState; calls: number; told: string[] }

/** A session as its hooks play it: each asks where the verdict is not cached, and records the answer. */
function play(steps: readonly { subject: Subject; answer: Answer; at?: number }[], limits: Limits = {}): Played {
  let [state, calls] = [empty, 0]
  const told: string[] = []
  for (const { subject, answer, at = 0 } of steps) {
    const now = start + at
    const before = beforeAsking(state, subject, limits, now)
    if (before.known === null) calls += 1
    const after =
      before.known === null
        ? afterAsking(before.state, subject, answer, now)
        : { state: before.state, reflection: before.known }
    // Each hook is a process of its own: all it knows has been a file.
    state = parseSessionState(JSON.parse(JSON.stringify(after.state)))
    const { reflection } = after
    told.push(
      reflection.kind === 'judged' ? `${reflection.verdict}${reflection.cached ? ' again' : ''}` : reflection.kind,
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
    expect(played).toMatchObject({ calls: 2, told: ['FAIL', 'FAIL again', 'PASS'] })
    expect(openIn(played)).toEqual([])
  })

  it('a change that passed before clears what a later one left open', () => {
    const played = play([
      { subject: change('good'), answer: judged('PASS') },
      { subject: change('bad'), answer: judged('FAIL') },
      { subject: change('good'), answer: judged('FAIL') },
    ])
    expect(played).toMatchObject({ calls: 2, told: ['PASS', 'FAIL', 'PASS again'] })
    expect(openIn(played)).toEqual([])
  })

  it('a change that failed before is open again when it comes back', () => {
    const played = play([
      { subject: change('bad'), answer: judged('FAIL', 'why') },
      { subject: change('good'), answer: judged('PASS') },
      { subject: change('bad'), answer: judged('PASS') },
    ])
    expect(played.told).toEqual(['FAIL', 'PASS', 'FAIL again'])
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
    expect(played).toMatchObject({ calls: 2, told: ['FAIL', 'PASS'] })
  })

  it('a reviewer that could not answer: nothing cached, nothing open, nothing cleared', () => {
    const crashed: Answer = { kind: 'failed', failure: 'crashed', why: 'x', nextStep: 'y', retryAfterMs: null }
    const played = play([
      { subject: change('bad'), answer: judged('FAIL') },
      { subject: change('b'), answer: crashed },
      { subject: change('b'), answer: judged('UNCERTAIN') },
    ])
    expect(played).toMatchObject({ calls: 3, told: ['FAIL', 'failed', 'UNCERTAIN'] })
    expect(openIn(played)).toEqual(['src/a.ts FAIL'])
  })

  it('a rate limit is followed by a backoff', () => {
    const played = play([
      { subject: change('a'), answer: limited },
      { subject: change('a'), answer: judged('PASS'), at: 1000 },
      { subject: change('a'), answer: judged('PASS'), at: 61_000 },
    ])
    expect(played).toMatchObject({ calls: 2, told: ['failed', 'refused', 'PASS'] })
  })

  it('at the limit, a cached verdict is still reported', () => {
    const limits = { max_calls: 1 }
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
    const key = 'command abc'
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

const key = 'file src/a.ts'
const fail = (rest: object = {}) => ({ key, about: 'src/a.ts', verdict: 'FAIL', summary: 'old', at: 1, ...rest })
const other = fail({ key: 'file src/b.ts', about: 'src/b.ts' })
const stateWith = (...fails: object[]): SessionState => parseSessionState({ fails: { fails } })
const cachedAs = (verdict: string, at: number) => ({ hash: 'h', path: 'src/a.ts', verdict, summary: 'new', at })

/** Each verdict, fresh and cached, with and without something open about the same file. */
const verdictRows: [before: object[], verdict: 'PASS' | 'FAIL' | 'UNCERTAIN', cached: boolean, after: string[]][] = [
  [[], 'PASS', false, []],
  [[fail()], 'PASS', false, []],
  [[], 'FAIL', false, ['FAIL new']],
  [[fail()], 'FAIL', false, ['FAIL new']],
  [[], 'UNCERTAIN', false, []],
  [[fail()], 'UNCERTAIN', false, ['FAIL old']],
  [[], 'PASS', true, []],
  [[fail()], 'PASS', true, []],
  [[], 'FAIL', true, ['FAIL new']],
  [[fail()], 'FAIL', true, ['FAIL new']],
  [[], 'UNCERTAIN', true, ['UNCERTAIN new']],
  [[fail()], 'UNCERTAIN', true, ['UNCERTAIN new']],
]

describe('a verdict meets what is open', () => {
  it.each(verdictRows)('%j, %s, cached: %s → %j', (open, verdict, cached, after) => {
    const memory = { entries: cached ? [cachedAs(verdict, start - 1)] : [] }
    const before = parseSessionState({ memory, fails: { fails: [other, ...open] } })
    const asked = beforeAsking(before, change('h'), {}, start)
    const { state, reflection } =
      asked.known === null
        ? afterAsking(asked.state, change('h'), judged(verdict, 'new'), start)
        : { state: asked.state, reflection: asked.known }
    const cleared = verdict === 'PASS' && open.length > 0
    expect(reflection).toEqual({ kind: 'judged', verdict, summary: 'new', cached, cleared })
    const left = state.fails.fails.filter((one) => one.key === key)
    expect(left.map((one) => `${one.verdict} ${one.summary}`)).toEqual(after)
    expect(state.fails.fails).toContainEqual(other)
  })
})

describe('open findings', () => {
  it('names what is certain first', () => {
    const unsure = fail({ key: 'file c', verdict: 'UNCERTAIN' })
    expect(openFindings(stateWith(unsure, fail(), other))).toEqual([fail(), other, unsure])
  })

  it('do not grow without end', () => {
    const many = Array.from({ length: 300 }, (_, n) => ({ subject: change(`h${n}`, `${n}`), answer: judged('FAIL') }))
    const { fails } = play(many).state.fails
    expect([fails.length, fails.at(-1)?.key]).toEqual([200, 'file 299'])
    expect(stateWith(...Array.from({ length: 300 }, () => fail())).fails.fails).toHaveLength(200)
  })

  it('are read as far as they are whole', () => {
    const broken = [null, {}, { key: 'k' }, { key: 'k', verdict: 'PASS' }]
    expect(stateWith(...(broken as object[]), fail()).fails.fails).toEqual([fail()])
  })
})

describe('the verdict cache', () => {
  const now = 1_000_000_000
  it.each([
    { what: 'just now', at: now, found: true },
    { what: 'nearly stale', at: now - 299_999, found: true },
    { what: 'exactly stale', at: now - 300_000, found: false },
    { what: 'long ago', at: 0, found: false },
    { what: 'a hook beside this one, a second ahead', at: now + 1000, found: true },
    { what: 'the clock was set back by a minute', at: now + 60_000, found: false },
    { what: 'the clock was set back by years', at: now * 1e6, found: false },
  ])('$what → $found', ({ at, found }) => {
    const state = parseSessionState({ memory: { entries: [cachedAs('FAIL', at)] } })
    expect(beforeAsking(state, change('h'), {}, now).known !== null).toBe(found)
    expect(beforeAsking(state, change('other'), {}, now).known).toBeNull()
  })

  it('the oldest goes when it is full, and a new verdict on a change goes to the end', () => {
    const many = Array.from({ length: 105 }, (_, n) => ({ subject: change(`h${n}`), answer: judged('PASS'), at: n }))
    const { state } = play(many)
    expect(state.memory.entries.map(({ hash }) => hash)).toEqual(Array.from({ length: 100 }, (_, n) => `h${n + 5}`))
    const { entries } = afterAsking(state, change('h7'), judged('FAIL'), start).state.memory
    expect([entries.length, entries.at(-1)?.hash, entries.at(-1)?.verdict]).toEqual([100, 'h7', 'FAIL'])
  })

  const good = cachedAs('FAIL', 5)
  it.each([null, 'x', {}, [null, 1, 'x', [], {}], [{ ...good, hash: 7 }], [{ ...good, verdict: 'pass' }]])(
    '%j is an empty cache',
    (entries) => {
      expect(parseSessionState({ memory: { entries } })).toEqual(empty)
    },
  )

  it('keeps what makes sense among what does not', () => {
    const entries = [good, { hash: 'x' }]
    expect(parseSessionState({ memory: { entries, more: 1 } }).memory).toEqual({ entries: [good] })
  })

  it('takes anything', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(beforeAsking(parseSessionState(value), change('h'), {}, start).known?.kind).not.toBe('judged')
      }),
    )
  })
})
