import { Argument, Command, type Option } from 'commander'
import type { CompletionOutput } from '../schemas/output.ts'
import { UserError } from '../system/errors.ts'
import { helpText, openTerminal } from './terminal.ts'

/** Works with the bash 3.2 of macOS, too, which has neither `mapfile` nor `compopt`. */
const bashScript = (
  commands: readonly Described[],
): string => `# Completion of plan-gate for bash. Made by \`plan-gate completion bash\`.

_plan_gate_words() { COMPREPLY=($(compgen -W "$1" -- "$cur")); }

_plan_gate_paths() {
  local path
  compopt -o filenames 2>/dev/null
  while IFS= read -r path; do COMPREPLY+=("$path"); done < <(compgen "$1" -- "$cur")
}

_plan_gate_commits() {
  _plan_gate_words "HEAD $(git for-each-ref --format='%(refname:short)' refs/heads refs/remotes refs/tags 2>/dev/null)"
}

_plan_gate() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command='' i
  COMPREPLY=()
  # bash takes --type=code apart at the sign.
  if [[ $cur == = ]]; then cur=''; elif [[ $prev == = ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case \${COMP_WORDS[i]} in
      --) return ;;
      -*) ;;
      *) [[ -n $command ]] || command=\${COMP_WORDS[i]} ;;
    esac
  done
  if [[ -z $command ]]; then
    _plan_gate_words '${[...commands.map(({ name }) => name), 'help', '--help', '--version'].join(' ')}'
    return
  fi
  case $command:$prev in
${commands.flatMap(valueCases).join('\n')}
  esac
  if [[ $cur == -* ]]; then
    case $command in
${commands.map(({ name, options }) => `      ${name}) _plan_gate_words '${options.flatMap(({ names }) => names).join(' ')}' ;;`).join('\n')}
    esac
    return
  fi
  case $command in
${commands.flatMap(operandCase).join('\n')}
    help) _plan_gate_words '${commands.map(({ name }) => name).join(' ')}' ;;
  esac
}

complete -F _plan_gate plan-gate
`

function valueCases({ name, options }: Described): string[] {
  return options.flatMap(({ names, takes, value }) => {
    if (takes === 'nothing') return []
    const pattern = names.map((each) => `${name}:${each}`).join(' | ')
    const act = actionFor(value)
    // What need not be given may be followed by the next option.
    return takes === 'a value'
      ? [`    ${pattern}) ${act}; return ;;`]
      : [`    ${pattern}) [[ $cur == -* ]] || { ${act}; return; } ;;`]
  })
}

function operandCase({ name, operands: [first] }: Described): string[] {
  return first === undefined || first.value.kind === 'text' ? [] : [`    ${name}) ${actionFor(first.value)} ;;`]
}

function actionFor({ kind, choices }: Value): string {
  switch (kind) {
    case 'file':
      return '_plan_gate_paths -f'
    case 'folder':
      return '_plan_gate_paths -d'
    case 'commit':
      return '_plan_gate_commits'
    case 'choice':
      return `_plan_gate_words '${choices.join(' ')}'`
    case 'text':
      return ':'
  }
}

type Described = CompletionOutput['commands'][number]
type Value = Described['operands'][number]['value']

/** What may stand where a help text has this name in brackets. Whatever else it is called is any text. */
const valueKinds: { readonly [placeholder: string]: Value['kind'] } = {
  file: 'file',
  strategy: 'file',
  folder: 'folder',
  commit: 'commit',
  base: 'commit',
  branch: 'commit',
}

/** The commands as data, from the very objects that parse them. */
const describeCommands = (commands: readonly Command[]): Described[] =>
  commands.map((command) => ({
    name: command.name(),
    description: firstSentence(command.description()),
    options: [...command.options, helpOption].map(describeOption),
    operands: command.registeredArguments.map((argument) => ({
      name: argument.name(),
      is_repeated: argument.variadic,
      value: valueFor(argument.name(), argument.argChoices),
    })),
  }))

const helpOption = { short: '-h', long: '--help', description: 'display help for command', flags: '' } as Option

const describeOption = ({ short, long, description, flags, required, optional, argChoices, defaultValue }: Option) => ({
  names: [short, long].filter((name) => name !== undefined),
  description: firstSentence(description),
  takes: required ? ('a value' as const) : optional ? ('perhaps a value' as const) : ('nothing' as const),
  is_repeated: Array.isArray(defaultValue),
  value: valueFor(/[<[]([^>\]]+)/.exec(flags)?.[1] ?? '', argChoices),
})

const valueFor = (placeholder: string, choices: Argument['argChoices']): Value => ({
  kind: choices === undefined ? (valueKinds[placeholder] ?? 'text') : 'choice',
  choices: choices ?? [],
})

/** Beside a name there is room for so much. */
const firstSentence = (text: string): string => /^.*?(?=[.:;] |[.]?$)/s.exec(text.replace(/ \(.*\)/, ''))?.[0] ?? text

const fishScript = (commands: readonly Described[]): string =>
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
    const more = takes === 'a value' ? [valueForFishScript(value)] : []
    return [start, ...flags, ...more, '-d', quoted(description)].join(' ')
  })
  return operand === undefined || operand.value.kind === 'text'
    ? lines
    : [...lines, `${start} ${operandFor(operand.value)}`]
}

const commits =
  '\'(git for-each-ref --format="%(refname:short)" refs/heads refs/remotes refs/tags 2>/dev/null; echo HEAD)\''

function valueForFishScript({ kind, choices }: Value): string {
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

const operandFor = (value: Value): string => valueForFishScript(value).replace(/^-[xr] /, '')

const quoted = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`

/** For a folder of $fpath, where its first line counts, and to be sourced. */
const zshScript = (commands: readonly Described[]): string => `#compdef plan-gate
# Completion of plan-gate for zsh. Made by \`plan-gate completion zsh\`.

_plan_gate_commands() {
  local -a commands=(
${commands.map(({ name, description }) => `    ${quotedZshScript(`${name}:${description}`)}`).join('\n')}
    'help:display help for a command'
  )
  _describe -t commands command commands
}

_plan_gate_commits() {
  local -a commits=(HEAD \${(f)"$(git for-each-ref --format='%(refname:short)' refs/heads refs/remotes refs/tags 2>/dev/null)"})
  _wanted commits expl commit compadd -a commits
}

_plan-gate() {
  local context state state_descr line
  typeset -A opt_args
  _arguments -C '(- : *)'{-h,--help}'[display help]' '(- : *)'{-V,--version}'[output the version number]' '1: :_plan_gate_commands' '*:: :->rest'
  [[ $state == rest ]] || return
  case $words[1] in
${commands.map(commandCase).join('\n')}
    help) _arguments '1: :_plan_gate_commands' ;;
  esac
}

if [ "$funcstack[1]" = _plan-gate ]; then _plan-gate "$@"; else compdef _plan-gate plan-gate; fi
`

function commandCase({ name, options, operands }: Described): string {
  const specs = [...options.flatMap(optionSpecs), ...operands.map(operandSpec)]
  return `    ${name}) _arguments -s \\\n${specs.map((spec) => `      ${spec}`).join(' \\\n')} ;;`
}

function optionSpecs({ names, description, takes, is_repeated, value }: Described['options'][number]): string[] {
  const others = is_repeated ? '*' : names.length > 1 ? `(${names.join(' ')})` : ''
  const colons = takes === 'a value' ? ':' : '::'
  const tail = takes === 'nothing' ? '' : `${colons}value:${actionForZshScript(value)}`
  return names.map((each) => quotedZshScript(`${others}${each}[${description.replace(/[[\]\\]/g, '\\$&')}]${tail}`))
}

const operandSpec = ({ name, is_repeated, value }: Described['operands'][number]): string =>
  quotedZshScript(`${is_repeated ? '*' : ''}::${name}:${actionForZshScript(value)}`)

function actionForZshScript({ kind, choices }: Value): string {
  switch (kind) {
    case 'file':
      return '_files'
    case 'folder':
      return '_files -/'
    case 'commit':
      return '_plan_gate_commits'
    case 'choice':
      return `(${choices.join(' ')})`
    case 'text':
      return ' '
  }
}

const quotedZshScript = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const satisfies {
  readonly [shell: string]: (commands: readonly Described[]) => string
}

const shells = Object.keys(scripts) as (keyof typeof scripts)[]

export const completionCommand = (loadAll: () => Promise<Command[]>) => (): Command =>
  new Command('completion')
    .description(
      'Print a script that lets your shell complete the commands of plan-gate, their options and their values.',
    )
    .addArgument(new Argument('[shell]', 'which one').choices(shells))
    .option('--json', 'the commands and what they take, as JSON on stdout')
    .addHelpText(
      'after',
      helpText([
        ['source <(plan-gate completion bash)', 'for this shell; in ~/.bashrc for all'],
        ['plan-gate completion bash > ~/.local/share/bash-completion/completions/plan-gate'],
        ['plan-gate completion zsh > "${fpath[1]}/_plan-gate"'],
        ['plan-gate completion fish > ~/.config/fish/completions/plan-gate.fish'],
      ]),
    )
    .action(async (shell: keyof typeof scripts | undefined, flags: { json?: boolean }) => {
      const terminal = openTerminal(flags.json === true)
      const commands = describeCommands(await loadAll())
      if (terminal.json) return terminal.out(JSON.stringify({ commands } satisfies CompletionOutput))
      if (shell === undefined)
        throw new UserError(
          'There is no shell to make a script for.',
          `Name one: plan-gate completion ${shells.join('|')}.`,
        )
      terminal.out(scripts[shell](commands).trimEnd())
    })
