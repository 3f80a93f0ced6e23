import { matchLines } from '../plan/match-lines.ts'

export type Span = { readonly text: string; readonly isChanged: boolean }

/** Longer lines are not compared word by word. */
const mostWords = 800
/** With less in common than this, two lines are different ones, and marking words would only make noise. */
const leastAlike = 0.35

/** Which words of a line changed; null where that says nothing. */
export function markWords(
  before: string,
  after: string,
): { readonly before: readonly Span[]; readonly after: readonly Span[] } | null {
  const [old, now] = [wordsIn(before), wordsIn(after)]
  if (old.length > mostWords || now.length > mostWords) return null
  const keptOld = new Set<number>()
  const keptNow = new Set<number>()
  let alike = 0
  for (const match of matchLines(old, now))
    for (let n = 0; n < match.length; n += 1) {
      keptOld.add(match.before + n)
      keptNow.add(match.after + n)
      alike += (old[match.before + n] ?? '').trim().length
    }
  const longest = Math.max(lengthOf(old), lengthOf(now))
  if (longest === 0 || alike / longest < leastAlike) return null
  return { before: spansOf(old, keptOld), after: spansOf(now, keptNow) }
}

const wordsIn = (line: string): readonly string[] => line.match(/\s+|[\p{L}\p{M}\p{N}_]+|[^\s\p{L}\p{M}\p{N}_]/gu) ?? []

const lengthOf = (words: readonly string[]): number => words.reduce((sum, word) => sum + word.trim().length, 0)

function spansOf(words: readonly string[], kept: ReadonlySet<number>): readonly Span[] {
  const spans: { text: string; isChanged: boolean }[] = []
  for (const [index, word] of words.entries()) {
    const isChanged = !kept.has(index)
    const last = spans.at(-1)
    // A blank between two changed words belongs to the change.
    if (
      last?.isChanged === isChanged ||
      (last?.isChanged && word.trim() === '' && index + 1 < words.length && !kept.has(index + 1))
    )
      last.text += word
    else spans.push({ text: word, isChanged })
  }
  return spans
}
