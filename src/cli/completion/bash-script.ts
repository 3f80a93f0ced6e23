import type { Described, Value } from './describe-commands.ts'

/** Works with the bash 3.2 of macOS, too, which has neither `mapfile` nor `compopt`. */
export const bashScript = (
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
