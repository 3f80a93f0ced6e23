import type { Found } from './found.ts'

/**
 * Private keys between their `BEGIN` and `END` lines, whatever the lines between are wrapped in: escapes, quotes, the
 * prefix of a diff or of a comment. A block that was cut off ends where its last line of base64 does.
 */
export function findKeyBlocks(text: string): readonly Found[] {
  const found: Found[] = []
  if (!text.includes('PRIVATE KEY') && !text.includes('Private-Lines')) return found
  begin.lastIndex = 0
  for (let match = begin.exec(text); match; match = begin.exec(text)) {
    const end = endOfBlock(text, begin.lastIndex)
    if (end > begin.lastIndex) found.push({ kind: 'private-key', parts: [{ start: match.index, end }] })
    begin.lastIndex = Math.max(begin.lastIndex, end)
  }
  return found
}

const begin =
  /-{2,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{2,5}|PuTTY-User-Key-File-\d|Private-Lines: {0,4}\d{1,4}/g
const end = /(?:-{2,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{2,5}|Private-MAC: {0,4}[0-9a-f]{20,128})/y

/** What may stand between two lines of base64: escapes, quotes, operators, prefixes and the few headers there are. */
const headers =
  'Proc-Type|DEK-Info|Version|Comment|Charset|Hash|Encryption|Public-Lines|Key-Derivation|Argon2-\\w{1,12}|' +
  'Private-Lines'
const between = new RegExp(
  [
    '[ \\t\\r\\n"\'`+,;:.#*>|()[\\]&~→]',
    '-(?!-{0,4} ?BEGIN)',
    '\\\\{1,4}[nrt]?',
    '\\d{1,6}[→\\t]',
    `(?:${headers}): {0,4}[^\\n\\\\]{0,200}`,
  ].join('|'),
  'y',
)
const base64 = /(?:[A-Za-z0-9+/=]|\\\/){1,200}/y

function endOfBlock(text: string, start: number): number {
  let at = start
  let believed = start
  let isTight = true
  while (at - start < 40_000) {
    const close = endAt(end, text, at)
    if (close > at) return close
    // First what stands between: a header and the number of a line are made of the same letters.
    const gap = endAt(between, text, at)
    if (gap > at) {
      at = gap
      continue
    }
    const line = endAt(base64, text, at)
    if (line === at) break
    // Without an end line, words are prose. Only the last line of a key is short.
    const isLast = believed > start && !/[A-Za-z]/.test(nextCharacters(text, line))
    if (isTight && (line - at >= 16 || isLast)) believed = line
    isTight &&= line - at >= 16
    at = line
  }
  return believed
}

const endAt = (form: RegExp, text: string, at: number): number => {
  form.lastIndex = at
  return form.test(text) ? form.lastIndex : at
}

const nextCharacters = (text: string, at: number): string => text.slice(at, at + 12).replace(/\\[nr]/g, '')
