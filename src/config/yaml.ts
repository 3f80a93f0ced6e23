/** `plan-gate.yaml` as YAML: its value, where each part of it stands, and what YAML itself finds wrong. */
import {
  Composer,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type Pair,
  type ParsedNode,
  Parser,
  visit,
} from 'yaml'

export type YamlDocument = Document.Parsed<ParsedNode>

/** `at`: the offset of its first character. */
type YamlProblem = { readonly at: number; readonly message: string; readonly hint?: string }

type ReadYaml = {
  readonly document: YamlDocument | undefined
  /** Nothing of the value can be relied on as long as there are any. */
  readonly problems: readonly YamlProblem[]
  readonly placeOf: (offset: number) => { line: number; column: number }
}

/** Never throws. */
export function readYaml(text: string): ReadYaml {
  const lines = new LineCounter()
  const composed = compose(text, lines)
  const placeOf = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return { line, column: col }
  }
  if ('message' in composed) return { document: undefined, problems: [composed], placeOf }
  const [document, second] = composed
  const problems = composed.flatMap((each) => [...syntaxProblems(each), ...aliasProblems(each)])
  if (second !== undefined)
    problems.push({
      at: second.contents?.range[0] ?? second.range[0],
      message: 'A second document begins here.',
      hint: 'Keep everything in one, without a line --- in between.',
    })
  return { document, problems: firstPerLine(problems, lines), placeOf }
}

/** Time grows with the effort and the stack with the depth; a large real file needs some 1,500 and 15. */
const maxEffort = 3000
const maxDepth = 64

/** The documents, or the problem that the text takes too much to read. */
function compose(text: string, lines: LineCounter): readonly YamlDocument[] | YamlProblem {
  const parser = new Parser(lines.addNewLine)
  lines.addNewLine(0)
  const tokens = []
  let effort = 0
  for (const lexeme of new Lexer().lex(text)) {
    tokens.push(...parser.next(lexeme))
    effort += effortOf(lexeme)
    const what = effort > maxEffort ? 'too long' : parser.stack.length > maxDepth ? 'nested too deeply' : null
    if (what !== null)
      return { at: parser.offset, message: `This is ${what} to be a configuration; nothing from here on was read.` }
  }
  tokens.push(...parser.end())
  // Always YAML 1.2, so that `off` stays a word.
  const options = { schema: 'core', merge: true, resolveKnownTags: false, logLevel: 'error' } as const
  return [...new Composer(options).compose(tokens, true, text.length)]
}

/** Each line of a text is folded, and each escape may become an error with its stack trace. */
const effortOf = (lexeme: string): number =>
  lexeme.split('\n').length + (lexeme.startsWith('"') ? 2 * (lexeme.split('\\').length - 1) : 0)

/** One mistake often causes several errors on its line. */
function firstPerLine(problems: readonly YamlProblem[], lines: LineCounter): readonly YamlProblem[] {
  const byLine = new Map<number, YamlProblem>()
  for (const problem of [...problems].sort((one, other) => one.at - other.at)) {
    const { line } = lines.linePos(problem.at)
    if (!byLine.has(line)) byLine.set(line, problem)
  }
  return [...byLine.values()]
}

const syntaxProblems = (document: YamlDocument): YamlProblem[] =>
  [...document.errors, ...document.warnings].map(({ code, message, pos: [at] }) => {
    const [says, words, hint] = explanations.find(([pattern]) => pattern.test(`${code} ${message}`)) ?? misplaced
    // What is wrong ends here; the reader wants to see where it began.
    const start = says === neverClosed ? openingOf(document, at) : at
    return { at: start, message: words, ...(hint && { hint }) }
  })

const neverClosed = /closing ["']quote|end with a [\]}]/
const quoteIt = 'If it is meant as text, put it in quotes.'

type Explanation = readonly [says: RegExp, message: string, hint?: string]

/** YAML's own errors, by code and message, in plain words. */
const explanations: readonly Explanation[] = [
  [neverClosed, 'The quote or bracket that opens here is never closed.'],
  [/^TAB_AS_INDENT/, 'The indentation of this line has a tab in it.', 'Use spaces.'],
  [/^BAD_INDENT/, 'The indentation of this line fits no line above.', 'Align it with the keys of its block.'],
  [
    /^BLOCK_AS_IMPLICIT_KEY/,
    'There is more than one "key:" on this line, or the next line is indented too far.',
    'Give each key a line of its own; put a text with a colon in quotes.',
  ],
  [
    /^MULTILINE_IMPLICIT_KEY|followed by map values/,
    'A colon is missing here.',
    'Write "key: value", with a space after the colon.',
  ],
  [/^DUPLICATE_KEY/, 'This key is written twice.', 'Keep one of them.'],
  [
    /block-seq-ind on same line/,
    'A list cannot begin on the line of its key.',
    'Begin it on the next line, or write [a, b].',
  ],
  [
    /^BAD_DQ_ESCAPE/,
    'This letter means nothing after a backslash.',
    'Use single quotes, in which a backslash is only a backslash.',
  ],
  [/^(?:BAD_ALIAS|BAD_SCALAR_START|TAG_RESOLVE_FAILED)/, 'This sign has a meaning of its own in YAML.', quoteIt],
]

const misplaced: Explanation = [
  /^/,
  'This is not expected here.',
  'Look for a missing quote, comma, bracket or colon, here or just before.',
]

/** The innermost quote or bracket that ends at this offset. */
function openingOf(document: YamlDocument, end: number): number {
  let opening = end
  visit(document, {
    Value(_, node) {
      const [start, valueEnd] = node.range ?? [-1, -1]
      const opens = 'flow' in node ? node.flow === true : 'type' in node && node.type?.startsWith('QUOTE')
      if (opens && valueEnd === end) opening = start
    },
  })
  return opening
}

/** Aliases (`*name`) that lead nowhere, or around in a circle, and merges (`<<`) of something else than a block. */
function aliasProblems(document: YamlDocument): YamlProblem[] {
  const problems: YamlProblem[] = []
  const anchors = new Map<string, Node>()
  visit(document, {
    Value(_, node) {
      if (node.anchor) anchors.set(node.anchor, node)
    },
    Alias(_, node, ancestors) {
      const target = anchors.get(node.source)
      if (target !== undefined && !ancestors.includes(target)) return
      const message = target === undefined ? 'There is nothing that this * repeats.' : 'This * is in what it repeats.'
      problems.push({ at: startOf(node), message, ...(target === undefined && { hint: quoteIt }) })
    },
    Pair(_, { key, value }) {
      if (!isScalar(key) || key.source !== '<<' || key.type !== 'PLAIN') return
      const merged = (isSeq(value) ? value.items : [value]).map((each) =>
        isAlias(each) ? (anchors.get(each.source) ?? document.createNode({})) : each,
      )
      if (!merged.every(isMap))
        problems.push({
          at: startOf(value ?? key),
          message: '<< merges a block of keys, and nothing else.',
          hint: 'Write <<: *name, for a block with &name.',
        })
    },
  })
  return problems
}

const startOf = (node: unknown): number => (node as Node | null)?.range?.[0] ?? 0

/** Of plain objects and lists. Keys that begin with `x-` or `_` are the user's own: for anchors, say. */
export const plainValue = (document: YamlDocument): unknown =>
  document.toJS({ maxAliasCount: 1000, reviver: (key, value) => (isUsersOwn.test(String(key)) ? undefined : value) })

const isUsersOwn = /^(?:x-|_(?!_))/

/** Where a part of the value stands: its key, if it has one, and its value. What is not found is where it would be. */
export function offsetsOf(document: YamlDocument, path: readonly string[]): { key: number; value: number } {
  let offsets = { key: 0, value: startOf(document.contents) }
  let node: unknown = document.contents
  for (const name of path) {
    const block: unknown = isAlias(node) ? node.resolve(document) : node
    const pair: Partial<Pair> | undefined = isSeq(block)
      ? { value: block.items[Number(name)] }
      : isMap(block)
        ? block.items.find(({ key }) => textOfKey(key) === name)
        : undefined
    if (pair === undefined) break
    const value = startOf(pair.value)
    offsets = { key: pair.key === undefined ? value : startOf(pair.key), value }
    node = pair.value
  }
  return offsets
}

/** One that was put in is no node. */
const textOfKey = (key: unknown): string | null =>
  isScalar(key) ? String(key.value) : typeof key === 'string' ? key : null
