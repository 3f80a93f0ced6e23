/** Each line with what ends it, so that joining gives the text back: a `\r` stays, and the last may have no `\n`. */
export const splitLines = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []
