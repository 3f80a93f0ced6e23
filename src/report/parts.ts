import { clipEnd } from '../text/clean.ts'
import type { FindingTrace } from './data.ts'
import {
  fateTone,
  fateWords,
  formatTime,
  type Html,
  html,
  type Label,
  severityTones,
  splitCode,
  type Tone,
} from './html.ts'

/** A verdict or a state: a colour, and the word for it. */
export const renderLabel = ({ tone, mark, words }: Label): Html =>
  html`<span class="label ${tone}"><span aria-hidden="true">${mark}</span> ${words}</span>`

/** A smaller one, without a mark. */
export const renderTag = (tone: Tone, words: string): Html => html`<span class="tag ${tone}">${words}</span>`

export const renderSeverity = ({ finding }: Pick<FindingTrace, 'finding'>): Html =>
  renderTag(severityTones[finding.severity], finding.severity)

export const renderFate = (trace: FindingTrace): Html =>
  html`<span class="fate ${fateTone(trace)}">${fateWords(trace)}</span>`

type PartSections = { readonly id: string; readonly title: string; readonly body: Html | readonly Html[] }

/** A part of the page under a heading, which also names it for those who hear the page. */
export const renderPart = ({ id, title, body }: PartSections): Html => html`
<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
${body}
</section>`

/** The same inside of a cycle. It is no landmark: every cycle has one of this name. */
export const renderInnerPart = ({ id, title, body }: PartSections): Html => html`
<div class="part" id="${id}">
<h3>${title}</h3>
${body}
</div>`

export const renderNothing = (words: string): Html => html`<p class="faint">${words}</p>`

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

export const renderTime = (at: string | null): Html =>
  at === null ? html`<span class="faint">not known</span>` : html`<time datetime="${at}">${formatTime(at)}</time>`
