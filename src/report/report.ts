import { type CycleView, type ReportData, viewCycles } from './data.ts'
import { type Html, html } from './html.ts'
import { renderChecks, renderOverview } from './overview.ts'
import { asScriptText, pageData } from './page-data.ts'
import { renderPart } from './parts.ts'
import { needsScript, renderApprovals, renderCycle, renderDenials } from './sections.ts'

/** Our own style and script, and what the page's policy knows them by. */
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
<style>${ours(parts.style)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the report</a>
<div class="frame">
${renderContents(views)}
<main id="main" tabindex="-1">
${renderOverview(data, views)}
${views.toReversed().map(renderCycle)}
${renderPart(comparison)}
${renderApprovals(data)}
${renderDenials(data.sessions)}
${renderChecks(data)}
</main>
</div>
<script type="application/json" id="page-data">${ours(asScriptText(pageData(views)))}</script>
<script>${ours(parts.script)}</script>
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

/** Markup of our own, or made harmless already. */
const ours = (text: string): Html => ({ html: text })

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

function renderContents(views: readonly CycleView[]): Html {
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
