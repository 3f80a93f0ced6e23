import { shortHash } from '../format-values.ts'
import { type Html, html } from '../html.ts'
import { type ApprovalFate, listApprovals } from '../list-approvals.ts'
import type { ReportData } from '../report-data.ts'
import { renderLabel } from './render-label.ts'
import { renderNothing, renderPart } from './render-part.ts'
import { renderSentence } from './render-prose.ts'
import { renderTime } from './render-time.ts'

/** Every approval there was, those by hand marked. */
export function renderApprovals(data: ReportData): Html {
  const approvals = listApprovals(data)
  const body = approvals.length === 0 ? renderNothing('Nothing has been approved.') : renderTable(approvals)
  return renderPart({ id: 'approvals', title: 'Approvals', body })
}

const columns = ['When', 'Plan', 'By', 'Why', 'Then']

/** On a narrow screen it is moved sideways, by the keyboard as well. */
const renderTable = (approvals: readonly ApprovalFate[]): Html => html`
<div class="wide" role="region" aria-label="Table of approvals" tabindex="0"><table>
<thead><tr>${columns.map((words) => html`<th scope="col" class="cell cell-head">${words}</th>`)}</tr></thead>
<tbody>${approvals.map(renderApproval)}</tbody></table></div>`

function renderApproval({ at, cycle, revision, hash, route, verification, reason, ended }: ApprovalFate): Html {
  const by =
    route === 'manual'
      ? renderLabel({ tone: 'ask', mark: '☞', words: 'By hand' })
      : renderLabel({ tone: 'good', mark: '✓', words: route })
  const link = revision === null ? null : html`, <a href="#c${cycle}-v${revision}">revision ${revision}</a>`
  return html`
<tr><td class="cell unbroken">${renderTime(at)}</td>
<td class="cell">cycle ${cycle}${link} <code title="SHA-256 ${hash}">${shortHash(hash)}</code></td>
<td class="cell">${by}</td>
<td class="cell">${renderSentence(reason ?? (verification === null ? '' : `verification ${verification}`))}</td>
<td class="cell">${ended === null ? 'stands' : renderSentence(ended, 300)}</td></tr>`
}
