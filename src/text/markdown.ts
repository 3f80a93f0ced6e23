/** The sections of a plan, and the blocks (paragraph, list item, table row, code block) that annotations keep whole. */

/** Lines count from 1, and `to` is included. */
export type LineRange = { readonly from: number; readonly to: number }

/** From a heading to the next one of its rank or above. */
export type Section = LineRange & { readonly title: string; readonly rank: number }

export type Outline = {
  readonly lines: readonly string[]
  readonly sections: readonly Section[]
  readonly blockAt: (line: number) => LineRange
  /** The first line, from this block on, after which text can be inserted without splitting a block or a table. */
  readonly gapAfter: (line: number) => number
  /** What closes the code block or comment that is open at the end; '' where none is. */
  readonly stillOpen: string
}

export function readOutline(plan: string): Outline {
  const { lines: parsed, headings } = parseMarkdown(plan)
  const lines = parsed.at(-1)?.raw === '' ? parsed.slice(0, -1) : parsed
  const blocks = findBlocks(lines)
  const ends = new Map(blocks.map(({ first }, index) => [first, index + 1]))
  const gaps = nextGaps(blocks)
  const endOf = (line: number): number => ends.get(blocks[line - 1]?.first ?? line) ?? line
  return {
    lines: lines.map(({ raw }) => raw),
    sections: headings.map(({ text, level, number, end }) => ({
      title: text,
      rank: level,
      from: number,
      to: Math.min(end, lines.length),
    })),
    blockAt: (line) => ({ from: blocks[line - 1]?.first ?? line, to: endOf(line) }),
    gapAfter: (line) => gaps[endOf(line) - 1] ?? lines.length,
    stillOpen: lines.at(-1)?.open ?? '',
  }
}

type Kind = 'blank' | 'heading' | 'item' | 'row' | 'fence' | 'text' | 'enclosed'

/** `first`: the number of the line that its block begins with; `isInItem`: that line is a list item. */
type BlockLine = { kind: Kind; isOpen: boolean; isIndented: boolean; first: number; isInItem: boolean }

/** An item continues after blank lines if the next line is indented. */
function findBlocks(lines: readonly MarkdownLine[]): readonly BlockLine[] {
  const blocks: BlockLine[] = []
  let written: BlockLine | undefined
  for (const line of lines) {
    const before = blocks.at(-1)
    const kind = before?.isOpen === true ? 'enclosed' : kindOf(line)
    const isIndented = /^(?: {2}|\t)/.test(line.raw)
    const isText = kind === 'text'
    let above: BlockLine | undefined
    if (kind === 'enclosed') above = before
    else if (isIndented && written?.isInItem === true && (isText || kind === 'item' || kind === 'fence'))
      above = written
    else if (isText && (before?.kind === 'text' || before?.kind === 'item' || before?.kind === 'row')) above = before
    const { first, isInItem } = above ?? { first: line.number, isInItem: kind === 'item' }
    const block = { kind, isOpen: line.open !== '', isIndented, first, isInItem }
    blocks.push(block)
    if (kind !== 'blank') written = block
  }
  return blocks
}

function kindOf({ raw, kind }: MarkdownLine): Kind {
  if (raw.trim() === '') return 'blank'
  // An underlined heading is a paragraph here, so that nothing comes between it and its underline.
  if (kind === 'heading' && /^ {0,3}#/.test(raw)) return 'heading'
  if (/^ {0,3}(?:`{3,}[^`]*|~{3,}.*)$/s.test(raw)) return 'fence'
  return /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/.test(raw) ? 'item' : /^ {0,3}\|/.test(raw) ? 'row' : 'text'
}

/** For each line, the first one from there on after which text can be inserted. */
function nextGaps(blocks: readonly BlockLine[]): readonly number[] {
  const gaps = new Array<number>(blocks.length)
  let gap = blocks.length
  let written: BlockLine | undefined
  for (let index = blocks.length - 1; index >= 0; index -= 1) {
    const [line, next] = [blocks[index] as BlockLine, blocks[index + 1]]
    const isEnd = line.kind === 'heading' || next === undefined || written === undefined
    const splits = written?.isIndented || next?.first === line.first || (line.kind === 'row' && next?.kind === 'row')
    if (!line.isOpen && (isEnd || !splits)) gap = index + 1
    gaps[index] = gap
    if (line.kind !== 'blank') written = line
  }
  return gaps
}

/** As much of Markdown as plan-gate needs: headings, code blocks, comments, and what of a line is prose. */
export type MarkdownLine = {
  readonly number: number
  readonly raw: string
  /** Offsets in the text; `end` is behind the line end. */
  readonly start: number
  readonly end: number
  /** `blank`: also a rule, a comment, frontmatter, the fence of a code block. */
  readonly kind: 'blank' | 'heading' | 'code' | 'text'
  /** The rank of a heading; 0 for any other line. */
  readonly level: number
  /** Code, comments, quotations and the targets of links are blanked; columns stay as they are. */
  readonly prose: string
  /** What closes the code block or comment that is open after this line; '' where none is. */
  readonly open: string
}

export type Heading = {
  readonly level: number
  /** As written, without its marks. */
  readonly text: string
  /** `## **2. Open questions:** ##` is called "Open questions". */
  readonly title: string
  readonly number: number
  /** The number of the last line below it, up to the next heading of its rank. */
  readonly end: number
}

export type Markdown = { readonly lines: readonly MarkdownLine[]; readonly headings: readonly Heading[] }

export function parseMarkdown(text: string): Markdown {
  const lines = [...scanMarkdown(text)]
  const headings: Heading[] = []
  // For each rank, the last line before the next heading that ends it.
  const ends = Array.from({ length: 7 }, () => lines.length)
  for (const line of lines.filter(({ level }) => level > 0).reverse()) {
    const { level, number, raw } = line
    headings.push({ level, text: headingText(line), title: titleOf(raw), number, end: ends[level] ?? lines.length })
    ends.fill(number - 1, level)
  }
  return { lines, headings: headings.reverse() }
}

export const linesUnder = ({ lines }: Markdown, { number, end }: Heading): MarkdownLine[] => lines.slice(number, end)

export const isEmpty = (lines: readonly MarkdownLine[]): boolean =>
  !lines.some(({ kind }) => kind === 'text' || kind === 'code')

export const headingText = ({ raw }: MarkdownLine): string =>
  raw.slice(0, maxReadLength).trim().replace(/^#+/, '').trim().replace(/ #+$/, '').trim()

const titleOf = (heading: string): string =>
  heading
    .slice(0, 200)
    .replace(/<!--[^>]*-->/g, '')
    .replace(/[*_`#]/g, '')
    .trim()
    .replace(/^\d[\d.]{0,10}[.):]?\s+/, '')
    .replace(/\s+/g, ' ')
    .replace(/[\s:]+$/, '')

/** People do not write longer lines; patterns that are not linear read no further. */
const maxReadLength = 5_000

/** Line by line, since a document may have megabytes. Linear in the length of the text. */
export function* scanMarkdown(text: string): Generator<MarkdownLine> {
  const state: State = { fence: '', isInComment: false, isInList: false, wasBlank: true }
  const bodyStart = frontMatterEnd(text)
  const lastCommentEnd = text.lastIndexOf('-->')
  let before: MarkdownLine | null = null
  let start = text.startsWith('\ufeff') ? 1 : 0
  for (let number = 1, isLast = false; !isLast; number++) {
    const lineFeed = text.indexOf('\n', start)
    isLast = lineFeed === -1
    const end = isLast ? text.length : lineFeed + 1
    const raw = text.slice(start, isLast ? end : lineFeed).replace(/\r$/, '')
    const read = start < bodyStart ? blank : readLine(state, raw, end <= lastCommentEnd)
    const open = state.fence || (state.isInComment ? '-->' : '')
    let line: MarkdownLine = { number, raw, start, end, ...read, open }
    const underlined = before === null ? 0 : underlinedLevel(before, line)
    if (before !== null && underlined > 0) {
      before = { ...before, kind: 'heading', level: underlined }
      line = { ...line, ...blank }
      state.isInList = false
    }
    if (before !== null) yield before
    before = line
    start = end
  }
  if (before !== null) yield before
}

/** The offset behind the `---` that closes the frontmatter; 0 where there is none. */
function frontMatterEnd(text: string): number {
  const closing = /\n---\r?(?=\n|$)/g
  closing.lastIndex = 3
  return /^\ufeff?---\r?\n/.test(text) && closing.test(text) ? closing.lastIndex : 0
}

type State = { fence: string; isInComment: boolean; isInList: boolean; wasBlank: boolean }
type LineContent = Pick<MarkdownLine, 'kind' | 'level' | 'prose'>

const blank: LineContent = { kind: 'blank', level: 0, prose: '' }
const code: LineContent = { kind: 'code', level: 0, prose: '' }

function readLine(state: State, raw: string, isBeforeCommentEnd: boolean): LineContent {
  if (raw === '' && state.fence === '') {
    state.wasBlank = true
    return blank
  }
  return (state.isInComment ? null : readFence(state, raw)) ?? readBody(state, raw, isBeforeCommentEnd)
}

/** As CommonMark has it: a fence is closed by one of its kind that is as long. */
function readFence(state: State, raw: string): LineContent | null {
  const mayBeFence = raw.includes('```') || raw.includes('~~~')
  const [, mark = '', info = ''] = (mayBeFence && /^ {0,3}(`{3,}|~{3,})(.*)$/s.exec(raw)) || []
  if (state.fence === '') {
    if (mark === '' || (mark.startsWith('`') && info.includes('`'))) return null
    state.fence = mark
    return blank
  }
  const isEnd = mark.startsWith(state.fence) && info.trim() === ''
  if (isEnd) state.fence = ''
  return isEnd || raw.trim() === '' ? blank : code
}

function readBody(state: State, raw: string, isBeforeCommentEnd: boolean): LineContent {
  const prose = readProse(state, raw, isBeforeCommentEnd)
  const isIndentedCode = state.wasBlank && !state.isInList && /^(?: {4}|\t)/.test(raw)
  state.wasBlank = prose === '' || isIndentedCode
  if (prose === '') return blank
  if (isIndentedCode) return code
  const marks = /^ {0,3}(#{1,6})(?:[ \t]|$)/.exec(raw)?.[1]
  if (marks !== undefined) {
    state.isInList = false
    return { kind: 'heading', level: marks.length, prose }
  }
  state.isInList ||= /^\s*(?:[-*+]|\d{1,9}[.)])\s/.test(prose)
  return { kind: isRule(prose) ? 'blank' : 'text', level: 0, prose }
}

const isRule = (prose: string): boolean => /^ {0,3}([-*_])(?:[ \t]*\1){2,}$/.test(prose)

/** The rank of a heading whose underline is `line`; 0 for none. */
function underlinedLevel(before: MarkdownLine, line: MarkdownLine): number {
  const underline = before.kind === 'text' ? /^ {0,3}(=+|-{2,})$/.exec(line.prose)?.[1] : undefined
  if (underline === undefined || /^\s*(?:[-*+>|]|\d{1,9}[.)]\s)/.test(before.raw)) return 0
  return underline.startsWith('=') ? 1 : 2
}

/** Replaces code and quotations, so that a line that is nothing else is not taken for empty. */
export const codeMark = '\ufffc'

function readProse(state: State, raw: string, isBeforeCommentEnd: boolean): string {
  const { text, isOpen } = withoutComments(raw, state.isInComment, isBeforeCommentEnd)
  state.isInComment = isOpen
  return withoutQuotations(text.slice(0, maxReadLength)).trimEnd()
}

/** A comment stays open if it begins the line, as in CommonMark, or if a later line closes it. */
function withoutComments(raw: string, isOpen: boolean, isBeforeEnd: boolean): { text: string; isOpen: boolean } {
  const masked = withoutCodeSpans(raw)
  if (!isOpen && !masked.includes('<!--')) return { text: masked, isOpen }
  let [text, at, open] = ['', 0, isOpen]
  for (;;) {
    const next = open ? raw.indexOf('-->', at) : masked.indexOf('<!--', at)
    const mayStayOpen = isBeforeEnd || /^ {0,3}$/.test(raw.slice(0, next))
    if (next === -1 || (!open && !mayStayOpen && !raw.includes('-->', next)))
      return { text: open ? text : text + masked.slice(at), isOpen: open }
    text += open ? ' '.repeat(next + 3 - at) : masked.slice(at, next)
    at = open ? next + 3 : next
    open = !open
  }
}

/** A span is closed by the next run of backticks that is as long. */
const withoutCodeSpans = (line: string): string =>
  line.includes('`')
    ? line.slice(0, maxReadLength).replace(/(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/g, (span) => codeMark.repeat(span.length)) +
      line.slice(maxReadLength)
    : line

function withoutQuotations(text: string): string {
  if (!/["'\u201c\u00ab(]/.test(text)) return text
  const mask = (part: string): string => codeMark.repeat(part.length)
  return text
    .replace(/"[^"]{1,80}"|\u201c[^\u201d]{1,80}\u201d|\u00ab[^\u00bb]{1,80}\u00bb/g, mask)
    .replace(/(?<!\w)'[^']{1,80}'(?!\w)/g, mask)
    .replace(/\]\([^()\s]{1,300}\)/g, mask)
}
