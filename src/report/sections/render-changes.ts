import { formatCount } from '../format-values.ts'
import { type Html, html } from '../html.ts'
import type { CycleView, RevisionView } from '../view-cycles.ts'
import { renderNothing } from './render-part.ts'

/** What changed in a revision. The page's script fills it in when it is opened: fifty at once would be too many. */
export function renderChanges(view: RevisionView, { cycle, revisions }: CycleView): Html {
  if (view.revision.text === null) return renderNothing('The text of this revision cannot be shown.')
  const isLast = cycle.kind === 'current' && revisions.at(-1)?.revision === view.revision
  return html`
<details class="changes"${isLast ? html` open` : null}
 data-before="${view.before?.index ?? ''}" data-after="${view.index}">
<summary class="changes-title">${titleOf(view, cycle.cycle)}</summary>
<div class="viewer">${needsScript}</div>
</details>`
}

export const needsScript = html`<noscript>${renderNothing('Differences are shown by this page’s script.')}</noscript>`

function titleOf({ before, added, removed }: RevisionView, cycle: number): Html {
  if (before === null) return html`The plan as it was first sent`
  const other = before.cycle === cycle ? '' : `cycle ${before.cycle}, `
  return html`What changed since ${other}revision ${before.revision.revision}
<span class="count good">+${formatCount(added)}</span> <span class="count bad">−${formatCount(removed)}</span>`
}
