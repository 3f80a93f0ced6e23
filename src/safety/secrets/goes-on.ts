/**
 * Whether what stands on the next line belongs to the secret above it, where nothing but the line end says so: it is
 * all there is on its line, and it looks like more of the same or ends a block of lines that are equally wide.
 */
export function goesOn(text: string, at: number, part: string, before: readonly { length: number }[]): boolean {
  restOfLine.lastIndex = at + part.length
  return (
    restOfLine.test(text) &&
    !isAssignment.test(part) &&
    (looksLikeCode(part) || endsBlock(part.length, before.slice(1)))
  )
}

const isAssignment = /^[\w.-]+[=:][^=]/
const restOfLine = /[\\"'`)\]} \t]{0,20}(?:[;,]|\r?\n|\\[rn]|$)/y

function looksLikeCode(part: string): boolean {
  if (part.length < 3) return /\d/.test(part)
  if (part.length >= 24 && !/[-_.]/.test(part)) return true
  if (/^[A-Za-z]+$/.test(part)) return !/^[A-Za-z][a-z]{2,}(?:[A-Z][a-z]{2,})*$|^[A-Z]+$|^[a-z]+$/.test(part)
  return /\d/.test(part) ? /[A-Za-z]/.test(part) || part.length > 5 : /[a-z]/.test(part) && /[A-Z+/=]/.test(part)
}

/** The first line may be shorter by what stands before the secret. */
function endsBlock(width: number, middle: readonly { length: number }[]): boolean {
  const block = middle[0]?.length ?? 0
  return block >= 8 && width <= block && middle.every(({ length }) => length === block)
}
