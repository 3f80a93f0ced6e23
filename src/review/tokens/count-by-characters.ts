import { isDigit, isLineEnd, isLower, isSign, isSpace, isUpper } from './character-kinds.ts'
import type { Tokenizer } from './tokenizer.ts'
import { endOfUnbroken, unbrokenWeight, weighForeign } from './weigh-unusual.ts'

/** What a character of each kind costs on average, wherever it stands; fitted like the weights of words. */
const kinds = [
  { belongs: isLower, weight: 0.19 },
  { belongs: isUpper, weight: 0.27 },
  { belongs: isDigit, weight: 1 },
  { belongs: isSign, weight: 0.5 },
  { belongs: isLineEnd, weight: 1.5 },
  { belongs: isSpace, weight: 0.01 },
] as const

/** For text without words in it, of which no more can be said than how much there is of what. */
export const countByCharacters: Tokenizer = {
  tier: 'characters',
  count: (text) => {
    let tokens = 0
    for (let at = 0; at < text.length; ) {
      const end = endOfUnbroken(text, at) ?? at + 1
      tokens += end > at + 1 ? (end - at) * unbrokenWeight : weigh(text.charCodeAt(at))
      at = end
    }
    return Math.ceil(tokens)
  },
}

const weigh = (code: number): number => kinds.find(({ belongs }) => belongs(code))?.weight ?? weighForeign(code)
