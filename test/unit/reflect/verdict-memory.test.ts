import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type CachedVerdict,
  cachedVerdict,
  cacheVerdict,
  parseVerdictCache,
  type VerdictCache,
} from '../../../src/reflect/session-state.ts'

const now = 1_000_000
const ttl = 300_000
const entry = (hash: string, at = now, rest: Partial<CachedVerdict> = {}): CachedVerdict => ({
  hash,
  verdict: 'PASS',
  at,
  path: 'src/a.ts',
  summary: '',
  ...rest,
})

const ages = [
  { what: 'just now', at: now, ttl, found: true },
  { what: 'nearly too old', at: now - ttl + 1, ttl, found: true },
  { what: 'exactly too old', at: now - ttl, ttl, found: false },
  { what: 'long ago', at: 0, ttl, found: false },
  { what: 'a hook beside this one, a second ahead', at: now + 1000, ttl, found: true },
  { what: 'the clock was set back by a minute', at: now + 60_000, ttl, found: false },
  { what: 'the clock was set back by years', at: now * 1e6, ttl, found: false },
  { what: 'nothing is to be remembered', at: now, ttl: 0, found: false },
]

describe('lookUp', () => {
  it.each(ages)('$what → $found', ({ at, ttl: ttlMs, found }) => {
    expect(cachedVerdict({ entries: [entry('h', at)] }, 'h', now, ttlMs)).toEqual(found ? entry('h', at) : null)
  })

  it('knows only the very hash', () => {
    expect(cachedVerdict({ entries: [entry('h')] }, 'other', now, ttl)).toBeNull()
  })
})

describe('remember', () => {
  it('the oldest goes when it is full', () => {
    let memory: VerdictCache = { entries: [] }
    for (let n = 0; n < 105; n++) memory = cacheVerdict(memory, entry(`h${n}`), 100)
    expect(memory.entries.map(({ hash }) => hash)).toEqual(Array.from({ length: 100 }, (_, n) => `h${n + 5}`))
  })

  it('the last word on a change counts', () => {
    const first = cacheVerdict({ entries: [entry('a'), entry('b')] }, entry('a', now + 1, { verdict: 'FAIL' }), 100)
    expect(first.entries).toEqual([entry('b'), entry('a', now + 1, { verdict: 'FAIL' })])
  })

  it('keeps the last one even if there is room for none', () => {
    expect(cacheVerdict({ entries: [entry('a')] }, entry('b'), 0).entries).toEqual([entry('b')])
  })
})

describe('readMemory', () => {
  const good = entry('h', 5, { verdict: 'FAIL', summary: 'x' })
  it.each([
    undefined,
    null,
    7,
    'x',
    [],
    {},
    { entries: null },
    { entries: 'x' },
    { entries: {} },
    { entries: [null, 1, 'x', [], {}] },
    { entries: [{ ...good, hash: 7 }] },
    { entries: [{ ...good, hash: '' }] },
    { entries: [{ ...good, verdict: 'pass' }] },
    { entries: [{ ...good, at: '5' }] },
    { entries: [{ ...good, at: Number.NaN }] },
  ])('%j is an empty memory', (value) => {
    expect(parseVerdictCache(value)).toEqual({ entries: [] })
  })

  it('keeps what makes sense among what does not, and adds nothing', () => {
    expect(parseVerdictCache({ entries: [{ ...good, extra: 1 }, { hash: 'x' }], more: 1 })).toEqual({ entries: [good] })
    expect(parseVerdictCache({ entries: [{ hash: 'h', verdict: 'PASS', at: 5 }] })).toEqual({
      entries: [entry('h', 5, { path: '' })],
    })
  })

  it('takes anything', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(cachedVerdict(parseVerdictCache(value), 'h', now, ttl)).toBeNull()
      }),
    )
  })
})
