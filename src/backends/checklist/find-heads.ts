import type { PlannedChange } from './check-changes.ts'

/** The paths that a line is about: those before it begins to tell about them. */
export function findHeads(raw: string, named: readonly PlannedChange[]): PlannedChange[] {
  const placed = named
    .map((change) => ({ change, at: raw.indexOf(change.pattern) }))
    .sort((one, other) => one.at - other.at)
  const heads: PlannedChange[] = []
  let end = 0
  for (const { change, at } of placed) {
    // Not found in the text: whoever read it knows better.
    if (at === -1) heads.push(change)
    else if (at >= end) {
      if (!isLeadIn(raw.slice(end, at))) break
      heads.push(change)
      end = at + change.pattern.length
    }
  }
  return heads
}

/** Marks of lists and emphasis, line numbers behind a path, and words such as "New file" or "Rename … to". */
const isLeadIn = (text: string): boolean =>
  text
    .slice(0, 200)
    .replace(/^\s*\d{1,9}[.)]\s|^:\d[\d:,-]*/, '')
    .split(/[^\p{L}\p{N}]+/u)
    .every((word) => word === '' || leadIns.has(word.toLowerCase()))

const leadIns: ReadonlySet<string> = new Set(
  (
    'and plus or to in the both x file files folder folders test tests new change changed modify update updated edit ' +
    'extend create created add added delete deleted remove removed rename renamed move moved rewrite'
  ).split(' '),
)
