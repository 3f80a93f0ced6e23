import { type CycleView, type ReportData, viewCycles } from './data.ts'
import { type Html, html, showHidden } from './html.ts'
import { renderMarkdown } from './markdown.ts'
import { asScriptText, type DecideData, pageData } from './page-data.ts'
import {
  cycleParts,
  needsScript,
  renderApprovals,
  renderCalibration,
  renderChecks,
  renderCycle,
  renderDenials,
  renderOverview,
  renderPart,
} from './sections.ts'

type Part = { readonly text: string; readonly hash: string }

/** plan-gate's own style and scripts, and their hashes for the page's policy. `decide`: only where the page is served. */
export type PageParts = { readonly style: Part; readonly script: Part; readonly decide: Part }

/**
 * One page that needs no network and no other file. Without its script it lacks the differences, and no more. With
 * `decide` it is the page of `report --serve`, which can send a decision to where it came from.
 */
export function renderReport(data: ReportData, parts: PageParts, decide: DecideData | null = null): string {
  const views = viewCycles(data.cycles)
  const plan = approvedPlan(data)
  const calibration = data.calibration ?? null
  const script = ({ text }: Part): Html => html`<script>${trusted(text)}</script>`
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policyFor(parts, decide !== null)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="plan-gate ${data.version}">
<title>${data.name}: plan-gate report</title>
<style>${trusted(parts.style.text)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the report</a>
<div class="frame">
${renderContents([
  ['overview', 'Overview'],
  ...(decide === null ? [] : [['decide', 'Your decision'] as const]),
  ...(plan === null ? [] : [['plan', 'The approved plan'] as const]),
  ...views.toReversed(),
  ['compare', 'Compare'],
  ['approvals', 'Approvals'],
  ['denials', 'Denials'],
  ['record', 'Ledger check'],
  ...(calibration === null ? [] : [['calibration', 'Reviewers'] as const]),
])}
<main id="main" tabindex="-1">
${renderOverview(data, views)}
${decide === null ? null : renderPart('decide', 'Your decision', html`<div id="decide-tool">${needsScript}</div>`)}
${plan === null ? null : renderPart('plan', 'The approved plan', renderMarkdown(plan))}
${views.toReversed().map(renderCycle)}
${renderPart('compare', 'Compare any two revisions', html`<div id="compare-tool">${needsScript}</div>`)}
${renderApprovals(data)}
${renderDenials(data.sessions)}
${calibration === null ? null : renderCalibration(calibration)}
${renderChecks(data)}
</main>
</div>
<script type="application/json" id="page-data">${trusted(asScriptText(pageData(views)))}</script>
${script(parts.script)}
${
  decide === null
    ? null
    : html`<script type="application/json" id="decide-data">${trusted(asScriptText(shownPlan(decide)))}</script>
${script(parts.decide)}`
}
</body>
</html>
`
  return page.html
}

/** plan-gate's own markup, or escaped already. */
const trusted = (text: string): Html => ({ html: text })

/** Nothing may be loaded, sent or run but the parts of the page itself, and no text may be made into markup. */
export const policyFor = ({ style, script, decide }: PageParts, isServed: boolean): string =>
  [
    "default-src 'none'",
    `style-src '${style.hash}'`,
    `script-src '${script.hash}'${isServed ? ` '${decide.hash}'` : ''}`,
    ...(isServed ? ["connect-src 'self'"] : []),
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')

function approvedPlan({ approved_plan: text, cycles, gate }: ReportData): string | null {
  const { approval = null, revisions = [] } = cycles.at(-1) ?? {}
  if (text !== undefined) return text
  if (gate.kind !== 'kept' || approval?.is_optimal !== true) return null
  const hash = approval.carried_from ?? approval.plan_hash
  return revisions.findLast(({ plan_hash }) => plan_hash === hash)?.text ?? null
}

/** Harmless as text, and the quotations with them. */
const shownPlan = ({ now, reviewed, ...rest }: DecideData): DecideData => ({
  ...rest,
  now: now.map(showHidden),
  reviewed: reviewed === null ? null : { ...reviewed, lines: reviewed.lines.map(showHidden) },
})

type Link = readonly [id: string, words: string]

/** The parts of the current cycle are below it. */
const renderContents = (entries: readonly (Link | CycleView)[]): Html => html`
<nav class="contents" aria-label="Contents"><div>
<strong>plan-gate</strong>
<ol>${entries.map((entry) => {
  if (!('cycle' in entry)) return html`<li>${renderLink(entry)}</li>`
  const { cycle, anchor } = entry
  const inner = cycleParts.map(([id, words]) => html`<li>${renderLink([`${anchor}-${id}`, words])}</li>`)
  return html`<li>${renderLink([anchor, `Cycle ${cycle.cycle}`])}${cycle.kind === 'current' ? html`<ol>${inner}</ol>` : null}</li>`
})}</ol>
</div></nav>`

const renderLink = ([id, words]: Link): Html => html`<a href="#${id}">${words}</a>`
