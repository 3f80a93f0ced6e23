import { type CycleView, type Fact, listFacts, type ReportData, type RevisionView } from './data.ts'
import { formatCount, gateLabels, type Html, html, revisionLabel } from './html.ts'
import { renderInline, renderLabel, renderPart, renderSentence, renderTime } from './parts.ts'

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

/** Where everything stands, at a glance. */
export function renderOverview(data: ReportData, views: readonly CycleView[]): Html {
  const current = views.at(-1)
  return html`
<section id="overview" aria-labelledby="overview-title">
<p class="eyebrow">plan-gate report</p>
<h1 id="overview-title">${renderInline(data.name)}</h1>
${renderState(data)}
${current === undefined || current.revisions.length === 0 ? null : renderSteps(current)}
<dl class="facts">${listFacts(data, views).map(renderFact)}</dl>
${renderProblems(data.problems)}
<p class="faint">Made ${renderTime(data.made_at)} by plan-gate ${data.version} from
<code>${renderInline(data.place)}</code>. All times are UTC.</p>
</section>`
}

function renderState({ gate }: ReportData): Html {
  const { tone, mark, words } = gateLabels[gate.kind]
  return html`
<div class="state ${tone}">
<span class="state-mark" aria-hidden="true">${mark}</span>
<div><p class="state-title">${words}</p><p>${renderSentence(gate.words)}</p></div>
</div>`
}

/** The revisions of the current cycle, each a step; of many, the verdicts are seen by their marks. */
const renderSteps = ({ cycle, revisions }: CycleView): Html => html`
<ol class="steps" aria-label="Revisions of cycle ${cycle.cycle}">
${revisions.map((view) => renderStepRenderOverview(view, revisions.length > mostWithWords))}</ol>`

const mostWithWords = 10

function renderStepRenderOverview({ revision, anchor }: RevisionView, isShort: boolean): Html {
  const { tone, mark, words } = revisionLabel(revision)
  return html`<li><a class="step ${tone}" href="#${anchor}">
<span class="step-mark" aria-hidden="true">${mark}</span>
<span class="step-name">v${revision.revision}</span>
<span class="step-words${isShort ? ' unseen' : ''}">${words}</span></a></li>`
}

const renderFact = ({ name, value, note, tone }: Fact): Html => html`
<div class="fact ${tone}"><dt>${name}</dt>
<dd><span class="fact-value">${value}</span> <span class="fact-note">${note}</span></dd></div>`

const mostProblems = 50

function renderProblems(problems: readonly string[]): Html | null {
  if (problems.length === 0) return null
  const left = problems.length - mostProblems
  return html`<ul class="problems">
${problems.slice(0, mostProblems).map((problem) => html`<li>${renderSentence(problem)}</li>`)}
${left > 0 ? html`<li>And ${formatCount(left)} more.</li>` : null}</ul>`
}
