import { parse as parseShellQuote } from 'shell-quote'
import { refuse } from './refusal.ts'
import { expansionMark } from './words.ts'

/** An operator or a keyword, or the text of a word, in which each expansion is an `expansionMark`. */
export type Token = { readonly operator: string } | { readonly text: string; readonly raw: string }

/**
 * Second opinion: another reader must see the same words. shell-quote is no parser (it ignores newlines, backticks and
 * braces), so its agreement proves little; but where it sees other words, the line is refused. It reads the line without
 * its comments, with `;` for each line end.
 */
export function checkSecondOpinion(line: string, tokens: readonly Token[]): void {
  const theirs = readWithShellQuote(line)
  const isAlike = (token: Token, index: number): boolean => textOf(token) === theirs?.[index] || isBlindSpot(token)
  if (theirs?.length !== tokens.length || !tokens.every(isAlike))
    refuse(
      'second-opinion',
      line,
      'is not read as the same words by two parsers',
      'Simplify the quoting: single quotes around what is literal, plain blanks between the words.',
    )
}

function readWithShellQuote(source: string): string[] | undefined {
  try {
    const entries = parseShellQuote(source, (name) => (name === '' ? undefined : expansionMark))
    return entries.map((entry) => {
      if (typeof entry === 'string') return entry
      if ('comment' in entry) return '\0'
      return 'pattern' in entry ? entry.pattern : operator(entry.op)
    })
  } catch {
    // shell-quote throws on what it takes for a malformed expansion.
    return undefined
  }
}

/** Marks an operator, which in quotes would be the same text: no word of an accepted line contains this character. */
const operator = (text: string): string => `\u0001${text}`

const textOf = (token: Token): string => ('operator' in token ? operator(token.operator) : token.text)

/** Inside double quotes a shell drops the backslash before a backtick; shell-quote keeps it. */
const isBlindSpot = (token: Token): boolean => 'raw' in token && token.raw.includes('\\`')
