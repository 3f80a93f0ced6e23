import { matchLines } from './match-lines.ts'
import { splitLines } from './split-lines.ts'

/** Lines that went and lines that came in the same place. What lies between two changes is the same in both texts. */
export type LineChange = {
  /** The number of the first removed line, counted from 1; with none removed, of the line that the new ones precede. */
  readonly before: number
  readonly removed: readonly string[]
  /** The same for the lines that came. */
  readonly after: number
  readonly added: readonly string[]
}

export type LineDiff = readonly LineChange[]

/** In the order of the text; empty for equal texts. Lines keep what ends them, so `\r\n` and `\n` are different lines. */
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
