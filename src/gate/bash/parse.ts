import { parse as parseShellQuote } from 'shell-quote'
import {
  type AndOr,
  type Command,
  type CommandArgument,
  type DoubleQuotedChild,
  type PipelineNode,
  parse,
  type Redirect,
  type Redirection,
  type Statement,
  type Word,
  type WordPart,
} from 'unbash'
import { isRefusal, type Refusal, refuse } from './refusal.ts'

const maxCommands = 100

export type Line = {
  readonly kind: 'line'
  readonly parts: readonly Part[]
  /** More than one command, or a redirection. */
  readonly isCompound: boolean
}

/** Reads a command line as static words, or says why it is not made of them. */
export function readLine(source: string): Line | Refusal {
  const unreadable = checkText(source)
  if (unreadable !== undefined) return unreadable
  const script = parse(source)
  const error = script.errors?.[0]
  if (error !== undefined)
    return refuse('syntax', source, `is not a complete command line (${error.message})`, 'Close what is open.')

  const joined = script.commands.flatMap((statement, index) => joinStatement(statement, index, source))
  if (joined.length > maxCommands)
    return refuse('too-long', source, `joins more than ${maxCommands} commands`, 'Run them one by one.')

  const parts: Part[] = []
  const tokens: Token[] = []
  let end = 0
  for (const next of joined) {
    if (isRefusal(next)) return next
    const part = checkGap(source, end, next) ?? readCommand(next, source)
    if (isRefusal(part)) return part
    if (next.joint !== '') tokens.push(next.joint)
    tokens.push(...part.tokens)
    parts.push(part)
    end = next.command.end
  }
  const wrong = checkTail(source, end) ?? agreesWithShellQuote(source, tokens)
  if (wrong !== undefined) return wrong
  return { kind: 'line', parts, isCompound: parts.length > 1 || parts.some((part) => part.isRedirected) }
}

/**
 * Between two commands there must be exactly their operator. A parser may skip a comment or a line end silently; here
 * every character must belong to something.
 */
function checkGap(source: string, from: number, { command, joint }: Joined): Refusal | undefined {
  const gap = source.slice(from, command.pos)
  if (joint === '') return gap.trim() === '' ? undefined : strange(gap)
  // In a GBK locale `中|` may be one and a half characters: the pipe would become part of the word before it.
  if (gap.startsWith('|') && isNotAscii(source[from - 1]))
    return refuse('quoting', source.slice(from - 1, from + 1), 'has no blank before the |', 'Put a blank before the |.')
  return trimBlanks(gap) === joint ? undefined : strange(gap)
}

/** Inside a command: blanks only. */
function checkBlank(source: string, from: number, to: number): Refusal | undefined {
  const gap = source.slice(from, to)
  return trimBlanks(gap) === '' ? undefined : strange(gap)
}

/** After the last command: at most a semicolon and the end of the line. */
function checkTail(source: string, from: number): Refusal | undefined {
  const tail = source.slice(from)
  return /^[ \t]*;?[ \t\n]*$/.test(tail) ? undefined : strange(tail)
}

const trimBlanks = (text: string): string => text.replace(/^[ \t]+/, '').replace(/[ \t]+$/, '')
const isNotAscii = (character: string | undefined): boolean => character !== undefined && character > '\u007f'

function strange(gap: string): Refusal {
  if (gap.includes('#'))
    return refuse('comment', gap.trim(), 'is a comment, and shells differ in what they take for one', 'Leave it out.')
  if (gap.includes('\n'))
    return refuse('newline', 'a newline', 'separates two commands', 'Run them one by one, or join them by && or ;.')
  return refuse('syntax', gap.trim(), 'stands where the gate expects a word', 'Write one plain command.')
}

const longest = 8_000

/**
 * Control characters, line ends outside of ASCII, and characters that reorder or hide text in a transcript. Tab and
 * newline are checked where they occur.
 */
const unprintable =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\p{Surrogate}/u

/** Checks that need no parser. The length comes first, so that nothing else reads a very long line. */
function checkText(source: string): Refusal | undefined {
  if (source.length > longest)
    return refuse(
      'too-long',
      source.slice(0, 60),
      `begins a line of ${source.length} characters; the gate judges at most ${longest}`,
      'Split it into shorter commands.',
    )
  const found = unprintable.exec(source)
  if (found !== null)
    return refuse(
      'character',
      `U+${(found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`,
      'is a control or invisible character, which a shell and a reader may take for different things',
      'Write the line without it (a carriage return is never needed).',
    )
  if (source.trim() === '') return refuse('empty', '', 'is an empty command line', 'Say what to run.')
  return undefined
}

/** The operator before a command; empty for the first. */
type Joint = '' | '|' | '&&' | '||' | ';'
type Joined = { readonly kind: 'joined'; readonly command: Command; readonly joint: Joint }

/** The simple commands of a statement, in the order of the line. */
function joinStatement(statement: Statement, index: number, source: string): (Joined | Refusal)[] {
  if (statement.background === true)
    return [
      refuse(
        'background',
        source.slice(statement.pos, statement.end),
        'runs in the background, unseen',
        'Leave the & out. To run two commands, join them by &&.',
      ),
    ]
  return joinNode(statement.command, index === 0 ? '' : ';', source)
}

function joinNode(node: PipelineNode | AndOr, joint: Joint, source: string): (Joined | Refusal)[] {
  switch (node.type) {
    case 'Command':
      return [{ kind: 'joined', command: node, joint }]
    case 'AndOr':
      return node.commands.flatMap((next, index) => joinNode(next, node.operators[index - 1] ?? joint, source))
    case 'Pipeline':
      if (node.prefixes.length > 0) return [keyword(node, 'begins with ! or time', source)]
      return node.commands.flatMap((next, index) => {
        const operator = node.operators[index - 1]
        return operator === '|&' ? [pipesErrors(next, source)] : joinNode(next, operator ?? joint, source)
      })
    case 'Subshell':
    case 'BraceGroup':
    case 'Redirected':
      return [keyword(node, 'groups commands', source)]
    case 'If':
    case 'For':
    case 'ArithmeticFor':
    case 'Select':
    case 'While':
    case 'Case':
    case 'TestCommand':
    case 'ArithmeticCommand':
    case 'Function':
    case 'Coproc':
      return [keyword(node, 'is shell programming', source)]
  }
}

type Positioned = { readonly pos: number; readonly end: number }

const keyword = (node: Positioned, why: string, source: string): Refusal =>
  refuse(
    'keyword',
    source.slice(node.pos, node.end),
    `${why}; the gate judges plain commands`,
    'Run the commands one by one, or join them by |, && or ;.',
  )

const pipesErrors = (node: Positioned, source: string): Refusal =>
  refuse('redirection', `|& ${source.slice(node.pos, node.end)}`, 'is joined by |&', 'Write 2>&1 | instead.')

/** One simple command of the line. */
export type Part = {
  readonly kind: 'part'
  readonly words: readonly StaticWord[]
  /** It reads the output of the command before it. */
  readonly isPiped: boolean
  readonly isRedirected: boolean
  readonly text: string
  readonly tokens: readonly Token[]
}

function readCommand({ command, joint }: Joined, source: string): Part | Refusal {
  const text = source.slice(command.pos, command.end)
  const { name, prefix } = command
  if (name === undefined || prefix.length > 0) return withoutPrefix(prefix[0]?.type, text)
  const words: StaticWord[] = []
  const tokens: Token[] = []
  let end = command.pos
  for (const piece of [name, ...command.suffix]) {
    const read = checkBlank(source, end, piece.pos) ?? readPiece(piece, source)
    if (isRefusal(read)) return read
    if (read.kind === 'word') words.push(read)
    tokens.push(...(read.kind === 'word' ? [{ word: read }] : read.tokens))
    end = piece.end
  }
  const isRedirected = words.length <= command.suffix.length
  return { kind: 'part', words, isPiped: joint === '|', isRedirected, text, tokens }
}

type Redirected = { readonly kind: 'redirection'; readonly tokens: readonly Token[] }

function readPiece(piece: CommandArgument | Redirection, source: string): StaticWord | Redirected | Refusal {
  switch (piece.type) {
    case 'Word':
      return readWord(piece)
    case 'Assignment':
      return withoutPrefix('Assignment', piece.text)
    case 'Redirect':
      return checkRedirection(piece, source) ?? { kind: 'redirection', tokens: redirectionTokens(piece) }
    case 'HereDoc':
    case 'HereString':
      return refuse(
        'here-document',
        source.slice(piece.pos, piece.end),
        'feeds a text to the command',
        'Name a file, or leave it out.',
      )
  }
}

const withoutPrefix = (type: string | undefined, text: string): Refusal =>
  type === 'Assignment' || type === undefined
    ? refuse(
        'assignment',
        text,
        'sets a variable, which can change what a command runs',
        'Leave the assignment out: run the command alone.',
      )
    : refuse('redirection', text, 'begins with a redirection', 'Put the command first; only /dev/null is allowed.')

const allowed = ['>/dev/null', '1>/dev/null', '2>/dev/null', '2>&1']

/** Output may be discarded or merged with stderr; no other redirection is allowed. */
function checkRedirection(redirect: Redirect, source: string): Refusal | undefined {
  const text = source.slice(redirect.pos, redirect.end)
  if (allowed.includes(text.replace(/^(\d?>)[ \t]+/, '$1'))) return undefined
  return refuse(
    'redirection',
    text,
    redirect.operator.startsWith('<') ? 'reads from a redirection' : 'sends output somewhere',
    redirect.operator.startsWith('<')
      ? 'Name the file as an argument.'
      : 'Leave it out: what the command prints is shown to you. Only 2>/dev/null, >/dev/null and 2>&1 are allowed.',
  )
}

const redirectionTokens = (redirect: Redirect): Token[] => [
  ...(redirect.descriptor?.type === 'FileDescriptor' ? [{ text: String(redirect.descriptor.value) }] : []),
  redirect.operator,
  { text: redirect.target?.text ?? '' },
]

/** A word that every shell reads as the same text, whatever its variables, files and options are. */
export type StaticWord = {
  readonly kind: 'word'
  readonly text: string
  /** As written, quotes included. */
  readonly raw: string
  /** It contains an unquoted `^` or `@{…}`: part of a git revision, but a pattern for zsh with EXTENDED_GLOB. */
  readonly isRevision: boolean
}

function readWord(word: Word): StaticWord | Refusal {
  const parts: readonly WordPart[] = word.parts ?? [
    { type: 'Literal', pos: word.pos, end: word.end, value: word.value, text: word.text },
  ]
  let isRevision = false
  let isFirst = true
  for (const part of parts) {
    const refusal = checkPart(part, word, isFirst)
    if (refusal !== undefined) return refusal
    isRevision ||= part.type === 'Literal' && isRevisionLike(part.text)
    // After empty quotes a word has not begun yet: zsh expands the ~ of `""~`.
    isFirst &&= part.text === "''" || part.text === '""'
  }
  return { kind: 'word', text: word.value, raw: word.text, isRevision }
}

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
    case 'ExtendedGlob':
      return refuse(
        'glob',
        word.text,
        'is a pattern that the shell replaces by file names, and a file may be named like a flag',
        `Quote it where the command itself takes a pattern: '${word.text}'. Otherwise name the files, or use the Glob tool.`,
      )
    case 'BraceExpansion':
      return refuse(
        'brace',
        word.text,
        'is a brace expansion: one word for you, several for the shell',
        `Write the words out, or quote it: '${word.text}'.`,
      )
  }
}

function checkQuotedChild(part: DoubleQuotedChild, word: Word): Refusal | undefined {
  switch (part.type) {
    case 'Literal':
      return checkQuoted(part.text, word.text)
    case 'SimpleExpansion':
    case 'ParameterExpansion':
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
    'contains a variable or arithmetic, whose value the gate cannot know',
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
  const bare = withoutEscapes(raw)
  if (bare.includes('\\'))
    return refuse('quoting', word, 'ends in a backslash that escapes nothing', 'Leave the backslash out.')
  const found = bareTraps.find(({ trap, onlyFirst }) => (isFirst || !onlyFirst) && trap.test(bare))
  if (found !== undefined) return refuse(found.rule, word, found.why, found.hint ?? quoteIt(word))
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

const isRevisionLike = (raw: string): boolean => raw !== '{}' && /[\^{}]/.test(withoutEscapes(raw))
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

type Token = string | { readonly word: StaticWord } | { readonly text: string }

/**
 * Second opinion: another reader must see the same words. shell-quote is no parser (it ignores newlines, backticks and
 * braces), so its agreement proves little; but where it sees other words, the line is refused.
 */
function agreesWithShellQuote(source: string, tokens: readonly Token[]): Refusal | undefined {
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
    const entries = parseShellQuote(source, (name) => (name === '' ? undefined : '\0'))
    const texts = entries.map((entry) => {
      if (typeof entry === 'string') return entry
      if ('comment' in entry) return '\0'
      return 'pattern' in entry ? entry.pattern : operator(entry.op)
    })
    return texts.at(-1) === operator(';') ? texts.slice(0, -1) : texts
  } catch {
    // shell-quote throws on what it takes for a malformed expansion.
    return undefined
  }
}

/** Marks an operator, which in quotes would be the same text: no word of an accepted line contains this character. */
const operator = (text: string): string => `\u0001${text}`

const textOf = (token: Token): string => {
  if (typeof token === 'string') return operator(token)
  return 'word' in token ? token.word.text : token.text
}

/** Inside double quotes a shell drops the backslash before a backtick; shell-quote keeps it. */
const isBlindSpot = (token: Token | undefined): boolean =>
  typeof token === 'object' && 'word' in token && token.word.raw.includes('\\`')
