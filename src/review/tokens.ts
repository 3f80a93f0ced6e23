import { type Count, safeCut } from '../text/cut.ts'

/** The estimate is at most a quarter off; only near one of the limits is it worth loading the tokenizer, which takes time. */
export async function countTokensNear(
  text: string,
  limits: readonly number[],
  tokenizer: () => Promise<Tokenizer>,
): Promise<number> {
  const estimate = estimateTokens(text)
  const isNear = limits.some((limit) => estimate > limit * 0.6 && estimate < limit * 1.7)
  return isNear ? (await tokenizer()).count(text) : estimate
}

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

/** What a UTF-16 unit is to somebody who counts tokens. */
const isLower = (code: number): boolean => code >= 97 && code <= 122
const isUpper = (code: number): boolean => code >= 65 && code <= 90
const isLetter = (code: number): boolean => isLower(code) || isUpper(code)
const isDigit = (code: number): boolean => code >= 48 && code <= 57
const isLineEnd = (code: number): boolean => code === 10 || code === 13
const isSpace = (code: number): boolean => code === 32 || (code >= 9 && code <= 13)
const isGap = (code: number): boolean => isSpace(code) && !isLineEnd(code)
const isSign = (code: number): boolean => code > 32 && code < 127 && !isLetter(code) && !isDigit(code)

/** Where a run of one kind ends that begins at `at`. */
function endOfRun(text: string, at: number, belongs: (code: number) => boolean): number {
  let end = at
  while (end < text.length && belongs(text.charCodeAt(end))) end++
  return end
}

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

/** Tokens of a unit that is not ASCII: half a word in most scripts, and several for what is none at all. */
function weighForeign(code: number): number {
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
function endOfUnbroken(text: string, at: number): number | null {
  const end = endOfRun(text, at, isUnbroken)
  return end - at > longestWord ? end : null
}

const unbrokenWeight = 2 / 3

const longestWord = 60
const isUnbroken = (code: number): boolean => isLetter(code) || isDigit(code) || code === 43 || code === 61

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
      tokens += unbroken === null ? weighCountByWords(text, at, end) : (end - at) * unbrokenWeight
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

function weighCountByWords(text: string, at: number, end: number): number {
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

const stride = 16_384

/** Whether a text has at most so many tokens; of one that is far too long only the beginning is counted. */
export function isWithin(text: string, budget: number, count: Count): boolean {
  if (text.length <= stride) return count(text) <= budget
  return countUpTo(text, budget * 1.02 + 10, count) <= budget * 1.02 + 10 && count(text) <= budget
}

/** The tokens of a text, nearly; once there are more than `limit`, the rest is not looked at. */
export function countUpTo(text: string, limit: number, count: Count): number {
  let total = 0
  for (let at = 0; at < text.length && total <= limit; ) {
    const end = safeCut(text, at + stride)
    total += count(text.slice(at, end))
    at = end
  }
  return total
}

/** The mark that stands where something was left out. */
export const leftOut = (what: string): string => `[… ${what} left out …]`

/** How much a piece of text is: lines, or characters where it is part of one line. */
export function amountOf(text: string): string {
  const lines = countLines(text)
  return lines > 1 ? counted(lines, 'line') : counted(text.length, 'character')
}

export const counted = (count: number, thing: string): string =>
  `${count.toLocaleString('en-US')} ${thing}${count === 1 ? '' : 's'}`

/** A last line that ends counts once. */
function countLines(text: string): number {
  let lines = 0
  for (let at = 0; at !== -1 && at < text.length; lines++) {
    const end = text.indexOf('\n', at)
    at = end === -1 ? -1 : end + 1
  }
  return lines
}

export const lineEndOf = (text: string): string => (/\r?\n/.exec(text.slice(0, 20_000))?.[0] === '\r\n' ? '\r\n' : '\n')

/** "3 of 9 sections left out and the section "Goals" shortened." */
export function asSentence(parts: readonly string[]): string {
  const joined = parts.join(' and ')
  return `${joined.slice(0, 1).toUpperCase()}${joined.slice(1)}.`
}

/** False is a proof: a token is at least one byte. So most texts need no tokenizer, which takes time to load. */
export function mayExceed(text: string, budget: number): boolean {
  if (text.length * 3 <= budget) return false
  if (text.length > budget) return true
  let bytes = text.length
  for (let at = 0; at < text.length; at++) bytes += bytesOver(text.charCodeAt(at))
  return bytes > budget
}

/** The bytes of UTF-8 beyond the first. A surrogate has two in a pair, three alone, and is always taken for three. */
const bytesOver = (code: number): number => (code < 0x80 ? 0 : code < 0x800 ? 1 : 2)

/**
 * The exact tokenizer, or the estimate where it cannot be loaded. `load` imports `dist/tokenizer.mjs`, whose place
 * depends on where the program runs; call it only for a text that may exceed its budget.
 */
export async function openTokenizer(
  load: () => Promise<{ readonly countTokens: (text: string) => number }>,
): Promise<Tokenizer> {
  try {
    const { countTokens } = await load()
    // A file that is damaged or is another one shows here, and not in the middle of a review.
    if (countTokens('hello world') === 2) return { tier: 'exact', count: countTokens }
  } catch {}
  return { tier: 'words', count: estimateTokens }
}

/** Counts the tokens of a text, exactly or nearly. Whatever it is, '' has none. */
export type Tokenizer = {
  readonly tier: 'exact' | 'words' | 'characters'
  readonly count: (text: string) => number
}
