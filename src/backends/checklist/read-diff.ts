export type DiffLine = { readonly number: number; readonly text: string }
export type DiffFile = {
  readonly path: string
  readonly isDeleted: boolean
  /** Numbered as in the file after the change. */
  readonly added: readonly DiffLine[]
  /** Numbered as in the file before it. */
  readonly removed: readonly DiffLine[]
}

export const placeOf = (path: string, number: number): string => (path === '' ? `line ${number}` : `${path}:${number}`)

/** Lines of generated code may be endless, and nobody reads them. */
export const longestRead = 2_000

/** The files of a unified diff; a text that is no diff counts as one file that is all new. */
export function readDiff(text: string): DiffFile[] {
  const lines = text.split(/\r?\n/)
  if (!lines.some((line) => /^(?:diff --git |@@ -\d)/.test(line)))
    return [
      { path: '', isDeleted: false, removed: [], added: lines.map((line, at) => ({ number: at + 1, text: line })) },
    ]
  const files: Open[] = []
  let hunk: Hunk | null = null
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
type Hunk = { readonly file: Open; before: number; after: number; toRemove: number; toAdd: number }

const newFile = (path: string): Open => ({ path, isDeleted: false, added: [], removed: [], hasPath: false })

/** By the counts of its header: a line of the file may well begin with `--- ` or `+++ `. */
function readHunkLine(hunk: Hunk, line: string): boolean {
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
