import { codeMark, type Heading, type Markdown, type MarkdownLine, readMarkdown } from '../../text/markdown.ts'
import { mayBeNew, readStatement, type Statement } from '../../text/statement.ts'
import { atLine, type ChecklistFinding, finding, firstOf, looksLikeFile } from './finding.ts'

export type ChecklistSetup = {
  /** The names of the `##` headings that a plan must have. */
  readonly requiredSections: readonly string[]
  readonly maxBytes: number
  readonly readChanges: (plan: string) => readonly PlannedChange[]
  /** Whether a path of the worktree is there, as a file or a folder. */
  readonly exists: (path: string) => boolean
}

/** What can be said about a plan without understanding it: whether it is all there, and whether its paths are. */
export function checkPlan(plan: string, setup: ChecklistSetup): readonly ChecklistFinding[] {
  if (plan.trim() === '') return [emptyPlan(setup.requiredSections)]
  const markdown = readMarkdown(plan)
  return [
    ...checkSize(plan, setup.maxBytes, 'plan'),
    ...checkSections(markdown, setup.requiredSections),
    ...checkChanges(markdown, setup.readChanges(plan), setup.exists),
    ...checkPlaceholders(markdown, setup.requiredSections),
  ]
}

function emptyPlan(required: readonly string[]): ChecklistFinding {
  const headings = required.map((name) => `\`## ${name}\``).join(', ')
  return finding('critical', 'Plan', {
    problem: 'The plan is empty.',
    evidence: 'There is no text from line 1 on.',
    fix: headings === '' ? 'Write the plan.' : `Write the plan under these headings: ${headings}.`,
  })
}

/** A path that the plan names under `## Changes`, as the gate reads it; a folder ends in a slash. */
export type PlannedChange = {
  readonly pattern: string
  readonly mark: 'new' | 'changed' | 'deleted' | 'renamed' | 'unstated'
  readonly line: number
}

/**
 * Each path that is to be changed is there. A section of prose names many things that look like paths, so only what
 * stands at the head of a line is looked for, and nothing is said where the plan may have meant a new file.
 */
function checkChanges(
  markdown: Markdown,
  changes: readonly PlannedChange[],
  exists: (path: string) => boolean,
): ChecklistFinding[] {
  const section = sectionsNamed(markdown, 'Changes').flatMap((heading) => linesUnder(markdown, heading))
  if (changes.length === 0) return isEmpty(section) ? [] : [namesNothing(markdown)]
  const isThere = (pattern: string): boolean => exists(pattern.replace(/\/+$/, ''))
  const looked = changes.slice(0, mostChanges)
  const found = [...new Set(looked.map(({ line }) => line))].flatMap((number) => {
    const line = markdown.lines[number - 1]
    const named = looked.filter((change) => change.line === number)
    const entry: Entry = { line, heads: findHeads(line?.raw ?? '', named), section }
    return checkLine(entry, isThere)
  })
  const { shown, more } = firstOf(found, 12)
  return more.length === 0 ? [...shown] : [...shown, andMore(more)]
}

const mostChanges = 200

type Entry = {
  readonly line: MarkdownLine | undefined
  readonly heads: readonly PlannedChange[]
  readonly section: readonly MarkdownLine[]
}

function checkLine(entry: Entry, isThere: (pattern: string) => boolean): ChecklistFinding[] {
  // A drawing of folders, or an example.
  if (entry.line?.kind === 'code') return []
  const heads = entry.heads.filter(({ pattern }) => isExact(pattern))
  const stated = readStatement(entry.line)
  if (stated === 'renamed' || (stated === null && heads.some(({ mark }) => mark === 'renamed')))
    return checkRename(entry, heads, isThere)
  return heads.flatMap((change) => {
    const isFolder = change.pattern.endsWith('/')
    if (isThere(change.pattern)) return stated === 'new' && !isFolder ? [notNew(entry, change)] : []
    if (stated === 'new' || !looksLikeFile(change.pattern, isThere)) return []
    const isNew = change.mark === 'new' || mayBeNew(entry.line, change.pattern, entry.section)
    return stated === null && isNew ? [] : [notThere(entry, change, stated)]
  })
}

/** Of a renaming one side has to be there; which one depends on how far the work is. */
function checkRename(
  entry: Entry,
  heads: readonly PlannedChange[],
  isThere: (pattern: string) => boolean,
): ChecklistFinding[] {
  const [from, to] = heads
  const isSure = heads.every(({ pattern }) => looksLikeFile(pattern, isThere) && !isThere(pattern))
  if (from === undefined || to === undefined || !isSure) return []
  return [
    finding('major', 'Changes', {
      problem: `Neither \`${from.pattern}\` nor \`${to.pattern}\` exists, so there is nothing to rename.`,
      evidence: evidenceFor(entry, from),
      fix: `Correct the old path, or list \`${to.pattern}\` as new.`,
    }),
  ]
}

const notThere = (entry: Entry, change: PlannedChange, stated: Statement | null): ChecklistFinding => {
  const { pattern } = change
  const aim = stated === 'changed' || stated === 'deleted' ? `is to be ${stated}, but does not exist` : null
  return finding('major', 'Changes', {
    problem: `\`${pattern}\` ${aim ?? 'does not exist, and the plan does not say that it is new'}.`,
    evidence: evidenceFor(entry, change),
    fix:
      stated === 'deleted'
        ? 'Correct the path, or take the line out.'
        : `Correct the path, or write \`${pattern}\` (new).`,
  })
}

const notNew = (entry: Entry, change: PlannedChange): ChecklistFinding =>
  finding('minor', 'Changes', {
    problem: `\`${change.pattern}\` is said to be new, but exists already.`,
    evidence: evidenceFor(entry, change),
    fix: `Write \`${change.pattern}\` (changed), or choose another path for the new file.`,
  })

const andMore = (more: readonly ChecklistFinding[]): ChecklistFinding =>
  finding(more.some(({ severity }) => severity === 'major') ? 'major' : 'minor', 'Changes', {
    problem: `${more.length} more paths are not as the plan says.`,
    evidence: more
      .map(({ evidence }) => evidence.split(':')[0])
      .join(', ')
      .slice(0, 400),
    fix: 'Check the paths against the worktree.',
  })

/** The gate reads the same list after the approval, and takes the heading word for word. */
function namesNothing(markdown: Markdown): ChecklistFinding {
  const number = sectionsNamed(markdown, 'Changes')[0]?.number ?? 1
  const raw = markdown.lines[number - 1]?.raw ?? ''
  if (!/^ {0,3}##\s*changes\b/i.test(raw))
    return finding('major', 'Changes', {
      problem: 'The heading of the changes is written in a way that no file is found below it.',
      evidence: atLine(number, raw),
      fix: 'Write it as `## Changes`.',
    })
  return finding('major', 'Changes', {
    problem: '`## Changes` names no file.',
    evidence: `Line ${number} is the heading; no path follows it.`,
    fix: 'Give each file a line of its own, such as: - `src/login.ts` (changed): checks the password first',
  })
}

const evidenceFor = ({ line }: Entry, { pattern, line: number }: PlannedChange): string =>
  line === undefined ? `Line ${number}: ${pattern}` : atLine(number, line.raw)

/** A pattern may stand for anything. */
const isExact = (pattern: string): boolean => !/[*?{}[\]$%!=,]/.test(pattern)

/** Each required `## Section` is there and says something. */
function checkSections(markdown: Markdown, required: readonly string[]): ChecklistFinding[] {
  const missing = required.filter((name) => sectionsNamed(markdown, name).length === 0)
  const none = missing.length === required.length && required.length > 1
  return [
    ...(none ? [noSections(markdown, required)] : missing.map((name) => missingSection(markdown, name))),
    ...required.flatMap((name) => hollowSection(markdown, name)),
  ]
}

const sectionsNamed = ({ headings }: Markdown, name: string): Heading[] =>
  headings.filter(({ level, title }) => level === 2 && isNamed(title, name))

/** "Risks and mitigations" are "Risks", "Goals" are the "Goal". */
function isNamed(title: string, name: string): boolean {
  if (title.length < name.length) return false
  const [has, wanted] = [title.toLowerCase(), name.toLowerCase()]
  return (
    has === wanted ||
    has === `${wanted}s` ||
    (has.startsWith(wanted) && /^[^\p{L}\p{N}_-]/u.test(has.slice(wanted.length)))
  )
}

/** The lines under a heading, up to the next one of its rank. */
export const linesUnder = ({ lines }: Markdown, { number, end }: Heading): MarkdownLine[] => lines.slice(number, end)

/** The lines of a section that are nothing but placeholders, where it holds nothing else. */
function placeholdersAlone(lines: readonly MarkdownLine[]): MarkdownLine[] {
  const said = lines.filter(({ kind }) => kind === 'text' || kind === 'code')
  return said.every(isOnlyPlaceholder) ? said : []
}

export const isEmpty = (lines: readonly MarkdownLine[]): boolean =>
  !lines.some(({ kind }) => kind === 'text' || kind === 'code')

function hollowSection(markdown: Markdown, name: string): ChecklistFinding[] {
  const sections = sectionsNamed(markdown, name).map((heading) => ({ heading, lines: linesUnder(markdown, heading) }))
  const [section] = sections
  if (section === undefined) return []
  const { heading } = section
  if (sections.every(({ lines }) => isEmpty(lines)))
    return [
      finding('major', heading.title, {
        problem: `\`## ${heading.title}\` is empty.`,
        evidence: `Line ${heading.number} is the heading, and nothing follows it.`,
        fix: `Write below it ${purposeOf(name)}.`,
      }),
    ]
  const [alone] = sections.flatMap(({ lines }) => placeholdersAlone(lines))
  if (alone === undefined || sections.some(({ lines }) => !isEmpty(lines) && placeholdersAlone(lines).length === 0))
    return []
  return [
    finding('major', heading.title, {
      problem: `\`## ${heading.title}\` holds only a placeholder.`,
      evidence: atLine(alone.number, alone.raw),
      fix: `Put in its place ${purposeOf(name)}.`,
    }),
  ]
}

function missingSection(markdown: Markdown, name: string): ChecklistFinding {
  const near = markdown.headings.find(({ title }) => isNamed(title, name) || isNamed(`${title}s`, name))
  if (near !== undefined)
    return finding('major', name, {
      problem: `There is no \`## ${name}\`, but \`${'#'.repeat(near.level)} ${near.title}\`.`,
      evidence: `Line ${near.number}: ${'#'.repeat(near.level)} ${near.title}`,
      fix: `Write that heading as \`## ${name}\`.`,
    })
  return finding('major', name, {
    problem: `There is no \`## ${name}\` section.`,
    evidence: headingsOf(markdown),
    fix: `Add \`## ${name}\`: ${purposeOf(name)}.`,
  })
}

const noSections = (markdown: Markdown, required: readonly string[]): ChecklistFinding =>
  finding('major', 'Plan', {
    problem: 'None of the sections of a plan is there.',
    evidence: headingsOf(markdown),
    fix: `Write the plan under these headings: ${required.map((name) => `\`## ${name}\``).join(', ')}.`,
  })

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

type Placeholder = { readonly line: MarkdownLine; readonly mark: string }

/**
 * Text that stands for text still to be written. Plans also speak of TODO comments and of `<br>`, so a word counts only
 * where it can hardly be meant otherwise; what is doubtful is left alone.
 */
function findPlaceholder(line: MarkdownLine, isOpenQuestion = false): Placeholder | null {
  if (line.kind !== 'text') return null
  // That something is undecided is what a question is about; a line that says nothing else asks nothing.
  const items = isOpenQuestion && !isOnlyPlaceholder(line) ? [] : itemsIn(line.prose)
  const mark =
    items.map(wholeMark).find(isFound) ??
    rules
      .filter(({ isQuestion }) => !(isQuestion && isOpenQuestion))
      .map(({ find }) => find(line.prose))
      .find(isFound)
  return mark === undefined ? null : { line, mark }
}

/** Whether a line says nothing besides. */
const isOnlyPlaceholder = (line: MarkdownLine): boolean => {
  const items = itemsIn(line.prose).filter((item) => item !== '')
  return line.kind === 'text' && items.length > 0 && items.every((item) => isFound(wholeMark(item)))
}

const isFound = (mark: string | null): mark is string => mark !== null

/** The cells of a table row, or the text of the line without what makes it an item of a list. */
function itemsIn(prose: string): string[] {
  const text = prose.trim()
  if (text.startsWith('|')) return text.split('|').map((cell) => cell.trim())
  return [text.replace(/^(?:>\s?){0,5}(?:[-*+]\s+|\d{1,9}[.)]\s+)?(?:\[[ xX]\]\s+)?/, '').trim()]
}

const wholes: ReadonlySet<string> = new Set([
  ...['todo', 'tbd', 'tbc', 'tba', 'fixme', 'xxx', '???', 'lorem ipsum', 'placeholder', 'coming soon'],
  ...['to be done', 'to be decided', 'to be defined', 'to be determined', 'to be written', 'to do', 'fill in'],
])

/** For text that is nothing but a placeholder. */
function wholeMark(item: string): string | null {
  if (/^(?:\.{3,}|\u2026+)$/.test(item)) return item
  const bare = stripped(item)
  if (wholes.has(bare.toLowerCase())) return bare
  if (/^\[[\p{L}\p{N}][^\][]{0,120}\][.:]?$/u.test(item) && bare.split(/\s+/).length > 2) return item
  return /^<[\p{L}\u2026.][^<>=]{0,80}>[.:]?$/u.test(item) && !isTag(item.slice(1)) ? item : null
}

/** Without emphasis, brackets and full stops around it. */
function stripped(item: string): string {
  const around = '*_~([{<>}]).:! '
  let [start, end] = [0, item.length]
  while (start < end && around.includes(item.charAt(start))) start += 1
  while (end > start && around.includes(item.charAt(end - 1))) end -= 1
  return item.slice(start, end)
}

type Rule = {
  readonly find: (prose: string) => string | null
  /** A question that is open may say so. */
  readonly isQuestion?: true
}

const first =
  (pattern: RegExp) =>
  (prose: string): string | null =>
    pattern.exec(prose)?.[1] ?? null

const rules: readonly Rule[] = [
  { find: findAtStart },
  { find: first(/(?<![\w./\\-])(TODO|FIXME|XXX|TBD)(?=[:(])/) },
  { find: first(/[[({<](TODO|TBD|TBC|FIXME|XXX)[\])}>]/) },
  { find: first(/[:=\u2013\u2014|]\s{0,3}\**(TODO|FIXME|XXX)\**[.!]?\s*$/) },
  { find: findUndecided, isQuestion: true },
  { find: first(/(?<!\w)(lorem ipsum dolor)\b/i) },
  { find: first(/(\[(?:insert|describe|fill in|placeholder|your)\b[^\][]{0,80}\])(?![([:])/i) },
  { find: findFillIn },
]

/** "TODO write this" is one, "TODO comments are removed" is none. */
function findAtStart(prose: string): string | null {
  const [, mark = null, rest = ''] =
    /^[\s>*_+\-\d.)[\]]*(?:[xX]\]\s)?(TODO|FIXME|XXX)(?![\w./-])(.*)$/.exec(prose) ?? []
  return /^\s*(?:'?s\b|comment|list|item|app\b|marker|file|note|entr|tag)/i.test(rest) ? null : mark
}

/** "The timeout is TBD" is a gap; "no TBD is left" and "each TBD" speak of one. */
function findUndecided(prose: string): string | null {
  for (const match of prose.matchAll(/(?<![\w./\\-])(?:TBD|TBC)(?![\w/\\-])/g)) {
    const before = /(\p{L}+)\s+$/u.exec(prose.slice(Math.max(0, match.index - 20), match.index))?.[1] ?? ''
    if (!determiners.has(before.toLowerCase())) return match[0]
  }
  return null
}

const determiners: ReadonlySet<string> = new Set(
  'a all an any each every existing no of old or remaining stale such that the these this those with'.split(' '),
)

/** `<describe the goal>`: two words or more, none of which can be HTML, a type or an address. */
function findFillIn(prose: string): string | null {
  for (const [whole, inside = ''] of prose.matchAll(/(?<![\p{L}\p{N}_)\]])<([\p{L}\u2026.][^<>=/"{}@]{0,80})>/gu)) {
    const words = inside.trim().split(/\s+/)
    const reads = inside.trim() === '...' || inside.trim() === '\u2026' || words.length > 2 || /^\p{Ll}/u.test(inside)
    const isLong = words.length > 1 || /^[.\u2026]+$/.test(inside)
    if (reads && isLong && !isTag(inside) && !whole.includes(codeMark)) return whole
  }
  return null
}

const tags: ReadonlySet<string> = new Set(
  (
    'a abbr address article aside audio b bdi bdo blockquote body br button canvas caption center circle cite code ' +
    'col colgroup data datalist dd del details dfn dialog div dl dt em embed fieldset figcaption figure font footer ' +
    'form g h1 h2 h3 h4 h5 h6 head header hr html i iframe img input ins kbd label legend li line link main map mark ' +
    'menu meta meter nav noscript object ol optgroup option output p path picture pre progress q rect rp rt ruby s ' +
    'samp script section select slot small source span strike strong style sub summary sup svg table tbody td ' +
    'template textarea tfoot th thead time title tr track tt u ul use var video wbr'
  ).split(' '),
)

/** Custom elements and generic types are no fill-ins either. */
const isTag = (inside: string): boolean => {
  const name = /^[\p{L}\p{N}]*/u.exec(inside)?.[0].toLowerCase() ?? ''
  return tags.has(name) || /^[\w-]+:/.test(inside) || /^[a-z]+-[a-z-]+>?$/.test(inside)
}

/** The paths that a line is about: those before it begins to tell about them. */
function findHeads(raw: string, named: readonly PlannedChange[]): PlannedChange[] {
  const placed = named
    .map((change) => ({ change, at: raw.indexOf(change.pattern) }))
    .sort((one, other) => one.at - other.at)
  const heads: PlannedChange[] = []
  let end = 0
  for (const { change, at } of placed) {
    // Not found in the text: whoever read it knows better.
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

const leadIns: ReadonlySet<string> = new Set(
  (
    'and plus or to in the both x file files folder folders test tests new change changed modify update updated edit ' +
    'extend create created add added delete deleted remove removed rename renamed move moved rewrite'
  ).split(' '),
)

/** Every place that is still to be written; a section that is nothing else is reported as a whole, by its name. */
export function checkPlaceholders(markdown: Markdown, reported: readonly string[]): ChecklistFinding[] {
  const silent = new Set(
    markdown.headings
      .filter(
        ({ level, title }) =>
          level === 2 && reported.some((name) => title.toLowerCase().startsWith(name.toLowerCase())),
      )
      .flatMap((heading) => placeholdersAlone(linesUnder(markdown, heading)))
      .map(({ number }) => number),
  )
  const headingAt = headingsByLine(markdown)
  const found = markdown.lines
    .filter(({ number }) => !silent.has(number))
    .flatMap((line) => {
      const section = headingAt(line.number)
      const placeholder = findPlaceholder(line, /^open\b|questions?$/i.test(section))
      return placeholder === null ? [] : [{ ...placeholder, section }]
    })
  const { shown, more } = firstOf(found, 12)
  return [
    ...shown.map(({ line, mark, section }) =>
      finding('major', section, {
        problem: `"${mark}" stands for something that is still to be written.`,
        evidence: atLine(line.number, line.raw),
        fix: 'Write it, or take the line out; what only the user can decide belongs under Open Questions.',
      }),
    ),
    ...(more.length === 0
      ? []
      : [
          finding('major', more[0]?.section ?? '', {
            problem: `${more.length} more places are still to be written.`,
            evidence: `Lines ${more
              .slice(0, 40)
              .map(({ line }) => line.number)
              .join(', ')}${more.length > 40 ? ' and further' : ''}.`,
            fix: 'Write them, or take the lines out.',
          }),
        ]),
  ]
}

/** The heading that a line stands under; lines are asked for in their order. */
function headingsByLine({ headings }: Markdown): (number: number) => string {
  let at = 0
  return (number) => {
    while ((headings[at]?.number ?? Number.POSITIVE_INFINITY) <= number) at += 1
    return headings[at - 1]?.title ?? 'Beginning'
  }
}

/** A reviewer that gets too much reads the beginning, and says nothing of the rest. */
export function checkSize(text: string, maxBytes: number, name: string): ChecklistFinding[] {
  const bytes = Buffer.byteLength(text)
  if (bytes <= maxBytes) return []
  const line = Buffer.from(text).subarray(0, maxBytes).toString('utf8').split('\n').length
  return [
    finding('major', 'Size', {
      problem: `The ${name} has ${grouped(bytes)} bytes; at most ${grouped(maxBytes)} are reviewed.`,
      evidence: `Line ${line} is where the limit is reached.`,
      fix: 'Move listings and logs out of it, or split the work in two.',
    }),
  ]
}

const grouped = (count: number): string => String(count).replace(/\B(?=(?:\d{3})+$)/g, ',')
