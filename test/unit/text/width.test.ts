import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { oneLine } from '../../../src/cli/terminal.ts'
import { clipToWidth, widthOf, wrapToWidth } from '../../../src/text/width.ts'

describe('the width of a text', () => {
  it.each([
    ['plain', 5],
    ['grüße…', 6],
    ['漢字', 4],
    ['ひらがな', 8],
    ['한국어', 6],
    ['ＦＵＬＬ', 8],
    ['ﾊﾝｶｸ', 4],
    ['é', 1],
    ['नमस्ते', 4],
    ['😀', 2],
    ['█░▣', 3],
    ['𠀀', 2],
    ['', 0],
  ])('%s takes %i columns', (text, columns) => expect(widthOf(text)).toBe(columns))
})

describe('clipToWidth', () => {
  it.each([
    ['short enough', 20, 'short enough'],
    ['exactly', 7, 'exactly'],
    ['one too many', 11, 'one too ma…'],
    ['a blank before the end', 8, 'a blank…'],
    ['漢字漢字', 8, '漢字漢字'],
    ['漢字漢字', 7, '漢字漢…'],
    ['漢字漢字', 6, '漢字…'],
    ['cafés', 4, 'caf…'],
    ['x', 0, ''],
    ['漢', 1, '…'],
  ])('%s in %i columns → %s', (text, columns, clipped) => expect(clipToWidth(text, columns)).toBe(clipped))

  it('never takes more room than there is, and never cuts a character in two', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (text, columns) => {
        const clipped = clipToWidth(text, columns)
        expect(widthOf(clipped)).toBeLessThanOrEqual(columns)
        expect(clipped).not.toMatch(/\p{Cs}/u)
      }),
    )
  })
})

describe('wrapToWidth', () => {
  it.each([
    ['fits', 10, 3, ['fits']],
    ['two short words', 10, 3, ['two short', 'words']],
    ['ends right at a blank', 10, 3, ['ends right', 'at a blank']],
    ['one two three four five', 9, 2, ['one two', 'three fo…']],
    ['anunbrokenwordthatislong', 10, 3, ['anunbroken', 'wordthatis', 'long']],
    ['漢字かな漢字', 6, 3, ['漢字か', 'な漢字']],
    ['no room', 0, 3, ['']],
  ])('%s in %i columns and %i lines', (text, columns, lines, wrapped) =>
    expect(wrapToWidth(text, columns, lines)).toEqual(wrapped),
  )

  it('keeps to its columns and its lines', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.nat(40),
        fc.integer({ min: 1, max: 4 }),
        (text, columns, lines) => {
          const wrapped = wrapToWidth(text, columns, lines)
          expect(wrapped.length).toBeLessThanOrEqual(lines)
          for (const each of wrapped) expect(widthOf(each)).toBeLessThanOrEqual(columns)
        },
      ),
    )
  })
})

describe('oneLine', () => {
  it.each([
    ['a line\nand another\r\n\tone', 'a line and another one'],
    ['\u001b[31mred\u001b]0;title\u0007', '\ufffd[31mred\ufffd]0;title\ufffd'],
    ['\u202egnp.exe\u2066 \u200bhidden', 'gnp.exe hidden'],
    [`Z${'\u0335\u0336\u0337\u0338\u0321'.repeat(50)}algo`, 'Z\u0335\u0336\u0337algo'],
    ['☑\ufe0f', '☑'],
    ['x'.repeat(5_000), 'x'.repeat(1_000)],
    [`${'x'.repeat(999)}😀`, 'x'.repeat(999)],
  ])('%j → %j', (text, line) => expect(oneLine(text)).toBe(line))
})
