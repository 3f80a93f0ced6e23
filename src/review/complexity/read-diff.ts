type DiffFile = {
  /** As it is called after the change. */
  readonly path: string
  /** Every name by which the diff knows it: a file that moves was something before. */
  readonly names: readonly string[]
  readonly added: number
  readonly removed: number
}

export type Diff = {
  readonly files: readonly DiffFile[]
  /** Lines that belong to no file: a message before the first, or what no hunk announces. */
  readonly stray: number
}

/**
 * The files of a unified diff and how much of each changed; null when the text is no diff. Lines are counted by the
 * numbers in the `@@` heads, so that a changed line which itself looks like the head of a file is not taken for one.
 * Those numbers may lie as well: a hunk ends where a line stands in it that none can have, and no name is ever taken back.
 */
export function readDiff(text: string): Diff | null {
  if (!/^(?:diff --(?:git|cc|combined) |@@ -\d)/m.test(text)) return null
  const reading: Reading = { files: [], stray: 0, before: 0, after: 0, isOpen: false, last: ['', ''] }
  for (const line of linesOf(text)) {
    readLine(reading, line.endsWith('\r') ? line.slice(0, -1) : line)
    reading.last = [reading.last[1], line]
  }
  const files = reading.files.map(({ names, ...file }) => ({ ...file, names: [...names] }))
  return { files, stray: reading.stray }
}

type Counted = { path: string; names: Set<string>; added: number; removed: number }
type Reading = {
  files: Counted[]
  stray: number
  /** Lines that the hunk still has to have, of the file before the change and after it. */
  before: number
  after: number
  /** Between the first line of a file's head and its first hunk. */
  isOpen: boolean
  last: readonly [string, string]
}

function readLine(reading: Reading, line: string): void {
  const file = reading.files.at(-1)
  if (file !== undefined && readChange(reading, file, line)) return
  const hunk = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line)
  if (hunk !== null) {
    // Where the hunk before claimed to be longer than it is, the head of this file was counted as lines of it.
    if (!reading.isOpen) for (const head of reading.last) readHead(reading, head)
    if (reading.files.length === 0) open(reading, '')
    ;[reading.before, reading.after, reading.isOpen] = [Number(hunk[1] ?? 1), Number(hunk[2] ?? 1), false]
  } else if (!readHead(reading, line) && line !== '' && !detail.test(line)) reading.stray += 1
}

/** Whether the line is one of the hunk that is being read. */
function readChange(reading: Reading, file: Counted, line: string): boolean {
  if (reading.before <= 0 && reading.after <= 0) return false
  const sign = line[0] ?? ' '
  if (!' +-\\'.includes(sign)) {
    ;[reading.before, reading.after] = [0, 0]
    return false
  }
  if (sign === '+') file.added += 1
  if (sign === '-') file.removed += 1
  if (sign === ' ' || sign === '-') reading.before -= 1
  if (sign === ' ' || sign === '+') reading.after -= 1
  return true
}

/** `diff --git` opens a file; where there is none, as in a plain `diff -u`, the line with `---` does. */
function readHead(reading: Reading, line: string): boolean {
  const opening = /^diff (?:--(?:git|cc|combined) )?(.*)$/s.exec(line)?.[1]
  if (opening !== undefined) {
    open(reading, unquoted(/^.* "?b\/(.*)$/s.exec(opening)?.[1] ?? opening))
    return true
  }
  const name = /^(?:---|\+\+\+|rename from|rename to|copy from|copy to) (?:"?[ab]\/)?([^\t]*)/s.exec(line)?.[1]
  if (name === undefined) return false
  if (line.startsWith('---') && !reading.isOpen) open(reading, unquoted(name))
  else addName(reading.files.at(-1), unquoted(name))
  return true
}

function open(reading: Reading, path: string): void {
  const file: Counted = { path: '', names: new Set(), added: 0, removed: 0 }
  addName(file, path)
  reading.files.push(file)
  reading.isOpen = true
}

function addName(file: Counted | undefined, name: string): void {
  if (file === undefined || name === '/dev/null') return
  file.path = name
  file.names.add(name)
}

const unquoted = (name: string): string => name.replace(/^"|"\s*$/g, '')

/** What git says between the name of a file and its changes. */
const detail =
  /^(?:index|old mode|new mode|new file mode|deleted file mode|similarity index|dissimilarity index|Binary files) |^\\ /

/** One at a time: a diff may have some megabytes. */
function* linesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start)
    yield text.slice(start, end === -1 ? text.length : end)
    if (end === -1) return
    start = end + 1
  }
}
