/** Why a command line is not allowed. Each is a rule that a person can look up and a test can name. */
export type Rule =
  // The line as text.
  | 'empty'
  | 'too-long'
  | 'character'
  | 'syntax'
  // Its structure.
  | 'keyword'
  | 'compound'
  | 'background'
  | 'newline'
  | 'comment'
  | 'assignment'
  | 'redirection'
  | 'here-document'
  // Its words.
  | 'expansion'
  | 'substitution'
  | 'glob'
  | 'brace'
  | 'tilde'
  | 'quoting'
  | 'second-opinion'
  // The command.
  | 'command'
  | 'subcommand'
  | 'git-config'
  | 'flag'
  | 'value'
  | 'operand'
  | 'program'
  | 'stdin'
  | 'special-file'
  | 'secret'

export type Refusal = {
  readonly kind: 'refused'
  readonly rule: Rule
  /** What is wrong, as it stands in the command line. */
  readonly part: string
  /** Completes the sentence that the part begins. */
  readonly why: string
  /** The nearest form that is allowed. */
  readonly instead: string
}

export const refuse = (rule: Rule, part: string, why: string, instead: string): Refusal => ({
  kind: 'refused',
  rule,
  part,
  why,
  instead,
})

export const isRefusal = <T extends { readonly kind: string }>(value: T | Refusal): value is Refusal =>
  value.kind === 'refused'
