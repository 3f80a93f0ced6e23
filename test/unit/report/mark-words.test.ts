import { expect, it } from 'vitest'
import { markWords, type WordSpan } from '../../../src/report/page/rows.ts'

const shown = (spans: readonly WordSpan[]): string =>
  spans.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join('')

it.each([
  { before: 'count in memory', after: 'count in Redis', marks: ['count in [memory]', 'count in [Redis]'] },
  { before: 'one two three four', after: 'one two four', marks: ['one two [three ]four', 'one two four'] },
  { before: 'a right way', after: 'a right and new way', marks: ['a right way', 'a right [and new ]way'] },
  { before: '- `a.ts`: x', after: '- `b.ts`: x', marks: ['- `[a].ts`: x', '- `[b].ts`: x'] },
  { before: '  indented', after: 'indented', marks: ['[  ]indented', 'indented'] },
])('$before → $after', ({ before, after, marks }) => {
  const marked = markWords(before, after)
  expect(marked === null ? null : [shown(marked.before), shown(marked.after)]).toEqual(marks)
})

it.each([
  { name: 'lines that have little in common', before: 'count wrong passwords', after: 'answer with Retry-After' },
  { name: 'a line that is empty', before: '', after: 'something' },
  { name: 'very long lines', before: 'a b '.repeat(500), after: 'a c '.repeat(500) },
])('marks no words in $name', ({ before, after }) => {
  expect(markWords(before, after)).toBeNull()
})
