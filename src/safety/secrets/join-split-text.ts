/**
 * Text that was broken in the middle of a word, put together again: a line wrapped by a mail program, a backslash at
 * the end of a line, `"one" + "two"`, the `+` of a diff, the indentation of a YAML block. Only the words beside such a
 * break are joined, so that an ordinary file yields next to nothing.
 */
export type JoinedText = { readonly text: string; readonly pieces: readonly Piece[] }

/** A part without a break in it: `at` in the joined text is `from` in the original. */
export type Piece = {
  readonly at: number
  readonly from: number
  readonly length: number
  /** What leads to it: nothing, a break that may be a coincidence, or one that says "this goes on". */
  readonly after: 'start' | 'break' | 'continuation'
}

export type Break = { readonly end: number; readonly isContinuation: boolean }

const wordCharacters = 'A-Za-z0-9_./+=:~$@%-'
const isWord = Uint8Array.from({ length: 128 }, (_, code) =>
  new RegExp(`[${wordCharacters}]`).test(String.fromCharCode(code)) ? 1 : 0,
)

/** Every repetition is bounded, so that no text makes this slow. */
const quote = '\\\\{0,4}["\'`]'
const operator = '[+.&~]|\\.\\.|<>'
const space = '[ \\t]{0,40}'
const indentation = '(?:[ \\t]|\\\\t){0,200}'
const lineEnd = '(\\\\{0,4})(?:\\r?\\n|\\\\{1,4}(?:r\\\\{1,4})?n)'
const lineStart = `[+-]?${indentation}(?:(?:\\/\\/|[#*>|]|\\d{1,6}[→\\t])${indentation})?`
const between = `(?:(${operator})${space})?`
const before = `(?:(${quote})${space}${between}|${space})`
const behind = `(?:(${operator})${space}(?=${quote}))?(${quote})?`
const overLines = `${before}${lineEnd}${lineStart}${behind}`
const onOneLine = `${quote}${space}${between}${quote}`
const source = [
  '(?=["\'`\\\\ \\t\\r\\n])',
  `(?<=[${wordCharacters}])`,
  `(?:${overLines}|${onOneLine})`,
  `(?=[${wordCharacters}])`,
].join('')
const anyBreak = new RegExp(source, 'g')
const breakHere = new RegExp(source, 'y')

export function joinSplitText(text: string): JoinedText {
  const joined: string[] = []
  const pieces: Piece[] = []
  let length = 0
  let openUntil = -1
  const add = (from: number, end: number, after: Piece['after']) => {
    if (after === 'start' && length > 0) length += joined.push('\n') && 1
    pieces.push({ at: length, from, length: end - from, after })
    joined.push(text.slice(from, end))
    length += end - from
    openUntil = end
  }
  anyBreak.lastIndex = 0
  for (let match = anyBreak.exec(text); match; match = anyBreak.exec(text)) {
    const found = readBreak(match)
    if (!found) continue
    if (match.index !== openUntil) add(startOfWord(text, match.index), match.index, 'start')
    add(found.end, endOfWord(text, found.end), found.isContinuation ? 'continuation' : 'break')
  }
  return { text: joined.join(''), pieces }
}

/** The break that begins exactly at `at`, where a word has just ended. */
export function breakAt(text: string, at: number): Break | null {
  breakHere.lastIndex = at
  const match = breakHere.exec(text)
  return match && readBreak(match)
}

function readBreak(match: RegExpExecArray): Break | null {
  const [whole, close, operatorBefore, slash, operatorBehind, open, operatorBetween] = match
  const end = match.index + whole.length
  if (slash === undefined) return { end, isContinuation: operatorBetween !== undefined }
  // A quote on one side only is the end of one string and the beginning of something else.
  if ((close === undefined) !== (open === undefined)) return null
  return { end, isContinuation: operatorBefore !== undefined || operatorBehind !== undefined || slash !== '' }
}

function startOfWord(text: string, end: number): number {
  let at = end
  while (at > 0 && isWord[text.charCodeAt(at - 1)] === 1) at -= 1
  return at
}

function endOfWord(text: string, start: number): number {
  let at = start
  while (at < text.length && isWord[text.charCodeAt(at)] === 1) at += 1
  return at
}
