/** What a checklist can say of a plan or a document: its sections, its paths, and text that is still to be written. */
import type { AnsweredFinding } from '../../schemas/review.ts'
import {
  type Heading,
  isEmpty,
  linesUnder,
  type Markdown,
  type MarkdownLine,
  parseMarkdown,
} from '../../text/markdown.ts'

/** A path that the plan names under `## Changes`, as the gate reads it; a folder ends in a slash. */
type PlannedChange = {
  readonly pattern: string
  readonly mark: 'new' | 'changed' | 'deleted' | 'renamed' | 'unstated'
  readonly line: number
}

export type ChecklistSetup = {
  readonly requiredSections: readonly string[]
  readonly maxBytes: number
  readonly readChanges: (plan: string) => readonly PlannedChange[]
  readonly exists: (path: string) => boolean
}

export type ChecklistFinding = AnsweredFinding & { readonly id: null }

export const finding = (
  severity: ChecklistFinding['severity'],
  section: string,
  problem: string,
  evidence: string,
  fix: string,
): ChecklistFinding => ({ id: null, severity, section, problem, evidence, fix })

export function atLine({ number, raw }: { readonly number: number; readonly raw: string }): string {
  const text = raw
    .slice(0, 400)
    .replace(/[^\P{C}\t]/gu, '')
    .replace(/\s+/g, ' ')
    .trim()
  return `Line ${number}: ${text.length > 120 ? `${text.slice(0, 119)}…` : text}`
}

/** The first ones, and one for all the others, so that a list stays readable. */
export function limitFindings(
  found: readonly ChecklistFinding[],
  limit: number,
  problemOfRest: (count: number) => string,
  placeOf = ({ evidence }: ChecklistFinding): string => /^Line \d+/.exec(evidence)?.[0] ?? '',
): readonly ChecklistFinding[] {
  const rest = found.slice(limit)
  const [first] = rest
  if (first === undefined || rest.length === 1) return found
  const places = rest.slice(0, 20).map(placeOf).join(', ')
  const evidence = rest.length > 20 ? `${places} and further.` : `${places}.`
  return [...found.slice(0, limit), { ...first, problem: problemOfRest(rest.length), evidence }]
}

export function checkPlan(plan: string, setup: ChecklistSetup): readonly ChecklistFinding[] {
  const { requiredSections: required } = setup
  const underThese = `under these headings: ${required.map((name) => `\`## ${name}\``).join(', ')}`
  if (plan.trim() === '') return [nothing('plan', `Write it${required.length === 0 ? '' : ` ${underThese}`}.`)]
  const markdown = parseMarkdown(plan)
  const missing = required.filter((name) => sectionsNamed(markdown, name).length === 0)
  const problem = 'None of the sections of a plan is there.'
  return [
    ...checkSize(plan, setup.maxBytes, 'plan'),
    ...(missing.length === required.length && required.length > 1
      ? [finding('major', 'Plan', problem, headingsOf(markdown), `Write the plan ${underThese}.`)]
      : missing.map((name) => missingSection(markdown, name))),
    ...required.flatMap((name) => {
      const sections = sectionsNamed(markdown, name)
      const isWritten = sections.some((heading) => !isEmpty(linesUnder(markdown, heading)))
      return isWritten ? [] : sections.slice(0, 1).map((one) => emptySection(one, `Write below it ${purposeOf(name)}.`))
    }),
    ...checkChanges(markdown, setup.readChanges(plan), setup.exists),
    ...checkPlaceholders(markdown),
  ]
}

/** Requirements, designs and sprint plans: no sections are required, but each that is there has a text. */
export function checkDocument(text: string, maxBytes: number): readonly ChecklistFinding[] {
  if (text.trim() === '') return [nothing('document', 'Write it, or name another file.')]
  const markdown = parseMarkdown(text)
  const { headings } = markdown
  // A heading whose text is all below smaller headings is not empty.
  const empty = headings.filter((heading, index) => {
    const next = headings[index + 1]
    return (next === undefined || next.level <= heading.level) && isEmpty(linesUnder(markdown, heading))
  })
  const fix = 'Give each part a heading, such as `## Requirements`, so that findings can say where they belong.'
  return [
    ...checkSize(text, maxBytes, 'document'),
    ...(headings.length > 0
      ? []
      : [finding('major', 'Document', 'The document has no headings.', headingsOf(markdown), fix)]),
    ...limitFindings(
      empty.map((heading) => emptySection(heading, 'Write the section, or take the heading out.')),
      12,
      (count) => `${count} more sections are empty.`,
    ),
    ...checkPlaceholders(markdown),
  ]
}

const nothing = (name: string, fix: string): ChecklistFinding =>
  finding('critical', capital(name), `The ${name} is empty.`, 'There is no text from line 1 on.', fix)

const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

const sectionsNamed = ({ headings }: Markdown, name: string): Heading[] =>
  headings.filter(({ level, title }) => level === 2 && matchesName(title, name))

/** "Risks and mitigations" are "Risks", "Goals" are the "Goal". */
function matchesName(title: string, name: string): boolean {
  const [has, wanted] = [title.toLowerCase(), name.toLowerCase()]
  const isLonger = has.startsWith(wanted) && /^[^\p{L}\p{N}_-]/u.test(has.slice(wanted.length))
  return has === wanted || has === `${wanted}s` || isLonger
}

function missingSection(markdown: Markdown, name: string): ChecklistFinding {
  const near = markdown.headings.find(({ title }) => matchesName(title, name) || matchesName(`${title}s`, name))
  const none = `There is no \`## ${name}\``
  if (near === undefined)
    return finding('major', name, `${none} section.`, headingsOf(markdown), `Add \`## ${name}\`: ${purposeOf(name)}.`)
  const written = `${'#'.repeat(near.level)} ${near.title}`
  const [problem, evidence] = [`${none}, but \`${written}\`.`, `Line ${near.number}: ${written}`]
  return finding('major', name, problem, evidence, `Write that heading as \`## ${name}\`.`)
}

function headingsOf({ lines, headings }: Markdown): string {
  const named = headings.slice(0, 12).map(({ title, number }) => `${title} (line ${number})`)
  const more = headings.length > named.length ? ` and ${headings.length - named.length} more` : ''
  return named.length === 0
    ? `Lines 1–${lines.length} have no heading.`
    : `The headings are: ${named.join(', ')}${more}.`
}

const purposeOf = (name: string): string => purposes[name.toLowerCase()] ?? 'what belongs there'

const purposes: { readonly [section: string]: string } = {
  goal: 'what is true when the work is done, and how one can tell',
  context: 'what the code does today, with file and line',
  approach: 'the way you chose, and why not the nearest other one',
  changes: 'one line for each file, with its path in backticks and whether it is new, changed, deleted or renamed',
  risks: 'what could go wrong and what would show it, or "None known"',
  'open questions': 'what the user has to decide, or "None"',
}

function emptySection({ level, title, number }: Heading, fix: string): ChecklistFinding {
  const problem = `\`${'#'.repeat(level)} ${title}\` is empty.`
  return finding('major', title, problem, `Line ${number} is the heading, and nothing follows it.`, fix)
}

/** A reviewer that gets too much reads the beginning, and does not mention the rest. */
function checkSize(text: string, maxBytes: number, name: string): ChecklistFinding[] {
  const bytes = Buffer.byteLength(text)
  if (bytes <= maxBytes) return []
  const line = Buffer.from(text).subarray(0, maxBytes).toString('utf8').split('\n').length
  const problem = `The ${name} has ${bytes.toLocaleString('en-US')} bytes; at most ${maxBytes.toLocaleString('en-US')} are reviewed.`
  const fix = 'Move listings and logs out of it, or split the work in two.'
  return [finding('major', 'Size', problem, `Line ${line} is where the limit is reached.`, fix)]
}

/**
 * Each path that is to be changed exists. Prose contains many words that look like paths, so only those at the head of a
 * line are checked, and nothing is reported where the plan may have meant a new file.
 */
function checkChanges(
  markdown: Markdown,
  changes: readonly PlannedChange[],
  exists: (path: string) => boolean,
): readonly ChecklistFinding[] {
  const headings = sectionsNamed(markdown, 'Changes')
  const section = headings.flatMap((heading) => linesUnder(markdown, heading))
  if (changes.length === 0) return isEmpty(section) ? [] : [namesNothing(markdown, headings[0]?.number ?? 1)]
  const pathExists = (path: string): boolean => exists(path.replace(/\/+$/, ''))
  const named = new Map<number, PlannedChange[]>()
  for (const change of changes.slice(0, 200)) named.set(change.line, [...(named.get(change.line) ?? []), change])
  const found = [...named].flatMap(([number, onLine]) => {
    const line = markdown.lines[number - 1] ?? { number, raw: onLine[0]?.pattern ?? '', kind: 'text' }
    // A folder tree, or an example.
    if (line.kind === 'code') return []
    const stated = statedIn(line.raw)
    const isNear = stated === null ? newnessNear(number, section, named) : () => false
    const heads = headsOf(line.raw, onLine).filter(({ pattern }) => !/[*?{}[\]$%!=,]/.test(pattern))
    const missing = heads.filter(({ pattern }) => !pathExists(pattern) && looksLikeFile(pattern, pathExists))
    const isRenaming = stated === null && heads.length > 1 && heads.some(({ mark }) => mark === 'renamed')
    // One side has to exist; which one depends on the progress of the work.
    const wrong = isRenaming ? (missing.length === heads.length ? missing.slice(0, 1) : []) : missing
    return wrong
      .filter(({ pattern }) => !isNear(pattern))
      .map(({ pattern, mark: read }) => {
        const mark = stated ?? read
        const path = `\`${pattern}\``
        const fix = `Correct the path, or ${mark === 'deleted' ? 'take the line out' : `write ${path} (new)`}.`
        const problem = isRenaming
          ? `Neither ${path} nor \`${missing[1]?.pattern}\` exists, so there is nothing to rename.`
          : mark === 'deleted' || mark === 'changed'
            ? `${path} is to be ${mark}, but does not exist.`
            : `${path} does not exist, and the plan does not say that it is new.`
        return finding('major', 'Changes', problem, atLine(line), fix)
      })
  })
  return limitFindings(found, 12, (count) => `${count} more paths are not as the plan says.`)
}

/** `(changed)`, `| deleted |`: then no other word of the line counts. */
function statedIn(raw: string): 'changed' | 'deleted' | null {
  const word = /[(|]\s*(?:(changed|modified|edited|updated)|deleted|removed)\s*[)|]/i.exec(raw)
  return word === null ? null : word[1] === undefined ? 'deleted' : 'changed'
}

/** The gate reads the same list after the approval, and needs the exact heading. */
function namesNothing(markdown: Markdown, number: number): ChecklistFinding {
  const raw = markdown.lines[number - 1]?.raw ?? ''
  const [problem, fix] = /^ {0,3}##\s*changes\b/i.test(raw)
    ? [
        '`## Changes` names no file.',
        'Give each file a line of its own, such as: - `src/login.ts` (changed): checks the password first',
      ]
    : ['The heading of the changes is written in a way that no file is found below it.', 'Write it as `## Changes`.']
  return finding('major', 'Changes', problem, atLine({ number, raw }), fix)
}

/** The paths that a line is about: those before its description. */
function headsOf(raw: string, named: readonly PlannedChange[]): PlannedChange[] {
  const placed = named
    .map((change) => ({ change, at: raw.indexOf(change.pattern) }))
    .sort((one, other) => one.at - other.at)
  const heads: PlannedChange[] = []
  let end = 0
  for (const { change, at } of placed) {
    // Not in the text as written: the reader of the plan has resolved it.
    if (at === -1) heads.push(change)
    else if (at >= end) {
      if (!isLeadIn(raw.slice(end, at))) break
      heads.push(change)
      end = at + change.pattern.length
    }
  }
  return heads
}

/** Marks of lists and emphasis, line numbers behind a path, and words such as "New file" or "Rename … to". */
const isLeadIn = (text: string): boolean =>
  text
    .slice(0, 200)
    .replace(/^\s*\d{1,9}[.)]\s|^:\d[\d:,-]*/, '')
    .split(/[^\p{L}\p{N}]+/u)
    .every((word) => word === '' || leadIns.has(word.toLowerCase()))

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

const leadIns = words(
  'and plus or to in the both x file files folder folders test tests new change changed modify update updated edit ' +
    'extend create created add added delete deleted remove removed rename renamed move moved rewrite',
)

/** Unlikely to be a package, a branch, a field or the name of a product. */
function looksLikeFile(pattern: string, pathExists: (pattern: string) => boolean): boolean {
  const [first = '', ...others] = pattern.split('/')
  const ending = /\.([A-Za-z][A-Za-z0-9]{0,9})$/.exec(pattern)?.[1]?.toLowerCase()
  if (others.length === 0) return ending !== undefined && fileExtensions.has(ending) && !/^[a-z]\w+\.js$/i.test(pattern)
  if (/^[\w-]+\.(?:com|org|net|io|dev|app)$/.test(first)) return false
  return pattern.endsWith('/') || ending !== undefined || pathExists(first)
}

const fileExtensions = words(
  'ts tsx mts cts js jsx mjs cjs json yaml yml toml ini md mdx txt css scss html htm vue svelte py go rs java kt kts ' +
    'rb php cs cpp c h swift sh sql xml lock proto graphql tf',
)

/** Whether a word for newness stands between the headings around a line, on a line that is about no other path. */
function newnessNear(
  number: number,
  section: readonly MarkdownLine[],
  named: ReadonlyMap<number, unknown>,
): (pattern: string) => boolean {
  const at = section.findIndex((line) => line.number === number)
  const isHeading = ({ kind }: MarkdownLine): boolean => kind === 'heading'
  const from = Math.max(0, section.slice(0, at + 1).findLastIndex(isHeading))
  const below = section.slice(at + 1).findIndex(isHeading)
  const near = section.slice(from, below === -1 ? undefined : at + 1 + below)
  const withNewness = near.filter(({ prose }) => /\bnew\b|\bcreat|\badd|\bintroduc|\bgenerat|\bwrite\b/i.test(prose))
  return (pattern) =>
    withNewness.some((line) => line.number === number || !named.has(line.number) || line.raw.includes(pattern))
}

function checkPlaceholders({ lines, headings }: Markdown): readonly ChecklistFinding[] {
  let [next, section] = [0, 'Beginning']
  const fix = 'Write it, or take the line out; what only the user can decide belongs under Open Questions.'
  const found = lines.flatMap((line) => {
    while ((headings[next]?.number ?? Number.POSITIVE_INFINITY) <= line.number) section = headings[next++]?.title ?? ''
    const mark = line.kind === 'text' ? findPlaceholder(line.prose, /^open\b|questions?$/i.test(section)) : null
    return mark === null ? [] : [finding('major', section, `"${mark}" is a placeholder.`, atLine(line), fix)]
  })
  return limitFindings(found, 12, (count) => `${count} more places are still to be written.`)
}

/** Plans also mention TODO comments and `<br>`, and an open question may call something undecided. */
function findPlaceholder(prose: string, isOpenQuestion: boolean): string | null {
  const text = prose.trim()
  const items = text.startsWith('|') ? text.split('|').slice(1, -1) : [text.replace(listMarker, '')]
  const whole = items.map((item) => wholeMark(item.trim()))
  if (isOpenQuestion && whole.every((mark) => mark !== null)) return whole[0] ?? null
  const inItem = isOpenQuestion ? null : whole.find((mark) => mark !== null)
  return inItem ?? marks.map((pattern) => pattern.exec(prose)?.[1] ?? null).find((mark) => mark !== null) ?? null
}

const listMarker = /^(?:>\s?){0,5}(?:[-*+]\s+|\d{1,9}[.)]\s+)?(?:\[[ xX]\]\s+)?/

const placeholderTexts: ReadonlySet<string> = new Set([
  ...['todo', 'tbd', 'tbc', 'tba', 'fixme', 'xxx', '???', 'lorem ipsum', 'placeholder', 'coming soon'],
  ...['to be done', 'to be decided', 'to be defined', 'to be determined', 'to be written', 'to do', 'fill in'],
])

/** The text itself if it is nothing but a placeholder, without the emphasis, brackets and full stops around it. */
function wholeMark(item: string): string | null {
  if (/^(?:\.{3,}|\u2026+)$/.test(item)) return item
  const bare = /^[*_~([{<>}\]).:! ]*(\S.*?)[*_~([{<>}\]).:! ]*$/.exec(item.slice(0, 200))?.[1] ?? ''
  if (placeholderTexts.has(bare.toLowerCase())) return bare
  return /^\[[\p{L}\p{N}][^\][]{0,120}\][.:]?$/u.test(item) && bare.split(/\s+/).length > 2 ? item : null
}

/** "TODO write this" is one, "TODO comments are removed" is none; a fill-in has words that can be no HTML and no type. */
const marks: readonly RegExp[] = [
  /^[\s>*_+\-\d.)[\]]*(?:[xX]\]\s)?(TODO|FIXME|XXX)(?![\w./-])(?!\s*(?:'?s\b|comment|list|item|app\b|marker|file|note|entr|tag))/,
  /(?<![\w./\\-])(TODO|FIXME|XXX|TBD)(?=[:(])/,
  /[[({<](TODO|TBD|TBC|FIXME|XXX)[\])}>]/,
  /[:=\u2013\u2014|]\s{0,3}\**(TODO|FIXME|XXX|TBD|TBC)\**[.!]?\s*$/,
  /(?<=\bis (?:still )?)(TBD|TBC)\b(?![\w/-])/,
  /(\[(?:insert|describe|fill in|placeholder|your)\b[^\][]{0,80}\])(?![([:])/i,
  /(?<![\p{L}\p{N}_)\]])(<(?:\.\.\.|\u2026|\p{Ll}[^<>=/"{}@\s]{0,30}(?: [^<>=/"{}@\s\ufffc]{1,30}){2,8})>)/u,
]
