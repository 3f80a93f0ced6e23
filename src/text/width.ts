export function clipToWidth(text: string, columns: number): string {
  const { head, rest } = splitAtWidth(text, columns)
  return rest === '' ? head : `${splitAtWidth(text, Math.max(0, columns - 1)).head.trimEnd()}${columns > 0 ? '…' : ''}`
}

/** Wraps at blanks if possible; the last line is truncated. */
export function wrapToWidth(text: string, columns: number, lines: number): string[] {
  const { head, rest } = splitAtWidth(text, columns)
  if (rest === '' || lines <= 1) return [clipToWidth(text, columns)]
  const blank = rest.startsWith(' ') ? head.length : head.lastIndexOf(' ')
  const end = blank > head.length / 2 ? blank : head.length
  return end === 0 ? [''] : [text.slice(0, end), ...wrapToWidth(text.slice(end).trimStart(), columns, lines - 1)]
}

/** In columns. The larger number if terminals differ: a line may end early, but never overflow. */
export const widthOf = (text: string): number => [...text].reduce((sum, character) => sum + columnsOf(character), 0)

function splitAtWidth(text: string, columns: number): { head: string; rest: string } {
  let width = 0
  let end = 0
  for (const character of text) {
    width += columnsOf(character)
    if (width > columns) break
    end += character.length
  }
  return { head: text.slice(0, end), rest: text.slice(end) }
}

function columnsOf(character: string): number {
  if (/^[\u0020-\u02ff]$/.test(character)) return 1
  if (narrow.test(character)) return 1
  if (combining.test(character)) return 0
  return wide.test(character) ? 2 : 1
}

/** Half-width forms of wide scripts. */
const narrow = /^[\uff61-\uffdc\uffe8-\uffee]$/
const combining = /^[\p{Mn}\p{Me}]$/u

const wide =
  /^[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Yi}\p{Script=Tangut}\p{Script=Nushu}\u3000-\u33ff\u4dc0-\u4dff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]$/u
