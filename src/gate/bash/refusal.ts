import { printable } from '../../text/clean.ts'

/** Why a command line is not allowed. Each rule can be looked up, and has tests. */
type LineRule = 'empty' | 'too-long' | 'character' | 'syntax' | 'second-opinion' | 'newline' | 'comment'
type StructureRule = 'keyword' | 'compound' | 'background' | 'assignment' | 'redirection' | 'here-document'
type WordRule = 'expansion' | 'substitution' | 'glob' | 'brace' | 'tilde' | 'quoting'
type CommandRule = 'command' | 'subcommand' | 'git-config' | 'git-place' | 'flag' | 'value' | 'operand' | 'program'
type ReadingRule = 'stdin' | 'special-file' | 'secret'

export type Refusal = {
  readonly kind: 'refused'
  readonly rule: LineRule | StructureRule | WordRule | CommandRule | ReadingRule
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

/** Thrown, so that no check on the way can forget to hand it on; `refusalOf` catches it. */
export function refuse(rule: Refusal['rule'], part: string, why: string, hint: string): never {
  const shown = part.replaceAll(patternMark, '').replaceAll(unknownMark, '$…')
  throw { kind: 'refused', rule, part: shown, why, hint } satisfies Refusal
}

/** What a check found, or what it refused. */
export function refusalOf<T>(check: () => T): T | Refusal {
  try {
    return check()
  } catch (error) {
    if (isRefusal(error)) return error
    throw error
  }
}

export const isRefusal = (value: unknown): value is Refusal =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'refused'

export type BashVerdict = { kind: 'allow' } | { kind: 'deny'; rule: Refusal['rule']; part: string; reason: string }

/** A refusal in two or three lines: the part, why, and the nearest form that is allowed. */
export function verdictOf(check: () => void): BashVerdict {
  const refusal = refusalOf(check)
  if (!isRefusal(refusal)) return { kind: 'allow' }
  const { rule, part, why, hint } = refusal
  const reason = `\`${printable(part)}\` ${printable(why, 300)} (rule: ${rule}).\n${printable(hint, 300)}`
  return { kind: 'deny', rule, part, reason }
}

/** A command that is on no list, with the alternative to the most frequent ones. */
export function refuseCommand(name: string): never {
  const why = name.includes('/')
    ? 'is a path: only the bare names on the list are commands here'
    : 'is not on the list of commands that only read'
  refuse('command', name, why, Object.hasOwn(hints, name) ? (hints[name] ?? '') : commandHint)
}

const commandHint =
  'Use rg, grep, ls, cat, find, git log … or the Read, Grep and Glob tools. The user can add a command under gate.bash.allow.'
const [useRead, useFetch] = ['Use cat, or the Read tool.', 'Use the WebFetch tool.']
const hints: { readonly [name: string]: string } = {
  ...{ less: useRead, more: useRead, curl: useFetch, wget: useFetch },
  tee: 'What a command prints is shown to you.',
}
