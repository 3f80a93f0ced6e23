import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../../src/config/load.ts'
import { matchesTool } from '../../../src/gate/tools.ts'
import { isSlow } from '../../support/is-slow.ts'

const isValid = (pattern: string): boolean =>
  parseConfig(`gate: {tools: {allow: [${JSON.stringify(pattern)}]}}`).kind === 'valid'

describe('gate.tools.allow', () => {
  it.each<[pattern: string, tool: string, expected: boolean]>([
    ['mcp__lab__note', 'mcp__lab__note', true],
    ['mcp__lab__note', 'mcp__lab__notes', false],
    ['mcp__lab__*', 'mcp__lab__note', true],
    ['mcp__lab__*', 'mcp__lab2__note', false],
    ['mcp__*__read_*', 'mcp__fs__read_file', true],
    ['mcp__*__read_*', 'mcp__fs__write_file', false],
    ['mcp__{fs,git}__{get,list}_*', 'mcp__git__list_all', true],
    ['mcp__{fs,git}__{get,list}_*', 'mcp__git__put_all', false],
    ['mcp__fs__rea[dl]', 'mcp__fs__read', true],
    ['mcp__fs__rea?', 'mcp__fs__read', true],
    ['mcp__fs', 'mcp__fs/write', false],
    ['{a,b,c,d,e}{a,b,c,d,e}{a,b,c,d,e}', 'eee', true],
    ['*', 'SendMessage', true],
    ['*', 'x'.repeat(200), false],
  ])('%s names %s: %s', (pattern, tool, expected) => {
    expect(isValid(pattern)).toBe(true)
    expect(matchesTool([pattern], tool)).toBe(expected)
  })

  it.each([
    '',
    '(*a+)+',
    '@(a|b)',
    '+(a)',
    '*a*a*a*a',
    '{a,b}{a,b}{a,b}{a,b}',
    '*{a,b}*{a,b}',
    '!SendMessage',
    'a b',
    'x'.repeat(201),
  ])('is not %j', (pattern) => {
    expect(isValid(pattern)).toBe(false)
  })

  it('takes no time for a name that was made to take it', () => {
    const patterns = ['*a*a*b', '{a,aa}{a,aa}{a,aa}b', '**a**a**b']
    expect(isSlow(() => matchesTool(patterns, 'a'.repeat(128)), 50)).toBe(false)
  })
})
