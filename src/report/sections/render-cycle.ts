import { counted } from '../format-values.ts'
import { type Html, html } from '../html.ts'
import { type Label, revisionLabel } from '../verdict-words.ts'
import type { CycleView } from '../view-cycles.ts'
import { renderCosts } from './render-costs.ts'
import { renderFindings } from './render-findings.ts'
import { renderLabel } from './render-label.ts'
import { renderInnerPart, renderNothing } from './render-part.ts'
import { renderRevision } from './render-revision.ts'
import { renderTimeLine } from './render-time-line.ts'

/** One cycle: its revisions, what was found, what it cost and when. The current one lies open. */
export function renderCycle(view: CycleView): Html {
  const { cycle, anchor, revisions } = view
  const label = cycleLabel(view)
  const head = html`<h2 id="${anchor}-title">Cycle ${cycle.cycle}</h2>
${label === null ? null : renderLabel(label)} <span class="faint">${counted(revisions.length, 'revision')}</span>`
  const body = html`
${cycle.kind === 'lost' ? renderNothing('The ledger tells of this cycle; its files are gone.') : null}
${renderRevisions(view)}
${renderFindings(view)}
${renderCosts(view)}
${renderTimeLine(view)}`
  return html`
<section class="cycle" id="${anchor}" aria-labelledby="${anchor}-title">
${
  cycle.kind === 'current'
    ? html`<div class="cycle-head">${head}</div>${body}`
    : html`<details><summary class="cycle-head">${head}</summary>${body}</details>`
}
</section>`
}

/** What it came to: a person's approval counts over what the reviewer said. */
function cycleLabel({ cycle, revisions }: CycleView): Label | null {
  if (cycle.events.some(({ type }) => type === 'approved-manually'))
    return { tone: 'ask', mark: '☞', words: 'Approved by hand' }
  const last = revisions.at(-1)
  return last === undefined ? null : revisionLabel(last.revision)
}

const renderRevisions = (view: CycleView): Html =>
  renderInnerPart({
    id: `${view.anchor}-revisions`,
    title: 'Revisions',
    body:
      view.revisions.length === 0
        ? renderNothing('No revision has been sent to review in this cycle.')
        : view.revisions.map((revision) => renderRevision(revision, view)),
  })
