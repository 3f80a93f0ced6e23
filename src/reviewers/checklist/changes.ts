import { type Heading, isEmpty, linesUnder, type Markdown, type MarkdownLine } from '../../text/markdown.ts'
import { atLine, type ChecklistFinding, finding, limitFindings } from './finding.ts'

/** A path that the plan names under `## Changes`, as the gate reads it; a folder ends in a slash. */
export type PlannedChange = {
  readonly pattern: string
  readonly mark: 'new' | 'changed' | 'deleted' | 'renamed' | 'unstated'
  readonly line: number
}

/**
 * Each path that is to be changed exists. Prose contains many words that look like paths, so only those at the head of a
 * line are checked, and nothing is reported where the plan may have meant a new file.
 */
export function checkChanges(
  markdown: Markdown,
  headings: readonly Heading[],
  changes: readonly PlannedChange[],
  exists: (path: string) => boolean,
): readonly ChecklistFinding[] {
  const section = headings.flatMap((heading) => linesUnder(markdown, heading))
  if (changes.length === 0) return isEmpty(section) ? [] : [namesNothing(markdown, headings[0]?.number ?? 1)]
  const pathExists = (pattern: string): boolean => exists(pattern.replace(/\/+$/, ''))
  const checked = changes.slice(0, maxChanges)
  const found = [...new Set(checked.map(({ line }) => line))].flatMap((number) => {
    const named = checked.filter((change) => change.line === number)
    return checkLine(markdown.lines[number - 1], named, section, pathExists)
  })
  return limitFindings(found, 12, (count) => `${count} more paths are not as the plan says.`)
}

const maxChanges = 200

function checkLine(
  line: MarkdownLine | undefined,
  named: readonly PlannedChange[],
  section: readonly MarkdownLine[],
  pathExists: (pattern: string) => boolean,
): ChecklistFinding[] {
  // A folder tree, or an example.
  if (line?.kind === 'code') return []
  const heads = findHeads(line?.raw ?? '', named).filter(({ pattern }) => isExact(pattern))
  const stated = readStatement(line)
  const isMissing = ({ pattern }: PlannedChange): boolean => !pathExists(pattern) && looksLikeFile(pattern, pathExists)
  const report = (
    severity: 'major' | 'minor',
    { pattern, line: number }: PlannedChange,
    problem: string,
    fix: string,
  ) => finding(severity, 'Changes', { problem, evidence: atLine(line ?? { number, raw: pattern }), fix })

  if (stated === 'renamed' || (stated === null && heads.some(({ mark }) => mark === 'renamed'))) {
    // One side has to exist; which one depends on the progress of the work.
    const [from, to] = heads
    if (from === undefined || to === undefined || !heads.every(isMissing)) return []
    const problem = `Neither \`${from.pattern}\` nor \`${to.pattern}\` exists, so there is nothing to rename.`
    return [report('major', from, problem, `Correct the old path, or list \`${to.pattern}\` as new.`)]
  }
  return heads.flatMap((change) => {
    const path = `\`${change.pattern}\``
    if (stated === 'new' && pathExists(change.pattern) && !change.pattern.endsWith('/')) {
      const fix = `Write ${path} (changed), or choose another path for the new file.`
      return [report('minor', change, `${path} is marked as new, but exists already.`, fix)]
    }
    if (stated === 'new' || !isMissing(change)) return []
    const correct = `Correct the path, or write ${path} (new).`
    if (stated === 'deleted')
      return [
        report(
          'major',
          change,
          `${path} is to be deleted, but does not exist.`,
          'Correct the path, or take the line out.',
        ),
      ]
    if (stated === 'changed') return [report('major', change, `${path} is to be changed, but does not exist.`, correct)]
    const problem = `${path} does not exist, and the plan does not say that it is new.`
    const isNew = change.mark === 'new' || mayBeNew(line, change.pattern, section)
    return isNew ? [] : [report('major', change, problem, correct)]
  })
}

/** The gate reads the same list after the approval, and needs the exact heading. */
function namesNothing(markdown: Markdown, number: number): ChecklistFinding {
  const raw = markdown.lines[number - 1]?.raw ?? ''
  const isExactHeading = /^ {0,3}##\s*changes\b/i.test(raw)
  return finding('major', 'Changes', {
    problem: isExactHeading
      ? '`## Changes` names no file.'
      : 'The heading of the changes is written in a way that no file is found below it.',
    evidence: atLine({ number, raw }),
    fix: isExactHeading
      ? 'Give each file a line of its own, such as: - `src/login.ts` (changed): checks the password first'
      : 'Write it as `## Changes`.',
  })
}

/** Not a glob, which may match anything. */
const isExact = (pattern: string): boolean => !/[*?{}[\]$%!=,]/.test(pattern)

/** The paths that a line is about: those before its description. */
function findHeads(raw: string, named: readonly PlannedChange[]): PlannedChange[] {
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

const leadIns: ReadonlySet<string> = new Set(
  (
    'and plus or to in the both x file files folder folders test tests new change changed modify update updated edit ' +
    'extend create created add added delete deleted remove removed rename renamed move moved rewrite'
  ).split(' '),
)

/** Unlikely to be a package, a branch, a field or the name of a product. */
function looksLikeFile(pattern: string, pathExists: (pattern: string) => boolean): boolean {
  const [first = '', ...others] = pattern.split('/')
  const ending = /\.([A-Za-z][A-Za-z0-9]{0,9})$/.exec(pattern)?.[1]?.toLowerCase()
  if (others.length === 0)
    return ending !== undefined && fileExtensions.has(ending) && !productNames.has(pattern.toLowerCase())
  if (/^[\w-]+\.(?:com|org|net|io|dev|app)$/.test(first)) return false
  return pattern.endsWith('/') || ending !== undefined || pathExists(first)
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

const fileExtensions = words(
  'ts tsx mts cts js jsx mjs cjs json yaml yml toml ini md mdx txt css scss html htm vue svelte py go rs java kt kts ' +
    'rb php cs cpp c h swift sh sql xml lock proto graphql tf',
)
const productNames = words(
  'node.js next.js vue.js nuxt.js express.js react.js ember.js alpine.js backbone.js electron.js three.js d3.js ' +
    'chart.js moment.js discord.js',
)

type Statement = 'new' | 'changed' | 'deleted' | 'renamed'

/** What a line states about its file: in brackets, after a dash, in a table cell, or before the path. */
function readStatement(line: MarkdownLine | undefined): Statement | null {
  const prose = line?.prose ?? ''
  const word = (aside.exec(prose) ?? order.exec(prose))?.[1] ?? ''
  const statements = Object.keys(forms) as Statement[]
  return statements.find((statement) => new RegExp(`^(?:${forms[statement]})$`, 'i').test(word)) ?? null
}

const forms = {
  new: 'new|created?|added?|add',
  changed: 'changed?|modif(?:y|ied)|edit(?:ed)?|updated?',
  deleted: 'deleted?|removed?',
  renamed: 'renamed?|moved?',
} as const satisfies { [statement in Statement]: string }

const anyForm = Object.values(forms).join('|')

const aside = new RegExp(
  `[([|*_\u2013\u2014-]\\s*(${anyForm})(?=\\s*(?:[)\\]|,;:.*_\u2013\u2014-]|$|file\\b|module\\b|test\\b))`,
  'i',
)

/** Followed by what was code, which is the path. */
const order = new RegExp(
  `^\\s*(?:[-*+]|\\d{1,9}[.)])?\\s*(?:\\[[ xX]\\]\\s*)?(${anyForm})\\s+(?:the\\s+)?(?:files?\\s+)?\ufffc`,
  'i',
)

/** Whether a word for newness stands in the line, in what leads to it or follows, or where the section names the path. */
function mayBeNew(line: MarkdownLine | undefined, pattern: string, section: readonly MarkdownLine[]): boolean {
  const at = section.findIndex(({ number }) => number === line?.number)
  const near = at === -1 ? [] : [...linesLeadingTo(at, section), ...linesFollowing(at, section)]
  return [...near, ...section.filter(({ raw }) => raw.includes(pattern))].some(({ prose }) =>
    /\bnew\b|\bcreat|\badd|\bintroduc|\bgenerat|\bwrite\b/i.test(prose),
  )
}

/** The subheading, the sentence that ends in a colon and the items above that a line belongs to. */
function linesLeadingTo(at: number, section: readonly MarkdownLine[]): MarkdownLine[] {
  const leads: MarkdownLine[] = []
  let indent = indentOf(section[at])
  const above = section.slice(Math.max(0, at - 200), at).reverse()
  for (const line of above.filter(({ kind }) => kind !== 'blank')) {
    if (line.kind === 'heading') return [...leads, line]
    if (/(?::|\*\*|__)$/.test(line.prose) || indentOf(line) < indent) leads.push(line)
    indent = Math.min(indent, indentOf(line))
  }
  return leads
}

/** Deeper items below a line, or the text under a heading. */
function linesFollowing(at: number, section: readonly MarkdownLine[]): MarkdownLine[] {
  const line = section[at]
  const below = section.slice(at, at + 9)
  const end = below.findIndex(
    (other) =>
      other !== line &&
      (other.kind === 'heading' ||
        (line?.kind !== 'heading' && other.kind !== 'blank' && indentOf(other) <= indentOf(line))),
  )
  return end === -1 ? below : below.slice(0, end)
}

const indentOf = (line: MarkdownLine | undefined): number =>
  line === undefined ? 0 : line.raw.length - line.raw.trimStart().length
