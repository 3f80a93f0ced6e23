import { formatDollars, foundBy, otherReaders } from '../review/describe.ts'
import type { Denial, LedgerEvent } from '../schemas/records.ts'
import type { KeptPass } from '../schemas/review.ts'
import {
  type ApprovalEntry,
  type Cost,
  type CostPart,
  type CycleView,
  costOf,
  type FindingState,
  type FindingStep,
  type FindingTrace,
  listApprovals,
  listCostParts,
  type PartKind,
  partKinds,
  type ReportData,
  type RevisionView,
  type SessionDenials,
  sumCosts,
} from './data.ts'
import { eventLabel } from './events.ts'
import {
  countOf,
  formatBytes,
  formatCount,
  formatDuration,
  type Html,
  html,
  type Label,
  type LabelTone,
  renderInline,
  renderInnerPart,
  renderLabel,
  renderNothing,
  renderOutcome,
  renderPart,
  renderProse,
  renderSentence,
  renderSeverity,
  renderTag,
  renderTime,
  revisionLabel,
  sectionWords,
} from './html.ts'

/** Every approval there was, those by hand marked. */
export function renderApprovals(data: ReportData): Html {
  const approvals = listApprovals(data)
  const body = approvals.length === 0 ? renderNothing('Nothing has been approved.') : renderTable(approvals)
  return renderPart({ id: 'approvals', title: 'Approvals', body })
}

const columns = ['When', 'Plan', 'By', 'Why', 'Then']

function renderApproval({
  at,
  cycle,
  revision,
  hash,
  route,
  verification,
  reason,
  looked,
  ended,
}: ApprovalEntry): Html {
  const by =
    route === 'manual'
      ? renderLabel({ tone: 'ask', mark: '☞', words: 'By hand' })
      : renderLabel({ tone: 'good', mark: '✓', words: route })
  const link = revision === null ? null : html`, <a href="#c${cycle}-v${revision}">revision ${revision}</a>`
  return html`
<tr><td class="cell unbroken">${renderTime(at)}</td>
<td class="cell"><span title="SHA-256 ${hash}">cycle ${cycle}${link}</span></td>
<td class="cell">${by}</td>
<td class="cell">${renderSentence(reason ?? looked ?? (verification === null ? '' : `verification ${verification}`))}</td>
<td class="cell">${ended === null ? 'stands' : renderSentence(ended, 300)}</td></tr>`
}

/** One cycle: its revisions, what was found, what it cost and when. The current one lies open. */
export function renderCycle(view: CycleView): Html {
  const { cycle, anchor, revisions } = view
  const label = cycleLabel(view)
  const head = html`<h2 id="${anchor}-title">Cycle ${cycle.cycle}</h2>
${label === null ? null : renderLabel(label)} <span class="faint">${countOf(revisions.length, 'revision')}</span>`
  const body = html`
${cycle.kind === 'lost' ? renderNothing('This cycle is in the ledger; its files are gone.') : null}
${renderRevisions(view)}
${renderFindings(view)}
${renderCosts(view)}
${renderTimeline(view)}`
  return html`
<section class="cycle" id="${anchor}" aria-labelledby="${anchor}-title">
${
  cycle.kind === 'current'
    ? html`<div class="cycle-head">${head}</div>${body}`
    : html`<details><summary class="cycle-head">${head}</summary>${body}</details>`
}
</section>`
}

/** An approval by hand counts over the reviewer's verdict. */
function cycleLabel({ cycle, revisions }: CycleView): Label | null {
  if (cycle.events.some(({ type }) => type === 'approved-manually'))
    return { tone: 'ask', mark: '☞', words: 'Approved by hand' }
  const last = revisions.at(-1)
  return last === undefined ? null : revisionLabel(last.revision)
}

const renderRevisions = (view: CycleView): Html =>
  renderInnerPart({
    id: `${view.anchor}-revisions`,
    title: 'Revisions',
    body:
      view.revisions.length === 0
        ? renderNothing('No revision has been sent to review in this cycle.')
        : view.revisions.map((revision) => renderRevision(revision, view)),
  })

const renderFindings = ({ anchor, traces }: CycleView): Html =>
  renderInnerPart({
    id: `${anchor}-findings`,
    title: 'Findings and their outcomes',
    body:
      traces.length === 0
        ? renderNothing('Nothing was found.')
        : html`<ol>${traces.map((trace, index) => renderFinding(trace, `${anchor}-f${index + 1}`))}</ol>`,
  })

function renderFinding(trace: FindingTrace, anchor: string): Html {
  const { id, section, problem, evidence, fix } = trace.finding
  return html`
<li class="finding" id="${anchor}">
<div class="finding-head">
<h4><span class="finding-id">${renderInline(id, 20)}</span> ${renderInline(sectionWords(section), 200)}</h4>
${renderSeverity(trace)} ${trace.late ? renderTag('plain', 'came late') : null} ${renderOutcome(trace)}
</div>
${renderProse(problem)}
${renderField('Evidence', evidence)}
${renderField('Fix', fix)}
<ol class="trail" aria-label="What became of it">${trace.steps.map(renderStep)}</ol>
</li>`
}

const renderField = (name: string, text: string): Html | null =>
  text.trim() === '' ? null : html`<div class="field"><p class="field-name">${name}</p>${renderProse(text)}</div>`

const states: { readonly [S in FindingState]: { readonly words: string; readonly tone: LabelTone } } = {
  raised: { words: 'raised', tone: 'wait' },
  'not-fixed': { words: 'not fixed', tone: 'wait' },
  fixed: { words: 'fixed', tone: 'good' },
  rejected: { words: 'rejected: the author declined it, with reason', tone: 'plain' },
  withdrawn: { words: 'withdrawn: the finding was wrong', tone: 'plain' },
  gone: { words: 'not named again', tone: 'plain' },
}

function renderStep({ state, from, to, reason }: FindingStep): Html {
  const { words, tone } = states[state]
  const where = from === 0 ? 'new' : from === to ? `v${from}` : `v${from}–v${to}`
  return html`
<li class="${tone}"><span class="trail-place">${where}</span>
<span>${words}${reason === '' ? null : html` — ${renderSentence(reason)}`}</span></li>`
}

function renderRevision(view: RevisionView, cycle: CycleView): Html {
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
${renderDetails(revision)}
${renderChanges(view, cycle)}
</article>`
}

function aboutOf({ revision }: RevisionView): readonly Html[] {
  const { result, submitted_at: submitted } = revision
  const { ms, tokens } = costOf(revision)
  const meta = result?.pass_metadata
  const cost = meta?.cost_usd
  const facts = [
    renderTime(submitted),
    ...(meta === undefined ? [] : [html`by ${renderInline([meta.route, ...otherReaders(meta)].join(', '), 120)}`]),
    ...(ms > 0 ? [html`${formatDuration(ms)}`] : []),
    ...(tokens === null ? [] : [html`${formatCount(tokens)} tokens`]),
    ...(typeof cost === 'number' ? [html`${formatDollars(cost)}`] : []),
    ...(result?.verification == null ? [] : [html`verification ${result.verification}`]),
  ]
  return facts.map((fact, index) => (index === 0 ? fact : html` · ${fact}`))
}

/** The problem in a line; the rest on demand. */
function renderFound({ findings }: RevisionView, { traces }: CycleView): Html | null {
  if (findings.length === 0) return null
  const items = findings.map(({ finding, anchor }) => {
    const { id, section, problem, evidence, fix, sources = [] } = finding
    const trace = traces.find((each) => each.finding.id === id)
    return html`
<li><div class="found-head"><a href="#${anchor}">${renderInline(id, 20)}</a> ${renderSeverity({ finding })}
<span class="found-place">${renderInline(sectionWords(section), 120)}${renderInline(foundBy({ sources }), 120)}</span>
${trace === undefined ? null : renderOutcome(trace)}</div>
<details><summary>${renderSentence(firstLine(problem), maxLine)}</summary>
${problem.trim().length > maxLine || problem.trim().includes('\n') ? renderProse(problem) : null}
${renderField('Evidence', evidence)}
${renderField('Fix', fix)}</details></li>`
  })
  return html`<ul class="found" aria-label="Findings of this review">${items}</ul>`
}

const maxLine = 160
const firstLine = (text: string): string => text.trim().split('\n')[0] ?? ''

const maxPoints = 50

const renderBox = (tone: LabelTone, title: string, points: readonly string[]): Html | null =>
  points.length === 0
    ? null
    : html`
<div class="box ${tone}"><p class="box-title">${title}</p>
<ul>${points.slice(0, maxPoints).map((point) => html`<li class="prose">${renderSentence(point, 2_000)}</li>`)}</ul>
</div>`

/** For whoever compares or measures. */
function renderDetails({ passes, plan_hash: hash, bytes }: RevisionView['revision']): Html {
  const summary = passes.length === 0 ? 'Details' : `${countOf(passes.length, 'pass', 'passes')}, details`
  return html`
<details class="small"><summary>${summary}</summary>
${passes.length === 0 ? null : html`<ol class="passes">${passes.map(renderPass)}</ol>`}
<p>${formatBytes(bytes)}${hash === null ? null : html`, SHA-256 <code>${hash}</code>`}</p></details>`
}

const renderPass = ({ does, backend, outcome, why, duration_ms: ms, tokens }: KeptPass): Html => html`
<li>${renderInline(does, 40)} by ${renderInline(backend, 40)}: ${formatDuration(ms)}${
  tokens === null ? null : html`, ${formatCount(tokens)} tokens`
}${outcome === 'valid' ? null : html` ${renderTag('bad', outcome)} ${renderSentence(why ?? '', 300)}`}</li>`

/** What changed in a revision. The page's script fills it in when it is opened: fifty at once would be too many. */
function renderChanges(view: RevisionView, { cycle, revisions }: CycleView): Html {
  if (view.revision.text === null) return renderNothing('The text of this revision cannot be shown.')
  const isLast = cycle.kind === 'current' && revisions.at(-1)?.revision === view.revision
  return html`
<details class="changes"${isLast ? html` open` : null}
 data-before="${view.before?.index ?? ''}" data-after="${view.index}">
<summary class="changes-title">${titleOf(view, cycle.cycle)}</summary>
<div class="viewer">${needsScript}</div>
</details>`
}

export const needsScript = html`<noscript>${renderNothing('Differences are shown by this page’s script.')}</noscript>`

function titleOf({ before, added, removed }: RevisionView, cycle: number): Html {
  if (before === null) return html`The plan as it was first sent`
  const other = before.cycle === cycle ? '' : `cycle ${before.cycle}, `
  return html`What changed since ${other}revision ${before.revision.revision}
<span class="count good">+${formatCount(added)}</span> <span class="count bad">−${formatCount(removed)}</span>`
}

/** More events than this in one cycle are a log, and there is `plan-gate log` for that. */
const [mostFirst, mostLast] = [100, 300]

const renderTimeline = ({ anchor, cycle }: CycleView): Html =>
  renderInnerPart({
    id: `${anchor}-timeline`,
    title: 'Timeline',
    body:
      cycle.events.length === 0
        ? renderNothing('The ledger has no event of this cycle.')
        : html`<ol>${itemsFor(cycle.events)}</ol>`,
  })

function itemsFor(events: readonly LedgerEvent[]): readonly Html[] {
  const left = events.length - mostFirst - mostLast
  if (left <= 0) return events.map(renderEvent)
  const gap = html`<li class="faint">${countOf(left, 'event')} left out here; <code>plan-gate log</code> has them.</li>`
  return [...events.slice(0, mostFirst).map(renderEvent), gap, ...events.slice(-mostLast).map(renderEvent)]
}

function renderEvent(event: LedgerEvent): Html {
  const { tone, title, detail, isQuiet } = eventLabel(event)
  return html`
<li class="dated ${tone}${isQuiet ? ' quiet' : ''}">${renderTime(event.at)}
<p class="event"><span class="event-title">${renderInline(title, 200)}</span>
<span class="event-detail">${renderSentence(detail)}</span></p></li>`
}

const [mostSessions, mostDenials, mostRules] = [40, 100, 20]

/** What the gate refused, session by session. The last one lies open, if it is not long. */
export function renderDenials(sessions: readonly SessionDenials[]): Html {
  const shown = sessions.slice(0, mostSessions)
  const left = sessions.slice(mostSessions)
  const denials = left.reduce((sum, session) => sum + session.denials.length, 0)
  const body = [
    ...(sessions.length === 0 ? [renderNothing('No session is on record.')] : []),
    ...shown.map((session, index) => renderSession(session, index === 0 && session.denials.length <= 20)),
    ...(left.length === 0
      ? []
      : [renderNothing(`${countOf(left.length, 'older session')} with ${countOf(denials, 'denial')} left out.`)]),
  ]
  return renderPart({ id: 'denials', title: 'Denials by session', body })
}

function renderSession(session: SessionDenials, isOpen: boolean): Html {
  const { denials } = session
  if (denials.length === 0) return html`<p class="session">${headOf(session)}</p>`
  const last = denials.slice(-mostDenials)
  const left = denials.length - last.length
  const rules = countRules(denials).map(
    ([rule, count]) => html`<li>${renderTag('plain', rule)} × ${formatCount(count)}</li>`,
  )
  return html`
<details class="session"${isOpen ? html` open` : null}><summary>${headOf(session)}</summary>
<ul class="rules" aria-label="Rules">${rules}</ul>
${left === 0 ? null : renderNothing(`The last ${last.length}; ${formatCount(left)} before them are left out.`)}
<ol>${last.map(renderDenial)}</ol></details>`
}

function headOf({
  session,
  client_version: version,
  started_at: started,
  last_seen_at: seen,
  denials,
}: SessionDenials): Html {
  const when = started === null ? null : html`${renderTime(started)} to ${renderTime(seen)}`
  return html`<span class="session-name">Session ${renderInline(session.slice(0, 8), 8)}</span>
<span class="session-count">${countOf(denials.length, 'denial')}</span>
<span class="faint">${when}${version === null ? null : html` · Claude Code ${renderInline(version, 30)}`}</span>`
}

/** The most frequent first. */
function countRules(denials: readonly Denial[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>()
  for (const { rule } of denials) counts.set(rule, (counts.get(rule) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1]).slice(0, mostRules)
}

const renderDenial = ({ at, tool, target, rule, reason }: Denial): Html => html`
<li class="dated">${renderTime(at)}
<div><p><strong>${renderInline(tool, 60)}</strong> <code>${renderInline(target)}</code>
${renderTag('plain', rule)}</p>
<p class="faint">${renderSentence(reason, 500)}</p></div></li>`

/** On a narrow screen it is moved sideways, by the keyboard as well. */
const renderTable = (approvals: readonly ApprovalEntry[]): Html => html`
<div class="wide" role="region" aria-label="Table of approvals" tabindex="0"><table>
<thead><tr>${columns.map((words) => html`<th scope="col" class="cell cell-head">${words}</th>`)}</tr></thead>
<tbody>${approvals.map(renderApproval)}</tbody></table></div>`

/** Time and tokens of each revision, as bars with a part for each pass, and as numbers. */
const renderCosts = ({ anchor, revisions }: CycleView): Html =>
  renderInnerPart({
    id: `${anchor}-costs`,
    title: 'Time and tokens',
    body: revisions.length === 0 ? renderNothing('Nothing was reviewed.') : renderCostTable(revisions),
  })

type CostMaximum = { readonly ms: number; readonly tokens: number }

function renderCostTable(revisions: readonly RevisionView[]): Html {
  const costs = revisions.map(({ revision }) => costOf(revision))
  const most = {
    ms: Math.max(1, ...costs.map(({ ms }) => ms)),
    tokens: Math.max(1, ...costs.map(({ tokens }) => tokens ?? 0)),
  }
  const kinds = new Set(revisions.flatMap(({ revision }) => listCostParts(revision).map(({ kind }) => kind)))
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

function renderRow({ revision, anchor }: RevisionView, most: CostMaximum): Html {
  const parts = listCostParts(revision)
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

function renderBar(name: string, parts: readonly CostPart[], share: (part: CostPart) => number): Html {
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

const renderPiece = ({ kind, words }: CostPart, from: number, wide: number): Html => html`
<rect class="pass-${kind}" x="${from.toFixed(1)}" y="0" width="${Math.max(1, wide - gap).toFixed(1)}"
 height="14"><title>${words}</title></rect>`

/** Stretched to the width of its cell; so it is drawn in units of its own, with a gap of some of them. */
const [width, gap] = [1000, 3]
