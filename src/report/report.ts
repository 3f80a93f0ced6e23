import { renderCalibration } from './calibration.ts'
import {
  type CycleView,
  type KeyFigure,
  listKeyFigures,
  type ReportData,
  type RevisionView,
  viewCycles,
} from './data.ts'
import type { DecideData } from './decide-data.ts'
import {
  formatCount,
  gateLabels,
  type Html,
  html,
  renderInline,
  renderLabel,
  renderNothing,
  renderPart,
  renderSentence,
  renderTime,
  revisionLabel,
  showHidden,
} from './html.ts'
import { renderMarkdown } from './markdown.ts'
import { asScriptText, pageData } from './page-data.ts'
import { needsScript, renderApprovals, renderCycle, renderDenials } from './sections.ts'

/** plan-gate's own style and script, and their hashes for the page's policy. */
type PagePart = {
  readonly style: string
  readonly styleHash: string
  readonly script: string
  readonly scriptHash: string
}

/** `decide`: only where the page is served. */
export type PageParts = PagePart & { readonly decide: PagePart }

/**
 * One page that needs no network and no other file. Without its script it lacks the differences, and no more. With
 * `decide` it is the page of `report --serve`, which can send a decision to where it came from.
 */
export function renderReport(data: ReportData, parts: PageParts, decide: DecideData | null = null): string {
  const views = viewCycles(data.cycles)
  const plan = approvedPlan(data)
  const { style, script } = parts.decide
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policyFor(parts, decide !== null)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="plan-gate ${data.version}">
<title>${data.name}: plan-gate report</title>
<style>${trusted(parts.style)}</style>
${decide === null ? null : html`<style>${trusted(style)}</style>`}
</head>
<body>
<a class="skip" href="#main">Skip to the report</a>
<div class="frame">
${renderContents(views, {
  decide: decide === null ? null : 'Your decision',
  plan: plan === null ? null : 'The approved plan',
  calibration: data.calibration === undefined ? null : 'Reviewers',
})}
<main id="main" tabindex="-1">
${renderOverview(data, views)}
${decide === null ? null : renderPart(decision)}
${plan === null ? null : renderPart({ id: 'plan', title: 'The approved plan', body: renderMarkdown(plan) })}
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
${
  decide === null
    ? null
    : html`<script type="application/json" id="decide-data">${trusted(asScriptText(shownPlan(decide)))}</script>
<script>${trusted(script)}</script>`
}
</body>
</html>
`
  return page.html
}

/** Its script fills it in. */
const decision = {
  id: 'decide',
  title: 'Your decision',
  body: html`<div id="decide-tool"><noscript>${renderNothing('A decision is taken by this page’s script.')}</noscript></div>`,
}

/** Harmless as text, and the quotations with them. */
const shownPlan = ({ now, reviewed, ...rest }: DecideData): DecideData => ({
  ...rest,
  now: now.map(showHidden),
  reviewed: reviewed === null ? null : { ...reviewed, lines: reviewed.lines.map(showHidden) },
})

/** The text that is approved, where it is known. */
function approvedPlan({ approved_plan: text, cycles, gate }: ReportData): string | null {
  const { approval = null, revisions = [] } = cycles.at(-1) ?? {}
  if (text !== undefined) return text
  if (gate.kind !== 'kept' || approval?.is_optimal !== true) return null
  const hash = approval.carried_from ?? approval.plan_hash
  return revisions.findLast(({ plan_hash }) => plan_hash === hash)?.text ?? null
}

const comparison = {
  id: 'compare',
  title: 'Compare any two revisions',
  body: html`<div id="compare-tool">${needsScript}</div>`,
}

/** plan-gate's own markup, or escaped already. */
const trusted = (text: string): Html => ({ html: text })

/** Nothing may be loaded, sent or run but the two parts of the page itself, and no text may be made into markup. */
export const policyFor = ({ styleHash, scriptHash, decide }: PageParts, isServed: boolean): string =>
  [
    "default-src 'none'",
    `style-src '${styleHash}'${isServed ? ` '${decide.styleHash}'` : ''}`,
    `script-src '${scriptHash}'${isServed ? ` '${decide.scriptHash}'` : ''}`,
    ...(isServed ? ["connect-src 'self'"] : []),
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')

type MoreContents = { readonly [id in 'decide' | 'plan' | 'calibration']: string | null }

function renderContents(views: readonly CycleView[], more: MoreContents): Html {
  const link = (id: keyof MoreContents): Html | null => (more[id] === null ? null : renderLink(id, more[id]))
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
${link('decide')}
${link('plan')}
${cycles}
${rest.map(([id, words]) => renderLink(id, words))}
${link('calibration')}
</ol>
<div id="theme-tool"></div>
</div></nav>`
}

const parts = [
  ['revisions', 'Revisions'],
  ['findings', 'Findings'],
  ['costs', 'Time and tokens'],
  ['timeline', 'Timeline'],
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
<code>${renderInline(data.place)}</code>. <span id="zone">All times are UTC.</span></p>
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
