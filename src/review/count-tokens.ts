import { clearMergeCache, countTokens as countByPackage } from 'gpt-tokenizer/encoding/o200k_base'

/**
 * Tokens of o200k_base, the encoding of the models that review. The package's time is quadratic in a run that its
 * pattern does not split (200,000 equal characters take it half an hour), so runs are cut at `longestRun`. Words are
 * never that long; of what is, a token too many for each cut is all that the count is off.
 *
 * Bundled as `dist/tokenizer.mjs`, since the vocabulary costs 90 ms and 2.5 MB: whoever needs it imports it then.
 */
export function countTokens(text: string): number {
  let total = 0
  let start = 0
  for (let end = endOfPart(text, start); start < text.length; end = endOfPart(text, start)) {
    total += countByPackage(start === 0 && end === text.length ? text : text.slice(start, end), plainText)
    start = end
  }
  // Its cache keeps pieces of the text, and with them the whole of it.
  if (text.length > 50_000) clearMergeCache()
  return total
}

/** What looks like `<|endoftext|>` in reviewed content is text like any other. */
const plainText = { disallowedSpecial: new Set<string>() }

const longestRun = 256

/** Where the text must be cut so that no run in the part before is too long. */
function endOfPart(text: string, start: number): number {
  let runStart = start
  let runKind = -1
  for (let at = start; at < text.length; at++) {
    const kind = kindOf(text.charCodeAt(at))
    if (kind !== runKind) {
      runKind = kind
      runStart = at
    } else if (kind !== digit && at - runStart >= longestRun) return cutIn(text, runStart, at)
  }
  return text.length
}

const digit = 1
const letter = 2

/** The pattern never joins digits, and never letters with white space or with signs but one before them. */
function kindOf(code: number): number {
  if (code === 32 || (code >= 9 && code <= 13)) return 0
  if (code >= 48 && code <= 57) return digit
  return code >= 128 || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) ? letter : 3
}

/** Text without ASCII in it still has its own signs and spaces, before which the pattern splits as well. */
function cutIn(text: string, start: number, end: number): number {
  const run = text.slice(start, end)
  const split = [...run.matchAll(/(?<=\p{L})[^\p{L}\p{M}\p{N}]/gu)].at(-1)
  if (split) return start + split.index
  return isLowSurrogate(text.charCodeAt(end)) ? end - 1 : end
}

const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff
