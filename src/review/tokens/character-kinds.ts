/** What a UTF-16 unit is to somebody who counts tokens. */
export const isLower = (code: number): boolean => code >= 97 && code <= 122
export const isUpper = (code: number): boolean => code >= 65 && code <= 90
export const isLetter = (code: number): boolean => isLower(code) || isUpper(code)
export const isDigit = (code: number): boolean => code >= 48 && code <= 57
export const isLineEnd = (code: number): boolean => code === 10 || code === 13
export const isSpace = (code: number): boolean => code === 32 || (code >= 9 && code <= 13)
export const isGap = (code: number): boolean => isSpace(code) && !isLineEnd(code)
export const isSign = (code: number): boolean => code > 32 && code < 127 && !isLetter(code) && !isDigit(code)

/** Where a run of one kind ends that begins at `at`. */
export function endOfRun(text: string, at: number, belongs: (code: number) => boolean): number {
  let end = at
  while (end < text.length && belongs(text.charCodeAt(end))) end++
  return end
}
