/** Text that came apart in the middle of a word, read as one; what is found in it maps back to the original. */
export type Range = { readonly start: number; readonly end: number }

/** A part without a break in it: `at` in the view is `from` in the original. */
type Piece = { readonly at: number; readonly from: number; readonly length: number }

export type View = {
  readonly text: string
  /** Whether this is behind a break, so that a word may begin here. Not in the text as it stands. */
  readonly beginsPiece?: (at: number) => boolean
  /** The ranges of the original that this range of the view is made of. */
  readonly rangesOf: (range: Range) => readonly Range[]
}

export const wholeView = (text: string): View => ({ text, rangesOf: (range) => [range] })

/**
 * The lines that a break joins: a line wrapped by a mail program, a backslash at the end of a line, `"one" + "two"`, the
 * `+` of a diff, the indentation of a YAML block. Null if there are none, as in most texts.
 */
export function joinedView(text: string): View | null {
  const lines: string[] = []
  const pieces: Piece[] = []
  let length = 0
  const add = (from: number, end: number, lineEnd = '') => {
    pieces.push({ at: length, from, length: end - from })
    lines.push(text.slice(from, end), lineEnd)
    length += end - from + lineEnd.length
  }
  let [from, until] = [0, -1]
  for (const { start, end } of breaksIn(text)) {
    if (start > until) {
      if (until >= 0) add(from, until, '\n')
      const context = Math.max(until, start - maxContext, 0)
      from = context + text.slice(context, start).lastIndexOf('\n') + 1
    }
    add(from, start)
    from = end
    until = end + (/^[^\n]*/.exec(text.slice(end, end + maxContext))?.[0].length ?? 0)
  }
  if (until < 0) return null
  add(from, until)
  const starts = new Set(pieces.map(({ at }) => at))
  return { text: lines.join(''), beginsPiece: (at) => starts.has(at), rangesOf: (range) => rangesIn(pieces, range) }
}

/** What of a line is kept before the first break and behind the last. */
const maxContext = 1_000

function rangesIn(pieces: readonly Piece[], { start, end }: Range): readonly Range[] {
  const ranges: Range[] = []
  for (let index = pieceAt(pieces, start); index < pieces.length; index += 1) {
    const { at, from, length } = pieces[index] ?? { at: end, from: 0, length: 0 }
    if (at >= end) break
    const range = { start: from + Math.max(start - at, 0), end: from + Math.min(end - at, length) }
    if (range.start < range.end) ranges.push(range)
  }
  return ranges
}

function pieceAt(pieces: readonly Piece[], place: number): number {
  let low = 0
  let high = pieces.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((pieces[middle]?.at ?? 0) <= place) low = middle
    else high = middle - 1
  }
  return low
}

const wordCharacters = 'A-Za-z0-9_./+=:~$@%-'
const word = new RegExp(`[${wordCharacters}]{1,4000}`, 'y')

/** Every repetition is bounded, so that no text makes this slow. */
const quote = '\\\\{0,4}["\'`]'
const operator = '[+.&~]|\\.\\.|<>'
const space = '[ \\t]{0,40}'
const indentation = '(?:[ \\t]|\\\\t){0,200}'
const between = `(?:(?<before>${operator})${space})?`
const lineEnd = '(?<slash>\\\\{0,4})(?:\\r?\\n|\\\\{1,4}(?:r\\\\{1,4})?n)'
const lineStart = `[+-]?${indentation}(?:(?:\\/\\/|[#*>|]|\\d{1,6}[→\\t])${indentation})?`
const overLines =
  `(?:(?<close>${quote})${space}${between}|${space})${lineEnd}${lineStart}` +
  `(?:(?<behind>${operator})${space}(?=${quote}))?(?<open>${quote})?`
const onOneLine = `${quote}${space}(?:(?<sum>${operator})${space})?${quote}`
const anyBreak = new RegExp(
  `(?=["'\`\\\\ \\t\\r\\n])(?<=[${wordCharacters}])(?:${overLines}|${onOneLine})(?=[${wordCharacters}])`,
  'g',
)

/** The breaks that join what stands on both sides. */
function* breaksIn(text: string): Generator<Range> {
  let wordEnd = -1
  let part = ''
  let widths: number[] = []
  for (const match of text.matchAll(anyBreak)) {
    const { index: start } = match
    const end = start + match[0].length
    const before = start === wordEnd ? part : endOfWord(text, start)
    if (start !== wordEnd) widths = []
    word.lastIndex = end
    part = word.exec(text)?.[0] ?? ''
    const { slash, close, open, before: sign, behind, sum } = match.groups ?? {}
    const isContinued = Boolean(sum ?? sign ?? behind ?? slash)
    // A quote on one side only is the end of one string and the beginning of something else.
    const isTorn = slash !== undefined && (close === undefined) !== (open === undefined)
    wordEnd = -1
    if (isTorn || !(isContinued || continuesWord(text, end, before, part, widths))) continue
    yield { start, end }
    widths.push(part.length)
    wordEnd = end + part.length
  }
}

function endOfWord(text: string, end: number): string {
  let start = end
  while (start > 0 && end - start < 200 && /[^\s"'`]/.test(text.charAt(start - 1))) start -= 1
  return text.slice(start, end)
}

/** Whether the next line goes on with the word above it, where only a line end is between them. */
function continuesWord(text: string, at: number, before: string, part: string, widths: readonly number[]): boolean {
  restOfLine.lastIndex = at + part.length
  if (!restOfLine.test(text) || /^(?!\d+:)[\w.-]+[=:][^=]/.test(part) || /:\/\/[^/]*:\d{1,5}$/.test(before))
    return false
  const goesOn = looksGenerated(before) && !before.endsWith('=')
  return looksGenerated(part) || goesOn || endsBlock(part.length, widths)
}

const restOfLine = /[\\"'`)\]} \t]{0,20}(?:[;,@]|\r?\n|\\[rn]|$)/y

function looksGenerated(part: string): boolean {
  if (part.length < 3) return /\d/.test(part)
  if (part.length >= 24 && !/[-_.]/.test(part)) return true
  if (/^[A-Za-z]+$/.test(part)) return !/^[A-Za-z][a-z]{2,}(?:[A-Z][a-z]{2,})*$|^[A-Z]+$|^[a-z]+$/.test(part)
  return /\d/.test(part) ? /[A-Za-z]/.test(part) || part.length > 5 : /[a-z]/.test(part) && /[A-Z+/=]/.test(part)
}

/** A line that ends a block of lines of equal width. */
function endsBlock(width: number, widths: readonly number[]): boolean {
  const block = widths[0] ?? 0
  return block >= 8 && width <= block && widths.every((one) => one === block)
}
