import { printable } from '../../text/clean.ts'

/** Why a command line is not allowed, and the nearest form that is. Each rule can be looked up, and has tests. */
const hints = {
  empty: 'Say what to run.',
  'too-long': 'Split it into shorter commands.',
  character: 'Write the line without it (a carriage return is never needed).',
  syntax: 'Simplify it: one plain command with plain words.',
  'second-opinion': 'Simplify the quoting: single quotes around what is literal, plain blanks between the words.',
  newline: 'Write the command on one line.',
  comment: 'Leave it out, or use letters and digits only.',
  keyword: 'Run the commands one by one, or join them by |, && or ;.',
  compound: 'Split it: run the commands one by one, without redirections.',
  background: 'Leave the & out. To run two commands, join them by &&.',
  assignment: 'Write the value itself. A constant has a short name of your own in lower case, such as f or dir.',
  redirection: 'Leave it out: what is printed is shown to you. Only 2>/dev/null, >/dev/null and 2>&1 are allowed.',
  'here-document': 'Name a file, or leave it out.',
  expansion: 'Write the value itself, or single quotes where a literal $ is meant.',
  substitution: 'Run that command by itself first, and use what it printed.',
  glob: 'Begin it with a folder (./), or quote it where the command itself takes a pattern.',
  brace: 'Write the words out, or quote them.',
  tilde: 'Write the path out.',
  quoting: "Use plain quotes: '…' keeps everything as it is.",
  command:
    'Use rg, grep, ls, cat, find, git log … or the Read, Grep and Glob tools. The user can add a command under gate.bash.allow.',
  subcommand: 'Allowed are status, diff, log, show, grep, ls-files, blame, branch --list and others that only read.',
  'git-config':
    'Use rg, ls and the Read tool meanwhile. The user can undo the change, or accept it: plan-gate drift accept.',
  'git-place': 'Run git in this worktree. Its paths can follow the subcommand.',
  flag: 'Leave it out.',
  value: 'Write the flag and its value as two plain words.',
  operand: 'Leave it out.',
  program: 'Use the Read, Grep and Glob tools.',
  stdin: 'Name a file, or put the command behind a |.',
  'special-file': 'Name ordinary files; /dev/null is the one exception.',
  secret: 'A plan needs no secret: look at an example file, or ask the user.',
} as const

export type Refusal = {
  readonly kind: 'refused'
  readonly rule: keyof typeof hints
  /** The wrong part, as written in the command line. */
  readonly part: string
  /** Completes the sentence that the part begins. */
  readonly why: string
  readonly hint: string
}

/** Begins the text of a word that is a pattern for file names. No command line contains it. */
export const patternMark = '\u0001'
/** Stands for what an expansion yields, which only the shell knows. */
export const unknownMark = '\u0002'
/** The same, where it may be a secret. */
export const secretMark = '\u0003'

/** Thrown, so that no check on the way can forget to hand it on; `refusalOf` catches it. */
export function refuse(rule: Refusal['rule'], part: string, why: string, hint: string = hints[rule]): never {
  const shown = part.replaceAll(patternMark, '').replace(/[\u0002\u0003]/g, '$…')
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
  refuse('command', name, why, Object.hasOwn(instead, name) ? instead[name] : undefined)
}

const [useRead, useFetch] = ['Use cat, or the Read tool.', 'Use the WebFetch tool.']
const instead: { readonly [name: string]: string } = {
  ...{ less: useRead, more: useRead, curl: useFetch, wget: useFetch },
  tee: 'What a command prints is shown to you.',
}
