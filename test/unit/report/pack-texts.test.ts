import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { packTexts, unpackText } from '../../../src/report/page-data.ts'

describe('texts that are packed', () => {
  it('keep each different line once, and each text as runs of them', () => {
    expect(packTexts(['a\nb\nc\n', 'a\nx\nc\n', ''])).toEqual({
      lines: ['a', 'b', 'c', 'x'],
      texts: [[0, 3], [0, 1, 3, 1, 2, 1], []],
    })
  })

  it('come out as they were', () => {
    const line = fc.constantFrom('a', 'b', '', '  c', 'd')
    fc.assert(
      fc.property(fc.array(fc.array(line)), (texts) => {
        const packed = packTexts(texts.map((lines) => lines.map((each) => `${each}\n`).join('')))
        expect(texts.map((_, index) => unpackText(packed, index))).toEqual(texts)
      }),
    )
  })

  it.each([
    { text: 'a\nb', lines: ['a', 'b⟨no line end⟩'] },
    { text: 'a\r\nb\n', lines: ['a␍', 'b'] },
    { text: '\n\n', lines: ['', ''] },
    { text: 'a\u202e\u2028b\n', lines: ['a⟨U+202E⟩⟨U+2028⟩b'] },
  ])('show what cannot be seen: $text', ({ text, lines }) => {
    expect(unpackText(packTexts([text]), 0)).toEqual(lines)
  })

  it('take little more space than one of them', () => {
    const lines = Array.from({ length: 2_000 }, (_, n) => `This is line number ${n} of a long plan.\n`)
    const texts = Array.from({ length: 50 }, (_, n) => lines.with(n, `It was changed in revision ${n}.\n`).join(''))
    const [one, all] = [texts.slice(0, 1), texts].map((each) => JSON.stringify(packTexts(each)).length)
    expect(all).toBeLessThan((one ?? 0) * 1.1)
  })
})
