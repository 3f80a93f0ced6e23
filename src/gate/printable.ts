/** A name or a command as it may stand in a message: one line, no terminal escapes, no bidirectional tricks, not endless. */
export const printable = (text: string, limit = 160): string => {
  const clean = text.replace(
    /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    '\ufffd',
  )
  return clean.length <= limit ? clean : `${clean.slice(0, limit)}…`
}
