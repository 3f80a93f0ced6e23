/**
 * How much two descriptions of a problem say the same, from 0 to 1: by the words that they share. Two that name
 * different files, functions or numbers speak of different things, however alike their sentences are.
 */
export function similarity(a: string, b: string): number {
  const [one, other] = [readWords(a), readWords(b)]
  const smaller = Math.min(one.names.size, other.names.size)
  if (smaller > 0 && shared(one.names, other.names) / smaller <= 0.5) return 0
  const all = one.words.size + other.words.size
  return all === 0 ? Number(a.trim() === b.trim()) : (2 * shared(one.words, other.words)) / all
}

/** Each sign of a script that is written without spaces counts as a word. */
export const wordsIn = (text: string): readonly string[] =>
  text.toLowerCase().match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}]+/gu) ?? []

/** A model that goes on for pages says nothing new about which problem it means; nor do the numbers of lines. */
const longest = 3000

function readWords(text: string): { words: ReadonlySet<string>; names: ReadonlySet<string> } {
  const start = text.slice(0, longest).replace(/:\d+\b/g, '')
  const words = wordsIn(start).filter((word) => word.length > 2 || /\d|[^\p{Script=Latin}]/u.test(word))
  return { words: new Set(words), names: new Set(namesIn(start)) }
}

/** What is written as code is: in backticks, with a path, an underscore, a digit or a capital in the middle. */
const namesIn = (text: string): readonly string[] =>
  text
    .split(/[\s`"'(),;\u201c\u201d]+/)
    .map((word) => word.replace(/[.:!?]+$/, ''))
    .filter((word) => /\w[/_.]\w|\d|[a-z][A-Z]/.test(word))
    .map((word) => word.replace(/^\.\//, '').toLowerCase())

const shared = (a: ReadonlySet<string>, b: ReadonlySet<string>): number => {
  let count = 0
  for (const word of a) if (b.has(word)) count += 1
  return count
}
