import { clearMergeCache, countTokens as countByPackage } from 'gpt-tokenizer/encoding/o200k_base'

/**
 * Tokens of o200k_base, the encoding of the models that review. The package's time is quadratic in a run that its
 * pattern does not split (200,000 equal characters take half an hour), so runs are cut at `maxRun`. Words are never that
 * long; each cut adds at most one token.
 *
 * Bundled as `dist/tokenizer.mjs` and imported on demand, since the vocabulary costs 90 ms and 2.5 MB.
 */
export function countTokens(text: string): number {
  let total = 0
  let start = 0
  for (let end = endOfPart(text, start); start < text.length; end = endOfPart(text, start)) {
    total += countByPackage(start === 0 && end === text.length ? text : text.slice(start, end), plainText)
    start = end
  }
  // The cache holds slices that keep the whole text in memory.
  if (text.length > 50_000) clearMergeCache()
  return total
}

/** `<|endoftext|>` in reviewed content is plain text. */
const plainText = { disallowedSpecial: new Set<string>() }
const maxRun = 256

/** The end of the longest part without a run that is too long. */
function endOfPart(text: string, start: number): number {
  let runStart = start
  let runKind = -1
  for (let at = start; at < text.length; at++) {
    const kind = kindOf(text.charCodeAt(at))
    if (kind !== runKind) {
      runKind = kind
      runStart = at
    } else if (kind !== digit && at - runStart >= maxRun) return cutIn(text, runStart, at)
  }
  return text.length
}

const digit = 1
const letter = 2

/** The pattern never joins digits, and never letters with white space or more than one sign before them. */
function kindOf(code: number): number {
  if (code === 32 || (code >= 9 && code <= 13)) return 0
  if (code >= 48 && code <= 57) return digit
  return code >= 128 || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) ? letter : 3
}

/** The pattern also splits before punctuation and spaces outside of ASCII. */
function cutIn(text: string, start: number, end: number): number {
  const run = text.slice(start, end)
  const split = [...run.matchAll(/(?<=\p{L})[^\p{L}\p{M}\p{N}]/gu)].at(-1)
  if (split) return start + split.index
  return isLowSurrogate(text.charCodeAt(end)) ? end - 1 : end
}

const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff
