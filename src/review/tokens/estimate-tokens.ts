import { isSpace } from './character-kinds.ts'
import { countByCharacters } from './count-by-characters.ts'
import { countByWords } from './count-by-words.ts'
import type { Tokenizer } from './tokenizer.ts'

/**
 * Without the vocabulary: by words, or by characters where it looks like bytes that somebody read as text. On code
 * at most 15 % off on average, and 25 % in 19 of 20 cases.
 */
export const estimateTokens = (text: string): number => tierFor(text).count(text)

export const tierFor = (text: string): Tokenizer => (looksBinary(text) ? countByCharacters : countByWords)

/** One character in twenty that no text has, in its beginning or in its middle. */
function looksBinary(text: string): boolean {
  const middle = text.length >> 1
  return [text.slice(0, 4000), text.slice(middle, middle + 4000)].some((sample) => {
    let strange = 0
    for (let at = 0; at < sample.length; at++) if (isStrange(sample.charCodeAt(at))) strange++
    return strange * 20 > sample.length
  })
}

const isStrange = (code: number): boolean =>
  (code < 32 && !isSpace(code)) || (code >= 127 && code < 160) || code === 0xfffd
