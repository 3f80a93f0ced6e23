import type { Located } from './located.ts'

/** A value in the words of a message. */
export function showValue(node: Located): string {
  switch (node.kind) {
    case 'list':
      return 'a list'
    case 'map':
      return 'a block of keys'
    case 'scalar':
      if (node.value === null) return 'nothing'
      return typeof node.value === 'string' ? `the text ${quoted(node.value)}` : String(node.value)
  }
}

/** One line without terminal escapes and without tricks of writing direction, and not endless. */
export const quoted = (text: string): string =>
  JSON.stringify(text.length > 60 ? `${text.slice(0, 59)}…` : text).replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    '\ufffd',
  )

/** A key as a path shows it. */
export const keyName = (key: string): string => (/^[\w$<-][\w$<.-]{0,59}$/.test(key) ? key : quoted(key))

/** "a", "a or b", "a, b or c" */
export const either = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
