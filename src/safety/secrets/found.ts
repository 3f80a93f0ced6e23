/** A secret and where it stands: in one part, or in several when it was split. */
export type Found = { readonly kind: string; readonly parts: readonly Range[] }

export type Range = { readonly start: number; readonly end: number }

const markForm = /\[REDACTED:[a-z-]{1,40}\]/g

/** What stands in the place of a secret. Square brackets and lower case keep it from looking like one. */
export const markOf = (kind: string): string => `[REDACTED:${kind}]`

export const marksIn = (text: string): readonly Range[] =>
  text.includes('[REDACTED:')
    ? Array.from(text.matchAll(markForm), ({ index, 0: mark }) => ({ start: index, end: index + mark.length }))
    : []
