import { renderCalibration } from './calibration.ts'
import {
  type CycleView,
  type KeyFigure,
  listKeyFigures,
  type ReportData,
  type RevisionView,
  viewCycles,
} from './data.ts'
import {
  formatCount,
  gateLabels,
  type Html,
  html,
  renderInline,
  renderLabel,
  renderPart,
  renderSentence,
  renderTime,
  revisionLabel,
} from './html.ts'
import { asScriptText, pageData } from './page-data.ts'
import { needsScript, renderApprovals, renderCycle, renderDenials } from './sections.ts'

/** plan-gate's own style and script, and their hashes for the page's policy. */
export type PageParts = {
  readonly style: string
  readonly styleHash: string
  readonly script: string
  readonly scriptHash: string
}

/** One page that needs no network and no other file. Without its script it lacks the differences, and no more. */
export function renderReport(data: ReportData, parts: PageParts): string {
  const views = viewCycles(data.cycles)
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policyFor(parts)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="plan-gate ${data.version}">
<title>${data.name}: plan-gate report</title>
<style>${trusted(parts.style)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the report</a>
<div class="frame">
${renderContents(views, data.calibration !== undefined)}
<main id="main" tabindex="-1">
${renderOverview(data, views)}
${views.toReversed().map(renderCycle)}
${renderPart(comparison)}
${renderApprovals(data)}
${renderDenials(data.sessions)}
${data.calibration === undefined ? null : renderCalibration(data.calibration)}
${renderChecks(data)}
</main>
</div>
<script type="application/json" id="page-data">${trusted(asScriptText(pageData(views)))}</script>
<script>${trusted(parts.script)}</script>
</body>
</html>
`
  return page.html
}

const comparison = {
  id: 'compare',
  title: 'Compare any two revisions',
  body: html`<div id="compare-tool">${needsScript}</div>`,
}

/** plan-gate's own markup, or escaped already. */
const trusted = (text: string): Html => ({ html: text })

/** Nothing may be loaded, sent or run but the two parts of the page itself, and no text may be made into markup. */
const policyFor = ({ styleHash, scriptHash }: PageParts): string =>
  [
    "default-src 'none'",
    `style-src '${styleHash}'`,
    `script-src '${scriptHash}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')

function renderContents(views: readonly CycleView[], isMeasured: boolean): Html {
  const cycles = views.toReversed().map(({ cycle, anchor }) => {
    const inner = cycle.kind === 'current' ? parts.map(([id, words]) => renderLink(`${anchor}-${id}`, words)) : []
    const list = inner.length === 0 ? null : html`<ol class="contents-inner-list">${inner}</ol>`
    return html`<li><a href="#${anchor}">Cycle ${cycle.cycle}</a>${list}</li>`
  })
  return html`
<nav class="contents" aria-label="Contents"><div class="contents-inner">
<p class="wordmark">plan-gate</p>
<ol class="contents-list">
${renderLink('overview', 'Overview')}
${cycles}
${rest.map(([id, words]) => renderLink(id, words))}
${isMeasured ? renderLink('calibration', 'Reviewers') : null}
</ol>
<div id="theme-tool"></div>
</div></nav>`
}

const parts = [
  ['revisions', 'Revisions'],
  ['findings', 'Findings'],
  ['costs', 'Time and tokens'],
  ['time-line', 'Time line'],
] as const

const rest = [
  ['compare', 'Compare'],
  ['approvals', 'Approvals'],
  ['denials', 'Denials'],
  ['record', 'Ledger check'],
] as const

const renderLink = (id: string, words: string): Html => html`<li><a href="#${id}">${words}</a></li>`

/** Whether the ledger's chain, each snapshot and the approval agree with one another. */
const renderChecks = ({ checks }: Pick<ReportData, 'checks'>): Html =>
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

/** The state of the gate, the steps of the current cycle and the key figures. */
function renderOverview(data: ReportData, views: readonly CycleView[]): Html {
  const current = views.at(-1)
  return html`
<section id="overview" aria-labelledby="overview-title">
<p class="eyebrow">plan-gate report</p>
<h1 id="overview-title">${renderInline(data.name)}</h1>
${renderState(data)}
${current === undefined || current.revisions.length === 0 ? null : renderSteps(current)}
<dl class="facts">${listKeyFigures(data, views).map(renderFact)}</dl>
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
${revisions.map((view) => renderStepLink(view, revisions.length > maxWithWords))}</ol>`

const maxWithWords = 10

function renderStepLink({ revision, anchor }: RevisionView, isShort: boolean): Html {
  const { tone, mark, words } = revisionLabel(revision)
  return html`<li><a class="step ${tone}" href="#${anchor}">
<span class="step-mark" aria-hidden="true">${mark}</span>
<span class="step-name">v${revision.revision}</span>
<span class="step-words${isShort ? ' unseen' : ''}">${words}</span></a></li>`
}

const renderFact = ({ name, value, note, tone }: KeyFigure): Html => html`
<div class="fact ${tone}"><dt>${name}</dt>
<dd><span class="fact-value">${value}</span> <span class="fact-note">${note}</span></dd></div>`

const maxProblems = 50

function renderProblems(problems: readonly string[]): Html | null {
  if (problems.length === 0) return null
  const left = problems.length - maxProblems
  return html`<ul class="problems">
${problems.slice(0, maxProblems).map((problem) => html`<li>${renderSentence(problem)}</li>`)}
${left > 0 ? html`<li>And ${formatCount(left)} more.</li>` : null}</ul>`
}
