import type { Calibration, CellResult } from '../schemas/calibration.ts'
import { formatDuration, type Html, html, renderInline, renderPart, renderSentence, renderTime } from './html.ts'

/** What the reviewers of the route table are worth here, as `plan-gate calibrate` has measured it last. */
export const renderCalibration = ({ made_at, cells, comparisons, defects, controls, repeat }: Calibration): Html =>
  renderPart({
    id: 'calibration',
    title: 'How much the reviewers find',
    body: html`
<p class="prose">Measured ${renderTime(made_at)} on ${defects} copies with one defect and ${controls} without, each reviewed \
${repeat} times. In brackets: the 95 % interval. The same as <code>plan-gate calibrate</code>.</p>
<div class="wide" role="region" aria-label="Table of reviewers" tabindex="0"><table>
<thead><tr>${columns.map((words) => html`<th scope="col" class="cell cell-head">${words}</th>`)}</tr></thead>
<tbody>${cells.map(renderCell)}</tbody></table></div>
${comparisons.map(({ words }) => html`<p class="prose">${renderSentence(words)}</p>`)}`,
  })

const columns = ['Reviewer', 'Found', 'Held up', 'Held up for nothing', 'Time', 'Reviews']

const renderCell = ({ name, recall, held, false_blocks, seconds, reviews }: CellResult): Html => html`
<tr><th scope="row" class="cell">${renderInline(name)}</th>
${[recall, held, false_blocks].map((share) => html`<td class="cell">${formatShare(share)}</td>`)}
<td class="cell">${seconds === null ? '–' : formatDuration(seconds * 1000)}</td><td class="cell">${reviews}</td></tr>`

const formatShare = ({ share, low, high }: CellResult['recall']): string =>
  share === null ? '–' : `${share.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`
