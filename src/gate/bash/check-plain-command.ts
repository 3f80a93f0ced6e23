import type { BashPolicy } from './check-command.ts'
import type { StaticWord } from './parse.ts'
import { commands, judgePart } from './policy.ts'
import { type Refusal, refuseCommand } from './refusal.ts'

/**
 * Most commands are a few plain words, for which nobody needs a parser: loading it takes longer than all the rest of
 * the gate. `refused` and `allowed` are what `judgeCommand` says as well (a test holds them together); `unread` means
 * that the line has something in it that only a parser can judge.
 */
export type PlainVerdict = { kind: 'allowed' } | { kind: 'refused'; refusal: Refusal } | { kind: 'unread' }

/** One command, its words separated by single blanks: bare, or quoted as a whole with nothing live between the quotes. */
const bareWord = /^[A-Za-z0-9_@%+,./:-][A-Za-z0-9_@%+,./:=-]*$/
const assignment = /^[A-Za-z_][A-Za-z0-9_]*\+?=/
const token = /'[\x20-\x26\x28-\x7e]*'|"[\x20\x23\x25-\x5b\x5d-\x5f\x61-\x7e]*"|[^ '"]+/y

const builtIn = ['git', 'find', 'echo']
/** Words that begin a construct rather than a command. */
const reserved =
  /^(?:if|then|else|elif|fi|for|while|until|do|done|case|esac|select|function|time|coproc|in|repeat|foreach|end|nocorrect|noglob|exec|command|builtin)$/

export function judgePlain(source: string, policy: BashPolicy): PlainVerdict {
  if (source.length > 8_000) return { kind: 'unread' }
  const words = readPlainWords(source)
  if (words === null) return refusedByName(source, policy)
  const refusal = judgePart(
    { kind: 'part', words, isPiped: false, isRedirected: false, text: source, tokens: [] },
    policy,
  )
  return refusal === undefined ? { kind: 'allowed' } : { kind: 'refused', refusal }
}

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
    words.push({ kind: 'word', text: isQuoted ? raw.slice(1, -1) : raw, raw, isRevision: false })
    if (end === source.length) return isReservedFirst(words) ? null : words
    if (source[end] !== ' ') return null
    end += 1
  }
  return null
}

const isReservedFirst = (words: readonly StaticWord[]): boolean => reserved.test(words[0]?.raw ?? '')

/** Each part of a line must be allowed by itself, so a first command that nobody listed settles it. */
function refusedByName(source: string, policy: BashPolicy): PlainVerdict {
  const name = /^[a-z][\w.-]*(?= |$)/.exec(source)?.[0]
  const isKnown = (word: string): boolean =>
    commands.has(word) || builtIn.includes(word) || policy.allowed.some((entry) => entry.trim().split(' ')[0] === word)
  if (name === undefined || reserved.test(name) || isKnown(name)) return { kind: 'unread' }
  return { kind: 'refused', refusal: refuseCommand(name) }
}
