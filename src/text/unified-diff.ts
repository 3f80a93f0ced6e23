export type DiffLine = { readonly number: number; readonly text: string }
export type DiffFile = {
  readonly path: string
  readonly isDeleted: boolean
  /** Numbered as in the file after the change. */
  readonly added: readonly DiffLine[]
  /** Numbered as in the file before it. */
  readonly removed: readonly DiffLine[]
}

export const formatLocation = (path: string, number: number): string =>
  path === '' ? `line ${number}` : `${path}:${number}`

/** Lines of generated code may be endless, and nobody reads them. */
export const maxLineLength = 2_000

/** The files of a unified diff; a text that is no diff counts as one file that is all new. */
export function readDiff(text: string): DiffFile[] {
  const lines = text.split(/\r?\n/)
  if (!lines.some((line) => /^(?:diff --git |@@ -\d)/.test(line)))
    return [
      { path: '', isDeleted: false, removed: [], added: lines.map((line, at) => ({ number: at + 1, text: line })) },
    ]
  const files: Open[] = []
  let hunk: HunkReadDiff | null = null
  for (const line of lines) {
    if (hunk !== null && readHunkLine(hunk, line)) continue
    hunk = null
    const counts = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/.exec(line)
    if (counts === null) readHeader(files, line)
    else {
      const [, before = '0', removed = '1', after = '0', added = '1'] = counts
      if (files.length === 0) files.push(newFile(''))
      hunk = { file: files.at(-1) ?? newFile(''), before: +before, after: +after, toRemove: +removed, toAdd: +added }
    }
  }
  return files
}

type Open = { path: string; isDeleted: boolean; added: DiffLine[]; removed: DiffLine[]; hasPath: boolean }
type HunkReadDiff = { readonly file: Open; before: number; after: number; toRemove: number; toAdd: number }

const newFile = (path: string): Open => ({ path, isDeleted: false, added: [], removed: [], hasPath: false })

/** By the counts of its header: a line of the file may well begin with `--- ` or `+++ `. */
function readHunkLine(hunk: HunkReadDiff, line: string): boolean {
  if (hunk.toRemove <= 0 && hunk.toAdd <= 0) return line.startsWith('\\')
  const [sign, text] = [line.charAt(0), line.slice(1)]
  if (sign === '\\') return true
  if (sign !== '+' && sign !== '-' && sign !== ' ' && sign !== '') return false
  if (sign === '+') hunk.file.added.push({ number: hunk.after, text })
  if (sign === '-') hunk.file.removed.push({ number: hunk.before, text })
  if (sign !== '-') {
    hunk.after += 1
    hunk.toAdd -= 1
  }
  if (sign !== '+') {
    hunk.before += 1
    hunk.toRemove -= 1
  }
  return true
}

function readHeader(files: Open[], line: string): void {
  if (line.startsWith('diff --git ')) {
    files.push(newFile(/ b\/(.+)$/.exec(line.slice(0, 4_000))?.[1]?.replace(/"$/, '') ?? ''))
    return
  }
  const [, side, path] = /^(---|\+\+\+) (?:[ab]\/)?([^\t]*)/.exec(line) ?? []
  if (side === '---' && files.at(-1)?.hasPath !== false) files.push(newFile(''))
  const file = files.at(-1)
  if (file === undefined) return
  if (line.startsWith('deleted file mode') || (side === '+++' && path === '/dev/null')) file.isDeleted = true
  if (side === undefined || path === undefined) return
  if (path !== '/dev/null') file.path = path.replace(/^"|"$/g, '')
  if (side === '+++') file.hasPath = true
}

type DiffFileReadDiff = {
  /** As it is called after the change. */
  readonly path: string
  /** Every name by which the diff knows it: a file that moves was something before. */
  readonly names: readonly string[]
  readonly added: number
  readonly removed: number
}

export type Diff = {
  readonly files: readonly DiffFileReadDiff[]
  /** Lines that belong to no file: a message before the first, or what no hunk announces. */
  readonly stray: number
}

/**
 * The files of a unified diff and how much of each changed; null when the text is no diff. Lines are counted by the
 * numbers in the `@@` heads, so that a changed line which itself looks like the head of a file is not taken for one.
 * Those numbers may lie as well: a hunk ends where a line stands in it that none can have, and no name is ever taken back.
 */
export function readDiffComplexity(text: string): Diff | null {
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

/** Places in the text of a diff, which may have some megabytes. */
export type Hunk = { readonly start: number; readonly end: number }
export type FileDiff = {
  readonly path: string
  readonly start: number
  /** Where the lines end that name the file. */
  readonly headEnd: number
  readonly added: number
  readonly removed: number
  readonly hunks: readonly Hunk[]
}

type Growing = {
  path: string
  start: number
  headEnd: number
  added: number
  removed: number
  hunks: { start: number; end: number }[]
}

/**
 * The files of a unified diff and their hunks; empty when the text is none. Lines are counted by the numbers in the
 * `@@` heads, so that a changed line which itself looks like the head of a file is not taken for one.
 */
export function readHunks(text: string): readonly FileDiff[] {
  const files: Growing[] = []
  let [before, after] = [0, 0]
  let inHead = false
  for (let start = 0; start < text.length; ) {
    const lineEnd = text.indexOf('\n', start)
    const end = lineEnd === -1 ? text.length : lineEnd + 1
    const file = files.at(-1)
    const hunk = file?.hunks.at(-1)
    const sign = text[start]
    const belongs = (before > 0 || after > 0) && isContent(sign)
    if (file !== undefined && hunk !== undefined && (belongs || sign === '\\')) {
      if (sign === '+') file.added += 1
      if (sign === '-') file.removed += 1
      if (sign !== '+' && sign !== '\\') before -= 1
      if (sign !== '-' && sign !== '\\') after -= 1
      hunk.end = end
    } else {
      const line = text.slice(start, Math.min(end, start + 2000))
      const numbers = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line)
      if (numbers !== null && file !== undefined) {
        ;[before, after] = [Number(numbers[1] ?? 1), Number(numbers[2] ?? 1)]
        file.hunks.push({ start, end })
        inHead = false
      } else {
        ;[before, after] = [0, 0]
        if (line.startsWith('diff --git ') || (line.startsWith('--- ') && !inHead)) {
          files.push({ path: '', start, headEnd: end, added: 0, removed: 0, hunks: [] })
          inHead = true
        }
        const current = files.at(-1)
        if (current !== undefined && current.hunks.length === 0) {
          current.headEnd = end
          current.path = pathIn(line) ?? current.path
        }
      }
    }
    start = end
  }
  return files
}

const isContent = (sign: string | undefined): boolean =>
  sign === ' ' || sign === '+' || sign === '-' || sign === '\n' || sign === '\r' || sign === '\t'

const heads = [/^diff --git .* "?b\/(.*?)"?\s*$/, /^(?:---|\+\+\+) "?(?:[ab]\/)?(.*?)"?(?:\t.*)?\s*$/]

const pathIn = (line: string): string | null => {
  const path = heads.map((head) => head.exec(line)?.[1]).find((found) => found !== undefined) ?? null
  return path === '/dev/null' ? null : path
}
