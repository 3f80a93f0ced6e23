import type { Described, Value } from './describe-commands.ts'

export const fishScript = (commands: readonly Described[]): string =>
  [
    '# Completion of plan-gate for fish. Made by `plan-gate completion fish`.',
    'complete -c plan-gate -f',
    "complete -c plan-gate -n __fish_use_subcommand -s h -l help -d 'display help'",
    "complete -c plan-gate -n __fish_use_subcommand -s V -l version -d 'output the version number'",
    ...[...commands, helpCommand].map(
      ({ name, description }) => `complete -c plan-gate -n __fish_use_subcommand -a ${name} -d ${quoted(description)}`,
    ),
    ...commands.flatMap(linesOf),
    `complete -c plan-gate -n '__fish_seen_subcommand_from help' -a ${quoted(commands.map(({ name }) => name).join(' '))}`,
    '',
  ].join('\n')

const helpCommand = { name: 'help', description: 'display help for a command' }

function linesOf({ name, options, operands: [operand] }: Described): string[] {
  const start = `complete -c plan-gate -n '__fish_seen_subcommand_from ${name}'`
  const lines = options.map(({ names, description, takes, value }) => {
    const flags = names.map((each) => (each.startsWith('--') ? `-l ${each.slice(2)}` : `-s ${each.slice(1)}`))
    // fish knows no value that may be left out.
    const more = takes === 'a value' ? [valueFor(value)] : []
    return [start, ...flags, ...more, '-d', quoted(description)].join(' ')
  })
  return operand === undefined || operand.value.kind === 'text'
    ? lines
    : [...lines, `${start} ${operandFor(operand.value)}`]
}

const commits =
  '\'(git for-each-ref --format="%(refname:short)" refs/heads refs/remotes refs/tags 2>/dev/null; echo HEAD)\''

function valueFor({ kind, choices }: Value): string {
  switch (kind) {
    case 'file':
      return '-r -F'
    case 'folder':
      return "-x -a '(__fish_complete_directories)'"
    case 'commit':
      return `-x -a ${commits}`
    case 'choice':
      return `-x -a ${quoted(choices.join(' '))}`
    case 'text':
      return '-x'
  }
}

const operandFor = (value: Value): string => valueFor(value).replace(/^-[xr] /, '')

const quoted = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`
