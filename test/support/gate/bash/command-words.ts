import { commands, gitSubcommands } from '../../../../src/gate/bash/check-command.ts'
import { findWords } from '../../../../src/gate/bash/languages.ts'
import { flagKinds } from '../../../../src/gate/bash/row.ts'

/** Flags that write or run, in some command or other, and flags that do not exist. */
export const dangerous = [
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
export const operands = [
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
export const letters = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789']

const findFlags = [findWords.alone, findWords.withValue].flatMap((words) => words.split(' ').map((word) => `'${word}'`))
/** The flags of each command, by its name. */
export const known: { readonly [name: string]: readonly string[] } = {
  ...Object.fromEntries([...commands].map(([name, row]) => [name, [...flagKinds(row.flags).keys()]])),
  ...Object.fromEntries([...gitSubcommands].map(([name, row]) => [`git ${name}`, [...flagKinds(row.flags).keys()]])),
  find: findFlags,
  git: ['--no-pager', '--version'],
  echo: ['-n', '-e'],
  cd: [],
  xargs: ['-0', '-r', '-n 1', '-I{}', '-I %', '-d x', '-P 2', '-a list.txt', 'cat', 'wc', 'sort', 'ls', 'rm'],
}
/** Those where a wrong step does the most. */
export const names = [
  ...Object.keys(known),
  ...['sed', 'sed', 'find', 'find', 'uniq', 'sort', 'git branch', 'git tag', 'git config'],
]
