import { describe, expect, it } from 'vitest'
import { clipEnd } from '../../../src/text/clean.ts'

describe('clipEnd', () => {
  it.each([
    ['short enough', 'abcde', 5, 'abcde'],
    ['too long', 'abcdef', 5, 'abcd…'],
    ['a space at the cut', 'abc def', 5, 'abc…'],
    ['half a character at the cut', 'abc\u{1f600}de', 5, 'abc…'],
    ['a whole one before it', 'ab\u{1f600}cde', 5, 'ab\u{1f600}…'],
  ])('%s', (_, text, limit, expected) => {
    expect(clipEnd(text, limit)).toBe(expected)
  })
})
