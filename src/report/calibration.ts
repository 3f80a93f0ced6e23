import type { Calibration, CellResult } from '../schemas/calibration.ts'
import { formatDuration, type Html, html, renderInline, renderPart, renderSentence, renderTime } from './html.ts'

/** What the reviewers of the route table are worth here, as `plan-gate calibrate` has measured it last. */
export const renderCalibration = (measured: Calibration): Html =>
  renderPart({
    id: 'calibration',
    title: 'How much the reviewers find',
    body: html`
<p class="prose">Measured ${renderTime(measured.made_at)} on ${measured.defects} copies of \
${measured.type === 'plan' ? 'plans' : 'changes'} with one defect and ${measured.controls} without, each \
${measured.complete ? '' : 'to be '}reviewed ${measured.repeat === 1 ? 'once' : html`${measured.repeat} times`}. \
In brackets: the 95 % interval. The same as <code>plan-gate calibrate</code>.</p>
${measured.complete ? null : html`<p class="prose"><strong>Not complete.</strong> ${renderSentence(measured.why ?? '')}</p>`}
<div class="wide" role="region" aria-label="Table of reviewers" tabindex="0"><table>
<thead><tr>${columns.map((words) => html`<th scope="col" class="cell cell-head">${words}</th>`)}</tr></thead>
<tbody>${measured.cells.map(renderCell)}</tbody></table></div>
${[...measured.comparisons.map(({ words }) => words), ...measured.notes].map((words) => html`<p class="prose">${renderSentence(words)}</p>`)}`,
  })

const columns = ['Reviewer', 'Found', 'Held up', 'Held up for nothing', 'Time', 'Reviews']

const renderCell = ({ name, recall, held, false_blocks, seconds, reviews, failed }: CellResult): Html => html`
<tr><th scope="row" class="cell">${renderInline(name)}</th>
${[recall, held, false_blocks].map((share) => html`<td class="cell">${formatShare(share)}</td>`)}
<td class="cell">${seconds === null ? '–' : formatDuration(seconds * 1000)}</td><td class="cell">${reviews}${failed === 0 ? null : html`, ${failed} failed`}</td></tr>`

const formatShare = ({ share, low, high }: CellResult['recall']): string =>
  share === null ? '–' : `${share.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`
