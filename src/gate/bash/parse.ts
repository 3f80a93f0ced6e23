import {
  type AndOr,
  type Assignment,
  type Command,
  type CommandArgument,
  type For,
  type PipelineNode,
  parse,
  type Redirect,
  type Redirection,
  type Statement,
} from 'unbash'
import { isRefusal, patternMark, type Refusal, refuse } from './refusal.ts'
import { agreesWithShellQuote, type Token } from './second-opinion.ts'
import { type Shell, variableRefusal } from './variables.ts'
import { fillWord, readWord, type StaticWord, type Value, type WordTemplate } from './words.ts'

const maxCommands = 100

export type Line = {
  readonly kind: 'line'
  readonly parts: readonly Part[]
  /** More than one command, or a redirection. */
  readonly isCompound: boolean
}

/** One simple command of the line. */
export type Part = {
  readonly kind: 'part'
  readonly words: readonly StaticWord[]
  /** It reads the output of the command before it. */
  readonly isPiped: boolean
  readonly isRedirected: boolean
  readonly text: string
}

/** Reads a command line as static words, or says why it is not made of them. */
export function readLine(source: string, shell: Shell): Line | Refusal {
  const unreadable = checkText(source)
  if (unreadable !== undefined) return unreadable
  const script = parse(source)
  const error = script.errors?.[0]
  if (error !== undefined)
    return refuse('syntax', source, `is not a complete command line (${error.message})`, 'Close what is open.')

  const reading: Reading = { source, home: shell.home, end: 0, line: '', tokens: [] }
  const nodes = readStatements(script.commands, '', reading)
  if (isRefusal(nodes)) return nodes
  const wrong = skip(reading, source.length, lineEnd, '') ?? agreesWithShellQuote(reading.line, reading.tokens)
  if (wrong !== undefined) return wrong
  const parts: Part[] = []
  const constants = new Map(shell.home === undefined ? [] : [['HOME', { text: shell.home, isPattern: false }]])
  const refusal = unroll(nodes.list, constants, shell, parts)
  if (refusal !== undefined) return refusal
  const isSimple = nodes.list.every((node) => node.kind === 'command' && !node.part.isRedirected)
  return { kind: 'line', parts, isCompound: parts.length > 1 || !isSimple }
}

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
type Node =
  | { readonly kind: 'command'; readonly words: readonly WordTemplate[]; readonly part: Omit<Part, 'kind' | 'words'> }
  | { readonly kind: 'constant'; readonly name: string; readonly value: WordTemplate; readonly text: string }
  | {
      readonly kind: 'loop'
      readonly name: string
      readonly values: readonly WordTemplate[]
      readonly body: readonly Node[]
      readonly text: string
    }
type Nodes = { readonly kind: 'nodes'; readonly list: readonly Node[] }

const nodes = (list: readonly Node[]): Nodes => ({ kind: 'nodes', list })

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
function skip(reading: Reading, to: number, gap: RegExp, shown: string): Refusal | undefined {
  const text = reading.source.slice(reading.end, to)
  // A `#` right behind a word is part of it.
  if (!gap.test(condense(text)) || (reading.end > 0 && text.startsWith('#'))) return strange(text)
  reading.line += shown
  reading.end = to
  return undefined
}

function skipJoint(reading: Reading, to: number, joint: Joint): Refusal | undefined {
  const { source, end, tokens } = reading
  // In a GBK locale `中|` may be one and a half characters: the pipe would become part of the word before it.
  if (source[end] === '|' && (source[end - 1] ?? '') > '\u007f')
    return refuse('quoting', source.slice(end - 1, end + 1), 'has no blank before the |', 'Put a blank before the |.')
  if (joint !== '') tokens.push({ operator: joint })
  return skip(reading, to, gaps[joint], ` ${joint} `)
}

function strange(gap: string): Refusal {
  if (gap.includes('#'))
    return refuse(
      'comment',
      gap.trim(),
      'is a comment with characters that not every shell skips',
      'Leave it out, or use letters and digits only.',
    )
  return refuse('syntax', gap.trim(), 'is where the gate expects a word', 'Write one plain command.')
}

function readStatements(statements: readonly Statement[], first: Joint, reading: Reading): Nodes | Refusal {
  const list: Node[] = []
  for (const [index, statement] of statements.entries()) {
    if (statement.background === true)
      return refuse(
        'background',
        reading.source.slice(statement.pos, statement.end),
        'runs in the background, unseen',
        'Leave the & out. To run two commands, join them by &&.',
      )
    const read = readNode(statement.command, index === 0 ? first : ';', reading)
    if (isRefusal(read)) return read
    list.push(...read.list)
    if (list.length > maxCommands) return tooMany(reading.source)
  }
  return nodes(list)
}

const tooMany = (source: string): Refusal =>
  refuse('too-long', source, `joins more than ${maxCommands} commands`, 'Run them one by one.')

function readNode(node: PipelineNode | AndOr, joint: Joint, reading: Reading): Nodes | Refusal {
  const { source } = reading
  switch (node.type) {
    case 'Command':
      return readCommand(node, joint, reading)
    case 'AndOr':
      return readJoined(node.commands, (index) => node.operators[index - 1] ?? joint, reading)
    case 'Pipeline':
      if (node.prefixes.length > 0) return keyword(node, 'begins with ! or time', source)
      if (node.operators.includes('|&'))
        return refuse('redirection', source.slice(node.pos, node.end), 'is joined by |&', 'Write 2>&1 | instead.')
      return readJoined(node.commands, (index) => (index === 0 ? joint : '|'), reading)
    case 'For':
      return readLoop(node, joint, reading)
    case 'Redirected':
      if (node.command.type === 'For') return readLoop(node.command, joint, reading, node.redirects)
      return keyword(node, 'groups commands', source)
    case 'Subshell':
    case 'BraceGroup':
      return keyword(node, 'groups commands', source)
    case 'If':
    case 'ArithmeticFor':
    case 'Select':
    case 'While':
    case 'Case':
    case 'TestCommand':
    case 'ArithmeticCommand':
    case 'Function':
    case 'Coproc':
      return keyword(node, 'is shell programming', source)
  }
}

function readJoined(
  commands: readonly (PipelineNode | AndOr)[],
  jointAt: (index: number) => Joint,
  reading: Reading,
): Nodes | Refusal {
  const list: Node[] = []
  for (const [index, command] of commands.entries()) {
    const joint = jointAt(index)
    const read = readNode(command, joint, reading)
    if (isRefusal(read)) return read
    // Whether it is set would depend on what ran before, or on the shell.
    const constant = read.list.find((node) => node.kind === 'constant')
    const mayNotBeSet = joint === '||' || joint === '|' || jointAt(index + 1) === '|'
    if (constant?.kind === 'constant' && (mayNotBeSet || list.some(({ kind }) => kind !== 'constant')))
      return withoutPrefix('Assignment', constant.text)
    list.push(...read.list)
  }
  return nodes(list)
}

type Positioned = { readonly pos: number; readonly end: number }

const keyword = (node: Positioned, why: string, source: string): Refusal =>
  refuse(
    'keyword',
    source.slice(node.pos, node.end),
    `${why}; the gate judges plain commands`,
    'Run the commands one by one, or join them by |, && or ;.',
  )

function readLoop(node: For, joint: Joint, reading: Reading, redirects: readonly Redirection[] = []): Nodes | Refusal {
  const { wordlist = [], name, body, pos, end } = node
  const text = reading.source.slice(pos, end)
  if (joint === '|' || wordlist.length === 0) return keyword(node, 'is shell programming', reading.source)
  const opened =
    skipJoint(reading, pos, joint) ??
    take(reading, 'for') ??
    skip(reading, name.pos, blanks, '') ??
    take(reading, name.text)
  if (opened !== undefined) return opened
  const values: WordTemplate[] = []
  for (const word of wordlist) {
    if (values.length === 0) reading.tokens.push({ text: 'in', raw: 'in' })
    const value =
      skip(reading, word.pos, values.length === 0 ? loopWords : blanks, values.length === 0 ? 'in ' : '') ??
      readWord(word, reading.home)
    if (isRefusal(value)) return value
    values.push(value)
    push(reading, value, word.end)
  }
  reading.tokens.push({ operator: ';' }, { text: 'do', raw: 'do' })
  const between = skip(reading, body.commands[0]?.pos ?? body.pos, loopBody, '; do ')
  if (between !== undefined) return between
  const list = readStatements(body.commands, '', reading)
  if (isRefusal(list)) return list
  reading.tokens.push({ operator: ';' }, { text: 'done', raw: 'done' })
  const closed = skip(reading, end, loopEnd, ' ; done ') ?? readRedirections(redirects, reading)
  return closed ?? nodes([{ kind: 'loop', name: name.text, values, body: list.list, text }])
}

/** A keyword, or the name of a variable. */
function take(reading: Reading, text: string): Refusal | undefined {
  const found = reading.source.slice(reading.end, reading.end + text.length)
  if (found !== text) return strange(found)
  reading.tokens.push({ text, raw: text })
  reading.line += `${text} `
  reading.end += text.length
  return undefined
}

function push(reading: Reading, { read, raw }: WordTemplate, end: number): void {
  reading.tokens.push({ text: read, raw })
  reading.line += `${raw} `
  reading.end = end
}

function readRedirections(redirects: readonly Redirection[], reading: Reading): Refusal | undefined {
  for (const piece of redirects) {
    const read = skip(reading, piece.pos, blanks, '') ?? readPiece(piece, reading)
    if (read !== undefined && isRefusal(read)) return read
  }
  return undefined
}

function readCommand(command: Command, joint: Joint, reading: Reading): Nodes | Refusal {
  const { name, prefix, suffix, pos, end } = command
  const text = reading.source.slice(pos, end)
  const gap = skipJoint(reading, pos, joint)
  if (gap !== undefined) return gap
  if (name === undefined && suffix.length === 0 && prefix.length > 0) return readConstants(prefix, text, reading)
  if (name === undefined || prefix.length > 0) return withoutPrefix(prefix[0]?.type, text)
  const words: WordTemplate[] = []
  for (const piece of [name, ...suffix]) {
    const read = skip(reading, piece.pos, blanks, '') ?? readPiece(piece, reading)
    if (isRefusal(read)) return read
    if (read.kind === 'template') words.push(read)
  }
  const isRedirected = words.length <= suffix.length
  return nodes([{ kind: 'command', words, part: { isPiped: joint === '|', isRedirected, text } }])
}

type Skipped = { readonly kind: 'skipped' }

function readPiece(piece: CommandArgument | Redirection, reading: Reading): WordTemplate | Skipped | Refusal {
  const { source } = reading
  switch (piece.type) {
    case 'Word': {
      const word = readWord(piece, reading.home)
      if (!isRefusal(word)) push(reading, word, piece.end)
      return word
    }
    case 'Assignment':
      return withoutPrefix('Assignment', piece.text)
    case 'Redirect':
      return checkRedirection(piece, source) ?? pushRedirection(piece, reading)
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

function pushRedirection(redirect: Redirect, reading: Reading): Skipped {
  const raw = reading.source.slice(redirect.pos, redirect.end)
  if (redirect.descriptor?.type === 'FileDescriptor')
    reading.tokens.push({ text: String(redirect.descriptor.value), raw })
  reading.tokens.push({ operator: redirect.operator }, { text: redirect.target?.text ?? '', raw })
  reading.line += `${raw} `
  reading.end = redirect.end
  return { kind: 'skipped' }
}

/** `F=src/a.ts`, as a statement of its own. */
function readConstants(prefix: readonly (Assignment | Redirection)[], text: string, reading: Reading): Nodes | Refusal {
  const list: Node[] = []
  for (const piece of prefix) {
    const gap = skip(reading, piece.pos, blanks, '')
    if (gap !== undefined) return gap
    if (piece.type !== 'Assignment' || piece.append === true || piece.index !== undefined)
      return withoutPrefix(piece.type, text)
    if (piece.value.type !== 'Word') return withoutPrefix('Assignment', text)
    const value = readWord(piece.value, reading.home)
    if (isRefusal(value)) return value
    if (value.isRevision || piece.text !== `${piece.name}=${value.raw}`) return withoutPrefix('Assignment', text)
    push(reading, { ...value, raw: piece.text, read: `${piece.name}=${value.read}` }, piece.end)
    list.push({ kind: 'constant', name: piece.name, value, text })
  }
  return nodes(list)
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

const allowed = /^(?:[12&]?>>?[ \t]*\/dev\/null|2>&1|1?>&2|<[ \t]*\/dev\/null)$/

/** Output may be discarded or merged with stderr; no other redirection is allowed. */
function checkRedirection(redirect: Redirect, source: string): Refusal | undefined {
  const text = source.slice(redirect.pos, redirect.end)
  if (allowed.test(text)) return undefined
  return refuse(
    'redirection',
    text,
    redirect.operator.startsWith('<') ? 'reads from a redirection' : 'sends output somewhere',
    redirect.operator.startsWith('<')
      ? 'Name the file as an argument.'
      : 'Leave it out: what the command prints is shown to you. Only 2>/dev/null, >/dev/null and 2>&1 are allowed.',
  )
}

/** The commands with the values of their variables, each as often as a loop runs it. */
function unroll(
  list: readonly Node[],
  variables: Map<string, Value>,
  shell: Shell,
  parts: Part[],
): Refusal | undefined {
  for (const node of list) {
    const refusal = node.kind === 'command' ? fill(node, variables, parts) : unrollNode(node, variables, shell, parts)
    if (refusal !== undefined) return refusal
    if (parts.length > maxCommands) return tooMany(node.kind === 'command' ? node.part.text : node.text)
  }
  return undefined
}

function unrollNode(
  node: Exclude<Node, { kind: 'command' }>,
  variables: Map<string, Value>,
  shell: Shell,
  parts: Part[],
): Refusal | undefined {
  const refusal = variableRefusal(node.name, node.text, shell)
  if (refusal !== undefined) return refusal
  for (const template of node.kind === 'loop' ? node.values : [node.value]) {
    const word = fillWord(template, variables)
    if (isRefusal(word)) return word
    const isPattern = word.text.startsWith(patternMark)
    const value = { text: isPattern ? word.text.slice(1) : word.text, isPattern }
    if (value.isPattern && node.kind === 'constant') return withoutPrefix('Assignment', node.text)
    variables.set(node.name, value)
    const inside = node.kind === 'loop' ? unroll(node.body, variables, shell, parts) : undefined
    if (inside !== undefined) return inside
  }
  // In a pipe it depends on the shell what is left of them.
  if (node.kind === 'loop') for (const name of namesIn([node])) variables.delete(name)
  return undefined
}

const namesIn = (list: readonly Node[]): string[] =>
  list.flatMap((node) =>
    node.kind === 'command' ? [] : [node.name, ...(node.kind === 'loop' ? namesIn(node.body) : [])],
  )

function fill(
  { words, part }: Extract<Node, { kind: 'command' }>,
  variables: Map<string, Value>,
  parts: Part[],
): Refusal | undefined {
  const filled: StaticWord[] = []
  for (const template of words) {
    const word = fillWord(template, variables)
    if (isRefusal(word)) return word
    filled.push(word)
  }
  parts.push({ kind: 'part', words: filled, ...part })
  return undefined
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
