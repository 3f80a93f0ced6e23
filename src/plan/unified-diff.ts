import { diffLines, type LineChange } from './diff-lines.ts'
import { splitLines } from './split-lines.ts'

type Options = {
  /** How many unchanged lines stand around a change. */
  readonly context: number
  /** More lines than this are cut, and the last one says so. */
  readonly maxLines: number
  readonly names?: { readonly before: string; readonly after: string }
}

/** What `git diff` would print, and what `git apply` takes unless it was cut; '' for equal texts. */
export function unifiedDiff(before: string, after: string, options: Options): string {
  const { context, maxLines, names = { before: 'before', after: 'after' } } = options
  const changes = diffLines(before, after)
  if (changes.length === 0) return ''
  const old = splitLines(before)
  const hunks = grouped(changes, context).flatMap((hunk) => hunkLines(hunk, old, context))
  return cut([`--- ${names.before}\n`, `+++ ${names.after}\n`, ...hunks], maxLines).join('')
}

/** Changes whose surroundings touch share a hunk. */
function grouped(changes: readonly LineChange[], context: number): readonly (readonly LineChange[])[] {
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

function cut(lines: readonly string[], maxLines: number): readonly string[] {
  if (lines.length <= maxLines) return lines
  const kept = Math.max(0, maxLines - 1)
  return [...lines.slice(0, kept), `[${lines.length - kept} more lines of this difference are left out]\n`]
}
