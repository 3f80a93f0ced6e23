import { commands, gitSubcommands } from '../../../../src/gate/bash/check-command.ts'
import { type CommandRow, type FlagKind, type Flags, withRules } from '../../../../src/gate/bash/row.ts'
import { ruleFor } from '../../../support/gate/bash/check-with-parser.ts'

/** Values that the programs understand, so that the flag is really tried; `x` is enough for the others. */
const values: { readonly [flag: string]: string } = {
  '--sort': 'path',
  '--color': 'never',
  '--type': 'ts',
  '-t': 'ts',
  '-T': 'ts',
  '--date': 'short',
  '--since': 'yesterday',
  '--diff-filter': 'AM',
  '--points-at': 'HEAD',
  '-L': '1,2:src/a.ts',
  '-k': '1',
  '-e': 'alpha',
  '-f': 'list.txt',
}
const byKind: { readonly [kind in FlagKind]: string } = {
  plain: '',
  optional: '',
  optionalFormat: '=%h',
  number: ' 2',
  text: ' x',
  textUnlessLast: ' HEAD',
  any: ' alpha',
  file: ' list.txt',
  format: " '%(refname)'",
  sortKey: ' refname',
  pair: ' name value',
}

/** Each flag of each row once, and clusters of the short ones: what the gate allows of them. */
export function generatedCommands(): string[] {
  const seen = new Set<Flags>()
  const rows = [
    ...[...commands.values()].map((row) => ({ row, name: row.name })),
    ...[...gitSubcommands.values()].map((row) => ({ row, name: `git ${row.name}` })),
  ]
  return rows.flatMap(({ row, name }) => commandsOf(row, name, seen)).filter((command) => ruleFor(command) === 'allow')
}

function commandsOf(row: CommandRow, name: string, seen: Set<Flags>): string[] {
  const operands = operandsOf(row, name)
  const flags = row.flags
    .filter((group) => !seen.has(group))
    .flatMap((group) => {
      seen.add(group)
      // A part of a row has rules beside its flags.
      return (Object.entries(group) as [FlagKind, string][])
        .filter(([kind]) => Object.hasOwn(byKind, kind))
        .flatMap(([kind, names]) => names.split(' ').map((flag) => ({ flag, kind })))
    })
  const single = flags.map(({ flag, kind }) => {
    const value = values[flag] === undefined || byKind[kind] === '' ? byKind[kind] : ` ${values[flag]}`
    return `${name} ${flag}${value} ${operands}`
  })
  const letters = flags
    .filter(({ flag, kind }) => kind === 'plain' && flag.length === 2)
    .map(({ flag }) => flag[1] ?? '')
  const clusters = letters.map(
    (letter, index) => `${name} -${letter}${letters[(index * 7 + 3) % letters.length]} ${operands}`,
  )
  return [...single, ...clusters, `${name} -- ${operands}`].map((command) => command.trim())
}

function operandsOf(row: CommandRow, name: string): string {
  const program: { readonly [name: string]: string } = { jq: '.', sed: '1p' }
  const first = withRules(row).firstIsProgram === undefined ? '' : `${program[name] ?? 'alpha'} `
  switch (row.operands) {
    case 'files':
      if (name === 'diff') return 'src/a.ts src/b.ts'
      return name.startsWith('git ') && first === '' && name !== 'git blame' ? 'HEAD' : `${first}src/a.ts`
    case 'paths':
      return 'src'
    case 'words':
      return name.startsWith('git ') ? 'HEAD' : 'src/a.ts'
    case 'none':
      return ''
  }
}
