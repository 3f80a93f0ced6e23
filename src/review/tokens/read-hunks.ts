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
