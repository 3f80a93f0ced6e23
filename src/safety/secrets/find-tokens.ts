import { type TokenKind, tokenKinds } from './token-kinds.ts'

export type Token = { readonly row: TokenKind; readonly start: number; readonly end: number }

/** Tokens by their form. Which forms are searched at all, one look over the text decides. */
export const findTokens = (text: string): readonly Token[] =>
  kindsIn(text).flatMap((row) =>
    Array.from(text.matchAll(row.form)).flatMap((match) => asToken(text, row, match) ?? []),
  )

export function asToken(text: string, row: TokenKind, match: RegExpExecArray): Token | null {
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

export function kindsIn(text: string): readonly TokenKind[] {
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
