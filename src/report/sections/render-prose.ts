import { clipEnd } from '../../review/clip-text.ts'
import { type Html, html } from '../html.ts'
import { splitCode } from '../split-code.ts'

/** More than this of one field is nobody's reading; the files of the review have all of it. */
const mostText = 8_000

/** What a reviewer wrote, in its own lines. */
export const renderProse = (text: string, kind = 'prose'): Html | null =>
  text.trim() === '' ? null : html`<p class="${kind}" dir="auto">${withCode(clipEnd(text.trim(), mostText))}</p>`

/** A sentence inside of another one, which it cannot turn round. */
export const renderSentence = (text: string, limit = 600): Html => html`<bdi>${withCode(clipEnd(text, limit))}</bdi>`

/** A name or a path, in the same way. */
export const renderInline = (text: string, limit = 400): Html => html`<bdi>${clipEnd(text, limit)}</bdi>`

const withCode = (text: string): readonly Html[] =>
  splitCode(text).map(({ text, isCode }) => (isCode ? html`<code>${text}</code>` : html`${text}`))
