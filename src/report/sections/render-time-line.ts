import type { LedgerEvent } from '../../schemas/ledger-event.ts'
import { describeEvent } from '../describe-event.ts'
import { counted } from '../format-values.ts'
import { type Html, html } from '../html.ts'
import type { CycleView } from '../view-cycles.ts'
import { renderInnerPart, renderNothing } from './render-part.ts'
import { renderInline, renderSentence } from './render-prose.ts'
import { renderTime } from './render-time.ts'

/** More events than this in one cycle are a log, and there is `plan-gate log` for that. */
const [mostFirst, mostLast] = [100, 300]

export const renderTimeLine = ({ anchor, cycle }: CycleView): Html =>
  renderInnerPart({
    id: `${anchor}-time-line`,
    title: 'Time line',
    body:
      cycle.events.length === 0
        ? renderNothing('The ledger has no event of this cycle.')
        : html`<ol>${itemsFor(cycle.events)}</ol>`,
  })

function itemsFor(events: readonly LedgerEvent[]): readonly Html[] {
  const left = events.length - mostFirst - mostLast
  if (left <= 0) return events.map(renderEvent)
  const gap = html`<li class="faint">${counted(left, 'event')} left out here; <code>plan-gate log</code> has them.</li>`
  return [...events.slice(0, mostFirst).map(renderEvent), gap, ...events.slice(-mostLast).map(renderEvent)]
}

function renderEvent(event: LedgerEvent): Html {
  const { tone, title, detail, isQuiet } = describeEvent(event)
  return html`
<li class="dated ${tone}${isQuiet ? ' quiet' : ''}">${renderTime(event.at)}
<p class="event"><span class="event-title">${renderInline(title, 200)}</span>
<span class="event-detail">${renderSentence(detail)}</span></p></li>`
}
