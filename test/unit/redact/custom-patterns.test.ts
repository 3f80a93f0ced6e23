import { describe, expect, it } from 'vitest'
import { makeRedactor } from '../../../src/redact/redact.ts'

const mark = '[REDACTED:custom]'

describe('patterns of the user', () => {
  it.each([
    { patterns: ['corp-[0-9a-f]{8}'], text: 'a corp-12ab34cd b', expected: `a ${mark} b`, count: 1 },
    { patterns: ['one', 'two'], text: 'one two one', expected: `${mark} ${mark} ${mark}`, count: 3 },
    { patterns: ['ab', 'bc'], text: 'abc', expected: mark, count: 1 },
    { patterns: ['x*'], text: 'axxb', expected: `a${mark}b`, count: 1 },
    { patterns: ['', '(?:)', 'y?', '^', '$', '\\b'], text: 'abc def', expected: 'abc def', count: 0 },
    { patterns: ['RED\\w+', '[A-Z]+', 'custom'], text: 'a GREEN b', expected: `a ${mark} b`, count: 1 },
    { patterns: ['.+'], text: 'one\ntwo', expected: `${mark}\n${mark}`, count: 2 },
    { patterns: ['é+|\\u{1F600}'], text: 'aéé', expected: `a${mark}`, count: 1 },
  ])('$patterns in $text', ({ patterns, text, expected, count }) => {
    const redactor = makeRedactor(patterns)
    expect(redactor.text(text)).toMatchObject({ kind: 'redacted', text: expected, count })
    expect(redactor.text(expected)).toMatchObject({ kind: 'redacted', text: expected, count: 0 })
  })

  it('stand beside the built-in ones, and leave JSON as it is', () => {
    const redactor = makeRedactor(['corp-\\d+', '"', '\\{.*\\}', 'note'])
    const inner = JSON.stringify({ note: 'corp-1' })
    expect(redactor.text(JSON.stringify({ note: 'corp-12', password: 'hunter2hunter2', inner, n: 1 }))).toMatchObject({
      text: JSON.stringify({
        note: mark,
        password: '[REDACTED:password]',
        inner: JSON.stringify({ note: mark }),
        n: 1,
      }),
      kinds: ['custom', 'password'],
    })
  })

  it.each([
    { patterns: ['ok', '(unclosed'], why: 'review.redaction.patterns[1] is no regular expression' },
    { patterns: ['a'.repeat(201)], why: 'review.redaction.patterns[0] is longer than 200 characters' },
  ])('that cannot be used are told, and nothing is handed back: $why', ({ patterns, why }) => {
    const redactor = makeRedactor(patterns)
    expect(redactor.text('plain')).toEqual({ kind: 'failed', why: expect.stringContaining(why) })
  })

  it.each([
    ['(a+)+$', `${'a'.repeat(60)}!`],
    ['(a|aa)+$', `${'a'.repeat(60)}!`],
    ['([a-z]+)*\\d', 'abcdefghij'.repeat(2_000)],
    ['(?=(a+)+b)', 'a'.repeat(60)],
    ['(\\w+\\s?)*!', 'word '.repeat(2_000)],
  ])('that would never end do end, with nothing: %s', (pattern, text) => {
    const startedAt = performance.now()
    for (const given of [text, JSON.stringify({ a: [text] })])
      expect(makeRedactor([pattern, pattern, pattern]).text(given)).toEqual({
        kind: 'failed',
        why: expect.stringContaining('take too long'),
      })
    // Each has 0.6 s; the bound is for a busy machine.
    expect(performance.now() - startedAt).toBeLessThan(6_000)
  })

  it('that feed on the marks of their own end, too', () => {
    expect(makeRedactor(['(?<=\\])a']).text(`]${'a'.repeat(100)}`)).toMatchObject({ kind: 'failed' })
  })
})
