import { clipEnd } from '../review/clip-text.ts'
import { cleanText } from '../review/contract/clean-text.ts'

/** What goes to whom. `user` is a short notice; `model` is what Claude is to work with. */
export type EventText = {
  readonly user: string | null
  readonly model: string | null
  /** Claude must deal with it before it goes on. */
  readonly blocks: boolean
}

/** Makes text of others safe to pass on; see `safety/neutralise.ts`. */
export type Neutralise = (text: string) => string

export const saysNothing: EventText = { user: null, model: null, blocks: false }

/** Claude and the reviewer must not be taken for plan-gate, so nothing of theirs begins a line. */
export const quoted = (text: string, limit: number, neutralise: Neutralise): string =>
  clipEnd(
    cleanText(neutralise(text), limit)
      .split('\n')
      .map((line) => line.trimEnd())
      .filter((line) => line !== '')
      .map((line) => `  ${line}`)
      .join('\n'),
    limit,
  )

export const onOneLine = (text: string, limit: number, neutralise: Neutralise): string =>
  clipEnd(cleanText(neutralise(text), limit * 4).replace(/\s+/g, ' '), limit)

/** Items of a list, as many as there is room for, and how many more there are. */
export function listed(items: readonly string[], most: number, neutralise: Neutralise): string {
  const shown = items.slice(0, most).map((item) => `  - ${onOneLine(item, 300, neutralise)}`)
  const left = items.length - shown.length
  return [...shown, ...(left > 0 ? [`  and ${left} more`] : [])].join('\n')
}
