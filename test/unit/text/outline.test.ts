import { describe, expect, it } from 'vitest'
import { readOutline } from '../../../src/text/markdown.ts'

const plan = `# Title

## Goal
One line
and another.

## Changes ##

- \`src/a.ts\` (changed): one
  - nested

  still the first item
- \`src/b.ts\` (new): two

\`\`\`ts
# no heading
## nor this
\`\`\`

| file | what |
|---|---|
| \`c.ts\` | three |

### Details
<!--
## Hidden
-->
text
`

describe('readOutline', () => {
  it('finds the sections and where they end', () => {
    expect(readOutline(plan).sections).toEqual([
      { title: 'Title', rank: 1, from: 1, to: 28 },
      { title: 'Goal', rank: 2, from: 3, to: 6 },
      { title: 'Changes', rank: 2, from: 7, to: 28 },
      { title: 'Details', rank: 3, from: 24, to: 28 },
    ])
  })

  it.each<[number, string, number, number, number]>([
    [4, 'a paragraph', 4, 5, 5],
    [7, 'a heading', 7, 7, 7],
    [9, 'an item, with what is indented below it', 9, 12, 12],
    [13, 'an item', 13, 13, 13],
    [16, 'a code block', 15, 18, 18],
    [20, 'a row of a table, which is not torn apart', 20, 20, 22],
    [26, 'a comment', 25, 27, 27],
    [28, 'the last line', 28, 28, 28],
  ])('line %i belongs to %s', (line, _, from, to, gap) => {
    const outline = readOutline(plan)
    expect({ ...outline.blockAt(line), gap: outline.gapAfter(line) }).toEqual({ from, to, gap })
  })

  it.each([
    ['a closed text', plan, ''],
    ['an open code block', 'a\n````sh\n```\n', '````'],
    ['an open block of tildes', '~~~\n```', '~~~'],
    ['an open comment', 'a\n<!-- b\n', '-->'],
    ['code that is not alone on its line', '```a``` is code\n', ''],
    ['a comment inside a line', 'the mark `<!--` opens one\n', ''],
    ['nothing', '', ''],
  ])('knows what is still open at the end: %s', (_, text, expected) => {
    expect(readOutline(text).stillOpen).toBe(expected)
  })

  it('finds no gap after something that is never closed but at the end', () => {
    expect(readOutline('## A\n\n```\ncode\n\nmore\n').gapAfter(4)).toBe(6)
  })

  it('reads carriage returns as ends of lines', () => {
    expect(readOutline('## A\r\ntext\r\n')).toMatchObject({
      lines: ['## A', 'text'],
      sections: [{ title: 'A', rank: 2, from: 1, to: 2 }],
    })
  })

  it('has an outline of nothing', () => {
    expect(readOutline('')).toMatchObject({ lines: [], sections: [] })
  })
})
