import type { Refusal } from './refusal.ts'

/**
 * The flags of a command that only read, by what they take. Names are separated by blanks and matched whole; several
 * short ones may stand in one word, as `-la`.
 *
 * To list a flag as taking nothing when it takes a value (or the other way round) moves the border between flags and
 * operands: `--` itself could be swallowed. Try it on the real program.
 */
export type Flags = {
  /** Nothing. An entry with `=` is one spelling: `--porcelain=v2`. */
  readonly plain?: string
  /** A value, but only behind `=`, or digits in the same word where the flag is short: `--color=never`, `-U3`. */
  readonly optional?: string
  /** A number, perhaps with a sign or a unit. */
  readonly number?: string
  /** A text; where it is a word of its own, it does not look like a flag. */
  readonly text?: string
  /** A text, unless it is the last word: git branch --contains. */
  readonly textUnlessLast?: string
  /** A text that may begin with `-`. */
  readonly any?: string
  /** A file that is read. */
  readonly file?: string
  /** A format of git, which can ask for a signature and so run gpg. */
  readonly format?: string
  /** The same, but only behind `=`. */
  readonly optionalFormat?: string
  /** Two words. */
  readonly pair?: string
}
export type FlagKind = keyof Flags

export type CommandRow = {
  /** Its words: `rg`; for git the subcommand, `stash list`. */
  readonly name: string
  readonly flags: readonly Flags[]
  /** What the operands are: files that are opened, paths that are looked at, words that mean anything else. */
  readonly operands: 'files' | 'paths' | 'words' | 'none'
  readonly mostOperands?: number
  /** The first operand is a pattern or a program and no file, unless one of these flags brings it. */
  readonly firstIsProgram?: { readonly unless: string }
  /** Without a file it waits for stdin, unless one of these flags is there. */
  readonly readsStdin?: { readonly unless: string }
  /**
   * With an empty stdin, which is what Claude Code gives its shell (/dev/null), it ends at once and nobody is misled:
   * the command is half of a pipe that was taken apart.
   */
  readonly mayReadNothing?: true
  /** Flags that make it read stdin, whatever else is given. */
  readonly needsPipe?: string
  /** A short flag takes its value from the next word, even in the middle of a cluster. */
  readonly splitsClusters?: true
  /** Flags that are well known and refused: what each does, and what to do instead. */
  readonly refused?: { readonly [flags: string]: Advice }
  /** What flags and operands cannot say one by one. */
  readonly check?: (call: Call) => Problem | undefined
}

type Advice = readonly [does: string, instead: string]

/** A command with its flags told apart from its operands. */
export type Call = {
  readonly kind: 'call'
  readonly name: string
  readonly flags: readonly Flag[]
  readonly operands: readonly string[]
  /** How many of them stand before a `--`. */
  readonly operandsBeforeDashes: number
  readonly isPiped: boolean
}
export type Flag = { readonly name: string; readonly value?: string; readonly operandsBefore: number }

export type Problem = Pick<Refusal, 'rule' | 'part' | 'why' | 'instead'>

export const hasFlag = ({ flags }: Call, names: string): boolean => {
  const listed = names.split(' ')
  return flags.some(({ name }) => listed.includes(name))
}
