import { endOfRun, isDigit, isGap, isLetter, isLineEnd, isLower, isSign, isSpace, isUpper } from './character-kinds.ts'
import type { Tokenizer } from './tokenizer.ts'
import { endOfUnbroken, unbrokenWeight, weighForeign } from './weigh-unusual.ts'

/**
 * What each thing in a text costs in tokens of o200k_base: a least-squares fit over 770 files of 18 languages. A part
 * is what camel case and underscores leave of a name; one space before a word belongs to its token and is free.
 */
const weights = {
  part: 0.9,
  letterOver5: 0.06,
  letterOver10: 0.3,
  capitals: 1.05,
  capitalOver3: 0.2,
  threeDigits: 1.22,
  signBeforeWord: 0.4,
  signs: 1.17,
  otherSign: 0.13,
  sameSign: 0.04,
  lineEnd: 1.2,
  lineEndAfterSign: 0.25,
  indent: 0.87,
  gap: 1.1,
  spaceOver16: 0.06,
} as const

/** For text that consists of words: code, prose, data. */
export const countByWords: Tokenizer = {
  tier: 'words',
  count: (text) => {
    let tokens = 0
    for (let at = 0; at < text.length; ) {
      const unbroken = endOfUnbroken(text, at)
      const end = unbroken ?? endOfThing(text, at)
      tokens += unbroken === null ? weigh(text, at, end) : (end - at) * unbrokenWeight
      at = end
    }
    return Math.ceil(tokens)
  },
}

function endOfThing(text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (isLetter(code)) return endOfPart(text, at)
  if (isDigit(code)) return endOfRun(text, at, isDigit)
  if (isLineEnd(code)) return endOfRun(text, at, isSpace)
  if (isGap(code)) return endOfRun(text, at, isGap)
  return isSign(code) ? endOfRun(text, at, isSign) : at + 1
}

/** `parseXML` has two parts and `XMLParser` one, as the encoding splits them. */
const endOfPart = (text: string, at: number): number => endOfRun(text, endOfRun(text, at, isUpper), isLower)

function weigh(text: string, at: number, end: number): number {
  const code = text.charCodeAt(at)
  if (isLetter(code)) return weighPart(text, at, end - at)
  if (isDigit(code)) return Math.ceil((end - at) / 3) * weights.threeDigits
  if (isLineEnd(code)) return weighLineEnd(text, at, end)
  if (isGap(code)) return end - at > 1 ? weights.gap + over16(end - at) : 0
  return isSign(code) ? weighSigns(text, at, end) : weighForeign(code)
}

function weighPart(text: string, at: number, length: number): number {
  if (length > 1 && !isLower(text.charCodeAt(at + length - 1)))
    return weights.capitals + Math.max(0, length - 3) * weights.capitalOver3
  return (
    weights.part +
    Math.max(0, Math.min(length, 10) - 5) * weights.letterOver5 +
    Math.max(0, length - 10) * weights.letterOver10
  )
}

function weighLineEnd(text: string, at: number, end: number): number {
  const indented = end - at > 1 && isGap(text.charCodeAt(end - 1)) && isGap(text.charCodeAt(end - 2))
  const afterSign = at > 0 && isSign(text.charCodeAt(at - 1))
  return (
    (afterSign ? weights.lineEndAfterSign : weights.lineEnd) + (indented ? weights.indent : 0) + over16(end - at - 8)
  )
}

/** No single token holds a whole page of white space. */
const over16 = (length: number): number => Math.max(0, length - 16) * weights.spaceOver16

function weighSigns(text: string, at: number, end: number): number {
  if (end - at === 1 && isLetter(text.charCodeAt(end))) return weights.signBeforeWord
  let tokens = weights.signs
  for (let next = at + 1; next < end; next++)
    tokens += text.charCodeAt(next) === text.charCodeAt(next - 1) ? weights.sameSign : weights.otherSign
  return tokens
}
