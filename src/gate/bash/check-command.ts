import type { Line } from './parse.ts'
import { checkParts, isListed, type Location } from './policy.ts'
import { type BashVerdict, isRefusal, type Refusal, refuse, refuseCommand, verdictOf } from './refusal.ts'
import type { Shell, StaticWord } from './words.ts'

/** Is a command line proved to only read? What cannot be proved is denied. */

export type BashPolicy = {
  /** Whether `a | b`, `a && b` and `a ; b` are checked part by part. */
  readonly compound: boolean
  /** `gate.bash.allow`: commands, perhaps with their first words, that may have any flags. */
  readonly allowed: readonly string[]
  /** Keys and hooks of the repository that changed since the worktree was opened: git may run what they name. */
  readonly untrustedGitKeys: readonly string[]
  /** Keys that make this a partial clone: git may run a program to fetch what it reads. */
  readonly promisorKeys: readonly string[]
  /** Where the shell stands, and where a `cd` leads. */
  readonly start: Location
  readonly enter: (from: Location, path: string) => Location
  readonly shell: Shell
}

/**
 * Most commands are a few plain words, which need no parser: loading it takes longer than the rest of the gate. Null
 * where only a parser can read the line. Both readers end in the same `checkParts`.
 */
export function checkPlainCommand(source: string, policy: BashPolicy): BashVerdict | null {
  if (source.length > 8_000) return null
  const words = readPlainWords(source)
  if (words !== null)
    return verdictOf(() => checkParts([{ words, isPiped: false, isRedirected: false, text: source }], policy))
  // Each part of a line must be allowed by itself, so a first command that is on no list decides it without a parser.
  const name = /^[a-z][\w.-]*(?= |$)/.exec(source)?.[0] ?? ''
  const isKnown = isListed(name) || policy.allowed.some((entry) => entry.trim().split(' ')[0] === name)
  return name === '' || reservedWord.test(name) || isKnown ? null : verdictOf(() => refuseCommand(name))
}

type ReadLine = (source: string, shell: Shell) => Line | Refusal

/** `readLine` is the parser of `parse.ts`: an argument, because the gate loads it from a bundle of its own. */
export const checkCommand = (source: string, policy: BashPolicy, readLine: ReadLine): BashVerdict =>
  verdictOf(() => {
    const line = readSafely(source, policy.shell, readLine)
    if (line.isCompound && !policy.compound)
      refuse(
        'compound',
        source,
        'is more than one plain command, which gate.bash.compound: false does not allow',
        'Split it: run the commands one by one, without redirections.',
      )
    checkParts(line.parts, policy)
  })

/** A parser that fails has not read the line. */
function readSafely(source: string, shell: Shell, readLine: ReadLine): Line {
  let line: Line | Refusal | null = null
  try {
    line = readLine(source, shell)
  } catch {}
  if (line === null) refuse('syntax', source, 'could not be read', 'Simplify it: one plain command with plain words.')
  if (isRefusal(line)) throw line
  return line
}

/** One command, its words separated by single blanks: bare, or quoted as a whole with nothing live between the quotes. */
const bareWord = /^[A-Za-z0-9_@%+,./:-][A-Za-z0-9_@%+,./:=-]*$/
const assignment = /^[A-Za-z_][A-Za-z0-9_]*\+?=/
const token = /'[\x20-\x26\x28-\x7e]*'|"[\x20\x23\x25-\x5b\x5d-\x5f\x61-\x7e]*"|[^ '"]+/y

function readPlainWords(source: string): StaticWord[] | null {
  const words: StaticWord[] = []
  let end = 0
  while (end < source.length) {
    token.lastIndex = end
    const raw = token.exec(source)?.[0]
    if (raw === undefined) return null
    end += raw.length
    const isQuoted = raw.startsWith("'") || raw.startsWith('"')
    if (!isQuoted && (!bareWord.test(raw) || assignment.test(raw))) return null
    words.push({ text: isQuoted ? raw.slice(1, -1) : raw, raw, isRevision: false })
    if (end === source.length) return reservedWord.test(words[0]?.raw ?? '') ? null : words
    if (source[end] !== ' ') return null
    end += 1
  }
  return null
}

/** Words that begin a construct rather than a command. */
const reservedWord =
  /^(?:if|then|else|elif|fi|for|while|until|do|done|case|esac|select|function|time|coproc|in|repeat|foreach|end|nocorrect|noglob|exec|command|builtin)$/
