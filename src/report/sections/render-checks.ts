import { type Html, html } from '../html.ts'
import type { ReportData } from '../report-data.ts'
import { renderLabel } from './render-label.ts'
import { renderPart } from './render-part.ts'
import { renderInline } from './render-prose.ts'

/** Whether the ledger's chain, each snapshot and the approval agree with one another. */
export const renderChecks = ({ checks }: Pick<ReportData, 'checks'>): Html =>
  renderPart({
    id: 'record',
    title: 'Ledger check',
    body: html`
<p class="prose">Each line of the ledger carries the hash of the line before, and each reviewed revision is compared \
with the bytes that were submitted. The same as <code>plan-gate verify</code>, at the time when this report was made.</p>
<ul class="checks">${checks.map(renderCheck)}</ul>`,
  })

const holding = { tone: 'good', mark: '✓', words: 'holds' } as const
const broken = { tone: 'bad', mark: '✗', words: 'does not hold' } as const

const renderCheck = ({ name, holds, detail }: ReportData['checks'][number]): Html => html`
<li class="check">${renderLabel(holds ? holding : broken)}
<span><strong>${renderInline(name, 100)}</strong> <span class="faint">${renderInline(detail)}</span></span></li>`
