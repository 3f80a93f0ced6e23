import { readProse } from './read-prose.ts'

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
