import fc from 'fast-check'
import { commands, gitSubcommands } from '../../../src/gate/bash/command-table.ts'
import { findWords } from '../../../src/gate/bash/find-tests.ts'
import { flagKinds } from '../../../src/gate/bash/flag-kinds.ts'
import { judged } from './judged.ts'

/** Flags that write or run, in some command or other, and flags that do not exist. */
const dangerous = [
  ...[
    '--output=zz',
    '--output',
    '-o',
    '-ozz',
    '-O',
    '-O./x',
    '--pre=cat',
    '-z',
    '-f',
    '-F',
    '--follow',
    '-i',
    '-C',
    '-R',
  ],
  ...['-d', '-D', '-m', '-M', '-c', '-u', '--edit', '--delete', '-exec', '-delete', '-fprint', '--ext-diff', '--stdin'],
  ...[
    '--textconv',
    '-e',
    '--add',
    '--unset',
    '--batch',
    '--help',
    '--version',
    '--files0-from=-',
    '--compress-program=cat',
  ],
]
const operands = [
  ...[
    'zz',
    'list.txt',
    'src/a.ts',
    'HEAD',
    'main',
    'feature',
    '1',
    '-1',
    '+1',
    '.',
    'src',
    '--',
    '--',
    '-',
    "'-o'",
    "''",
  ],
  ...[
    'expire',
    'delete',
    'set',
    'add',
    'pop',
    'list',
    'show',
    'refs/heads/zz',
    'user.name',
    'origin',
    'stash@{0}',
    '@{u}',
  ],
  ...[
    "'1p'",
    "'w zz'",
    "'1e id'",
    "'s/a/b/'",
    "'s/a/b/w zz'",
    'env',
    'alpha',
    "'%H'",
    "'%(refname)'",
    "'odd name.txt'",
  ],
]
const letters = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789']

const findFlags = [findWords.alone, findWords.withValue].flatMap((words) => words.split(' ').map((word) => `'${word}'`))
const known: { readonly [name: string]: readonly string[] } = {
  ...Object.fromEntries([...commands].map(([name, row]) => [name, [...flagKinds(row.flags).keys()]])),
  ...Object.fromEntries([...gitSubcommands].map(([name, row]) => [`git ${name}`, [...flagKinds(row.flags).keys()]])),
  find: findFlags,
  git: ['--no-pager', '--version'],
  echo: ['-n', '-e'],
}
/** Those where a wrong step does the most. */
const names = [
  ...Object.keys(known),
  ...['sed', 'sed', 'find', 'find', 'uniq', 'sort', 'git branch', 'git tag', 'git config'],
]

const command = fc.constantFrom(...names).chain((name) => {
  const flags = known[name] ?? []
  const flag = flags.length === 0 ? fc.constant('-n') : fc.constantFrom(...flags)
  const operand = fc.constantFrom(...operands)
  const letter = fc.constantFrom(...letters)
  const word = fc.oneof(
    flag,
    fc.tuple(flag, operand).map(([one, other]) => `${one} ${other}`),
    fc.tuple(flag, operand).map(([one, other]) => `${one}=${other}`),
    fc.tuple(letter, letter).map(([one, other]) => `-${one}${other}`),
    operand,
    operand,
    fc.constantFrom(...dangerous),
  )
  return fc.array(word, { maxLength: 5 }).map((words) => [name, ...words].join(' '))
})
const line = fc
  .tuple(fc.constantFrom('', '', '', 'cat list.txt | '), command, fc.constantFrom('', '', '', ' | head -3', ' && pwd'))
  .map((parts) => parts.join(''))

/** Lines that nobody would write, made of what the commands know and of what they must not be given; the allowed ones. */
export const randomCommands = (count: number, seed: number): string[] => [
  ...new Set(fc.sample(line, { numRuns: count, seed }).filter((source) => judged(source) === 'allow')),
]
