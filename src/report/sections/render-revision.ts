import type { KeptPass } from '../../schemas/kept-pass.ts'
import { counted, formatBytes, formatCount, formatDuration, shortHash } from '../format-values.ts'
import { type Html, html } from '../html.ts'
import { placeWords } from '../place-words.ts'
import { costOf } from '../sum-costs.ts'
import { revisionLabel, type Tone } from '../verdict-words.ts'
import type { CycleView, RevisionView } from '../view-cycles.ts'
import { renderChanges } from './render-changes.ts'
import { renderFate, renderLabel, renderSeverity, renderTag } from './render-label.ts'
import { renderInline, renderProse, renderSentence } from './render-prose.ts'
import { renderTime } from './render-time.ts'

/** A revision: what the reviewer said to it, and what changed in it. */
export function renderRevision(view: RevisionView, cycle: CycleView): Html {
  const { revision, anchor } = view
  const { result, why_none: whyNone } = revision
  return html`
<article class="revision" id="${anchor}" aria-labelledby="${anchor}-title">
<header class="revision-head">
<h4 id="${anchor}-title">Revision ${revision.revision}</h4> ${renderLabel(revisionLabel(revision))}
<p class="revision-about">${aboutOf(view)}</p>
</header>
${renderProse(result?.summary ?? whyNone ?? '', 'prose summary')}
${renderBox('ask', 'For the user to decide', result?.question ? [result.question] : [])}
${renderFound(view, cycle)}
${renderBox('wait', 'Stuck', result?.stuck ?? [])}
${renderBox('plain', 'Notes', result?.notices ?? [])}
${renderPasses(revision.passes)}
${renderChanges(view, cycle)}
</article>`
}

function aboutOf({ revision }: RevisionView): readonly Html[] {
  const { result, submitted_at: submitted, plan_hash: hash, bytes } = revision
  const { ms, tokens } = costOf(revision)
  const route = result?.pass_metadata?.route
  const facts = [
    renderTime(submitted),
    ...(route === undefined ? [] : [html`by ${renderInline(route, 40)}`]),
    ...(ms > 0 ? [html`${formatDuration(ms)}`] : []),
    ...(tokens === null ? [] : [html`${formatCount(tokens)} tokens`]),
    ...(result?.verification == null ? [] : [html`verification ${result.verification}`]),
    html`${formatBytes(bytes)}`,
    ...(hash === null ? [] : [html`<code title="SHA-256 ${hash}">${shortHash(hash)}</code>`]),
  ]
  return facts.map((fact, index) => (index === 0 ? fact : html` · ${fact}`))
}

function renderFound({ findings }: RevisionView, { traces }: CycleView): Html | null {
  if (findings.length === 0) return null
  const items = findings.map(({ finding, anchor }) => {
    const trace = traces.find((each) => each.finding.id === finding.id)
    return html`
<li><a href="#${anchor}">${renderInline(finding.id, 20)}</a> ${renderSeverity({ finding })}
<span class="found-place">${renderInline(placeWords(finding.section), 120)}</span>
${trace === undefined ? null : renderFate(trace)}</li>`
  })
  return html`<ul class="found" aria-label="Findings of this review">${items}</ul>`
}

const mostPoints = 50

const renderBox = (tone: Tone, title: string, points: readonly string[]): Html | null =>
  points.length === 0
    ? null
    : html`
<div class="box ${tone}"><p class="box-title">${title}</p>
<ul>${points.slice(0, mostPoints).map((point) => html`<li class="prose">${renderSentence(point, 2_000)}</li>`)}</ul>
</div>`

function renderPasses(passes: readonly KeptPass[]): Html | null {
  if (passes.length === 0) return null
  return html`
<details class="small"><summary>${counted(passes.length, 'pass', 'passes')}</summary>
<ol class="passes">${passes.map(renderPass)}</ol></details>`
}

const renderPass = ({ does, backend, outcome, why, duration_ms: ms, tokens }: KeptPass): Html => html`
<li>${renderInline(does, 40)} by ${renderInline(backend, 40)}: ${formatDuration(ms)}${
  tokens === null ? null : html`, ${formatCount(tokens)} tokens`
}${outcome === 'valid' ? null : html` ${renderTag('bad', outcome)} ${renderSentence(why ?? '', 300)}`}</li>`
