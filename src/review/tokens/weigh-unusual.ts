import { endOfRun, isDigit, isLetter } from './character-kinds.ts'

/** Tokens of a unit that is not ASCII: half a word in most scripts, and several for what is none at all. */
export function weighForeign(code: number): number {
  if (code < 32 || code === 0xfffd) return 1
  if (code < 0x250) return 0.9
  if (code < 0x800) return 0.33
  return isSurrogate(code) ? 0.6 : 0.75
}

const isSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdfff

/**
 * Keys, digests and base64 are letters and digits without end, of which the encoding knows no words: two tokens for
 * three characters. The end of such a run at `at`; null where there is none.
 */
export function endOfUnbroken(text: string, at: number): number | null {
  const end = endOfRun(text, at, isUnbroken)
  return end - at > longestWord ? end : null
}

export const unbrokenWeight = 2 / 3

const longestWord = 60
const isUnbroken = (code: number): boolean => isLetter(code) || isDigit(code) || code === 43 || code === 61
