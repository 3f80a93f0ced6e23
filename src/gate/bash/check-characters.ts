import { type Refusal, refuse } from './refusal.ts'

/** `HEAD@{1}`, `@{upstream}`, `v1^{commit}`: braces with neither a comma nor a range in them stay as they are. */
const revisionBraces = /[@^]\{[\w +:/-]*\}/g
/** A `$` before something that a shell could take for a name. zsh also expands `$+x`, `$=x`, `$~x` and `$^x`. */
const otherDollar = /\$(?![ \t\n"%&'),./:;<>\\\]|}]|$)/
/**
 * In a GBK or Big5 locale the last byte of a character and the backslash behind it are one character, and what the
 * backslash should have escaped is live: bash runs the second command of `echo 中\; id`.
 */
const swallowedBackslash = /[^\u0000-\u007f]\\/
const swallowedQuotedBackslash = /[^\u0000-\u007f]\\["\\$`]/

/** The characters of a word, outside of quotes, that one of the shells does not take as they are. */
export function checkUnquoted(raw: string, word: string, isFirst: boolean): Refusal | undefined {
  if (raw.includes('\\\n')) return lineContinuation(word)
  if (swallowedBackslash.test(raw)) return ambiguousBackslash(word)
  const bare = withoutEscapes(raw)
  if (bare.includes('\\'))
    return refuse('quoting', word, 'ends in a backslash that escapes nothing', 'Leave the backslash out.')
  const found = bareTraps.find(({ trap, onlyFirst }) => (isFirst || !onlyFirst) && trap.test(bare))
  if (found !== undefined) return refuse(found.rule, word, found.why, found.instead ?? quoteIt(word))
  if (/[{}]/.test(bare.replace(revisionBraces, '')) && bare !== '{}')
    return refuse('brace', word, 'contains an unquoted { or }', quoteIt(word))
  return otherDollar.test(bare) ? dollar(word) : undefined
}

type Trap = {
  readonly trap: RegExp
  /** Only at the beginning of a word. */
  readonly onlyFirst?: boolean
  readonly rule: Refusal['rule']
  readonly why: string
  readonly instead?: string
}

const home = 'contains a ~ that shells replace by a home directory'
const bareTraps: readonly Trap[] = [
  { trap: /#/, rule: 'comment', why: 'contains an unquoted #, where a comment or a pattern may begin' },
  { trap: /[*?[]/, rule: 'glob', why: 'contains an unquoted *, ? or [, which shells expand' },
  { trap: /^=/, onlyFirst: true, rule: 'quoting', why: 'begins with =, which zsh replaces by the path of a program' },
  { trap: /^~/, onlyFirst: true, rule: 'tilde', why: home, instead: 'Write the path out.' },
  { trap: /[=:]~/, rule: 'tilde', why: home, instead: 'Write the path out.' },
  { trap: /^\^|^-.*[~^]/s, onlyFirst: true, rule: 'glob', why: 'contains a ^ or ~ that zsh may take for a pattern' },
]

/** The same between double quotes, where fewer characters mean something. */
export function checkQuoted(raw: string, word: string): Refusal | undefined {
  if (raw.includes('\\\n')) return lineContinuation(word)
  if (swallowedQuotedBackslash.test(raw)) return ambiguousBackslash(word)
  return otherDollar.test(withoutEscapes(raw)) ? dollar(word) : undefined
}

export const isRevisionLike = (raw: string): boolean => raw !== '{}' && /[\^{}]/.test(withoutEscapes(raw))

const withoutEscapes = (raw: string): string => raw.replace(/\\./gsu, ' ')

const dollar = (word: string): Refusal =>
  refuse('expansion', word, 'contains a $ that zsh expands', 'Use single quotes where a literal $ is meant.')

const lineContinuation = (word: string): Refusal =>
  refuse('newline', word, 'continues on the next line', 'Write the command on one line.')

const ambiguousBackslash = (word: string): Refusal =>
  refuse(
    'quoting',
    word,
    'has a backslash behind a character that is not ASCII, and some locales read the two as one',
    'Use single quotes around it.',
  )

const quoteIt = (word: string): string =>
  word.includes("'") || word.includes('"') ? 'Quote it.' : `Quote it: '${word}'`
