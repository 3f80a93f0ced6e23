import type { Place } from './located.ts'

/**
 * Near a syntax error, what the YAML reader made of the text is a guess, and what seems wrong there may be right. The
 * next key at the left margin is certain again.
 */
export function doubtfulIn(text: string, errors: readonly Place[]): (place: Place) => boolean {
  const nextMargin = /^[^\s#]/gm
  const guesses: Place[] = []
  let until = -1
  for (const [start, end] of errors) {
    if (end >= until) {
      nextMargin.lastIndex = end
      until = nextMargin.exec(text)?.index ?? text.length + 1
    }
    guesses.push([start, until])
  }
  return ([start, end]) => guesses.some(([from, to]) => (start > from && start < to) || (start <= from && from <= end))
}
