import { formatTime } from '../format-values.ts'
import { type Html, html } from '../html.ts'

export const renderTime = (at: string | null): Html =>
  at === null ? html`<span class="faint">not known</span>` : html`<time datetime="${at}">${formatTime(at)}</time>`
