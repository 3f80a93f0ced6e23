import { textKinds } from '../../../../src/config/schema.ts'
import { matchesTool } from '../../../../src/gate/tools.ts'
import { demand, type Target } from '../target.ts'

/** `gate.tools.allow`, a pattern a line, and the names of tools that it is held against. */
export const toolPatterns: Target = {
  name: 'tool-patterns',
  seeds: [
    'mcp__lab__*',
    'mcp__*__read_*\nmcp__{a,b}__get',
    '!mcp__*',
    '@(a|b)',
    '+(x)',
    '[a-z]*',
    '**',
    '*',
    '?',
    'mcp__lab__note',
    '(a+)+',
    '',
    '\\*',
  ],
  pieces: [
    '*',
    '**',
    '?',
    '!',
    '@(',
    '+(',
    '*(',
    ')',
    '|',
    '{',
    ',',
    '}',
    '..',
    '[',
    ']',
    '[[:alpha:]]',
    '\\',
    '(',
    'a',
    'mcp__',
    'lab',
    '__',
    'note',
    '\n',
    '.',
    '/',
    '^',
    '$',
    '<',
    '1',
  ],
  open: () => ({ look }),
}

const names = [
  'mcp__lab__note',
  'Bash',
  `mcp__${'a'.repeat(60)}__${'b'.repeat(60)}!`,
  'mcp__lab__read_note',
  'SendMessage',
  '',
]

/** What the configuration lets through. */
const isLine = (line: string): boolean => new RegExp(textKinds.tool.pattern).test(line)

function look(text: string): string {
  const patterns = text.split('\n').filter(isLine).slice(0, 50)
  const matched = names.map((name) => matchesTool(patterns, name))
  for (const name of names.filter((one) => /^\w+$/.test(one)))
    demand(!patterns.includes(name) || matchesTool(patterns, name), 'a tool that is named is not allowed')
  return matched.join(' ')
}
