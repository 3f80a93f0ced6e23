import { printable } from '../../text/clean.ts'
import type { BashVerdict } from './check-command.ts'

/** A refusal in two or three lines: the part, why, and the nearest form that is allowed. */
export function toVerdict(refusal: Refusal | undefined): BashVerdict {
  if (refusal === undefined) return { kind: 'allow' }
  const { rule, part, why, hint } = refusal
  const reason = `\`${printable(part)}\` ${printable(why, 300)} (rule: ${rule}).\n${printable(hint, 300)}`
  return { kind: 'deny', rule, part, reason }
}

/** A command that is on no list, with the alternative to the most frequent ones. */
export const refuseCommand = (name: string): Refusal =>
  refuse(
    'command',
    name,
    name.includes('/')
      ? 'is a path: only the bare names on the list are commands here'
      : 'is not on the list of commands that only read',
    Object.hasOwn(hintByCommand, name)
      ? (hintByCommand[name] ?? '')
      : 'Use rg, grep, ls, cat, find, git log … or the Read, Grep and Glob tools. The user can add a command under gate.bash.allow.',
  )

const hintByCommand: { readonly [name: string]: string } = {
  less: 'Use cat, or the Read tool.',
  more: 'Use cat, or the Read tool.',
  tee: 'What a command prints is shown to you.',
  curl: 'Use the WebFetch tool.',
  wget: 'Use the WebFetch tool.',
}

/** Why a command line is not allowed. Each rule can be looked up, and has tests. */
type Rule =
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
  | 'git-place'
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
  /** The wrong part, as written in the command line. */
  readonly part: string
  /** Completes the sentence that the part begins. */
  readonly why: string
  /** The nearest form that is allowed. */
  readonly hint: string
}

/** Begins the text of a word that is a pattern for file names. No command line contains it. */
export const patternMark = '\u0001'
/** Stands for what an expansion yields, which only the shell knows. */
export const unknownMark = '\u0002'

export const refuse = (rule: Rule, part: string, why: string, hint: string): Refusal => ({
  kind: 'refused',
  rule,
  part: part.replaceAll(patternMark, '').replaceAll(unknownMark, '$…'),
  why,
  hint,
})

export const isRefusal = <T extends { readonly kind: string }>(value: T | Refusal): value is Refusal =>
  value.kind === 'refused'
