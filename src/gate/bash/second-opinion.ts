import { parse } from 'shell-quote'
import type { StaticWord } from './read-word.ts'
import { type Refusal, refuse } from './refusal.ts'

/** An operator, a word, or a text that belongs to a redirection. */
export type Token = string | { readonly word: StaticWord } | { readonly text: string }

/**
 * Another reader has to see the same words. shell-quote is no parser (a newline is a blank to it, backticks are text,
 * braces are nothing), so its yes is worth little; but where it sees other words, the line is worth no trust.
 */
export function agreesWithShellQuote(source: string, tokens: readonly Token[]): Refusal | undefined {
  const theirs = readWithShellQuote(source)
  const ours = tokens.map(textOf)
  const agrees =
    theirs !== undefined &&
    theirs.length === ours.length &&
    ours.every((text, index) => text === theirs[index] || isBlindSpot(tokens[index]))
  if (agrees) return undefined
  return refuse(
    'second-opinion',
    source,
    'is not read as the same words by two parsers',
    'Simplify the quoting: single quotes around what is literal, plain blanks between the words.',
  )
}

function readWithShellQuote(source: string): string[] | undefined {
  try {
    const entries = parse(source, (name) => (name === '' ? undefined : '\0'))
    const texts = entries.map((entry) => {
      if (typeof entry === 'string') return entry
      if ('comment' in entry) return '\0'
      return 'pattern' in entry ? entry.pattern : operator(entry.op)
    })
    return texts.at(-1) === operator(';') ? texts.slice(0, -1) : texts
  } catch {
    // It throws on what it takes for a malformed expansion.
    return undefined
  }
}

/** Told apart from the same text in quotes: no word of an accepted line holds this character. */
const operator = (text: string): string => `\u0001${text}`

const textOf = (token: Token): string => {
  if (typeof token === 'string') return operator(token)
  return 'word' in token ? token.word.text : token.text
}

/** Between double quotes a shell drops the backslash before a backtick; shell-quote keeps it. */
const isBlindSpot = (token: Token | undefined): boolean =>
  typeof token === 'object' && 'word' in token && token.word.raw.includes('\\`')
