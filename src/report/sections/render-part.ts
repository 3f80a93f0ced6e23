import { type Html, html } from '../html.ts'

type Part = { readonly id: string; readonly title: string; readonly body: Html | readonly Html[] }

/** A part of the page under a heading, which also names it for those who hear the page. */
export const renderPart = ({ id, title, body }: Part): Html => html`
<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
${body}
</section>`

/** The same inside of a cycle. It is no landmark: every cycle has one of this name. */
export const renderInnerPart = ({ id, title, body }: Part): Html => html`
<div class="part" id="${id}">
<h3>${title}</h3>
${body}
</div>`

export const renderNothing = (words: string): Html => html`<p class="faint">${words}</p>`
