import { expect, it } from 'vitest'
import { isOnlyTicked } from '../../../src/plan/plan-change.ts'

const same = (before: string, after: string): boolean => isOnlyTicked(Buffer.from(before), Buffer.from(after))
const list = (first: string, second = ' '): string => `# P\n\n- [${first}] one\n1. [${second}] two\n`

it.each([
  ['a ticked box', list(' '), list('x', 'X')],
  ['white space at the ends, and other line ends', list(' '), `${list('x').replaceAll('\n', ' \t\r\n')}\n \n`],
  [
    'a box below code that opens and closes at the margin',
    `\`\`\`sh\nls\n\`\`\`\n${list(' ')}`,
    `\`\`\`sh\nls\n\`\`\`\n${list('x')}`,
  ],
])('carries an approval over: %s', (_, before, after) => {
  expect(same(before, after)).toBe(true)
})

/** Above the list, what makes its boxes something else, or may. */
const around: readonly [string, string][] = [
  ['code', '```\n'],
  ['code in tildes', '~~~\n'],
  ['code in an item', '- ```\n'],
  ['a longer fence', '````\n```\n'],
  ['a fence that closes with a word', '```\n```sh\n'],
  ['HTML', '<pre>\n'],
  ['a comment', '<!--\n'],
  ['front matter', '---\n'],
]
it.each([
  ['a box that is open again', list('x'), list(' ')],
  ['a choice that was changed', list('x', ' '), list(' ', 'x')],
  ['a box in indented code', '# P\n\n    - [ ] one\n', '# P\n\n    - [x] one\n'],
  ['a box that is no item', '# P\n\n[ ] one\n', '# P\n\n[x] one\n'],
  ['a link', '- [ ](a)\n', '- [x](a)\n'],
  ['white space before a word', '# P\n\na\n', '# P\n\n a\n'],
  ['a backslash that escapes a line end now', 'cp a b \\ \nrm c\n', 'cp a b \\\nrm c\n'],
  ['a word', list(' '), list(' ').replace('two', 'too')],
  ['a line more', list(' '), `${list(' ')}- [ ] three\n`],
  ...around.map(([name, above]): [string, string, string] => [
    `a box in ${name}`,
    above + list(' '),
    above + list('x'),
  ]),
])('ends an approval: %s', (_, before, after) => {
  expect(same(before, after)).toBe(false)
})
