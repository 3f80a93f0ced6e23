/**
 * Text of others as a page can show it: what would hide in it, or turn its neighbours round, becomes a name that can be
 * read, `⟨U+202E⟩`. What joins the parts of an emoji or of a Persian word is part of what people see, and stays.
 */
export const showHidden = (text: string): string =>
  text.replaceAll('\r\n', '\n').replace(hiddenOrJoined, (found) => (isOneCharacter(found) ? nameOf(found) : found))

const emoji = '\\p{Extended_Pictographic}[\\ufe0f\\u{1f3fb}-\\u{1f3ff}]*'
const letter = '(?=\\p{L})\\p{Script=Arabic}'
const persian = `${letter}(?:\\u200c${letter})+`
const hidden =
  '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u034f\\u115f\\u1160\\u2028\\u2029\\u2800\\u3164\\uffa0\\u{e0100}-\\u{e01ef}]|\\p{Cf}|\\p{Cs}'
const hiddenOrJoined = new RegExp(`${emoji}(?:\\u200d${emoji})+|${persian}|${hidden}`, 'gu')

const isOneCharacter = (text: string): boolean => [...text].length === 1

const nameOf = (character: string): string =>
  `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`
