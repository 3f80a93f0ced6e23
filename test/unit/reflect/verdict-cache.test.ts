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
  { what: 'just now', at: now, found: true },
  { what: 'nearly stale', at: now - ttl + 1, found: true },
  { what: 'exactly stale', at: now - ttl, found: false },
  { what: 'long ago', at: 0, found: false },
  { what: 'a hook beside this one, a second ahead', at: now + 1000, found: true },
  { what: 'the clock was set back by a minute', at: now + 60_000, found: false },
  { what: 'the clock was set back by years', at: now * 1e6, found: false },
]

describe('cachedVerdict', () => {
  it.each(ages)('$what → $found', ({ at, found }) => {
    expect(cachedVerdict({ entries: [entry('h', at)] }, 'h', now)).toEqual(found ? entry('h', at) : null)
  })

  it('knows only the very hash', () => {
    expect(cachedVerdict({ entries: [entry('h')] }, 'other', now)).toBeNull()
  })
})

describe('cacheVerdict', () => {
  it('the oldest goes when it is full', () => {
    let cache: VerdictCache = { entries: [] }
    for (let n = 0; n < 105; n++) cache = cacheVerdict(cache, entry(`h${n}`))
    expect(cache.entries.map(({ hash }) => hash)).toEqual(Array.from({ length: 100 }, (_, n) => `h${n + 5}`))
  })

  it('the last verdict on a change counts', () => {
    const first = cacheVerdict({ entries: [entry('a'), entry('b')] }, entry('a', now + 1, { verdict: 'FAIL' }))
    expect(first.entries).toEqual([entry('b'), entry('a', now + 1, { verdict: 'FAIL' })])
  })
})

describe('parseVerdictCache', () => {
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
  ])('%j is an empty cache', (value) => {
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
        expect(cachedVerdict(parseVerdictCache(value), 'h', now)).toBeNull()
      }),
    )
  })
})
