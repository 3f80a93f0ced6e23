import type { DoubleQuotedChild, Word, WordPart } from 'unbash'
import { patternMark, type Refusal, refuse, unknownMark } from './refusal.ts'

/** A word that every shell reads as the same text, whatever its variables, files and options are. */
export type StaticWord = {
  readonly kind: 'word'
  /** A pattern for file names begins with `patternMark`; `unknownMark` stands where the shell puts in what only it knows. */
  readonly text: string
  /** As written, quotes included. */
  readonly raw: string
  /** It contains an unquoted `^` or `@{…}`: part of a git revision, but a pattern for zsh with EXTENDED_GLOB. */
  readonly isRevision: boolean
}

/** A word before its variables have values. */
export type WordTemplate = {
  readonly kind: 'template'
  readonly raw: string
  readonly pieces: readonly Piece[]
  readonly isRevision: boolean
  /** What shell-quote should read, with an `expansionMark` for each variable. */
  readonly read: string
}

type Piece =
  | { readonly text: string; readonly isGlob: boolean }
  /** A variable, or `$?`, `$$`. */
  | { readonly name: string; readonly isQuoted: boolean; readonly hasBraces: boolean }

export const expansionMark = '\0'

/** What a variable holds: a constant, or one of the file names that a pattern stands for. */
export type Value = { readonly text: string; readonly isPattern: boolean }
export type Variables = ReadonlyMap<string, Value>

/** Reads a word; `home` is what `~` stands for. */
export function readWord(word: Word, home: string | undefined): WordTemplate | Refusal {
  const parts: readonly WordPart[] = word.parts ?? [
    { type: 'Literal', pos: word.pos, end: word.end, value: word.value, text: word.text },
  ]
  const pieces: Piece[] = []
  let isRevision = false
  let isFirst = true
  for (const part of parts) {
    const tilde = isFirst && pieces.length === 0 && part.type === 'Literal' ? homeIn(part.text, word) : undefined
    const refusal =
      tilde === undefined ? checkPart(part, word, isFirst) : checkTilde(home, word, part.text.slice(tilde.length))
    if (refusal !== undefined) return refusal
    pieces.push(...(tilde === undefined ? piecesOf(part) : [literal(`${home}${textIn(part).slice(1)}`)]))
    isRevision ||= part.type === 'Literal' && isRevisionLike(part.text)
    // After empty quotes a word has not begun yet: zsh expands the ~ of `""~`.
    isFirst &&= part.text === "''" || part.text === '""'
  }
  if (pieces.some((piece, index) => 'name' in piece && !piece.hasBraces && continues(pieces[index + 1])))
    return expansion(word)
  const read = parts.map((part) => (part.type === 'Literal' ? textIn(part) : piecesOf(part).map(readPiece).join('')))
  return { kind: 'template', raw: word.text, pieces, isRevision, read: read.join('') }
}

/** `~` and `~/…`, but neither `~name` nor `~+`. */
const homeIn = (text: string, word: Word): string | undefined =>
  word.text === '~' ? '~' : text.startsWith('~/') ? '~/' : undefined

const checkTilde = (home: string | undefined, word: Word, rest: string): Refusal | undefined =>
  home === undefined
    ? refuse('tilde', word.text, 'contains a ~, and HOME is not set', 'Write the path out.')
    : checkUnquoted(rest, word.text, false)

const textIn = (part: WordPart): string => ('value' in part ? part.value : part.text)
const literal = (text: string): Piece => ({ text, isGlob: false })
const readPiece = (piece: Piece): string => ('name' in piece ? expansionMark : piece.text)

function piecesOf(part: WordPart | DoubleQuotedChild, isQuoted = false): Piece[] {
  switch (part.type) {
    case 'DoubleQuoted':
      return part.parts.flatMap((child) => piecesOf(child, true))
    case 'SimpleExpansion':
    case 'ParameterExpansion':
      return [{ name: part.text.replace(/[${}]/g, '') || '$', isQuoted, hasBraces: part.text.startsWith('${') }]
    case 'Glob':
      return [{ text: part.text, isGlob: true }]
    default:
      return [literal('value' in part ? part.value : part.text)]
  }
}

/** zsh reads `$x[…]` and `$x:h` as one expansion, and letters outside of ASCII as a part of the name. */
const continues = (next: Piece | undefined): boolean =>
  next !== undefined && !('name' in next) && /^[[:\u0080-\uffff]/.test(next.text)

/** A word with the values of its variables. */
export function fillWord({ raw, pieces, isRevision }: WordTemplate, variables: Variables): StaticWord | Refusal {
  let text = ''
  let isPattern = false
  for (const piece of pieces) {
    if (!('name' in piece)) {
      text += piece.text
      isPattern ||= piece.isGlob
      continue
    }
    const value = variables.get(piece.name)
    if (value !== undefined && !piece.isQuoted && !plainValue.test(value.text))
      return refuse(
        'expansion',
        raw,
        'is split and expanded by some shells, and its value is not a plain word',
        `Quote it: "${raw}".`,
      )
    text += value?.text ?? unknownMark
    isPattern ||= value?.isPattern === true
  }
  if (isPattern && (isRevision || !/^[\w./]/.test(text) || /~/.test(raw.slice(1)))) return refuseGlob(raw)
  return { kind: 'word', text: isPattern ? patternMark + text : text, raw, isRevision }
}

/** One word without quotes, too, in each shell; no pattern is one. */
const plainValue = /^[A-Za-z0-9_@%+,./:-][A-Za-z0-9_@%+,./:=-]*$/

const refuseGlob = (raw: string): Refusal =>
  refuse(
    'glob',
    raw,
    'is a pattern that the shell replaces by file names, and a file may be named like a flag',
    `Begin it with a folder (./${raw.replace(/['"]/g, '')}), or quote it where the command itself takes a pattern.`,
  )

function checkPart(part: WordPart, word: Word, isFirst: boolean): Refusal | undefined {
  switch (part.type) {
    case 'SingleQuoted':
      return undefined
    case 'Literal':
      return checkUnquoted(part.text, word.text, isFirst)
    case 'DoubleQuoted':
      return firstOf(part.parts.map((child) => checkQuotedChild(child, word)))
    case 'SimpleExpansion':
    case 'ParameterExpansion':
      return plainExpansion.test(part.text) ? undefined : expansion(word)
    case 'ArithmeticExpansion':
      return expansion(word)
    case 'CommandExpansion':
    case 'ProcessSubstitution':
      return substitution(word)
    case 'AnsiCQuoted':
    case 'LocaleString':
      return refuse(
        'quoting',
        word.text,
        'uses $\'…\' or $"…", which shells decode',
        "Use plain quotes: '…' keeps everything as it is.",
      )
    case 'Glob':
      return plainGlob.test(part.text) ? undefined : refuseGlob(word.text)
    case 'ExtendedGlob':
      return refuseGlob(word.text)
    case 'BraceExpansion':
      return refuse(
        'brace',
        word.text,
        'is a brace expansion: one word for you, several for the shell',
        `Write the words out, or quote it: '${word.text}'.`,
      )
  }
}

const plainGlob = /^(?:\*{1,2}|\?|\[!?[A-Za-z0-9_.-]+\])$/
/** All others can run commands or set variables: `${x:=…}`, `${x@P}`, `$((a[$(…)]))`. */
const plainExpansion = /^\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\}|[?$])$/

function checkQuotedChild(part: DoubleQuotedChild, word: Word): Refusal | undefined {
  switch (part.type) {
    case 'Literal':
      return checkQuoted(part.text, word.text)
    case 'SimpleExpansion':
    case 'ParameterExpansion':
      return plainExpansion.test(part.text) ? undefined : expansion(word)
    case 'ArithmeticExpansion':
      return expansion(word)
    case 'CommandExpansion':
      return substitution(word)
  }
}

const expansion = (word: Word): Refusal =>
  refuse(
    'expansion',
    word.text,
    'contains an expansion whose value the gate cannot know',
    'Write the value itself, or single quotes where a literal $ is meant.',
  )

const substitution = (word: Word): Refusal =>
  refuse(
    'substitution',
    word.text,
    'runs another command inside this one',
    'Run that command by itself first, and use what it printed.',
  )

const firstOf = (refusals: readonly (Refusal | undefined)[]): Refusal | undefined =>
  refusals.find((refusal) => refusal !== undefined)

/** `HEAD@{1}`, `@{upstream}`, `v1^{commit}`: braces without a comma or a range are literal. */
const revisionBraces = /[@^]\{[\w +:/-]*\}/g
/** A `$` that a shell could take for an expansion. zsh also expands `$+x`, `$=x`, `$~x` and `$^x`. */
const otherDollar = /\$(?![ \t\n"%&'),./:;<>\\\]|}]|$)/
/**
 * In a GBK or Big5 locale the last byte of a character and the backslash after it are one character, so the escaped
 * character is live: bash runs the second command of `echo 中\; id`.
 */
const swallowedBackslash = /[^\u0000-\u007f]\\/
const swallowedQuotedBackslash = /[^\u0000-\u007f]\\["\\$`]/

/** Characters of a word, outside of quotes, that at least one shell does not take literally. */
function checkUnquoted(raw: string, word: string, isFirst: boolean): Refusal | undefined {
  if (raw.includes('\\\n')) return lineContinuation(word)
  if (swallowedBackslash.test(raw)) return ambiguousBackslash(word)
  if (word === '[' || word === '=') return undefined
  const bare = withoutEscapes(raw)
  if (bare.includes('\\'))
    return refuse('quoting', word, 'ends in a backslash that escapes nothing', 'Leave the backslash out.')
  const found = bareTraps.find(({ trap, onlyFirst }) => (isFirst || !onlyFirst) && trap.test(bare))
  if (found !== undefined) return refuse(found.rule, word, found.why, found.hint ?? quoteIt(word))
  if (/[{}]/.test(bare.replace(revisionBraces, '').replaceAll('{}', '')))
    return refuse('brace', word, 'contains an unquoted { or }', quoteIt(word))
  return otherDollar.test(bare) ? dollar(word) : undefined
}

type Trap = {
  readonly trap: RegExp
  /** Only at the beginning of a word. */
  readonly onlyFirst?: boolean
  readonly rule: Refusal['rule']
  readonly why: string
  readonly hint?: string
}

const home = 'contains a ~ that shells replace by a home directory'
const bareTraps: readonly Trap[] = [
  { trap: /#/, rule: 'comment', why: 'contains an unquoted #, where a comment or a pattern may begin' },
  { trap: /[*?[]/, rule: 'glob', why: 'contains an unquoted *, ? or [, which shells expand' },
  { trap: /^=/, onlyFirst: true, rule: 'quoting', why: 'begins with =, which zsh replaces by the path of a program' },
  { trap: /^~/, onlyFirst: true, rule: 'tilde', why: home, hint: 'Write the path out.' },
  { trap: /[=:]~/, rule: 'tilde', why: home, hint: 'Write the path out.' },
  { trap: /^\^|^-.*[~^]/s, onlyFirst: true, rule: 'glob', why: 'contains a ^ or ~ that zsh may take for a pattern' },
]

/** The same inside double quotes, where fewer characters are special. */
function checkQuoted(raw: string, word: string): Refusal | undefined {
  if (raw.includes('\\\n')) return lineContinuation(word)
  if (swallowedQuotedBackslash.test(raw)) return ambiguousBackslash(word)
  return otherDollar.test(withoutEscapes(raw)) ? dollar(word) : undefined
}

/** `{}` is literal in each shell. */
const isRevisionLike = (raw: string): boolean => /[\^{}]/.test(withoutEscapes(raw).replaceAll('{}', ''))
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
