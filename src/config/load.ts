/** Parses `plan-gate.yaml` and validates it, with the line and column of each problem. */
import { isMap, type YAMLMap } from 'yaml'
import { errorsIn } from '../schemas/schema.ts'
import { asList, asRecord } from '../text/json.ts'
import { explainConfigError, nameOfPath, quoteShort, stepsOf } from './errors.ts'
import { type Config, configSchema, type EffectiveConfig, fillDefaults } from './schema.ts'
import { offsetsOf, plainValue, readYaml, type YamlDocument } from './yaml.ts'

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

/** The key of an unknown key, otherwise the value. */
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

/** With the blocks that held nothing else. */
function remove(document: YamlDocument, steps: readonly string[]): void {
  document.deleteIn(steps)
  const above = steps.slice(0, -1)
  const block = document.getIn(above, true) as YAMLMap | undefined
  if (above.length > 0 && block?.items.length === 0) remove(document, above)
}
