import type { DoubleQuotedChild, Word, WordPart } from 'unbash'
import { patternMark, type Refusal, refuse, secretMark, unknownMark } from './refusal.ts'

/** A word that every shell reads as the same text, whatever its variables, files and options are. */
export type StaticWord = {
  /** A pattern for file names begins with `patternMark`; `unknownMark` stands where the shell puts in what only it knows. */
  readonly text: string
  /** As written, quotes included. */
  readonly raw: string
  /** It contains an unquoted `^` or `@{…}`: part of a git revision, but a pattern for zsh with EXTENDED_GLOB. */
  readonly isRevision: boolean
}

/** A word before its variables have values. */
export type WordTemplate = {
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

/** What a command line finds in its shell. */
export type Shell = {
  /** What `~` and `$HOME` stand for. */
  readonly home: string | undefined
  /** The names of the variables that programs see. */
  readonly environment: readonly string[]
}

/** Reads a word; `home` is what `~` stands for. */
export function readWord(word: Word, home: string | undefined): WordTemplate {
  const parts: readonly WordPart[] = word.parts ?? [
    { type: 'Literal', pos: word.pos, end: word.end, value: word.value, text: word.text },
  ]
  const pieces: Piece[] = []
  let isRevision = false
  let isFirst = true
  for (const part of parts) {
    const tilde = isFirst && pieces.length === 0 && part.type === 'Literal' ? homeIn(part.text, word) : undefined
    if (tilde === undefined) {
      checkPart(part, word, isFirst)
      pieces.push(...piecesOf(part))
    } else {
      if (home === undefined) refuse('tilde', word.text, 'contains a ~, and HOME is not set')
      checkUnquoted(part.text.slice(tilde.length), word.text, false)
      pieces.push(literal(`${home}${textIn(part).slice(1)}`))
    }
    isRevision ||= part.type === 'Literal' && isRevisionLike(part.text)
    // After empty quotes a word has not begun yet: zsh expands the ~ of `""~`.
    isFirst &&= part.text === "''" || part.text === '""'
  }
  if (pieces.some((piece, index) => 'name' in piece && !piece.hasBraces && continues(pieces[index + 1])))
    refuseExpansion(word)
  const read = parts.map((part) => (part.type === 'Literal' ? textIn(part) : piecesOf(part).map(readPiece).join('')))
  return { raw: word.text, pieces, isRevision, read: read.join('') }
}

/** `~` and `~/…`, but neither `~name` nor `~+`. */
const homeIn = (text: string, word: Word): string | undefined =>
  word.text === '~' ? '~' : text.startsWith('~/') ? '~/' : undefined

const textIn = (part: WordPart | DoubleQuotedChild): string => ('value' in part ? part.value : part.text)
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
      return [literal(textIn(part))]
  }
}

/** zsh reads `$x[…]` and `$x:h` as one expansion, and letters outside of ASCII as a part of the name. */
const continues = (next: Piece | undefined): boolean =>
  next !== undefined && !('name' in next) && /^[[:\u0080-\uffff]/.test(next.text)

/** A word with the values of its variables. */
export function fillWord(
  { raw, pieces, isRevision }: WordTemplate,
  variables: ReadonlyMap<string, Value>,
  { environment }: Shell,
): StaticWord {
  let text = ''
  let isPattern = false
  let isQuoted = true
  for (const piece of pieces) {
    if (!('name' in piece)) {
      text += piece.text
      isPattern ||= piece.isGlob
      isQuoted &&= !piece.isGlob
      continue
    }
    const value = variables.get(piece.name)
    if (value !== undefined && !piece.isQuoted && !plainValue.test(value.text))
      refuse(
        'expansion',
        raw,
        'is split and expanded by some shells: its value is no plain word',
        `Quote it: "${raw}".`,
      )
    text += value?.text ?? (isHarmless(piece.name, environment) ? unknownMark : secretMark)
    isPattern ||= value?.isPattern === true
    isQuoted &&= piece.isQuoted
  }
  // Inside quotes it is one word, which begins as it is written.
  const mayBeFlag = isQuoted ? /^-/.test(text) : isRevision || !/^[\w./]/.test(text) || /~/.test(raw.slice(1))
  if (isPattern && mayBeFlag) refuseGlob(raw)
  return { text: isPattern ? patternMark + text : text, raw, isRevision }
}

/** Variables of the environment that hold places, versions and settings. */
const harmlessName =
  /^(?:[A-Z_]*PATH|[A-Z_]+_(?:HOME|DIR|ROOT|VERSION|LEVEL)|HOME|PWD|OLDPWD|USER|LOGNAME|SHELL|SHLVL|LANG|LC_[A-Z]+|TERM|TZ|TMPDIR|EDITOR|PAGER|VISUAL|HOSTNAME|UID|EUID|PPID|COLUMNS|LINES|CI|NODE_ENV|VIRTUAL_ENV|CONDA_DEFAULT_ENV)$/
const isHarmless = (name: string, environment: readonly string[]): boolean =>
  harmlessName.test(name) || !(/[A-Z]/.test(name) || environment.includes(name))

/** One word without quotes, too, in each shell; no pattern is one. */
const plainValue = /^[A-Za-z0-9_@%+,./:-][A-Za-z0-9_@%+,./:=-]*$/

/** Names that shells and programs give no meaning. */
const lowerCase = /^[a-z][a-z0-9_]{0,30}$/
const upperCase =
  /^(?:[A-Z]|(?:BASE|DIR|DIRS|DOC|DOCS|FILE|FILES|LOG|NAME|PATTERN|PKG|PROJECT|REPO|ROOT|SRC|TARGET|TEST|WT)(?:_(?:DIR|FILE|NAME|PATH|ROOT))?)$/
/** Those of zsh; each is another name of something that the shell obeys. */
const special =
  /^(?:aliases|argv|auto_resume|builtins|cdpath|commands|compstate|dirstack|epochtime|dis_\w+|errnos|fignore|fpath|func\w+|galiases|hist\w+|jobdirs|jobstates|jobtexts|keymaps|killring|langinfo|mailpath|manpath|mapfile|match|mbegin|mend|module_path|modules|nameddirs|options|parameters|patchars|path|pipestatus|prompt|psvar|region_\w+|reply|reswords|saliases|signals|status|sys\w+|term\w+|userdirs|usergroups|watch|widgets|zle\w*|zsh\w*|\w+_(?:functions|proxy))$/

/** A variable is a constant of the line only if nobody else reads it. */
export function checkVariable(name: string, text: string, { environment }: Shell): void {
  if ((lowerCase.test(name) || upperCase.test(name)) && !special.test(name) && !environment.includes(name)) return
  refuse('assignment', text, `sets ${name}, which a shell or a program may obey`)
}

const plainGlob = /^(?:\*{1,2}|\?|\[!?[A-Za-z0-9_.-]+\])$/
/** All others can run commands or set variables: `${x:=…}`, `${x@P}`, `$((a[$(…)]))`. */
const plainExpansion = /^\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\}|[?$])$/

function checkPart(part: WordPart | DoubleQuotedChild, word: Word, isFirst: boolean, isQuoted = false): void {
  switch (part.type) {
    case 'SingleQuoted':
      return
    case 'Literal':
      return isQuoted ? checkQuoted(part.text, word.text) : checkUnquoted(part.text, word.text, isFirst)
    case 'DoubleQuoted':
      for (const child of part.parts) checkPart(child, word, isFirst, true)
      return
    case 'SimpleExpansion':
    case 'ParameterExpansion':
      // Inside double quotes, bash looks for the end of a substitution in `$$(` and `$${`, and runs nothing.
      return plainExpansion.test(part.text) && !(isQuoted && part.text === '$$') ? undefined : refuseExpansion(word)
    case 'ArithmeticExpansion':
      return refuseExpansion(word)
    case 'CommandExpansion':
    case 'ProcessSubstitution':
      return refuse('substitution', word.text, 'runs another command inside this one')
    case 'AnsiCQuoted':
    case 'LocaleString':
      return refuse('quoting', word.text, 'uses $\'…\' or $"…", which shells decode')
    case 'Glob':
      return plainGlob.test(part.text) ? undefined : refuseGlob(word.text)
    case 'ExtendedGlob':
      return refuseGlob(word.text)
    case 'BraceExpansion':
      return refuse('brace', word.text, 'is a brace expansion: one word for you, several for the shell')
  }
}

const refuseExpansion = (word: Word): never =>
  refuse('expansion', word.text, 'contains an expansion whose value the gate cannot know')

const refuseGlob = (raw: string): never =>
  refuse(
    'glob',
    raw,
    'is a pattern that the shell replaces by file names, and a file may be named like a flag',
    `Begin it with a folder (./${raw.replace(/['"]/g, '')}), or quote it where the command itself takes a pattern.`,
  )

/** What at least one shell does not take literally. The first trap that a text falls into is told. */
type Trap = { readonly trap: RegExp; readonly rule: Refusal['rule']; readonly why: string }

/** `HEAD@{1}`, `@{upstream}`, `v1^{commit}`: braces without a comma or a range are literal. */
const revisionBraces = /[@^]\{[\w +:/-]*\}/g
/** A `$` that a shell could take for an expansion. zsh also expands `$+x`, `$=x`, `$~x` and `$^x`. */
const otherDollar = /\$(?![ \t\n"%&'),./:;<>\\\]|}]|$)/
const dollar: Trap = { trap: otherDollar, rule: 'expansion', why: 'contains a $ that zsh expands' }
const newline: Trap = { trap: /\\\n/, rule: 'newline', why: 'continues on the next line' }
/** In GBK or Big5 the last byte and the backslash are one character: bash runs the second command of `echo 中\; id`. */
const swallowedBackslash = (trap: RegExp): Trap => ({
  trap,
  rule: 'quoting',
  why: 'has a backslash behind a character that is not ASCII, and some locales read the two as one',
})

/** Outside of quotes, as written. */
const rawTraps = [newline, swallowedBackslash(/[^\u0000-\u007f]\\/)]
/** Inside double quotes, where fewer characters are special. */
const quotedTraps = [newline, swallowedBackslash(/[^\u0000-\u007f]\\["\\$`]/)]

const homeTrap = { rule: 'tilde', why: 'contains a ~ that shells replace by a home directory' } as const
/** The same, without what is escaped. `onlyFirst`: at the beginning of a word. */
const bareTraps: readonly (Trap & { readonly onlyFirst?: true })[] = [
  { trap: /\\/, rule: 'quoting', why: 'ends in a backslash that escapes nothing' },
  { trap: /#/, rule: 'comment', why: 'contains an unquoted #, where a comment or a pattern may begin' },
  { trap: /[*?[]/, rule: 'glob', why: 'contains an unquoted *, ? or [, which shells expand' },
  { trap: /^=/, onlyFirst: true, rule: 'quoting', why: 'begins with =, which zsh replaces by the path of a program' },
  { trap: /^~/, onlyFirst: true, ...homeTrap },
  { trap: /[=:]~/, ...homeTrap },
  { trap: /^\^|^-.*[~^]/s, onlyFirst: true, rule: 'glob', why: 'contains a ^ or ~ that zsh may take for a pattern' },
]

function checkUnquoted(raw: string, word: string, isFirst: boolean): void {
  refuseTraps(rawTraps, raw, word)
  if (word === '[' || word === '=') return
  const bare = withoutEscapes(raw)
  refuseTraps(
    bareTraps.filter(({ onlyFirst }) => isFirst || !onlyFirst),
    bare,
    word,
  )
  if (/[{}]/.test(bare.replace(revisionBraces, '').replaceAll('{}', '')))
    refuse('brace', word, 'contains an unquoted { or }')
  refuseTraps([dollar], bare, word)
}

function checkQuoted(raw: string, word: string): void {
  refuseTraps(quotedTraps, raw, word)
  refuseTraps([dollar], withoutEscapes(raw), word)
}

function refuseTraps(traps: readonly Trap[], text: string, word: string): void {
  const found = traps.find(({ trap }) => trap.test(text))
  if (found !== undefined) refuse(found.rule, word, found.why)
}

/** `{}` is literal in each shell. */
const isRevisionLike = (raw: string): boolean => /[\^{}]/.test(withoutEscapes(raw).replaceAll('{}', ''))
const withoutEscapes = (raw: string): string => raw.replace(/\\./gsu, ' ')
