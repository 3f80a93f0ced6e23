import type { Described, Value } from './describe-commands.ts'

/** For a folder of $fpath, where its first line counts, and to be sourced. */
export const zshScript = (commands: readonly Described[]): string => `#compdef plan-gate
# Completion of plan-gate for zsh. Made by \`plan-gate completion zsh\`.

_plan_gate_commands() {
  local -a commands=(
${commands.map(({ name, description }) => `    ${quoted(`${name}:${description}`)}`).join('\n')}
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
  const tail = takes === 'nothing' ? '' : `${colons}value:${actionFor(value)}`
  return names.map((each) => quoted(`${others}${each}[${description.replace(/[[\]\\]/g, '\\$&')}]${tail}`))
}

const operandSpec = ({ name, is_repeated, value }: Described['operands'][number]): string =>
  quoted(`${is_repeated ? '*' : ''}::${name}:${actionFor(value)}`)

function actionFor({ kind, choices }: Value): string {
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

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
