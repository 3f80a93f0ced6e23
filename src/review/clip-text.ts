import { safeCut } from './tokens/cut-text.ts'

/** The beginning of a text, at most so long, with a sign where it was cut. */
export const clipEnd = (text: string, limit: number): string =>
  text.length <= limit ? text : limit < 1 ? '' : `${text.slice(0, safeCut(text, limit - 1)).trimEnd()}…`

/** Its beginning and its end, at most so long together, and in between how much is gone. */
export function clipMiddle(text: string, limit: number): string {
  if (text.length <= limit) return text
  const mark = `\n[… ${text.length.toLocaleString('en-US')} characters in all, the middle left out …]\n`
  const half = Math.max(0, Math.floor((limit - mark.length) / 2))
  if (half === 0) return clipEnd(text, limit)
  return `${text.slice(0, safeCut(text, half))}${mark}${text.slice(safeCut(text, text.length - half))}`
}
