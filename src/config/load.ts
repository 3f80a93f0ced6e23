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
  type YAMLMap,
} from 'yaml'
import { errorsIn, fillDefaults } from '../schemas/schema.ts'
import { asList, asRecord } from '../text/json.ts'
import { explainConfigError, nameOfPath, quoteShort, stepsOf } from './errors.ts'
import { type Config, configSchema, type EffectiveConfig } from './schema.ts'

export type ConfigProblem = { line: number; column: number; path: string; message: string; hint?: string }
type ParsedConfig =
  | { kind: 'valid'; config: EffectiveConfig; notices: readonly ConfigProblem[] }
  | { kind: 'invalid'; problems: readonly ConfigProblem[] }

/** A problem before its offset is converted to a line. */
type Located = { readonly at: number; readonly path: string; readonly message: string; readonly hint?: string }

const maxBytes = 256 * 1024
const maxProblems = 50

/** `plan-gate.yaml` as a whole configuration, or all that is wrong with it in the order of the file. */
export function parseConfig(text: string): ParsedConfig {
  if (Buffer.byteLength(text) > maxBytes) {
    const message = `The file is larger than ${maxBytes / 1024} KiB; it was not read.`
    return { kind: 'invalid', problems: [{ line: 1, column: 1, path: '', message }] }
  }
  // No editor counts a byte order mark as a column.
  const { document, problems: syntax, placeOf } = readYaml(text.replace(/^\ufeff/, ''))
  const inLines = (located: readonly Located[]): ConfigProblem[] =>
    [...located].sort((one, other) => one.at - other.at).map(({ at, ...words }) => ({ ...placeOf(at), ...words }))
  if (document === undefined || syntax.length > 0) {
    const problems = inLines(syntax.map((problem) => ({ path: '', ...problem })))
    return { kind: 'invalid', problems: truncateProblems(problems) }
  }
  const { notices, clashes } = replaceOldKeys(document)
  const checked = checkConfig(document)
  if (checked.kind === 'valid' && clashes.length === 0) {
    const config = fillDefaults(configSchema, checked.config)
    return { kind: 'valid', config, notices: inLines([...notices, ...broadCommands(document, config)]) }
  }
  const problems = checked.kind === 'valid' ? clashes : [...clashes, ...checked.problems]
  return { kind: 'invalid', problems: truncateProblems(inLines(problems)) }
}

function truncateProblems(problems: readonly ConfigProblem[]): readonly ConfigProblem[] {
  const next = problems[maxProblems]
  if (!next) return problems
  const message = 'There is more from here on; fix the above first.'
  return [...problems.slice(0, maxProblems), { line: next.line, column: next.column, path: '', message }]
}

type CheckedConfig =
  | { readonly kind: 'valid'; readonly config: Config }
  | { readonly kind: 'invalid'; readonly problems: readonly Located[] }

function checkConfig(document: YamlDocument): CheckedConfig {
  let value: unknown
  try {
    value = plainValue(document) ?? {}
  } catch {
    const message = 'The aliases (*) multiply to too many values.'
    return { kind: 'invalid', problems: [{ at: 0, path: '', message }] }
  }
  const broken = brokenExpressions(document, value)
  const errors = [...errorsIn(configSchema, value)]
  if (errors.length + broken.length === 0) return { kind: 'valid', config: value as Config }
  // Of a route table of a newer version only the version is reported.
  const newer = errors.filter(
    ({ instancePath, keyword }) => /route_schema$/.test(instancePath) && keyword === 'maximum',
  )
  const problems = (newer.length > 0 ? newer : errors)
    .map((error) => ({ error, at: offsetOf(document, error) }))
    .sort((one, other) => one.at - other.at)
    // Before the messages are made, because the search for similar names is slow.
    .slice(0, maxProblems + 1)
    .map(({ error, at }) => ({ at, ...explainConfigError(error, value) }))
  return { kind: 'invalid', problems: [...problems, ...broken] }
}

function offsetOf(document: YamlDocument, error: Parameters<typeof explainConfigError>[0]): number {
  const { additionalProperty: unknown } = error.params
  const steps = stepsOf(error)
  return typeof unknown === 'string' ? offsetsOf(document, [...steps, unknown]).key : offsetsOf(document, steps).value
}

/** No schema can check whether a text is a regular expression. */
function brokenExpressions(document: YamlDocument, value: unknown): Located[] {
  const { patterns } = asRecord(asRecord(asRecord(value).review).redaction)
  return asList(patterns).flatMap((source, index) => {
    if (typeof source !== 'string' || isExpression(source)) return []
    const steps = ['review', 'redaction', 'patterns', String(index)]
    const path = nameOfPath(steps)
    const message = `${path}: ${quoteShort(source)} is not a regular expression of JavaScript.`
    return [{ at: offsetsOf(document, steps).value, path, message }]
  })
}

function isExpression(source: string): boolean {
  try {
    new RegExp(source)
    return true
  } catch {
    return false
  }
}

/** Commands that run other commands, or change what the next ones run. */
const changesWhatFollows =
  'alias bash cd env eval exec export find nohup parallel popd pushd set sh source sudo time unset xargs zsh'.split(' ')

/** `gate.bash.allow` gives any flags and operands, which with some commands is everything. */
const broadCommands = (document: YamlDocument, { gate }: EffectiveConfig): Located[] =>
  gate.bash.allow.flatMap((command, index) => {
    const [name = ''] = command.trim().split(/\s+/)
    if (!changesWhatFollows.includes(name)) return []
    const steps = ['gate', 'bash', 'allow', String(index)]
    const path = nameOfPath(steps)
    const message = `${path}: ${name} changes or runs other commands, so it allows nearly everything before an approval.`
    return [{ at: offsetsOf(document, steps).value, path, message, hint: 'Name the commands that you want to allow.' }]
  })

/** Keys that have another name now; the older ones are those of the configurations that plan-gate replaces. */
const renamedKeys = [
  ['gpt_review', 'review'],
  ['flatline_protocol.secret_scanning.patterns', 'review.redaction.patterns'],
  ['review.pass_budgets', 'review.multipass.budgets'],
] as const

/** Keys of earlier versions, whose values are fixed now. They are ignored with a notice. */
const droppedKeys = [
  ['reflect.max_content_chars', '400,000 characters are fixed'],
  ['reflect.condense_over_chars', '1,500 characters are fixed'],
  ['reflect.dedup', '300 s and 100 entries are fixed'],
  ['reflect.quiet_seconds', 'each change is reviewed at once'],
  ['plan.max_bytes', 'plan.max_tokens limits a plan'],
  ['worktree.branch_prefix', 'plan/ is fixed; --branch names another branch'],
] as const

function replaceOldKeys(document: YamlDocument): { notices: Located[]; clashes: Located[] } {
  const notices: Located[] = []
  const clashes: Located[] = []
  for (const [path, current] of renamedKeys) {
    const at = keyAt(document, path)
    if (at === null) continue
    if (keyAt(document, current) !== null) {
      const message = `${path} is an older name of ${current}, which is there as well.`
      clashes.push({ at, path, message, hint: 'Keep one of them.' })
    } else {
      notices.push({ at, path, message: `${path} is an older name.`, hint: `Write ${current}.` })
      put(document, current.split('.'), document.getIn(path.split('.'), true))
    }
    remove(document, path.split('.'))
  }
  for (const [path, fixed] of droppedKeys) {
    const at = keyAt(document, path)
    if (at === null) continue
    notices.push({ at, path, message: `${path} is no longer used (${fixed}).`, hint: 'Remove it.' })
    remove(document, path.split('.'))
  }
  return { notices, clashes }
}

function keyAt(document: YamlDocument, path: string): number | null {
  const steps = path.split('.')
  return document.hasIn(steps) ? offsetsOf(document, steps).key : null
}

/** Blocks that are left empty stay. */
function put(document: YamlDocument, steps: readonly string[], node: unknown): void {
  for (const above of steps.slice(0, -1).map((_, index) => steps.slice(0, index + 1)))
    if (!isMap(document.getIn(above, true))) document.setIn(above, document.createNode({}))
  document.setIn(steps, node)
}

function remove(document: YamlDocument, steps: readonly string[]): void {
  document.deleteIn(steps)
  const above = steps.slice(0, -1)
  const block = document.getIn(above, true) as YAMLMap | undefined
  if (above.length > 0 && block?.items.length === 0) remove(document, above)
}

type YamlDocument = Document.Parsed<ParsedNode>

/** `at`: the offset of its first character. */
type YamlProblem = { readonly at: number; readonly message: string; readonly hint?: string }

type ReadYaml = {
  readonly document: YamlDocument | undefined
  /** Nothing of the value can be relied on as long as there are any. */
  readonly problems: readonly YamlProblem[]
  readonly placeOf: (offset: number) => { line: number; column: number }
}

/** Never throws. */
function readYaml(text: string): ReadYaml {
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
const plainValue = (document: YamlDocument): unknown =>
  document.toJS({ maxAliasCount: 1000, reviver: (key, value) => (isUsersOwn.test(String(key)) ? undefined : value) })

const isUsersOwn = /^(?:x-|_(?!_))/

/** Where a part of the value stands: its key, if it has one, and its value. What is not found is where it would be. */
function offsetsOf(document: YamlDocument, path: readonly string[]): { key: number; value: number } {
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
