/** Finds secrets in plain text, by the form of tokens, by names, and by the user's own patterns, and masks them. */
import { createContext, Script } from 'node:vm'
import { findAssignments, findCommandPasswords, findHeaders } from './assignments.ts'
import { continuesOnNextLine, type FoundSecret, isPlaceholder, markOf, marksIn, type Range } from './candidates.ts'
import { joinSplitText, looksSecret, type Piece } from './looks-secret.ts'
import { type TokenKind, tokenKinds } from './token-kinds.ts'

export type CustomPatterns =
  | { readonly kind: 'none' }
  | { readonly kind: 'compiled'; readonly forms: readonly RegExp[] }
  | { readonly kind: 'invalid'; readonly why: string }

const maxPatternLength = 200

export function compilePatterns(sources: readonly string[]): CustomPatterns {
  const forms: RegExp[] = []
  for (const [index, source] of sources.entries()) {
    const place = `review.redaction.patterns[${index}]`
    if (source.length > maxPatternLength)
      return { kind: 'invalid', why: `${place} is longer than ${maxPatternLength} characters.` }
    try {
      forms.push(new RegExp(source, 'g'))
    } catch (error) {
      return { kind: 'invalid', why: `${place} is no regular expression: ${messageOf(error)}` }
    }
  }
  return forms.length === 0 ? { kind: 'none' } : { kind: 'compiled', forms }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The time left for the user's patterns in one redaction. */
export type Budget = { leftMs: number }

export const newBudget = (): Budget => ({ leftMs: 600 })

/**
 * The matches in each text. A pattern may never end: only the watchdog of `node:vm` can stop it in this thread. It costs
 * 0.1 ms, so it is started once for all texts.
 */
export function findCustom(
  texts: readonly string[],
  forms: readonly RegExp[],
  budget: Budget,
): ReadonlyMap<number, readonly FoundSecret[]> {
  const startedAt = performance.now()
  const timeout = Math.floor(budget.leftMs)
  if (timeout < 1) throw tooSlow()
  context ??= createContext({ run: () => {} })
  const found = new Map<number, FoundSecret[]>()
  context.run = () => {
    for (const [index, text] of texts.entries()) {
      const here = forms.flatMap((form) => matches(text, form))
      if (here.length > 0) found.set(index, here)
    }
  }
  try {
    script.runInContext(context, { timeout })
  } catch (error) {
    throw isTimeout(error) ? tooSlow() : error
  } finally {
    context.run = () => {}
  }
  budget.leftMs -= performance.now() - startedAt
  return found
}

const script = new Script('run()')
let context: ReturnType<typeof createContext> | undefined

/** It may come from the other context, whose `Error` is a different class. */
const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'

const tooSlow = (): Error => new Error('The patterns in review.redaction.patterns take too long on this text.')

/** Empty matches are skipped, without an object for each. */
function matches(text: string, form: RegExp): FoundSecret[] {
  const found: FoundSecret[] = []
  for (let from = 0; from <= text.length; ) {
    form.lastIndex = from
    if (!form.test(text)) break
    if (form.lastIndex === from) {
      from += 1
      continue
    }
    form.lastIndex = from
    const match = form.exec(text)
    if (match === null) break
    const end = match.index + match[0].length
    if (match[0] !== '') found.push({ kind: 'custom', parts: [{ start: match.index, end }] })
    from = Math.max(end, match.index + (match[0] === '' ? 1 : 0))
  }
  return found
}

/** Anything shorter holds neither a name and a secret nor a token. */
const minSecretLength = 8

/**
 * Repeated until nothing more is found, since a mark can bring a name and a value together. So redaction is idempotent.
 */
export function redactPlainText(text: string): RedactedText {
  let kinds: readonly string[] = []
  let left = text
  for (let round = 0; round < 20; round += 1) {
    const next =
      left.length >= minSecretLength && looksSecret(left)
        ? maskRanges(left, findSecrets(left))
        : { text: left, kinds: [] }
    if (next.text === left) return { text: left, kinds }
    kinds = kinds.length === 0 ? next.kinds : [...kinds, ...next.kinds]
    left = next.text
  }
  throw new Error('Each redaction of the text finds something new.')
}

export type RedactedText = { readonly text: string; readonly kinds: readonly string[] }
type MaskRange = { readonly start: number; readonly end: number; readonly rank: number; readonly isFirst: boolean }

/** Replaces what was found by marks, one for each part. `kinds` has an entry for each secret. */
export function maskRanges(text: string, found: readonly FoundSecret[]): RedactedText {
  const marks = marksIn(text)
  const holes = merged(
    found.flatMap(({ parts }, rank) =>
      parts.flatMap((part, index) => outside(part, marks).map((range) => ({ ...range, rank, isFirst: index === 0 }))),
    ),
  )
  const pieces: string[] = []
  const kinds: string[] = []
  let at = 0
  for (const { start, end, rank, isFirst } of holes) {
    const kind = found[rank]?.kind ?? 'secret'
    pieces.push(text.slice(at, start), markOf(kind))
    if (isFirst) kinds.push(kind)
    at = end
  }
  return { text: pieces.length === 0 ? text : pieces.join('') + text.slice(at), kinds }
}

function merged(holes: MaskRange[]): readonly MaskRange[] {
  const result: MaskRange[] = []
  for (const hole of holes.toSorted((one, other) => one.start - other.start || one.rank - other.rank)) {
    const last = result.at(-1)
    if (last === undefined || hole.start >= last.end) result.push(hole)
    else
      result[result.length - 1] = {
        start: last.start,
        end: Math.max(last.end, hole.end),
        rank: Math.min(last.rank, hole.rank),
        isFirst: last.isFirst || hole.isFirst,
      }
  }
  return result
}

function outside(range: Range, marks: readonly Range[]): readonly Range[] {
  const left: Range[] = []
  let start = range.start
  for (let index = firstAfter(marks, range.start); index < marks.length; index += 1) {
    const mark = marks[index]
    if (mark === undefined || mark.start >= range.end) break
    if (mark.start > start) left.push({ start, end: mark.start })
    start = mark.end
  }
  if (start < range.end) left.push({ start, end: range.end })
  return left
}

function firstAfter(marks: readonly Range[], place: number): number {
  let low = 0
  let high = marks.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((marks[middle]?.end ?? 0) > place) high = middle
    else low = middle + 1
  }
  return low
}

/** The most certain first: of two that overlap, the first names the kind. */
const findSecrets = (text: string): readonly FoundSecret[] => [
  ...findKeyBlocks(text),
  ...findTokens(text).map(({ row, start, end }) => ({ kind: row.kind, parts: [{ start, end }] })),
  ...findSplitTokens(text),
  ...findUrlPasswords(text),
  ...findHeaders(text),
  ...findCommandPasswords(text),
  ...findAssignments(text),
]

/**
 * Private keys between their `BEGIN` and `END` lines, with any wrapping of the lines between: escapes, quotes, the
 * prefix of a diff or of a comment. A block that was cut off ends where its last line of base64 does.
 */
function findKeyBlocks(text: string): readonly FoundSecret[] {
  const found: FoundSecret[] = []
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

/** What may be between two lines of base64: escapes, quotes, operators, prefixes and headers. */
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
  let plausible = start
  let isTight = true
  while (at - start < 40_000) {
    const close = endAt(end, text, at)
    if (close > at) return close
    // Separators first: a header and a line number consist of the same letters.
    const gap = endAt(between, text, at)
    if (gap > at) {
      at = gap
      continue
    }
    const line = endAt(base64, text, at)
    if (line === at) break
    // Without an end line, words are prose. Only the last line of a key is short.
    const isLast = plausible > start && !/[A-Za-z]/.test(nextCharacters(text, line))
    if (isTight && (line - at >= 16 || isLast)) plausible = line
    isTight &&= line - at >= 16
    at = line
  }
  return plausible
}

const endAt = (form: RegExp, text: string, at: number): number => {
  form.lastIndex = at
  return form.test(text) ? form.lastIndex : at
}

const nextCharacters = (text: string, at: number): string => text.slice(at, at + 12).replace(/\\[nr]/g, '')

/** Tokens that a line end or a `+` split into two or more pieces. */
function findSplitTokens(text: string): readonly FoundSecret[] {
  const joined = joinSplitText(text)
  if (joined.pieces.length === 0) return []
  return [
    ...kindsIn(joined.text).flatMap((row) => splitTokens({ ...row, form: shortForm(row) }, text, joined)),
    ...splitUrlPasswords(joined),
  ]
}

/** Only the `@` ends a password, so everything before it belongs to it, except a port with an address below. */
const splitUrlPasswords = (joined: Joined): readonly FoundSecret[] =>
  findUrlPasswords(joined.text).flatMap(({ kind, parts }) =>
    parts.flatMap((part) => {
      const pieces = joined.pieces.slice(pieceAt(joined.pieces, part.start), pieceAt(joined.pieces, part.end - 1) + 1)
      const places = partsOf(pieces, part)
      const isPort = /^\d{1,5}$/.test(joined.text.slice(part.start, Math.min(part.end, endOf(pieces[0]))))
      return places.length > 1 && !isPort ? [{ kind, parts: places }] : []
    }),
  )

const endOf = (piece: Piece | undefined): number => (piece === undefined ? 0 : piece.at + piece.length)

/**
 * In joined text one word may be as long as the whole: without a limit, a list of keys would take forever. What
 * follows may be the line below, which says nothing about the length. And a `-` at the beginning of a line was taken
 * for a diff.
 */
const shortForm = (row: TokenKind): RegExp =>
  new RegExp(
    row.anyStart
      .replaceAll(',}', ',2000}')
      .replace(/\(\?![^()]*\)$/, '')
      .replace(/\{(\d{2})\}/g, (exact, length) => (Number(length) < 20 ? exact : `{${Number(length) - 2},${length}}`)),
    'g',
  )

type Joined = ReturnType<typeof joinSplitText>

function splitTokens(row: TokenKind, text: string, joined: Joined): readonly FoundSecret[] {
  const found: FoundSecret[] = []
  for (let match = row.form.exec(joined.text); match; match = row.form.exec(joined.text)) {
    const isHere = row.only === 'anywhere' || beginsWord(joined, match.index)
    const token = isHere ? asToken(joined.text, row, match) : null
    // Words contain no token, either.
    let next = isHere && token === null ? match.index + match[0].length : match.index + 1
    if (token) {
      const first = pieceAt(joined.pieces, token.start)
      const pieces = plausiblePieces(row, text, joined, first, { start: match.index, end: token.end })
      next = Math.max(next, Math.min(token.end, endOf(pieces.at(-1))))
      if (pieces.length > 1) found.push({ kind: row.kind, parts: partsOf(pieces, token) })
    }
    // What was rejected may be the beginning of another one.
    row.form.lastIndex = next
  }
  return found
}

const beginsWord = ({ text, pieces }: Joined, at: number): boolean =>
  !/[A-Za-z0-9]/.test(text.charAt(at - 1)) || pieces[pieceAt(pieces, at)]?.at === at

/** A match may have run on into an unrelated word on the line below; it is truncated there. */
function plausiblePieces(row: TokenKind, text: string, joined: Joined, first: number, match: Range): readonly Piece[] {
  const plausible = joined.pieces.slice(first, first + 1)
  let isWhole = false
  for (let index = first + 1; plausible.length < 400; index += 1) {
    const piece = joined.pieces[index]
    if (piece === undefined || piece.after === 'start' || piece.at >= match.end) break
    isWhole ||= new RegExp(row.form.source).test(joined.text.slice(match.start, piece.at))
    const part = joined.text.slice(piece.at, Math.min(match.end, piece.at + piece.length))
    if (isWhole && piece.after === 'break' && !continuesOnNextLine(text, piece.from, part, plausible)) break
    plausible.push(piece)
  }
  return plausible
}

const partsOf = (pieces: readonly Piece[], token: Range): readonly Range[] =>
  pieces.flatMap(({ at, from, length }) => {
    const start = Math.max(at, token.start)
    const end = Math.min(at + length, token.end)
    return start < end ? [{ start: from + start - at, end: from + end - at }] : []
  })

/** The piece at this offset of the joined text. */
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

type Token = { readonly row: TokenKind; readonly start: number; readonly end: number }

/** Tokens by their form; one scan of the text decides which forms are searched. */
const findTokens = (text: string): readonly Token[] =>
  kindsIn(text).flatMap((row) =>
    Array.from(text.matchAll(row.form)).flatMap((match) => asToken(text, row, match) ?? []),
  )

function asToken(text: string, row: TokenKind, match: RegExpExecArray): Token | null {
  const end = match.index + match[0].length
  const start = match[1] === undefined ? match.index : end - match[1].length
  return row.only === 'mixed' && isMadeOfWords(text.slice(start, end)) ? null : { row, start, end }
}

const literalSigns = new Map<string, TokenKind[]>()
const expressionRows: { row: TokenKind; sign: RegExp }[] = []

for (const row of tokenKinds) {
  if (row.signs instanceof RegExp) expressionRows.push({ row, sign: row.signs })
  else for (const sign of row.signs) literalSigns.set(sign, [...(literalSigns.get(sign) ?? []), row])
}

/** The longest first, or `sk-` would hide `sk-ant-`. */
const anySign = new RegExp(
  [...literalSigns.keys()]
    .sort((one, other) => other.length - one.length)
    .map((sign) => sign.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'))
    .join('|'),
  'g',
)

function kindsIn(text: string): readonly TokenKind[] {
  const seen = new Set<TokenKind>()
  const signs = new Set<string>()
  anySign.lastIndex = 0
  for (let match = anySign.exec(text); match; match = anySign.exec(text)) signs.add(match[0])
  for (const found of signs)
    for (const [sign, rows] of literalSigns) if (found.includes(sign)) for (const row of rows) seen.add(row)
  for (const { row, sign } of expressionRows) if (sign.test(text)) seen.add(row)
  return tokenKinds.filter((row) => seen.has(row))
}

/** `sk-folding-cube-spinner`, `npm_config_user_agent`: a style or a setting, not a key. */
function isMadeOfWords(token: string): boolean {
  const words = token.split(/[-_.]/)
  return words.length > 2 && words.every((word) => /^(?:[a-z]{0,14}|[A-Z]?[a-z]{0,14}|[A-Z]{1,14}|\d{1,3})$/.test(word))
}

/** `https://user:password@host`: the password alone. Passwords of databases are often not URL-encoded. */
function findUrlPasswords(text: string): readonly FoundSecret[] {
  if (!address.test(text)) return []
  return forms.flatMap((form) =>
    Array.from(text.matchAll(form)).flatMap((match) => {
      const { user = '', password = '' } = match.groups ?? {}
      const start = match.index + match[0].length - password.length
      if (password === user || isPlaceholder(password)) return []
      return [{ kind: 'url-password', parts: [{ start, end: start + password.length }] }]
    }),
  )
}

const address = /:\\*\/\\*\//

const databases =
  'postgres(?:ql)?|mysql|mariadb|mongodb(?:\\+srv)?|rediss?|amqps?|mssql|sqlserver|oracle|clickhouse|cockroachdb'

const user = '(?<user>[^\\s:@/?#"\'`<>\\\\]{0,200})'
const host = '[\\w.-]{1,200}(?::\\d{1,5})?(?:[/?\\s"\'`,;)]|$)'

const forms = [
  new RegExp(`:\\\\{0,4}/\\\\{0,4}/${user}:(?<password>[^\\s/?#"'\`<>\\\\]{1,300})(?=@)`, 'g'),
  new RegExp(`(?:${databases})(?:\\+\\w{1,20})?://${user}:(?<password>[^\\s"'\`<>\\\\]{1,200})(?=@${host})`, 'gi'),
]
