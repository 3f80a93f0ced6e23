import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dedupText } from '../../../src/text/clean.ts'

type Args = Parameters<typeof dedupText>
const edit: Args = ['Edit', '/a', null, 'x', 'y']

const different: { what: string; one: Args; other: Args }[] = [
  { what: 'the tool', one: edit, other: ['MultiEdit', '/a', null, 'x', 'y'] },
  { what: 'the path', one: edit, other: ['Edit', '/b', null, 'x', 'y'] },
  { what: 'the content', one: ['Write', '/a', 'x', null, null], other: ['Write', '/a', 'y', null, null] },
  { what: 'the old text', one: edit, other: ['Edit', '/a', null, 'z', 'y'] },
  { what: 'the new text', one: edit, other: ['Edit', '/a', null, 'x', 'z'] },
  { what: 'old and new changed places', one: edit, other: ['Edit', '/a', null, 'y', 'x'] },
  {
    what: 'where one text ends and the next begins',
    one: ['Edit', '/a', null, 'xy', 'z'],
    other: ['Edit', '/a', null, 'x', 'yz'],
  },
  { what: 'tool and path run together', one: ['Edit', '/a', null, '', ''], other: ['Edi', 't/a', null, '', ''] },
  { what: 'an empty text and none', one: ['Edit', '/a', null, '', 'x'], other: ['Edit', '/a', null, null, 'x'] },
  { what: 'none and its name', one: ['Write', '/a', null, null, null], other: ['Write', '/a', 'null', null, null] },
  {
    what: 'quotes and commas inside',
    one: ['Write', '/a', 'x","y', null, null],
    other: ['Write', '/a', 'x', 'y', null],
  },
  {
    what: 'a line break and its escape',
    one: ['Write', '/a', '\n', null, null],
    other: ['Write', '/a', '\\n', null, null],
  },
  { what: 'white space', one: ['Write', '/a', 'x ', null, null], other: ['Write', '/a', 'x', null, null] },
  {
    what: 'halves of different characters',
    one: ['Write', '/a', '\ud800', null, null],
    other: ['Write', '/a', '\ud801', null, null],
  },
]

describe('dedupText', () => {
  it.each(different)('tells apart: $what', ({ one, other }) => {
    expect(dedupText(...one)).not.toBe(dedupText(...other))
  })

  it('is the same for the same change, and only for it', () => {
    const text = fc.oneof(fc.string(), fc.constantFrom('', '"', '",null,"', '\\', 'null'))
    const args = fc.tuple(text, text, fc.option(text), fc.option(text), fc.option(text))
    fc.assert(
      fc.property(args, args, (one, other) => {
        expect(dedupText(...one)).toBe(dedupText(...one))
        expect(JSON.parse(dedupText(...one))).toEqual(one)
        expect(dedupText(...one) === dedupText(...other)).toBe(JSON.stringify(one) === JSON.stringify(other))
      }),
    )
  })
})
