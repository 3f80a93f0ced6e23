import { asToken, kindsIn } from './find-tokens.ts'
import { findUrlPasswords } from './find-url-passwords.ts'
import type { Found, Range } from './found.ts'
import { goesOn } from './goes-on.ts'
import { joinSplitText, type Piece } from './join-split-text.ts'
import type { TokenKind } from './token-kinds.ts'

/** Tokens that a line end or a `+` cut in two or more. Those in one piece are not looked for. */
export function findSplitTokens(text: string): readonly Found[] {
  const joined = joinSplitText(text)
  if (joined.pieces.length === 0) return []
  return [
    ...kindsIn(joined.text).flatMap((row) => splitTokens({ ...row, form: shortForm(row) }, text, joined)),
    ...splitUrlPasswords(joined),
  ]
}

/** Only the `@` ends a password, so what is before it belongs to it; but for a port with an address below. */
const splitUrlPasswords = (joined: Joined): readonly Found[] =>
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

function splitTokens(row: TokenKind, text: string, joined: Joined): readonly Found[] {
  const found: Found[] = []
  for (let match = row.form.exec(joined.text); match; match = row.form.exec(joined.text)) {
    const isHere = row.only === 'anywhere' || beginsWord(joined, match.index)
    const token = isHere ? asToken(joined.text, row, match) : null
    // What is made of words has no token in it, either.
    let next = isHere && token === null ? match.index + match[0].length : match.index + 1
    if (token) {
      const first = pieceAt(joined.pieces, token.start)
      const pieces = believedPieces(row, text, joined, first, { start: match.index, end: token.end })
      next = Math.max(next, Math.min(token.end, endOf(pieces.at(-1))))
      if (pieces.length > 1) found.push({ kind: row.kind, parts: partsOf(pieces, token) })
    }
    // What was not believed may be the beginning of another one.
    row.form.lastIndex = next
  }
  return found
}

const beginsWord = ({ text, pieces }: Joined, at: number): boolean =>
  !/[A-Za-z0-9]/.test(text.charAt(at - 1)) || pieces[pieceAt(pieces, at)]?.at === at

/** A match may have run on into a word that only happens to stand below; from there on it is not believed. */
function believedPieces(row: TokenKind, text: string, joined: Joined, first: number, match: Range): readonly Piece[] {
  const believed = joined.pieces.slice(first, first + 1)
  let isWhole = false
  for (let index = first + 1; believed.length < 400; index += 1) {
    const piece = joined.pieces[index]
    if (piece === undefined || piece.after === 'start' || piece.at >= match.end) break
    isWhole ||= new RegExp(row.form.source).test(joined.text.slice(match.start, piece.at))
    const part = joined.text.slice(piece.at, Math.min(match.end, piece.at + piece.length))
    if (isWhole && piece.after === 'break' && !goesOn(text, piece.from, part, believed)) break
    believed.push(piece)
  }
  return believed
}

const partsOf = (pieces: readonly Piece[], token: Range): readonly Range[] =>
  pieces.flatMap(({ at, from, length }) => {
    const start = Math.max(at, token.start)
    const end = Math.min(at + length, token.end)
    return start < end ? [{ start: from + start - at, end: from + end - at }] : []
  })

/** The piece that holds this place of the joined text. */
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
