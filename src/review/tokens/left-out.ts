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
