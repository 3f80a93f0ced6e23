import parseShellQuote from 'shell-quote/parse.js'
import type { AndOr, Assignment, Command, For, PipelineNode, Redirect, Redirection, Statement } from 'unbash'
import { parse } from 'unbash'
import { patternMark, type Refusal, refusalOf, refuse } from './refusal.ts'
import {
  checkVariable,
  expansionMark,
  fillWord,
  readWord,
  type Shell,
  type StaticWord,
  type Value,
  type WordTemplate,
} from './words.ts'

const maxCommands = 100

export type Line = {
  readonly kind: 'line'
  readonly parts: readonly Part[]
  /** More than one command, or a redirection. */
  readonly isCompound: boolean
}

/** One simple command of the line. */
export type Part = {
  readonly words: readonly StaticWord[]
  /** It reads the output of the command before it. */
  readonly isPiped: boolean
  readonly isRedirected: boolean
  readonly text: string
}

/** Reads a command line as static words, or says why it is not made of them. */
export const readLine = (source: string, shell: Shell): Line | Refusal =>
  refusalOf(() => {
    checkText(source)
    const script = parse(source)
    const error = script.errors?.[0]
    if (error !== undefined) refuse('syntax', source, `is not a complete command line (${error.message})`)
    const reading: Reading = { source, home: shell.home, end: 0, line: '', tokens: [] }
    const nodes = readStatements(script.commands, '', reading)
    skip(reading, source.length, lineEnd)
    checkSecondOpinion(reading.line, reading.tokens)
    const parts: Part[] = []
    const variables = new Map<string, Value>()
    if (shell.home !== undefined) variables.set('HOME', { text: shell.home, isPattern: false })
    unroll(nodes, variables, shell, parts)
    const isSimple = nodes.every((node) => node.kind === 'command' && !node.part.isRedirected)
    return { kind: 'line', parts, isCompound: parts.length > 1 || !isSimple }
  })

/** How far the line is read, and what shell-quote should read of it. */
type Reading = {
  readonly source: string
  readonly home: string | undefined
  end: number
  line: string
  readonly tokens: Token[]
}

/** The operator before a command; empty for the first. */
type Joint = '' | '|' | '&&' | '||' | ';'

/** A command before its variables have values. */
type CommandNode = { kind: 'command'; words: readonly WordTemplate[]; part: Omit<Part, 'words'> }
type VariableNode = { name: string; values: readonly WordTemplate[]; text: string } & (
  | { kind: 'constant' }
  | { kind: 'loop'; body: readonly Node[] }
)
type Node = CommandNode | VariableNode

/** What may stand between two pieces, once comments and repeated blanks are left out. */
const gaps: { readonly [joint in Joint]: RegExp } = {
  '': /^[ \n]?$/,
  ';': /^ ?(?:;[ \n]?|\n)$/,
  '|': /^ ?\|[ \n]?$/,
  '&&': /^ ?&&[ \n]?$/,
  '||': /^ ?\|\|[ \n]?$/,
}
const blanks = /^ ?$/
const loopWords = /^ in $/
const loopBody = /^ ?(?:;[ \n]?|\n)do[ \n]$/
const loopEnd = /^ ?(?:;[ \n]?|\n)done$/
const lineEnd = /^ ?;?[ \n]?$/

/** Without what a shell that knows no comments could run or expand. */
const comment = /(?<=[ \t\n;]|^)#[^\n;|&<>$()`'"\\]*(?=\n|$)/g

const condense = (gap: string): string =>
  gap
    .replace(comment, '')
    .replace(/\\\n/g, ' ')
    .replace(/[ \t]+/g, ' ')
    .replace(/ ?\n[ \n]*/g, '\n')

/** A parser may skip a comment or a line end silently; here every character must belong to something. */
function skip(reading: Reading, to: number, gap: RegExp, shown = ''): void {
  const text = reading.source.slice(reading.end, to)
  // A `#` right behind a word is part of it.
  if (!gap.test(condense(text)) || (reading.end > 0 && text.startsWith('#'))) refuseGap(text)
  reading.line += shown
  reading.end = to
}

function skipJoint(reading: Reading, to: number, joint: Joint): void {
  const { source, end, tokens } = reading
  // In a GBK locale `中|` may be one and a half characters: the pipe would become part of the word before it.
  if (source[end] === '|' && (source[end - 1] ?? '') > '\u007f')
    refuse('quoting', source.slice(end - 1, end + 1), 'has no blank before the |', 'Put a blank before the |.')
  if (joint !== '') tokens.push({ operator: joint })
  skip(reading, to, gaps[joint], ` ${joint} `)
}

function refuseGap(gap: string): never {
  if (gap.includes('#')) refuse('comment', gap.trim(), 'is a comment with characters that not every shell skips')
  refuse('syntax', gap.trim(), 'is where the gate expects a word')
}

/** A word, a redirection, a keyword or the name of a variable. */
function push(reading: Reading, raw: string, end: number, ...tokens: readonly Token[]): void {
  reading.tokens.push(...tokens)
  reading.line += `${raw} `
  reading.end = end
}

function readStatements(statements: readonly Statement[], first: Joint, reading: Reading): Node[] {
  const list: Node[] = []
  for (const [index, { background, command, pos, end }] of statements.entries()) {
    if (background === true) refuse('background', reading.source.slice(pos, end), 'runs in the background, unseen')
    list.push(...readNode(command, index === 0 ? first : ';', reading))
    if (list.length > maxCommands) refuseTooMany(reading.source)
  }
  return list
}

const refuseTooMany = (source: string): never =>
  refuse('too-long', source, `joins more than ${maxCommands} commands`, 'Run them one by one.')

function readNode(node: PipelineNode | AndOr, joint: Joint, reading: Reading): readonly Node[] {
  const { source } = reading
  switch (node.type) {
    case 'Command':
      return readCommand(node, joint, reading)
    case 'AndOr':
      return readJoined(node.commands, (index) => node.operators[index - 1] ?? joint, reading)
    case 'Pipeline':
      if (node.prefixes.length > 0) return refuseKeyword(node, 'begins with ! or time', source)
      if (node.operators.includes('|&'))
        return refuse('redirection', source.slice(node.pos, node.end), 'is joined by |&', 'Write 2>&1 | instead.')
      return readJoined(node.commands, (index) => (index === 0 ? joint : '|'), reading)
    case 'For':
      return readLoop(node, joint, reading)
    case 'Redirected':
      if (node.command.type === 'For') return readLoop(node.command, joint, reading, node.redirects)
      return refuseKeyword(node, 'groups commands', source)
    case 'Subshell':
    case 'BraceGroup':
      return refuseKeyword(node, 'groups commands', source)
    default:
      return refuseKeyword(node, 'is shell programming', source)
  }
}

function readJoined(commands: readonly (PipelineNode | AndOr)[], jointAt: (index: number) => Joint, reading: Reading) {
  const list: Node[] = []
  for (const [index, command] of commands.entries()) {
    const joint = jointAt(index)
    const read = readNode(command, joint, reading)
    // Whether it is set would depend on what ran before, or on the shell.
    const constant = read.find((node) => node.kind === 'constant')
    const mayNotBeSet = joint === '||' || joint === '|' || jointAt(index + 1) === '|'
    if (constant !== undefined && (mayNotBeSet || list.some(({ kind }) => kind !== 'constant')))
      refusePrefix('Assignment', constant.text)
    list.push(...read)
  }
  return list
}

const refuseKeyword = ({ pos, end }: { pos: number; end: number }, why: string, source: string): never =>
  refuse('keyword', source.slice(pos, end), `${why}; the gate judges plain commands`)

function readLoop(node: For, joint: Joint, reading: Reading, redirects: readonly Redirection[] = []): Node[] {
  const { wordlist = [], name, body, pos, end } = node
  const { source, home, tokens } = reading
  if (joint === '|' || wordlist.length === 0) refuseKeyword(node, 'is shell programming', source)
  skipJoint(reading, pos, joint)
  takeWord(reading, 'for')
  skip(reading, name.pos, blanks)
  takeWord(reading, name.text)
  tokens.push(keyword('in'))
  const values = wordlist.map((word, index) => {
    skip(reading, word.pos, index === 0 ? loopWords : blanks, index === 0 ? 'in ' : '')
    return pushWord(reading, readWord(word, home), word.end)
  })
  tokens.push({ operator: ';' }, keyword('do'))
  skip(reading, body.commands[0]?.pos ?? body.pos, loopBody, '; do ')
  const list = readStatements(body.commands, '', reading)
  tokens.push({ operator: ';' }, keyword('done'))
  skip(reading, end, loopEnd, ' ; done ')
  for (const redirect of redirects) readPiece(redirect, reading)
  return [{ kind: 'loop', name: name.text, values, body: list, text: source.slice(pos, end) }]
}

const keyword = (text: string): Token => ({ text, raw: text })

function takeWord(reading: Reading, text: string): void {
  const end = reading.end + text.length
  const found = reading.source.slice(reading.end, end)
  if (found !== text) refuseGap(found)
  push(reading, text, end, keyword(text))
}

function pushWord(reading: Reading, word: WordTemplate, end: number): WordTemplate {
  push(reading, word.raw, end, { text: word.read, raw: word.raw })
  return word
}

function readCommand(command: Command, joint: Joint, reading: Reading): readonly Node[] {
  const { name, prefix, suffix, pos, end } = command
  const text = reading.source.slice(pos, end)
  skipJoint(reading, pos, joint)
  if (name === undefined && suffix.length === 0 && prefix.length > 0) return readConstants(prefix, text, reading)
  if (name === undefined || prefix.length > 0) return refusePrefix(prefix[0]?.type, text)
  const words = [name, ...suffix].flatMap((piece) => readPiece(piece, reading) ?? [])
  const isRedirected = words.length <= suffix.length
  return [{ kind: 'command', words, part: { isPiped: joint === '|', isRedirected, text } }]
}

/** Null for a redirection. */
function readPiece(piece: Command['suffix'][number] | Redirection, reading: Reading): WordTemplate | null {
  skip(reading, piece.pos, blanks)
  switch (piece.type) {
    case 'Word':
      return pushWord(reading, readWord(piece, reading.home), piece.end)
    case 'Assignment':
      return refusePrefix('Assignment', piece.text)
    case 'Redirect':
      readRedirection(piece, reading)
      return null
    case 'HereDoc':
    case 'HereString':
      return refuse('here-document', reading.source.slice(piece.pos, piece.end), 'feeds a text to the command')
  }
}

const allowed = /^(?:[12&]?>>?[ \t]*\/dev\/null|2>&1|1?>&2|<[ \t]*\/dev\/null)$/

/** Output may be discarded or merged with stderr; no other redirection is allowed. */
function readRedirection({ pos, end, operator, descriptor, target }: Redirect, reading: Reading): void {
  const raw = reading.source.slice(pos, end)
  if (!allowed.test(raw) && operator.startsWith('<'))
    refuse('redirection', raw, 'reads from a redirection', 'Name the file as an argument.')
  if (!allowed.test(raw)) refuse('redirection', raw, 'sends output somewhere')
  if (raw.startsWith('&') && !/[ \t]/.test(reading.source[pos - 1] ?? ''))
    refuse('redirection', raw, 'takes the digit before it along, in zsh', `Put a blank before ${raw}.`)
  const number = descriptor?.type === 'FileDescriptor' ? [{ text: String(descriptor.value), raw }] : []
  push(reading, raw, end, ...number, { operator }, { text: target?.text ?? '', raw })
}

/** `F=src/a.ts`, as a statement of its own. */
const readConstants = (prefix: readonly (Assignment | Redirection)[], text: string, reading: Reading): Node[] =>
  prefix.map((piece) => {
    skip(reading, piece.pos, blanks)
    if (piece.type !== 'Assignment' || piece.append === true || piece.index !== undefined)
      return refusePrefix(piece.type, text)
    if (piece.value.type !== 'Word') return refusePrefix('Assignment', text)
    const value = readWord(piece.value, reading.home)
    if (value.isRevision || piece.text !== `${piece.name}=${value.raw}`) refusePrefix('Assignment', text)
    pushWord(reading, { ...value, raw: piece.text, read: `${piece.name}=${value.read}` }, piece.end)
    return { kind: 'constant', name: piece.name, values: [value], text }
  })

function refusePrefix(type: string | undefined, text: string): never {
  if (type !== 'Assignment' && type !== undefined)
    refuse('redirection', text, 'begins with a redirection', 'Put the command first; only /dev/null is allowed.')
  refuse('assignment', text, 'sets a variable, which can change what a command runs')
}

/** The commands with the values of their variables, each as often as a loop runs it. */
function unroll(list: readonly Node[], variables: Map<string, Value>, shell: Shell, parts: Part[]): void {
  for (const node of list) {
    if (node.kind === 'command')
      parts.push({ words: node.words.map((word) => fillWord(word, variables, shell)), ...node.part })
    else setVariable(node, variables, shell, parts)
    if (parts.length > maxCommands) refuseTooMany(node.kind === 'command' ? node.part.text : node.text)
  }
}

function setVariable(node: VariableNode, variables: Map<string, Value>, shell: Shell, parts: Part[]): void {
  checkVariable(node.name, node.text, shell)
  // The words of a loop are expanded before its first turn.
  for (const { text } of node.values.map((template) => fillWord(template, variables, shell))) {
    const isPattern = text.startsWith(patternMark)
    if (isPattern && node.kind === 'constant') refusePrefix('Assignment', node.text)
    variables.set(node.name, { text: isPattern ? text.slice(1) : text, isPattern })
    if (node.kind === 'loop') unroll(node.body, variables, shell, parts)
  }
  // In a pipe it depends on the shell what is left of them.
  if (node.kind === 'loop') for (const name of namesIn([node])) variables.delete(name)
}

const namesIn = (list: readonly Node[]): string[] =>
  list.flatMap((node) =>
    node.kind === 'command' ? [] : [node.name, ...(node.kind === 'loop' ? namesIn(node.body) : [])],
  )

const longest = 8_000

/** Control characters, and what reorders or hides text. Tab and newline are checked where they occur. */
const unprintable =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\p{Surrogate}/u

/** Checks that need no parser. The length comes first, so that nothing else reads a very long line. */
function checkText(source: string): void {
  if (source.length > longest)
    refuse('too-long', source.slice(0, 60), `begins a line of more than ${longest} characters`)
  const code = unprintable.exec(source)?.[0].codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')
  if (code !== undefined) refuse('character', `U+${code}`, 'is a control or invisible character')
  if (source.trim() === '') refuse('empty', '', 'is an empty command line')
}

/** An operator or a keyword, or the text of a word, in which each expansion is an `expansionMark`. */
export type Token = { readonly operator: string } | { readonly text: string; readonly raw: string }

/** Where shell-quote, which is no parser, sees other words, the line is refused. `;` stands for each line end. */
export function checkSecondOpinion(line: string, tokens: readonly Token[]): void {
  const theirs = readWithShellQuote(line)
  const isAlike = (token: Token, index: number): boolean => textOf(token) === theirs?.[index] || isBlindSpot(token)
  if (theirs?.length !== tokens.length || !tokens.every(isAlike))
    refuse('second-opinion', line, 'is not read as the same words by two parsers')
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
