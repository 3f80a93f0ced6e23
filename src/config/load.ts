/** Parses `plan-gate.yaml` and validates it, with the line and column of each problem. */
import { errorsIn, type SchemaError } from '../schemas/schema.ts'
import {
  byRange,
  doubtfulIn,
  type Entry,
  entryAt,
  explainConfigError,
  type LocatedProblem,
  type LocatedValue,
  plainValue,
  quoteShort,
  rangeOfConfigError,
  type TextRange,
} from './errors.ts'
import { type Config, configSchema, type EffectiveConfig, fillDefaults } from './schema.ts'
import { readYaml } from './yaml.ts'

export type ConfigProblem = { line: number; column: number; path: string; message: string; hint?: string }
type ParsedConfig =
  | { kind: 'valid'; config: EffectiveConfig; notices: readonly ConfigProblem[] }
  | { kind: 'invalid'; problems: readonly ConfigProblem[] }

const maxBytes = 256 * 1024
const maxProblems = 50

/** `plan-gate.yaml` as a whole configuration, or all that is wrong with it in the order of the file. */
export function parseConfig(text: string): ParsedConfig {
  if (Buffer.byteLength(text) > maxBytes) {
    const message = `The file is larger than ${maxBytes / 1024} KiB; it was not read.`
    return { kind: 'invalid', problems: [{ line: 1, column: 1, path: '', message }] }
  }
  // No editor counts a byte order mark as a column.
  const source = text.replace(/^\ufeff/, '')
  const { root, syntax, findings, lines } = readYaml(source)
  const inLines = ({ at, ...finding }: LocatedProblem): ConfigProblem => {
    const { line, col } = lines.linePos(at[0])
    return { line, column: col, ...finding }
  }

  const isDoubtful = doubtfulIn(
    source,
    syntax.map(({ at }) => at),
  )
  const current = replaceOlderNames(root)
  const { root: known, notices: retired } = removeRetiredKeys(current.root, inLines)
  const early = [...findings, ...current.findings].filter(({ at }) => !isDoubtful(at))
  const reported = new Set(early.map(({ at }) => at[0]))
  const checked = checkConfig(known, (range) => !isDoubtful(range) && !reported.has(range[0]), maxProblems + 1)
  const late = checked.kind === 'invalid' ? checked.findings : []
  const problems = [...syntax, ...early, ...late].sort(byRange).map(inLines)
  if (checked.kind === 'valid' && problems.length === 0) {
    const notices = [...[...current.notices, ...broadCommands(known)].map(inLines), ...retired].sort(
      (a, b) => a.line - b.line,
    )
    return { kind: 'valid', config: fillDefaults(configSchema, checked.config), notices }
  }
  return { kind: 'invalid', problems: truncateProblems(problems) }
}

function truncateProblems(problems: readonly ConfigProblem[]): readonly ConfigProblem[] {
  const next = problems[maxProblems]
  if (!next) return problems
  const more = {
    line: next.line,
    column: next.column,
    path: '',
    message: 'There is more from here on; fix the above first.',
  }
  return [...problems.slice(0, maxProblems), more]
}

type CheckedConfig =
  | { readonly kind: 'valid'; readonly config: Config }
  | { readonly kind: 'invalid'; readonly findings: readonly LocatedProblem[] }

/** Validates against the schema; reports the first `limit` problems in the ranges that count. */
function checkConfig(root: LocatedValue, counts: (place: TextRange) => boolean, limit: number): CheckedConfig {
  const value = plainValue(root) ?? {}
  const broken = brokenExpressions(root)
  const wrong = [...errorsIn(configSchema, value)]
  if (wrong.length + broken.length === 0) return { kind: 'valid', config: value as Config }
  const errors = withoutNewerRoutes(wrong)
    .map((error) => ({ error, at: rangeOfConfigError(error, root) }))
    .filter(({ at }) => counts(at))
    .sort(byRange)
    // Truncated before the messages are made, because the search for similar names is slow.
    .slice(0, limit)
    .map(({ error }) => explainConfigError(error, root))
  return { kind: 'invalid', findings: [...errors, ...broken.filter(({ at }) => counts(at))] }
}

/** Of a route table of a newer version only the version is reported. */
function withoutNewerRoutes(errors: readonly SchemaError[]): readonly SchemaError[] {
  const isNewer = errors.some((error) => error.instancePath === '/review/route_schema' && error.keyword === 'maximum')
  return isNewer ? errors.filter(({ instancePath }) => !/^\/review\/routes(\/|$)/.test(instancePath)) : errors
}

/** No schema can check whether a text is a regular expression. */
function brokenExpressions(root: LocatedValue): readonly LocatedProblem[] {
  const patterns = entryAt(root, ['review', 'redaction', 'patterns'])?.value
  if (patterns?.kind !== 'list') return []
  return patterns.items.flatMap((item) => {
    if (item.kind !== 'scalar' || typeof item.value !== 'string' || isExpression(item.value)) return []
    const message = `${item.path}: ${quoteShort(item.value)} is not a regular expression of JavaScript.`
    return [{ path: item.path, at: item.at, message }]
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
function broadCommands(root: LocatedValue): readonly LocatedProblem[] {
  const allow = entryAt(root, ['gate', 'bash', 'allow'])?.value
  if (allow?.kind !== 'list') return []
  return allow.items.flatMap(({ at, path, ...item }) => {
    const name =
      item.kind === 'scalar' && typeof item.value === 'string' ? item.value.trim().split(/\s+/)[0] : undefined
    if (name === undefined || !changesWhatFollows.includes(name)) return []
    const message = `${path}: ${name} changes or runs other commands, so it allows nearly everything before an approval.`
    return [{ at, path, message, hint: 'Name the commands that you want to allow.' }]
  })
}

/** Names in configurations that plan-gate replaces, and whether both names may stand in one file. */
const olderNames = [
  { older: ['gpt_review'], current: ['review'], merge: false },
  {
    older: ['flatline_protocol', 'secret_scanning', 'patterns'],
    current: ['review', 'redaction', 'patterns'],
    merge: false,
  },
  { older: ['review', 'pass_budgets'], current: ['review', 'multipass', 'budgets'], merge: true },
] as const

type RenamedKeys = {
  readonly root: LocatedValue
  readonly findings: readonly LocatedProblem[]
  readonly notices: readonly LocatedProblem[]
}

/** The same values under today's names, with their range and name in the file. */
function replaceOlderNames(root: LocatedValue): RenamedKeys {
  let renaming: RenamedKeys = { root, findings: [], notices: [] }
  for (const { older, current, merge } of olderNames) {
    const entry = entryAt(renaming.root, older)
    if (!entry) continue
    const there = entryAt(renaming.root, current)
    const { value, clashes } = merge && there ? merged(there, entry) : keepFirst(there, entry)
    const hint = `Write ${current.join('.')}.`
    const notice = { at: entry.key, path: entry.value.path, message: `${entry.value.path} is an older name.`, hint }
    renaming = {
      root: put(put(renaming.root, older, undefined), current, value),
      findings: [...renaming.findings, ...clashes],
      notices: [...renaming.notices, notice],
    }
  }
  return renaming
}

/** Keys of earlier versions, whose values are fixed now. They are ignored with a notice. */
const retiredKeys: readonly { readonly path: readonly string[]; readonly fixed: string }[] = [
  { path: ['reflect', 'max_content_chars'], fixed: '400,000 characters are fixed' },
  { path: ['reflect', 'condense_over_chars'], fixed: '1,500 characters are fixed' },
  { path: ['reflect', 'dedup', 'ttl_seconds'], fixed: '300 s is fixed' },
  { path: ['reflect', 'dedup', 'max_entries'], fixed: '100 entries are fixed' },
  { path: ['reflect', 'dedup'], fixed: '300 s and 100 entries are fixed' },
  { path: ['reflect', 'quiet_seconds'], fixed: 'each change is reviewed at once' },
  { path: ['plan', 'max_bytes'], fixed: 'plan.max_tokens limits a plan' },
  { path: ['worktree', 'branch_prefix'], fixed: 'plan/ is fixed; --branch names another branch' },
]

function removeRetiredKeys(root: LocatedValue, inLines: (problem: LocatedProblem) => ConfigProblem) {
  let rest = root
  const notices: ConfigProblem[] = []
  for (const { path, fixed } of retiredKeys) {
    const entry = entryAt(rest, path)
    if (!entry) continue
    rest = put(rest, path, undefined)
    // A block whose keys were named above.
    if (notices.some((notice) => notice.path.startsWith(`${entry.value.path}.`))) continue
    const notice = inLines({
      at: entry.key,
      path: entry.value.path,
      message: `${entry.value.path} is no longer used (${fixed}).`,
    })
    notices.push({ ...notice, hint: `Remove line ${notice.line}.` })
  }
  return { root: rest, notices }
}

type MergedEntry = { readonly value: Entry; readonly clashes: readonly LocatedProblem[] }

function keepFirst(there: Entry | undefined, entry: Entry): MergedEntry {
  if (!there) return { value: entry, clashes: [] }
  const [first, second] = there.key[0] < entry.key[0] ? [there, entry] : [entry, there]
  const message = `${second.value.path} and ${first.value.path} are two names of the same.`
  return { value: first, clashes: [{ at: second.key, path: second.value.path, message, hint: 'Keep one of them.' }] }
}

function merged(there: Entry, entry: Entry): MergedEntry {
  if (there.value.kind !== 'map' || entry.value.kind !== 'map') return keepFirst(there, entry)
  const entries = new Map(there.value.entries)
  const clashes: LocatedProblem[] = []
  for (const [name, added] of entry.value.entries) {
    const joined = keepFirst(entries.get(name), added)
    entries.set(name, joined.value)
    clashes.push(...joined.clashes)
  }
  return { value: { ...there, value: { ...there.value, entries } }, clashes }
}

/** A copy with the entry set, or removed; unchanged where the path leads through something that is no block. */
function put(node: LocatedValue, [first, ...rest]: readonly string[], entry: Entry | undefined): LocatedValue {
  const isEmpty = node.kind === 'scalar' && node.value === null
  if (first === undefined || !(node.kind === 'map' || (isEmpty && entry))) return node
  const entries = new Map(node.kind === 'map' ? node.entries : [])
  const below = entries.get(first) ?? (entry && { key: entry.key, value: nothingAt(entry) })
  const next = rest.length > 0 ? below && { ...below, value: put(below.value, rest, entry) } : entry
  // Of an older block whose one key has moved nothing is left that could be unknown.
  const isEmptied = !entry && next?.value.kind === 'map' && next.value.entries.size === 0
  if (next && !isEmptied) entries.set(first, next)
  else entries.delete(first)
  return { kind: 'map', entries, path: node.path, at: node.at }
}

const nothingAt = ({ key, value }: Entry): LocatedValue => ({ kind: 'scalar', value: null, path: value.path, at: key })
