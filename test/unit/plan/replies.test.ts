import { expect, it } from 'vitest'
import { contestedTwice, readReplies } from '../../../src/plan/ask-reviewer.ts'

const plan = '# Plan\n\n## Goal\n\nIt greets.\n'
const replies = (...items: string[]) => `## Review replies\n\n${items.join('\n')}\n`

it.each<[string, string, string, string | null, string[]]>([
  ['none', plan, plan, null, []],
  [
    'at the end',
    plan + replies('- F1: contest: a.ts:1', '- F2: agree'),
    plan,
    '- F1: contest: a.ts:1\n- F2: agree',
    ['F1'],
  ],
  [
    'in the middle',
    `${replies('* **F3** – disagree, see b.ts')}${plan}`,
    plan,
    '* **F3** – disagree, see b.ts',
    ['F3'],
  ],
  [
    'with Windows line ends',
    `${plan}\r\n## Review replies\r\n\r\n- f4 contested\r\n`,
    `${plan}\r\n`,
    '- f4 contested',
    ['F4'],
  ],
  [
    'in a code block',
    `${plan}\n\`\`\`\n## Review replies\n\`\`\`\n`,
    `${plan}\n\`\`\`\n## Review replies\n\`\`\`\n`,
    null,
    [],
  ],
  [
    'an answer that only mentions another',
    plan + replies('- F5: agree; F6 was contested'),
    plan,
    '- F5: agree; F6 was contested',
    [],
  ],
])('replies %s', (_, text, rest, expected, contested) => {
  const read = readReplies(text)
  expect([read.plan, read.replies, [...read.contested.keys()]]).toEqual([rest, expected, contested])
})

it('is contested twice what was contested before and is open', () => {
  const said = replies('- F1: contest: x', '- F2: contest: x', '- F3: contest: x')
  const before = [plan + replies('- F1: contest: y', '- F3: contest: y')]
  expect(contestedTwice(readReplies(plan + said), before, [{ id: 'F1' }, { id: 'F2' }])).toEqual(['F1'])
})
