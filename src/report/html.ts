import { showHidden } from '../safety/show-hidden.ts'

/** Text that is markup already. Nothing but `html` makes it out of what others wrote. */
export type Html = { readonly html: string }

type Piece = string | number | null | Html | readonly Piece[]

/**
 * Markup with holes. What stands in a hole is text, for an element or for an attribute in double quotes, unless it is
 * `Html` itself; so nothing that a plan, a reviewer or a file name says can become markup.
 */
export const html = (parts: TemplateStringsArray, ...holes: readonly Piece[]): Html => ({
  html: parts.map((part, index) => part + (index < holes.length ? markupOf(holes[index] ?? null) : '')).join(''),
})

function markupOf(piece: Piece): string {
  if (piece === null) return ''
  if (typeof piece === 'string') return escaped(showHidden(piece))
  if (typeof piece === 'number') return String(piece)
  return 'html' in piece ? piece.html : piece.map(markupOf).join('')
}

const entities: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '')
