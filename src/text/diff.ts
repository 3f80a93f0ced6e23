import { numberLines, splitLines } from './clean.ts'

/** Offsets in the text of the diff, and the numbers of its first lines before and after the change. */
type Hunk = { readonly start: number; readonly end: number; readonly before: number; readonly after: number }

export type DiffFile = {
  /** After the change; '' for hunks without a file. */
  readonly path: string
  /** Every name that the diff gives it: a renamed file was something else before. */
  readonly names: ReadonlySet<string>
  readonly isDeleted: boolean
  /** The offsets of the lines that name the file. */
  readonly start: number
  readonly headEnd: number
  readonly hunks: readonly Hunk[]
  readonly added: number
  readonly removed: number
  /** Names in changed lines that look like a file's head before a hunk: the header before may have lied. */
  readonly suspectNames: ReadonlySet<string>
}

/** `strayLines`: before the first file, or announced by no hunk header. */
export type Diff = { readonly files: readonly DiffFile[]; readonly strayLines: number }

/**
 * The files of a unified diff; null when the text is none. Lines are counted by the numbers in the hunk headers, so a
 * changed line that looks like the head of a file is not taken for one. Wrong numbers hide nothing: a hunk ends at a
 * line that none can contain, and no name is dropped. Linear in the length of the text.
 */
export function parseDiff(text: string): Diff | null {
  if (!/^(?:diff --(?:git|cc|combined) |@@ -\d)/m.test(text)) return null
  const files: OpenFile[] = []
  let strayLines = 0
  let inHead = false
  const left = { before: 0, after: 0 }
  /** The two lines before this one, '' outside of a hunk. */
  let changed = ['', '']
  for (let start = 0, end = 0; start < text.length; start = end) {
    const lineFeed = text.indexOf('\n', start)
    end = lineFeed === -1 ? text.length : lineFeed + 1
    const line = withoutLineEnd(text.slice(start, end))
    const file = files.at(-1)
    const hunk = file?.hunks.at(-1)
    const sign = line[0] ?? ' '
    if (
      file &&
      hunk?.end === start &&
      (sign === '\\' || ((left.before > 0 || left.after > 0) && ' +-\t'.includes(sign)))
    ) {
      hunk.end = end
      if (sign === '+') file.added += 1
      if (sign === '-') file.removed += 1
      if (sign !== '+' && sign !== '\\') left.before -= 1
      if (sign !== '-' && sign !== '\\') left.after -= 1
      changed = [changed[1] ?? '', line]
      continue
    }
    const header = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line)
    if (header === null) {
      ;[left.before, left.after] = [0, 0]
      const name = nameIn(line)
      if (/^diff /.test(line) || (/^--- /.test(line) && !inHead)) {
        files.push(openFile(start))
        inHead = true
      } else if (name === null && line !== '' && !headDetail.test(line)) strayLines += 1
      readHeadLine(files.at(-1), line, name, end)
    } else {
      if (files.length === 0) files.push(openFile(start))
      if (!inHead)
        for (const name of changed.map(nameIn))
          if (name !== null && name !== devNull) files.at(-1)?.suspectNames.add(name)
      const [, before, countBefore = 1, after, countAfter = 1] = header
      files.at(-1)?.hunks.push({ start, end, before: Number(before), after: Number(after) })
      ;[left.before, left.after, inHead] = [Number(countBefore), Number(countAfter), false]
    }
    changed = ['', '']
  }
  return { files, strayLines }
}

type OpenFile = {
  -readonly [key in Exclude<keyof DiffFile, 'names' | 'suspectNames' | 'hunks'>]: DiffFile[key]
} & {
  readonly names: Set<string>
  readonly suspectNames: Set<string>
  readonly hunks: { start: number; end: number; before: number; after: number }[]
}

const openFile = (start: number): OpenFile => ({
  path: '',
  names: new Set(),
  suspectNames: new Set(),
  isDeleted: false,
  start,
  headEnd: start,
  hunks: [],
  added: 0,
  removed: 0,
})

function readHeadLine(file: OpenFile | undefined, line: string, name: string | null, end: number): void {
  if (file === undefined) return
  if (file.hunks.length === 0) file.headEnd = end
  if (line.startsWith('deleted file mode ') || (name === devNull && line.startsWith('+++'))) file.isDeleted = true
  if (name === null || name === devNull) return
  if (file.hunks.length === 0) file.path = name
  file.names.add(name)
}

const devNull = '/dev/null'

/** `diff --git` names the file twice; a plain `diff -u` is followed by lines that name it better. */
function nameIn(line: string): string | null {
  const opening = /^diff (?:--(?:git|cc|combined) )?(.*)$/s.exec(line)?.[1]
  const name =
    opening === undefined
      ? /^(?:---|\+\+\+|rename from|rename to|copy from|copy to) (?:"?[ab]\/)?([^\t]*)/s.exec(line)?.[1]
      : (/^.* "?b\/(.*)$/s.exec(opening)?.[1] ?? opening)
  return name === undefined ? null : name.replace(/^"|"\s*$/g, '')
}

const headDetail =
  /^(?:index|old mode|new mode|new file mode|deleted file mode|similarity index|dissimilarity index|Binary files) |^\\ /

function withoutLineEnd(line: string): string {
  const length = line.endsWith('\n') ? line.length - 1 : line.length
  return line.slice(0, line[length - 1] === '\r' ? length - 1 : length)
}

type ChangedLine = { readonly sign: '+' | '-'; readonly number: number; readonly text: string }

/** The added lines, numbered as after the change, and the removed ones, numbered as before it. */
export function* changedLines(text: string, { hunks }: DiffFile): Generator<ChangedLine> {
  for (const { start, end, before, after } of hunks) {
    const at = { '-': before, '+': after }
    for (const raw of text.slice(start, end).split('\n').slice(1)) {
      const line = withoutLineEnd(raw)
      const sign = line[0] ?? ' '
      if (sign === '+' || sign === '-') yield { sign, number: at[sign]++, text: line.slice(1) }
      else if (sign !== '\\') {
        at['-'] += 1
        at['+'] += 1
      }
    }
  }
}

type Options = {
  readonly context: number
  /** Beyond this the diff is truncated, with a note in the last line. */
  readonly maxLines: number
  readonly names?: { readonly before: string; readonly after: string }
}

/** As `git diff` prints it and `git apply` takes it, unless truncated; '' for equal texts. */
export function unifiedDiff(before: string, after: string, options: Options): string {
  const { context, maxLines, names = { before: 'before', after: 'after' } } = options
  const changes = diffLines(before, after)
  if (changes.length === 0) return ''
  const old = splitLines(before)
  const hunks = groupIntoHunks(changes, context).flatMap((hunk) => hunkLines(hunk, old, context))
  return truncate([`--- ${names.before}\n`, `+++ ${names.after}\n`, ...hunks], maxLines).join('')
}

function groupIntoHunks(changes: readonly LineChange[], context: number): readonly (readonly LineChange[])[] {
  const hunks: LineChange[][] = []
  for (const change of changes) {
    const last = hunks.at(-1)
    const end = last?.at(-1)
    if (last && end && change.before - (end.before + end.removed.length) <= 2 * context) last.push(change)
    else hunks.push([change])
  }
  return hunks
}

function hunkLines(hunk: readonly LineChange[], old: readonly string[], context: number): readonly string[] {
  const [first, last] = [hunk[0], hunk.at(-1)]
  if (!first || !last) return []
  const from = Math.max(1, first.before - context)
  const to = Math.min(old.length, last.before + last.removed.length - 1 + context)
  let at = from
  const lines = hunk.flatMap((change) => {
    const same = old.slice(at - 1, change.before - 1)
    at = change.before + change.removed.length
    return [...marked(' ', same), ...marked('-', change.removed), ...marked('+', change.added)]
  })
  const countOld = to - from + 1
  const countNow = countOld + sum(hunk.map(({ added, removed }) => added.length - removed.length))
  const fromNow = first.after - (first.before - from)
  return [
    `@@ -${range(from, countOld)} +${range(fromNow, countNow)} @@\n`,
    ...lines,
    ...marked(' ', old.slice(at - 1, to)),
  ]
}

const marked = (mark: string, lines: readonly string[]): readonly string[] =>
  lines.flatMap((line) =>
    line.endsWith('\n') ? [`${mark}${line}`] : [`${mark}${line}\n`, '\\ No newline at end of file\n'],
  )

/** An empty range is named by the line before it. */
const range = (from: number, count: number): string => `${count === 0 ? from - 1 : from},${count}`
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

function truncate(lines: readonly string[], maxLines: number): readonly string[] {
  if (lines.length <= maxLines) return lines
  const kept = Math.max(0, maxLines - 1)
  return [...lines.slice(0, kept), `[${lines.length - kept} more lines of this difference are left out]\n`]
}

/** Removed and added lines between two unchanged ones. */
export type LineChange = {
  /** The number of the first removed line, from 1; with none removed, of the line that the added ones precede. */
  readonly before: number
  readonly removed: readonly string[]
  readonly after: number
  readonly added: readonly string[]
}

export type LineDiff = readonly LineChange[]

/** In the order of the text; empty for equal texts. Lines include their line ends, so `\r\n` and `\n` differ. */
export function diffLines(before: string, after: string): LineDiff {
  if (before === after) return []
  const [old, now] = [splitLines(before), splitLines(after)]
  const changes: LineChange[] = []
  let [atOld, atNow] = [0, 0]
  for (const match of [...matchLines(old, now), { before: old.length, after: now.length, length: 0 }]) {
    const removed = old.slice(atOld, match.before)
    const added = now.slice(atNow, match.after)
    if (removed.length + added.length > 0) changes.push({ before: atOld + 1, removed, after: atNow + 1, added })
    atOld = match.before + match.length
    atNow = match.after + match.length
  }
  return changes
}

/** `length` equal lines from these positions on, counted from 0. */
type Match = { readonly before: number; readonly after: number; readonly length: number }

/** The longest common sequence of lines. Where that would take too long, what lies between equal ends counts as replaced. */
export function matchLines(before: readonly string[], after: readonly string[]): readonly Match[] {
  let [start, end, endAfter] = [0, before.length, after.length]
  while (start < end && start < endAfter && before[start] === after[start]) start += 1
  while (end > start && endAfter > start && before[end - 1] === after[endAfter - 1]) {
    end -= 1
    endAfter -= 1
  }
  const matches: { before: number; after: number; length: number }[] = []
  const add = (at: number, atAfter: number, length: number): void => {
    const last = matches.at(-1)
    if (last && last.before + last.length === at && last.after + last.length === atAfter) last.length += length
    else if (length > 0) matches.push({ before: at, after: atAfter, length })
  }
  add(0, 0, start)
  for (const [at, atAfter] of longestCommon(before, after, start, end, endAfter)) add(at, atAfter, 1)
  add(end, endAfter, before.length - end)
  return matches
}

/** Two texts of four thousand lines each. */
const maxCells = 16_000_000

/** By the length of what is common from each pair of lines on; lines that the other side lacks take no part. */
function longestCommon(
  before: readonly string[],
  after: readonly string[],
  start: number,
  end: number,
  endAfter: number,
): (readonly [before: number, after: number])[] {
  const { numberOf } = numberLines()
  const a = before.slice(start, end).map(numberOf)
  const b = after.slice(start, endAfter).map(numberOf)
  const [inA, inB] = [new Set(a), new Set(b)]
  const rows = a.flatMap((line, at) => (inB.has(line) ? at : []))
  const columns = b.flatMap((line, at) => (inA.has(line) ? at : []))
  const width = columns.length + 1
  if (rows.length * columns.length > maxCells) return []
  const lengths = new Uint16Array((rows.length + 1) * width)
  const lengthAt = (row: number, column: number): number => lengths[row * width + column] ?? 0
  const isSame = (row: number, column: number): boolean => a[rows[row] ?? 0] === b[columns[column] ?? 0]
  for (let row = rows.length - 1; row >= 0; row -= 1)
    for (let column = columns.length - 1; column >= 0; column -= 1)
      lengths[row * width + column] = isSame(row, column)
        ? lengthAt(row + 1, column + 1) + 1
        : Math.max(lengthAt(row + 1, column), lengthAt(row, column + 1))
  const found: (readonly [number, number])[] = []
  for (let [row, column] = [0, 0]; row < rows.length && column < columns.length; ) {
    if (isSame(row, column)) found.push([start + (rows[row++] ?? 0), start + (columns[column++] ?? 0)])
    else if (lengthAt(row + 1, column) >= lengthAt(row, column + 1)) row += 1
    else column += 1
  }
  return found
}
