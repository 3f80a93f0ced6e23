import { findAssignments, findCommandPasswords, findHeaders, isPlaceholder } from './assignments.ts'
import type { Secret } from './mask.ts'
import { tokenKinds } from './token-kinds.ts'

/** Finds secrets in plain text: by the form of tokens, by what stands around them, and by names. */

export type FoundSecret = Range & { readonly kind: string }

/** The most certain first: of two that overlap, the first names the kind. */
const detectors: readonly ((text: string, view: View) => Iterable<FoundSecret>)[] = [
  findKeyBlocks,
  findTokens,
  findUrlPasswords,
  findHeaders,
  findCommandPasswords,
  findAssignments,
]

/** Each detector reads the text as it stands, and once more the lines in which a word had come apart. */
export function findSecrets(text: string): readonly Secret[] {
  const joined = joinedView(text)
  const views = joined ? [wholeView(text), joined] : [wholeView(text)]
  return detectors.flatMap((detect) =>
    views.flatMap((view) =>
      Array.from(detect(view.text, view)).flatMap(({ kind, start, end }) => {
        const parts = view.rangesOf({ start, end })
        return view === joined && parts.length < 2 ? [] : [{ kind, parts }]
      }),
    ),
  )
}

/** With any wrapping of the lines between. One that was cut off ends where its last line of base64 does. */
function* findKeyBlocks(text: string): Generator<FoundSecret> {
  let from = 0
  for (const { index: start, 0: begin } of text.matchAll(keyBegin)) {
    if (start < from) continue
    const inner = start + begin.length
    keyBody.lastIndex = inner
    const body = keyBody.exec(text)?.[0] ?? ''
    const close = keyEnd.exec(body) ?? cutOffBody.exec(body)
    if (!close || close.index + close[0].length === 0) continue
    from = inner + close.index + close[0].length
    yield { kind: 'private-key', start, end: from }
  }
}

const keyBegin =
  /-{2,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{2,5}|PuTTY-User-Key-File-\d|Private-Lines: {0,4}\d{1,4}/g
const keyEnd = /-{2,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{2,5}|Private-MAC: {0,4}[0-9a-f]{20,128}/
const keyHeader =
  '(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash|Encryption|Public-Lines|Key-Derivation|Argon2-\\w{1,12}|' +
  'Private-Lines): {0,4}[^\\n\\\\]{0,200}'
const lineMarks = '\\s"\'`+,;:.#*>|()[\\]&~→'
/** Between two lines of base64: escapes, quotes, operators, prefixes and headers. */
const separator = `(?:${keyHeader}|\\d{1,6}[→\\t]|\\\\{1,4}[nrt]?|[${lineMarks}]|-(?!-{0,4} ?(?:BEGIN|END)))`
const keyBody = new RegExp(`(?:${keyHeader}|(?!-{2,5} ?BEGIN)[A-Za-z0-9+/=\\\\${lineMarks}-]){0,40000}`, 'y')
/** Without an end line, words are prose: a line has 16 characters, and only the last one is shorter. */
const base64 = '(?:[A-Za-z0-9+/=]|\\\\/)'
const cutOffBody = new RegExp(
  `^(?:${separator}{0,300}${base64}{16,200})+(?:${separator}{0,300}${base64}{1,15}(?!(?:\\\\[nr]|[^A-Za-z]){0,12}[A-Za-z]))?`,
)

function* findTokens(text: string, { beginsPiece }: View): Generator<FoundSecret> {
  // No token is shorter.
  if (!/[\w+/=.:-]{8}/.test(text)) return
  for (const { kind, form, splitForm, only, sign } of tokenKinds) {
    if (!text.includes(sign)) continue
    const used = beginsPiece ? splitForm : form
    used.lastIndex = 0
    for (let match = used.exec(text); match; match = used.exec(text)) {
      const end = used.lastIndex
      const start = end - (match[1] ?? match[0]).length
      const isInWord = only !== 'anywhere' && /[A-Za-z0-9]/.test(text.charAt(match.index - 1))
      if (beginsPiece && isInWord && !beginsPiece(match.index)) used.lastIndex = match.index + 1
      else if (only !== 'mixed' || !isMadeOfWords(text.slice(start, end))) yield { kind, start, end }
    }
  }
}

/** `sk-folding-cube-spinner`, `npm_config_user_agent`: a style or a setting, not a key. */
function isMadeOfWords(token: string): boolean {
  const words = token.split(/[-_.]/)
  return words.length > 2 && words.every((word) => /^(?:[a-z]{0,14}|[A-Z]?[a-z]{0,14}|[A-Z]{1,14}|\d{1,3})$/.test(word))
}

/** `https://user:password@host`: the password alone. Passwords of databases are often not URL-encoded. */
function* findUrlPasswords(text: string): Generator<FoundSecret> {
  for (const form of urls)
    for (const match of text.matchAll(form)) {
      const { user = '', password = '' } = match.groups ?? {}
      const end = match.index + match[0].length
      if (password !== user && !isPlaceholder(password))
        yield { kind: 'url-password', start: end - password.length, end }
    }
}

const databases =
  'postgres(?:ql)?|mysql|mariadb|mongodb(?:\\+srv)?|rediss?|amqps?|mssql|sqlserver|oracle|clickhouse|cockroachdb'
const user = '(?<user>[^\\s:@/?#"\'`<>\\\\]{0,200})'
const host = '[\\w.-]{1,200}(?::\\d{1,5})?(?:[/?\\s"\'`,;)]|$)'
const urls = [
  new RegExp(`:\\\\{0,4}/\\\\{0,4}/${user}:(?<password>[^\\s/?#"'\`<>\\\\]{1,300})(?=@)`, 'g'),
  new RegExp(`(?:${databases})(?:\\+\\w{1,20})?://${user}:(?<password>[^\\s"'\`<>\\\\]{1,200})(?=@${host})`, 'gi'),
]

/** Text that came apart in the middle of a word, read as one; what is found in it maps back to the original. */
export type Range = { readonly start: number; readonly end: number }

/** A part without a break in it: `at` in the view is `from` in the original. */
type Piece = { readonly at: number; readonly from: number; readonly length: number }

type View = {
  readonly text: string
  /** Whether this is behind a break, so that a word may begin here. Not in the text as it stands. */
  readonly beginsPiece?: (at: number) => boolean
  /** The ranges of the original that this range of the view is made of. */
  readonly rangesOf: (range: Range) => readonly Range[]
}

const wholeView = (text: string): View => ({ text, rangesOf: (range) => [range] })

/** A wrapped line, a backslash at its end, `"one" + "two"`, the `+` of a diff, YAML. Null in most texts. */
function joinedView(text: string): View | null {
  const lines: string[] = []
  const pieces: Piece[] = []
  let length = 0
  const add = (from: number, end: number, lineEnd = '') => {
    pieces.push({ at: length, from, length: end - from })
    lines.push(text.slice(from, end), lineEnd)
    length += end - from + lineEnd.length
  }
  let [from, until] = [0, -1]
  for (const { start, end } of breaksIn(text)) {
    if (start > until) {
      if (until >= 0) add(from, until, '\n')
      const context = Math.max(until, start - maxContext, 0)
      from = context + text.slice(context, start).lastIndexOf('\n') + 1
    }
    add(from, start)
    from = end
    until = end + (/^[^\n]*/.exec(text.slice(end, end + maxContext))?.[0].length ?? 0)
  }
  if (until < 0) return null
  add(from, until)
  const starts = new Set(pieces.map(({ at }) => at))
  return { text: lines.join(''), beginsPiece: (at) => starts.has(at), rangesOf: (range) => rangesIn(pieces, range) }
}

/** What of a line is kept before the first break and behind the last. */
const maxContext = 1_000

function rangesIn(pieces: readonly Piece[], { start, end }: Range): readonly Range[] {
  const ranges: Range[] = []
  for (let index = pieceAt(pieces, start); index < pieces.length; index += 1) {
    const { at, from, length } = pieces[index] ?? { at: end, from: 0, length: 0 }
    if (at >= end) break
    const range = { start: from + Math.max(start - at, 0), end: from + Math.min(end - at, length) }
    if (range.start < range.end) ranges.push(range)
  }
  return ranges
}

function pieceAt(pieces: readonly Piece[], place: number): number {
  let low = 0
  let high = pieces.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((pieces[middle]?.at ?? 0) <= place) low = middle
    else high = middle - 1
  }
  return low
}

const wordCharacters = 'A-Za-z0-9_./+=:~$@%-'
const word = new RegExp(`[${wordCharacters}]{1,4000}`, 'y')

/** Every repetition is bounded, so that no text makes this slow. */
const quote = '\\\\{0,4}["\'`]'
const operator = '[+.&~]|\\.\\.|<>'
const space = '[ \\t]{0,40}'
const indentation = '(?:[ \\t]|\\\\t){0,200}'
const between = `(?:(?<before>${operator})${space})?`
const lineEnd = '(?<slash>\\\\{0,4})(?:\\r?\\n|\\\\{1,4}(?:r\\\\{1,4})?n)'
const lineStart = `[+-]?${indentation}(?:(?:\\/\\/|[#*>|]|\\d{1,6}[→\\t])${indentation})?`
const overLines =
  `(?:(?<close>${quote})${space}${between}|${space})${lineEnd}${lineStart}` +
  `(?:(?<behind>${operator})${space}(?=${quote}))?(?<open>${quote})?`
const onOneLine = `${quote}${space}(?:(?<sum>${operator})${space})?${quote}`
const anyBreak = new RegExp(
  `(?=["'\`\\\\ \\t\\r\\n])(?<=[${wordCharacters}])(?:${overLines}|${onOneLine})(?=[${wordCharacters}])`,
  'g',
)

/** The breaks that join what stands on both sides. */
function* breaksIn(text: string): Generator<Range> {
  let wordEnd = -1
  let part = ''
  let widths: number[] = []
  for (const match of text.matchAll(anyBreak)) {
    const { index: start } = match
    const end = start + match[0].length
    const before = start === wordEnd ? part : endOfWord(text, start)
    if (start !== wordEnd) widths = []
    word.lastIndex = end
    part = word.exec(text)?.[0] ?? ''
    const { slash, close, open, before: sign, behind, sum } = match.groups ?? {}
    const isContinued = Boolean(sum ?? sign ?? behind ?? slash)
    // A quote on one side only is the end of one string and the beginning of something else.
    const isTorn = slash !== undefined && (close === undefined) !== (open === undefined)
    wordEnd = -1
    if (isTorn || !(isContinued || continuesWord(text, end, before, part, widths))) continue
    yield { start, end }
    widths.push(part.length)
    wordEnd = end + part.length
  }
}

function endOfWord(text: string, end: number): string {
  let start = end
  while (start > 0 && end - start < 200 && /[^\s"'`]/.test(text.charAt(start - 1))) start -= 1
  return text.slice(start, end)
}

/** Whether the next line goes on with the word above it, where only a line end is between them. */
function continuesWord(text: string, at: number, before: string, part: string, widths: readonly number[]): boolean {
  restOfLine.lastIndex = at + part.length
  if (!restOfLine.test(text) || /^(?!\d+:)[\w.-]+[=:][^=]/.test(part) || /:\/\/[^/]*:\d{1,5}$/.test(before))
    return false
  const goesOn = looksGenerated(before) && !before.endsWith('=')
  return looksGenerated(part) || goesOn || endsBlock(part.length, widths)
}

const restOfLine = /[\\"'`)\]} \t]{0,20}(?:[;,@]|\r?\n|\\[rn]|$)/y

function looksGenerated(part: string): boolean {
  if (part.length < 3) return /\d/.test(part)
  if (part.length >= 24 && !/[-_.]/.test(part)) return true
  if (/^[A-Za-z]+$/.test(part)) return !/^[A-Za-z][a-z]{2,}(?:[A-Z][a-z]{2,})*$|^[A-Z]+$|^[a-z]+$/.test(part)
  return /\d/.test(part) ? /[A-Za-z]/.test(part) || part.length > 5 : /[a-z]/.test(part) && /[A-Z+/=]/.test(part)
}

/** A line that ends a block of lines of equal width. */
function endsBlock(width: number, widths: readonly number[]): boolean {
  const block = widths[0] ?? 0
  return block >= 8 && width <= block && widths.every((one) => one === block)
}
