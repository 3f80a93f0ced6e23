import { type Html, html } from '../html.ts'
import { type FindingTrace, fateWords } from '../trace-findings.ts'
import { fateTone, type Label, severityTones, type Tone } from '../verdict-words.ts'

/** A verdict or a state: a colour, and the word for it. */
export const renderLabel = ({ tone, mark, words }: Label): Html =>
  html`<span class="label ${tone}"><span aria-hidden="true">${mark}</span> ${words}</span>`

/** A smaller one, without a mark. */
export const renderTag = (tone: Tone, words: string): Html => html`<span class="tag ${tone}">${words}</span>`

export const renderSeverity = ({ finding }: Pick<FindingTrace, 'finding'>): Html =>
  renderTag(severityTones[finding.severity], finding.severity)

export const renderFate = (trace: FindingTrace): Html =>
  html`<span class="fate ${fateTone(trace)}">${fateWords(trace)}</span>`
