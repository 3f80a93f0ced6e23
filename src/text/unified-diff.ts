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

export type Diff = {
  readonly files: readonly DiffFile[]
  /** Lines outside of any file: a message before the first, or lines that no hunk header announces. */
  readonly strayLines: number
}

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
  /** Lines that the hunk header still announces. */
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

/** The other lines that git writes into the head of a file. */
const headDetail =
  /^(?:index|old mode|new mode|new file mode|deleted file mode|similarity index|dissimilarity index|Binary files) |^\\ /

function withoutLineEnd(line: string): string {
  const length = line.endsWith('\n') ? line.length - 1 : line.length
  return line.slice(0, line[length - 1] === '\r' ? length - 1 : length)
}

export type ChangedLine = { readonly sign: '+' | '-'; readonly number: number; readonly text: string }

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
