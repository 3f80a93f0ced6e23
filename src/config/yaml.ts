import {
  Composer,
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type ParsedNode,
  Parser,
  visit,
  type YAMLMap,
} from 'yaml'
import {
  byRange,
  type Entry,
  keyName,
  type LocatedProblem,
  type LocatedValue,
  quoteShort,
  showValue,
  type TextRange,
} from './errors.ts'

type YamlReading = {
  readonly root: LocatedValue
  /** Where the text is no YAML; values near it are guesses. */
  readonly syntax: readonly LocatedProblem[]
  readonly findings: readonly LocatedProblem[]
  readonly lines: LineCounter
}

/** A YAML text as one value with ranges. Never throws. */
export function readYaml(text: string): YamlReading {
  const { documents, findings: syntax, lines } = composeYaml(text)
  const [first, second] = documents
  const walk: Walk = { anchors: new Map(), open: new Set(), findings: [], left: maxValues }
  const root = locate(first?.contents ?? null, '', [0, 0], walk)
  if (second) {
    const at = second.contents?.range ?? second.range
    const hint = 'Keep everything in one, without a line --- in between.'
    walk.findings.push({ at: [at[0], at[0]], path: '', message: 'A second document begins here.', hint })
  }
  return { root, syntax, findings: walk.findings, lines }
}

type Walk = {
  readonly anchors: Map<string, Node>
  /** What is being read just now: an alias to one of these would never end. */
  readonly open: Set<Node>
  readonly findings: LocatedProblem[]
  /** Counts down, so that aliases of aliases cannot multiply. */
  left: number
}
const maxValues = 5000

function locate(node: Node | null, path: string, fallback: TextRange, walk: Walk): LocatedValue {
  const at = rangeOf(node, fallback)
  walk.left -= 1
  if (walk.left < 0) {
    if (walk.left === -1) walk.findings.push({ at, path, message: 'The aliases (*) multiply to too many values.' })
    return { kind: 'scalar', value: null, path, at }
  }
  if (node?.anchor) walk.anchors.set(node.anchor, node)
  if (isAlias(node)) return locateAlias(node.source, path, at, walk)
  if (isMap<Node | null, Node | null>(node)) {
    return { kind: 'map', entries: whileOpen(node, walk, () => locateEntries(node, path, walk)), path, at }
  }
  if (isSeq<Node | null>(node)) {
    const items = whileOpen(node, walk, () => node.items.map((item, i) => locate(item, `${path}[${i}]`, at, walk)))
    return { kind: 'list', items, path, at }
  }
  return { kind: 'scalar', value: isScalar(node) ? plainScalar(node.value) : null, path, at }
}

function locateAlias(name: string, path: string, at: TextRange, walk: Walk): LocatedValue {
  const target = walk.anchors.get(name)
  if (target && !walk.open.has(target)) return { ...locate(target, path, at, walk), at }
  walk.findings.push(
    target
      ? { at, path, message: `${quoteShort(`*${name}`)} is inside what it repeats.` }
      : {
          at,
          path,
          message: `There is no ${quoteShort(`&${name}`)} for ${quoteShort(`*${name}`)} to repeat.`,
          hint: 'If it is meant as text, put it in quotes.',
        },
  )
  return { kind: 'scalar', value: null, path, at }
}

function locateEntries(map: YAMLMap<Node | null, Node | null>, parent: string, walk: Walk): ReadonlyMap<string, Entry> {
  const entries = new Map<string, Entry>()
  const merges: LocatedValue[] = []
  for (const pair of map.items) {
    const key = rangeOf(pair.key, rangeOf(map, [0, 0]))
    if (!isScalar(pair.key) || typeof pair.key.value !== 'string') {
      const found = locate(pair.key, parent, key, walk)
      walk.findings.push({ at: key, path: parent, message: `A key must be a text, found ${showValue(found)}.` })
      continue
    }
    const name = pair.key.value
    const isMerge = name === '<<' && pair.key.type === 'PLAIN'
    const path = isMerge ? parent : parent === '' ? keyName(name) : `${parent}.${keyName(name)}`
    // What a person keeps for themselves, or for an alias: its anchors are read, and nothing of it is checked.
    const isOwn = /^(?:x-|_(?!_))/.test(name)
    const earlier = entries.get(name)
    if (earlier) walk.findings.push({ at: key, path, message: `${path} is written twice.`, hint: 'Keep one of them.' })
    const value = earlier ? null : locate(pair.value, path, [key[1], key[1]], walk)
    if (isMerge && value !== null) merges.push(...(value.kind === 'list' ? value.items : [value]))
    else if (value !== null && !isOwn) entries.set(name, { key, value })
  }
  for (const merge of merges) mergeInto(entries, merge, walk)
  return entries
}

/** `<<: *name`: what stands here itself comes first, then what was merged earlier. */
function mergeInto(entries: Map<string, Entry>, merge: LocatedValue, { findings }: Walk): void {
  if (merge.kind === 'map') for (const [name, entry] of merge.entries) entries.set(name, entries.get(name) ?? entry)
  // Nothing is what an alias leads to that was reported.
  else if (merge.kind === 'list' || merge.value !== null)
    findings.push({
      at: merge.at,
      path: merge.path,
      message: `<< merges a block of keys, found ${showValue(merge)}.`,
      hint: 'Write <<: *name, for a block with &name.',
    })
}

function whileOpen<T>(node: Node, { open }: Walk, read: () => T): T {
  open.add(node)
  const result = read()
  open.delete(node)
  return result
}

const rangeOf = (node: Node | null, fallback: TextRange): TextRange =>
  node?.range ? [node.range[0], node.range[1]] : fallback

const plainScalar = (value: unknown): string | number | boolean | null =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || value === null
    ? value
    : String(value)

type YamlDocument = Document.Parsed<ParsedNode>
type Composed = {
  readonly documents: readonly YamlDocument[]
  readonly findings: readonly LocatedProblem[]
  readonly lines: LineCounter
}

/** Time grows with the effort and the stack with the depth; a large real file needs some 1,500 and 15. */
const maxEffort = 3000
const maxDepth = 64

/** The documents of a text, and what YAML itself finds wrong; with bounded effort. */
function composeYaml(text: string): Composed {
  const lines = new LineCounter()
  const parser = new Parser(lines.addNewLine)
  lines.addNewLine(0)
  const tokens = []
  let effort = 0
  for (const lexeme of new Lexer().lex(text)) {
    tokens.push(...parser.next(lexeme))
    effort += effortOf(lexeme)
    const at: TextRange = [parser.offset, parser.offset]
    if (effort > maxEffort) return { documents: [], lines, findings: [{ at, path: '', ...tooLong }] }
    if (parser.stack.length > maxDepth) return { documents: [], lines, findings: [{ at, path: '', ...tooDeep }] }
  }
  tokens.push(...parser.end())
  const documents = [...new Composer(options).compose(tokens, true, text.length)]
  return { documents, lines, findings: onePerLine(documents.flatMap(syntaxFindings), lines) }
}

/** Each line of a text is folded, and each escape may become an error with its stack trace. */
const effortOf = (lexeme: string): number =>
  lexeme.split('\n').length + (lexeme.startsWith('"') ? 2 * (lexeme.split('\\').length - 1) : 0)

const tooLong = { message: 'The file is too long to be a configuration; nothing from here on was read.' }
const tooDeep = { message: 'This is nested too deeply to be a configuration; nothing from here on was read.' }

/** Always YAML 1.2, so that `off` stays a word. Keys are compared later: here it would be quadratic. */
const options = { schema: 'core', resolveKnownTags: false, uniqueKeys: false } as const

const syntaxFindings = (document: YamlDocument): LocatedProblem[] =>
  [...document.errors, ...document.warnings].map(({ code, message, pos }) => {
    const { atOpening, ...words } = explainYamlError(code, message)
    return { at: (atOpening && openingOf(document, pos[0])) ?? pos, path: '', ...words }
  })

/** The innermost quote or bracket that ends at this offset. */
function openingOf(document: YamlDocument, end: number): TextRange | undefined {
  let opening: TextRange | undefined
  visit(document, {
    Value(_, node) {
      const [start, valueEnd] = node.range ?? [-1, -1]
      const opens = 'flow' in node ? node.flow === true : 'type' in node && node.type?.startsWith('QUOTE')
      if (opens && valueEnd === end) opening = [start, end]
    },
  })
  return opening
}

/** One mistake often causes several errors on its line. */
function onePerLine(findings: readonly LocatedProblem[], lines: LineCounter): readonly LocatedProblem[] {
  const byLine = new Map<number, LocatedProblem>()
  for (const finding of [...findings].sort(byRange)) {
    const { line } = lines.linePos(finding.at[0])
    if (!byLine.has(line)) byLine.set(line, finding)
  }
  return [...byLine.values()]
}

type Words = { readonly message: string; readonly hint?: string }

const quoteIt = 'If it is meant as text, put it in quotes.'
const misplaced: Words = {
  message: 'This is not expected here.',
  hint: 'Look for a missing quote, comma, bracket or colon, here or just before.',
}
const property: Words = { message: 'These signs (&, *, !) have no meaning together.', hint: quoteIt }
const crowded: Words = {
  message: 'There is more than one "key:" on this line, or the next line is indented too far.',
  hint: 'Give each key a line of its own; put a text with a colon in quotes.',
}
const noColon: Words = {
  message: 'A colon is missing here.',
  hint: 'Write "key: value", with a space after the colon.',
}

/** YAML's own errors in plain words. */
const byCode: { readonly [code in ErrorCode]: Words } = {
  ALIAS_PROPS: property,
  BAD_ALIAS: { message: 'A * or & begins a name, and none follows.', hint: quoteIt },
  BAD_COLLECTION_TYPE: property,
  BAD_DIRECTIVE: { message: 'A line that begins with % has no meaning here.', hint: 'Leave it out.' },
  BAD_DQ_ESCAPE: {
    message: 'This letter means nothing after a backslash.',
    hint: 'Use single quotes, in which a backslash is only a backslash.',
  },
  BAD_INDENT: {
    message: 'The indentation of this line fits no line above.',
    hint: 'Align it with the keys of its block.',
  },
  BAD_PROP_ORDER: property,
  BAD_SCALAR_START: { message: 'A text cannot begin with this character.', hint: 'Put it in quotes.' },
  BLOCK_AS_IMPLICIT_KEY: crowded,
  BLOCK_IN_FLOW: { message: 'Between brackets there can be no indented block.', hint: 'Close the bracket before it.' },
  DUPLICATE_KEY: misplaced,
  IMPOSSIBLE: misplaced,
  KEY_OVER_1024_CHARS: { message: 'No key is that long.', hint: 'Look for a missing quote or colon.' },
  MISSING_CHAR: misplaced,
  MULTILINE_IMPLICIT_KEY: noColon,
  MULTIPLE_ANCHORS: property,
  MULTIPLE_DOCS: misplaced,
  MULTIPLE_TAGS: property,
  NON_STRING_KEY: misplaced,
  RESOURCE_EXHAUSTION: { message: 'This is nested too deeply.' },
  TAB_AS_INDENT: { message: 'The indentation of this line has a tab in it.', hint: 'Use spaces.' },
  TAG_RESOLVE_FAILED: { message: 'Words that begin with ! have no meaning here.', hint: quoteIt },
  UNEXPECTED_TOKEN: misplaced,
}

/** Where one code stands for several mistakes, YAML's own message tells them apart. */
const byMessage: readonly { readonly says: RegExp; readonly words: Words; readonly atOpening?: true }[] = [
  { says: /closing ["']quote/, words: { message: 'The quote that opens here is never closed.' }, atOpening: true },
  { says: /end with a [\]}]/, words: { message: 'The bracket that opens here is never closed.' }, atOpening: true },
  { says: /followed by map values/, words: noColon },
  {
    says: /block-seq-ind on same line/,
    words: {
      message: 'A list cannot begin on the line of its key.',
      hint: 'Begin it on the next line, or write [a, b].',
    },
  },
]

/** `atOpening`: what is wrong ends here; the reader wants to see where it began. */
function explainYamlError(code: ErrorCode, message: string): Words & { readonly atOpening?: true } {
  const variant = byMessage.find(({ says }) => says.test(message))
  return variant ? { ...variant.words, ...(variant.atOpening && { atOpening: true }) } : byCode[code]
}
