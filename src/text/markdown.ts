export type MarkdownLine = {
  readonly number: number
  readonly raw: string
  /** `blank`: also what is not to be read, such as a rule, a comment, the fence of a block of code. */
  readonly kind: 'blank' | 'heading' | 'code' | 'text'
  /** Without code, comments, quotations and the targets of links. */
  readonly prose: string
}

export type Heading = {
  readonly level: number
  readonly title: string
  readonly number: number
  /** The number of the last line below it, up to the next heading of its rank. */
  readonly end: number
}

export type Markdown = { readonly lines: readonly MarkdownLine[]; readonly headings: readonly Heading[] }

export const indentOf = (line: MarkdownLine | undefined): number =>
  line === undefined ? 0 : line.raw.length - line.raw.trimStart().length

/** As much of Markdown as a checklist needs; every step is linear in the length of the text. */
export function readMarkdown(text: string): Markdown {
  const raws = text.replace(/^\ufeff/, '').split(/\r?\n/)
  const lastCommentEnd = raws.findLastIndex((raw) => raw.includes('-->'))
  const read: Reading = { lines: [], headings: [], fence: '', isInComment: false, isInList: false, wasBlank: true }
  const frontMatterEnd = raws[0] === '---' ? raws.indexOf('---', 1) : -1
  for (const [index, raw] of raws.entries()) {
    // Nobody writes longer lines by hand, and what is not looked at is not complained about.
    const line = { number: index + 1, raw, text: raw.slice(0, 5_000) }
    if (index <= frontMatterEnd) add(read, line, 'blank')
    else if (raw === '' && read.fence === '') readBlank(read, line)
    else if (!readFence(read, line)) readLine(read, line, index < lastCommentEnd)
  }
  return { lines: read.lines, headings: withEnds(read.headings, raws.length) }
}

function withEnds(headings: readonly Omit<Heading, 'end'>[], last: number): Heading[] {
  const closed: Heading[] = []
  // For each rank, where the nearest heading further down is that ends it.
  const ends = Array.from({ length: 7 }, () => last)
  for (const heading of headings.toReversed()) {
    closed.push({ ...heading, end: ends[heading.level] ?? last })
    ends.fill(heading.number - 1, heading.level)
  }
  return closed.reverse()
}

type Line = { readonly number: number; readonly raw: string; readonly text: string }

type Reading = {
  readonly lines: MarkdownLine[]
  readonly headings: Omit<Heading, 'end'>[]
  fence: string
  isInComment: boolean
  isInList: boolean
  wasBlank: boolean
}

const add = ({ lines }: Reading, { number, raw }: Line, kind: MarkdownLine['kind'], prose = ''): unknown =>
  lines.push({ number, raw, kind, prose })

function readBlank(read: Reading, line: Line): void {
  read.wasBlank = true
  add(read, line, 'blank')
}

/** Whether the line belongs to a fenced block of code. */
function readFence(read: Reading, line: Line): boolean {
  if (read.isInComment) return false
  const mayBeFence = line.text.includes('```') || line.text.includes('~~~')
  const [, mark = '', info = ''] = (mayBeFence && /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line.text)) || []
  if (read.fence === '') {
    if (mark === '' || (mark.startsWith('`') && info.includes('`'))) return false
    read.fence = mark
    add(read, line, 'blank')
    return true
  }
  const isEnd = mark.startsWith(read.fence) && info.trim() === ''
  if (isEnd) read.fence = ''
  add(read, line, isEnd || line.raw.trim() === '' ? 'blank' : 'code')
  return true
}

function readLine(read: Reading, line: Line, mayStayOpen: boolean): void {
  const { prose, isInComment } = readProse(line.text, read.isInComment, mayStayOpen)
  read.isInComment = isInComment
  const mayBeCode = read.wasBlank && !read.isInList
  read.wasBlank = prose === '' || (mayBeCode && /^(?: {4}|\t)/.test(line.text))
  if (prose === '') add(read, line, 'blank')
  else if (read.wasBlank) add(read, line, 'code')
  else if (!readHeading(read, line, prose)) {
    read.isInList ||= /^\s*(?:[-*+]|\d{1,9}[.)])\s/.test(prose)
    add(read, line, isRule(prose) ? 'blank' : 'text', prose)
  }
}

function readHeading(read: Reading, line: Line, prose: string): boolean {
  const [, marks = '', title = ''] = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/.exec(line.text) ?? []
  if (marks !== '') {
    read.isInList = false
    read.headings.push({ level: marks.length, title: titleOf(title), number: line.number })
    add(read, line, 'heading', prose)
    return true
  }
  const before = read.lines.at(-1)
  const underline = before?.kind === 'text' ? /^ {0,3}(=+|-{2,})$/.exec(prose)?.[1] : undefined
  if (underline === undefined || before?.kind !== 'text' || /^\s*(?:[-*+>|]|\d{1,9}[.)]\s)/.test(before.raw))
    return false
  read.isInList = false
  read.headings.push({ level: underline.startsWith('=') ? 1 : 2, title: titleOf(before.raw), number: before.number })
  read.lines.splice(-1, 1, { ...before, kind: 'heading' })
  add(read, line, 'blank')
  return true
}

/** `## **2. Open questions:** ##` is called "Open questions". */
const titleOf = (text: string): string =>
  text
    .slice(0, 200)
    .replace(/<!--[^>]*-->/g, '')
    .replace(/[*_`#]/g, '')
    .trim()
    .replace(/^\d[\d.]{0,10}[.):]?\s+/, '')
    .replace(/\s+/g, ' ')
    .replace(/[\s:]+$/, '')

const isRule = (prose: string): boolean => /^ {0,3}([-*_])(?:[ \t]*\1){2,}$/.test(prose)

/** Stands where code or a quotation was, so that a line that is nothing else is not taken for empty. */
export const codeMark = '\ufffc'

/** What the author of a line says, with everything else blanked; columns stay as they are. */
function readProse(line: string, isInComment: boolean, mayStayOpen: boolean): { prose: string; isInComment: boolean } {
  const spoken = withoutComments(withoutCodeSpans(line), isInComment, mayStayOpen)
  return { prose: withoutQuotations(spoken.text).trimEnd(), isInComment: spoken.isOpen }
}

function withoutCodeSpans(line: string): string {
  if (!line.includes('`')) return line
  const runs = [...line.matchAll(/`+/g)].map((run) => ({ at: run.index, length: run[0].length }))
  const closing = closingRuns(runs)
  let [text, end] = ['', 0]
  for (const [i, { at }] of runs.entries()) {
    const close = runs[closing[i] ?? -1]
    if (at < end || close === undefined) continue
    const stop = close.at + close.length
    text += line.slice(end, at) + codeMark.repeat(stop - at)
    end = stop
  }
  return text + line.slice(end)
}

/** For each run of backticks, the next one of the same length. */
function closingRuns(runs: readonly { length: number }[]): (number | undefined)[] {
  const nearest = new Map<number, number>()
  const closing = runs.map((): number | undefined => undefined)
  for (let i = runs.length - 1; i >= 0; i -= 1) {
    const length = runs[i]?.length ?? 0
    closing[i] = nearest.get(length)
    nearest.set(length, i)
  }
  return closing
}

function withoutComments(line: string, isOpen: boolean, mayStayOpen: boolean): { text: string; isOpen: boolean } {
  if (!isOpen && !line.includes('<!--')) return { text: line, isOpen }
  let [text, rest, open] = ['', line, isOpen]
  for (;;) {
    const at = rest.indexOf(open ? '-->' : '<!--')
    const isText = at === -1 || (!open && !mayStayOpen && rest.indexOf('-->', at) === -1)
    if (isText) return { text: open ? text : text + rest, isOpen: open }
    text += open ? ' '.repeat(at + 3) : rest.slice(0, at)
    rest = rest.slice(open ? at + 3 : at)
    open = !open
  }
}

function withoutQuotations(text: string): string {
  if (!/["'\u201c\u00ab(]/.test(text)) return text
  return text
    .replace(/"[^"]{1,80}"|\u201c[^\u201d]{1,80}\u201d|\u00ab[^\u00bb]{1,80}\u00bb/g, blank)
    .replace(/(?<!\w)'[^']{1,80}'(?!\w)/g, blank)
    .replace(/\]\([^()\s]{1,300}\)/g, blank)
}

const blank = (text: string): string => codeMark.repeat(text.length)

/** Lines count from 1, and `to` is the last that belongs to it. */
export type LineRange = { readonly from: number; readonly to: number }

/** From a heading to the next one of its rank or above. */
export type Section = LineRange & { readonly title: string; readonly rank: number }

export type Outline = {
  /** Without what ends them. */
  readonly lines: readonly string[]
  readonly sections: readonly Section[]
  /** The paragraph, list item, table row or code block that a line belongs to. */
  readonly blockAt: (line: number) => LineRange
  /** The first line, from this block on, after which something can stand without tearing apart what belongs together. */
  readonly gapAfter: (line: number) => number
  /** What has to stand at the end for a code block or a comment to be closed; '' where none is open. */
  readonly stillOpen: string
}

/** What a plan consists of. A `#` inside a code block or a comment is no heading. */
export function readOutline(plan: string): Outline {
  const lines = plan.split('\n').map((line) => line.replace(/\r$/, ''))
  if (lines.at(-1) === '') lines.pop()
  const read = readLines(lines)
  const ends = blockEnds(read)
  const gaps = nextGaps(read)
  const endOf = (line: number): number => ends.get(read[line - 1]?.block ?? line) ?? line
  return {
    lines,
    sections: sectionsIn(read),
    blockAt: (line) => ({ from: read[line - 1]?.block ?? line, to: endOf(line) }),
    gapAfter: (line) => gaps[endOf(line) - 1] ?? read.length,
    stillOpen: closing(read.at(-1)?.inside ?? outside),
  }
}

/** What is open after a line. */
type Inside =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'code'; readonly fence: string }
  | { readonly kind: 'comment' }

type Kind = 'blank' | 'heading' | 'item' | 'row' | 'fence' | 'text' | 'enclosed'

type ReadLine = {
  readonly text: string
  readonly kind: Kind
  readonly inside: Inside
  readonly isIndented: boolean
  /** The line with which its block begins. */
  readonly block: number
  /** Whether that is the line of a list item. */
  readonly inItem: boolean
}

const outside: Inside = { kind: 'nothing' }

function readLines(lines: readonly string[]): readonly ReadLine[] {
  const read: ReadLine[] = []
  let written: ReadLine | undefined
  for (const [index, text] of lines.entries()) {
    const before = read.at(-1)
    const wasInside = before?.inside ?? outside
    const kind = wasInside.kind === 'nothing' ? kindOf(text) : 'enclosed'
    const line = { text, kind, inside: insideAfter(text, wasInside), isIndented: /^(?: {2}|\t)/.test(text) }
    const above = blockGoingOn(line, before, written)
    const own = above ?? { block: index + 1, inItem: kind === 'item' }
    read.push({ ...line, block: own.block, inItem: own.inItem })
    if (kind !== 'blank') written = read.at(-1)
  }
  return read
}

const kinds: readonly (readonly [RegExp, Kind])[] = [
  [/^\s*$/, 'blank'],
  [/^ {0,3}#{1,6}(?:[ \t]|$)/, 'heading'],
  [/^ {0,3}(?:`{3,}[^`]*|~{3,}.*)$/, 'fence'],
  [/^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/, 'item'],
  [/^ {0,3}\|/, 'row'],
]

/** Most lines begin with a letter, and those are text. */
const kindOf = (text: string): Kind =>
  /^\s*[^\s#`~*+|\d-]/.test(text) ? 'text' : (kinds.find(([pattern]) => pattern.test(text))?.[1] ?? 'text')

/** As CommonMark has it: a fence is closed by one of its kind that is as long, a comment begins at the start of a line. */
function insideAfter(text: string, inside: Inside): Inside {
  switch (inside.kind) {
    case 'nothing': {
      if (!/`{3}|~{3}|<!--/.test(text)) return outside
      const fence = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/.exec(text)?.[1]
      if (fence !== undefined) return { kind: 'code', fence }
      return /^ {0,3}<!--/.test(text) && !text.includes('-->') ? { kind: 'comment' } : outside
    }
    case 'code': {
      const fence = /^ {0,3}(`{3,}|~{3,})\s*$/.exec(text)?.[1] ?? ''
      return fence.startsWith(inside.fence) ? outside : inside
    }
    case 'comment':
      return text.includes('-->') ? outside : inside
  }
}

/** The line whose block this one carries on. An item goes on after blank lines, if what follows is indented. */
function blockGoingOn(
  line: Pick<ReadLine, 'kind' | 'isIndented'>,
  before: ReadLine | undefined,
  written: ReadLine | undefined,
): ReadLine | undefined {
  switch (line.kind) {
    case 'enclosed':
      return before
    case 'blank':
    case 'heading':
    case 'row':
      return undefined
    case 'item':
    case 'fence':
      return line.isIndented && written?.inItem ? written : undefined
    case 'text':
      if (line.isIndented && written?.inItem) return written
      return before?.kind === 'text' || before?.kind === 'item' || before?.kind === 'row' ? before : undefined
  }
}

function blockEnds(read: readonly ReadLine[]): ReadonlyMap<number, number> {
  const ends = new Map<number, number>()
  for (const [index, { block }] of read.entries()) ends.set(block, index + 1)
  return ends
}

function sectionsIn(read: readonly ReadLine[]): readonly Section[] {
  const open: { title: string; rank: number; from: number; to: number }[] = []
  const sections: { title: string; rank: number; from: number; to: number }[] = []
  for (const [index, { kind, text }] of read.entries()) {
    if (kind !== 'heading') continue
    const rank = /#+/.exec(text)?.[0].length ?? 1
    for (let last = open.at(-1); last !== undefined && last.rank >= rank; last = open.at(-1)) {
      last.to = index
      open.pop()
    }
    const section = { title: titleOfReadOutline(text), rank, from: index + 1, to: read.length }
    sections.push(section)
    open.push(section)
  }
  return sections
}

const titleOfReadOutline = (heading: string): string =>
  heading.trim().replace(/^#+/, '').trim().replace(/ #+$/, '').trim()

/** For each line, the first one from there on after which there is a gap. */
function nextGaps(read: readonly ReadLine[]): readonly number[] {
  const gaps = new Array<number>(read.length)
  let gap = read.length
  let written: ReadLine | undefined
  for (let index = read.length - 1; index >= 0; index -= 1) {
    const line = read[index]
    if (line !== undefined && isGap(line, read[index + 1], written)) gap = index + 1
    gaps[index] = gap
    if (line?.kind !== 'blank') written = line
  }
  return gaps
}

/** `written` is the next line that is not blank. */
function isGap(line: ReadLine, next: ReadLine | undefined, written: ReadLine | undefined): boolean {
  if (line.inside.kind !== 'nothing') return false
  if (line.kind === 'heading' || next === undefined || written === undefined) return true
  if (written.isIndented || next.block === line.block) return false
  return line.kind !== 'row' || next.kind !== 'row'
}

function closing(inside: Inside): string {
  switch (inside.kind) {
    case 'nothing':
      return ''
    case 'code':
      return inside.fence
    case 'comment':
      return '-->'
  }
}

/** A heading and what stands under it up to the next heading; the text before the first one has none. */
export type SectionTokens = {
  readonly heading: string
  readonly title: string
  readonly level: number
  readonly start: number
  readonly bodyStart: number
  readonly end: number
  readonly rank: Rank
}

/** 0 is what must not be missing. */
type Rank = 0 | 1 | 2 | 3

/** By the words of a heading; the first row that matches holds. */
const ranks: readonly { readonly rank: Rank; readonly title: RegExp }[] = [
  {
    rank: 3,
    title: /\b(appendix|appendices|references?|bibliography|glossary|change ?log|history|further reading|see also)\b/i,
  },
  {
    rank: 0,
    title: /\b(requirements?|acceptance|criteria|goals?|objectives?|scope|constraints?|user stor(y|ies)|problem)\b/i,
  },
  {
    rank: 1,
    title: /\b(architecture|design|approach|changes?|solution|implementation|interfaces?|components?|steps?|tasks?)\b/i,
  },
]

/** The sections of a Markdown document, in its order; without the deeper headings where there are thousands. */
export function readSections(text: string): readonly SectionTokens[] {
  const headings = findHeadings(text, 6) ?? findHeadings(text, 2) ?? findHeadings(text, 1) ?? []
  const starts = headings.map(({ start }) => start)
  const titles = headings.filter(({ level }) => level === 1).length
  const open: { level: number; rank: Rank }[] = []
  const sections = headings.map((found, index): SectionTokens => {
    while ((open.at(-1)?.level ?? 0) >= found.level) open.pop()
    const rank = rankOf(found.title, open.at(-1)?.rank ?? 2)
    // The title of the document names all of it, and so tells nothing about its parts.
    open.push({ level: found.level, rank: found.level === 1 && titles === 1 ? 2 : rank })
    return { ...found, rank, end: starts[index + 1] ?? text.length }
  })
  const first = starts[0] ?? text.length
  if (first === 0) return sections
  return [{ heading: '', title: '', level: 1, start: 0, bodyStart: 0, end: first, rank: 2 }, ...sections]
}

function rankOf(title: string, above: Rank): Rank {
  const own = ranks.find((row) => row.title.test(title))?.rank
  if (own === undefined || own === 3 || above === 3) return own === 3 ? 3 : above
  return own < above ? own : above
}

type HeadingReadSections = Omit<SectionTokens, 'rank' | 'end'>

const most = 20_000

function findHeadings(text: string, deepest: number): HeadingReadSections[] | null {
  const found: HeadingReadSections[] = []
  let fence: string | null = null
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start)
    const next = end === -1 ? text.length : end + 1
    // No heading is longer, and a line may have megabytes.
    const line = next - start > 400 ? text.slice(start, start + 40) : text.slice(start, next)
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (mark !== undefined) fence = fenceAfter(fence, mark)
    const heading = fence === null && next - start <= 400 ? /^ {0,3}(#{1,6})[ \t]+(\S.*)/.exec(line) : null
    if (heading !== null) {
      const [, signs = '', title = ''] = heading
      const level = signs.length
      if (level <= deepest) found.push({ heading: line.trimEnd(), title: title.trim(), level, start, bodyStart: next })
      if (found.length > most) return null
    }
    start = next
  }
  return found
}

/** In a block of code a `#` is a comment; a block ends with at least as many of the same signs. */
const fenceAfter = (fence: string | null, mark: string): string | null => {
  if (fence === null) return mark
  return mark.startsWith(fence) ? null : fence
}
