/** A text as one word of a POSIX shell. */
export const shellWord = (text: string): string =>
  /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
