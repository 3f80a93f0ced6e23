import {
  type Cost,
  type CycleView,
  costOf,
  type Fact,
  listFacts,
  listParts,
  type Part,
  type PartKind,
  partKinds,
  type ReportData,
  type RevisionView,
  sumCosts,
} from './data.ts'
import { formatCount, formatDuration, gateLabels, type Html, html, revisionLabel } from './html.ts'
import {
  renderInline,
  renderInnerPart,
  renderLabel,
  renderNothing,
  renderPart,
  renderSentence,
  renderTime,
} from './parts.ts'
import { gap, width } from './sections.ts'

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

/** Time and tokens of each revision, as bars with a part for each pass, and as numbers. */
export const renderCosts = ({ anchor, revisions }: CycleView): Html =>
  renderInnerPart({
    id: `${anchor}-costs`,
    title: 'Time and tokens',
    body: revisions.length === 0 ? renderNothing('Nothing was reviewed.') : renderTableRenderCosts(revisions),
  })

type Most = { readonly ms: number; readonly tokens: number }

function renderTableRenderCosts(revisions: readonly RevisionView[]): Html {
  const costs = revisions.map(({ revision }) => costOf(revision))
  const most = {
    ms: Math.max(1, ...costs.map(({ ms }) => ms)),
    tokens: Math.max(1, ...costs.map(({ tokens }) => tokens ?? 0)),
  }
  const kinds = new Set(revisions.flatMap(({ revision }) => listParts(revision).map(({ kind }) => kind)))
  return html`
<ul class="legend" aria-label="Colours of the bars">${[...kinds].map(renderKey)}</ul>
<table><caption class="unseen">Time and tokens of each revision’s review</caption>
<thead><tr>
<th scope="col" class="cell cell-head of-revision">Revision</th>
<th scope="col" class="cell cell-head of-verdict">Verdict</th>
<th scope="col" class="cell cell-head">Time</th>
<th scope="col" class="cell cell-head">Tokens</th>
</tr></thead>
<tbody>${revisions.map((view) => renderRow(view, most))}</tbody>
<tfoot>${renderSums(sumCosts(costs))}</tfoot></table>`
}

const renderKey = (kind: PartKind): Html => html`
<li><svg class="swatch" width="12" height="12" aria-hidden="true"><rect class="pass-${kind}" width="12" height="12"
 rx="2"/></svg>${partKinds[kind]}</li>`

function renderRow({ revision, anchor }: RevisionView, most: Most): Html {
  const parts = listParts(revision)
  const { ms, tokens } = costOf(revision)
  const of = `of revision ${revision.revision}`
  return html`
<tr><th scope="row" class="cell"><a href="#${anchor}">v${revision.revision}</a></th>
<td class="cell of-verdict">${renderLabel(revisionLabel(revision))}</td>
<td class="cell"><div class="amount">${renderBar(`Time ${of}`, parts, (part) => part.ms / most.ms)}
<span class="amount-number">${formatDuration(ms)}</span></div></td>
<td class="cell"><div class="amount">${renderBar(`Tokens ${of}`, parts, (part) => (part.tokens ?? 0) / most.tokens)}
<span class="amount-number">${formatTokens(tokens)}</span></div></td></tr>`
}

const renderSums = ({ ms, tokens }: Cost): Html => html`
<tr class="sums"><th scope="row" class="cell">All</th><td class="cell of-verdict"></td>
<td class="cell"><div class="amount"><span class="amount-number">${formatDuration(ms)}</span></div></td>
<td class="cell"><div class="amount"><span class="amount-number">${formatTokens(tokens)}</span></div></td></tr>`

const formatTokens = (tokens: number | null): string => (tokens === null ? '–' : formatCount(tokens))

function renderBar(name: string, parts: readonly Part[], share: (part: Part) => number): Html {
  let x = 0
  const drawn = parts.map((part) => {
    const [from, wide] = [x, share(part) * width]
    x += wide
    return wide === 0 ? null : renderPiece(part, from, wide)
  })
  return html`
<svg class="bar" viewBox="0 0 ${width} 14" preserveAspectRatio="none" role="img"
 aria-label="${name}: ${parts.map(({ words }) => words).join('; ')}">${drawn}</svg>`
}

const renderPiece = ({ kind, words }: Part, from: number, wide: number): Html => html`
<rect class="pass-${kind}" x="${from.toFixed(1)}" y="0" width="${Math.max(1, wide - gap).toFixed(1)}"
 height="14"><title>${words}</title></rect>`

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
