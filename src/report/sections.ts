import { formatDollars, foundBy, otherReaders } from '../review/findings.ts'
import type { Calibration, CellResult } from '../schemas/calibration.ts'
import type { Denial, LedgerEvent } from '../schemas/records.ts'
import type { Finding, KeptPass } from '../schemas/review.ts'
import {
  type ApprovalEntry,
  type CostPart,
  type CycleView,
  costOf,
  costParts,
  type FindingState,
  type FindingStep,
  type FindingTrace,
  formatTokens,
  type KeyFigure,
  listApprovals,
  listKeyFigures,
  partKinds,
  type ReportData,
  type RevisionView,
  type SessionDenials,
  sumCosts,
} from './data.ts'
import { formatEvent } from './events.ts'
import {
  byHand,
  countOf,
  formatBytes,
  formatCount,
  formatDuration,
  gateLabels,
  type Html,
  html,
  type LabelTone,
  outcomeTone,
  outcomeWords,
  renderInline,
  renderLabel,
  renderProse,
  renderSentence,
  renderTag,
  renderTime,
  revisionLabel,
  sectionWords,
  severityTones,
} from './html.ts'

type Body = Html | readonly (Html | null)[]

/** A part of the page under a heading, which also names it for a screen reader. */
export const renderPart = (id: string, title: string, body: Body): Html => html`
<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
${body}
</section>`

/** The same inside of a cycle. It is no landmark: every cycle has one of this name. */
const renderInnerPart = (id: string, title: string, body: Body): Html => html`
<div class="part" id="${id}">
<h3>${title}</h3>
${body}
</div>`

const renderNothing = (words: string): Html => html`<p class="faint">${words}</p>`

export const needsScript = html`<noscript>${renderNothing('This part of the page is made by its script.')}</noscript>`

export function renderOverview(data: ReportData, views: readonly CycleView[]): Html {
  const { tone, mark, words } = gateLabels[data.gate.kind]
  const current = views.at(-1)
  return html`
<section id="overview" aria-labelledby="overview-title">
<p class="faint">plan-gate report</p>
<h1 id="overview-title">${renderInline(data.name)}</h1>
<div class="box ${tone}"><p class="figure ${tone}"><span aria-hidden="true">${mark}</span> ${words}</p>
<p>${renderSentence(data.gate.words)}</p></div>
${current === undefined || current.revisions.length === 0 ? null : renderSteps(current)}
<dl class="facts card">${listKeyFigures(data, views).map(renderFigure)}</dl>
${renderBox('bad', 'What could not be read', data.problems)}
<p class="faint">Made ${renderTime(data.made_at)} by plan-gate ${data.version} from
<code>${renderInline(data.place)}</code>. <span id="zone">All times are UTC.</span></p>
</section>`
}

const maxWithWords = 10

/** The revisions of the current cycle, each a step; of many, the verdicts are seen by their marks. */
const renderSteps = ({ cycle, revisions }: CycleView): Html => html`
<ol class="steps row" aria-label="Revisions of cycle ${cycle.cycle}">
${revisions.map(({ revision, anchor }) => {
  const { tone, mark, words } = revisionLabel(revision)
  return html`<li><a class="step label ${tone}" href="#${anchor}"><span aria-hidden="true">${mark}</span>
v${revision.revision} <span class="${revisions.length > maxWithWords ? 'unseen' : ''}">${words}</span></a></li>`
})}</ol>`

const renderFigure = ([name, value, note, tone = 'plain']: KeyFigure): Html => html`
<div><dt class="faint">${name}</dt>
<dd><span class="figure ${tone}">${value}</span> <span class="faint">${note}</span></dd></div>`

/** One cycle: its revisions, what was found, what it cost and when. The current one lies open. */
export function renderCycle(view: CycleView): Html {
  const { cycle, anchor, revisions, traces } = view
  const last = revisions.at(-1)
  // An approval by hand counts over the reviewer's verdict.
  const isByHand = cycle.events.some(({ type }) => type === 'approved-manually')
  const label = isByHand ? { ...byHand, words: 'Approved by hand' } : last && revisionLabel(last.revision)
  const head = html`<h2 id="${anchor}-title">Cycle ${cycle.cycle}</h2>
${label === undefined ? null : renderLabel(label)} <span class="faint">${countOf(revisions.length, 'revision')}</span>`
  const findings = traces.map((trace, index) => renderFinding(trace, `${anchor}-f${index + 1}`))
  const body = html`
${cycle.kind === 'lost' ? renderNothing('This cycle is in the ledger; its files are gone.') : null}
${renderInnerPart(`${anchor}-revisions`, 'Revisions', [
  revisions.length === 0 ? renderNothing('No revision has been sent to review in this cycle.') : null,
  ...revisions.map((revision) => renderRevision(revision, view)),
])}
${renderInnerPart(`${anchor}-findings`, 'Findings and their outcomes', [
  findings.length === 0 ? renderNothing('Nothing was found.') : html`<ol>${findings}</ol>`,
])}
${renderInnerPart(`${anchor}-costs`, 'Time and tokens', [
  revisions.length === 0 ? renderNothing('Nothing was reviewed.') : renderCosts(revisions),
])}
${renderInnerPart(`${anchor}-timeline`, 'Timeline', [
  cycle.events.length === 0 ? renderNothing('The ledger has no event of this cycle.') : renderEvents(cycle.events),
])}`
  return html`
<section class="cycle" id="${anchor}" aria-labelledby="${anchor}-title">
${
  cycle.kind === 'current'
    ? html`<div class="cycle-head">${head}</div>${body}`
    : html`<details><summary class="cycle-head">${head}</summary>${body}</details>`
}
</section>`
}

/** The parts of a cycle that the contents name, by the end of their ids. */
export const cycleParts = [
  ['revisions', 'Revisions'],
  ['findings', 'Findings'],
  ['costs', 'Time and tokens'],
  ['timeline', 'Timeline'],
] as const

function renderRevision(view: RevisionView, { cycle, revisions }: CycleView): Html {
  const { revision, anchor } = view
  const { result, why_none: whyNone, passes, plan_hash: hash, bytes } = revision
  const isLast = cycle.kind === 'current' && revisions.at(-1) === view
  const passList = passes.length === 0 ? null : html`<ol>${passes.map(renderPass)}</ol>`
  return html`
<article class="revision card" id="${anchor}" aria-labelledby="${anchor}-title">
<header class="row"><h4 id="${anchor}-title">Revision ${revision.revision}</h4> ${renderLabel(revisionLabel(revision))}
<p class="faint">${factsOf(view)}</p></header>
${renderProse(result?.summary ?? whyNone ?? '')}
${renderBox('ask', 'For the user to decide', result?.question ? [result.question] : [])}
${renderFound(view)}
${renderBox('wait', 'Stuck', result?.stuck ?? [])}
${renderBox('plain', 'Notes', result?.notices ?? [])}
<details class="small faint"><summary>${passes.length === 0 ? 'Details' : `${countOf(passes.length, 'pass', 'passes')}, details`}</summary>
${passList}
<p>${formatBytes(bytes)}${hash === null ? null : html`, SHA-256 <code>${hash}</code>`}</p></details>
${revision.text === null ? renderNothing('The text of this revision cannot be shown.') : renderChanges(view, isLast)}
</article>`
}

function factsOf({ revision }: RevisionView): readonly Html[] {
  const { result, submitted_at: submitted } = revision
  const { ms, tokens } = costOf(revision)
  const meta = result?.pass_metadata
  const facts = [
    renderTime(submitted),
    meta === undefined ? null : html`by ${renderInline([meta.route, ...otherReaders(meta)].join(', '), 120)}`,
    ms > 0 ? html`${formatDuration(ms)}` : null,
    tokens === null ? null : html`${formatCount(tokens)} tokens`,
    typeof meta?.cost_usd === 'number' ? html`${formatDollars(meta.cost_usd)}` : null,
    result?.verification == null ? null : html`verification ${result.verification}`,
  ].filter((fact) => fact !== null)
  return facts.map((fact, index) => (index === 0 ? fact : html` · ${fact}`))
}

const renderPass = ({ does, backend, outcome, why, duration_ms: ms, tokens }: KeptPass): Html => html`
<li>${renderInline(does, 40)} by ${renderInline(backend, 40)}: ${formatDuration(ms)}${
  tokens === null ? null : html`, ${formatCount(tokens)} tokens`
}${outcome === 'valid' ? null : html` ${renderTag('bad', outcome)} ${renderSentence(why ?? '', 300)}`}</li>`

const [maxLine, maxPoints] = [160, 50]

const renderBox = (tone: LabelTone, title: string, points: readonly string[]): Html | null =>
  points.length === 0
    ? null
    : html`
<div class="box ${tone}"><p class="box-title">${title}</p>
<ul>${points.slice(0, maxPoints).map((point) => html`<li class="prose">${renderSentence(point, 2_000)}</li>`)}</ul>
${points.length > maxPoints ? renderNothing(`And ${formatCount(points.length - maxPoints)} more.`) : null}</div>`

function renderFound({ findings }: RevisionView): Html | null {
  if (findings.length === 0) return null
  const items = findings.map(({ finding, trace, anchor }) => {
    const { id, section, evidence, fix, sources = [] } = finding
    const problem = finding.problem.trim()
    const [line = ''] = problem.split('\n')
    return html`
<li><div class="row"><a href="#${anchor}">${renderInline(id, 20)}</a> ${renderSeverity(finding)}
<span class="faint">${renderInline(sectionWords(section), 120)}${renderInline(foundBy({ sources }), 120)}</span>
${renderOutcome(trace)}</div>
<details><summary>${renderSentence(line, maxLine)}</summary>
${problem.length > maxLine || problem !== line ? renderProse(problem) : null}
${renderField('Evidence', evidence)}
${renderField('Fix', fix)}</details></li>`
  })
  return html`<ul class="found" aria-label="Findings of this review">${items}</ul>`
}

/** What changed in a revision. The page's script fills it in when it is opened: fifty at once would be too many. */
function renderChanges({ before, index, cycle, added, removed }: RevisionView, isOpen: boolean): Html {
  const other = before === null || before.cycle === cycle ? '' : `cycle ${before.cycle}, `
  const title =
    before === null
      ? html`The plan as it was first sent`
      : html`What changed since ${other}revision ${before.revision.revision}
<span class="count good">+${formatCount(added)}</span> <span class="count bad">−${formatCount(removed)}</span>`
  return html`
<details class="changes"${isOpen ? html` open` : null} data-before="${before?.index ?? ''}" data-after="${index}">
<summary class="changes-title">${title}</summary>
<div class="viewer">${needsScript}</div>
</details>`
}

const renderSeverity = ({ severity }: Finding): Html => renderTag(severityTones[severity], severity)

const renderOutcome = (trace: FindingTrace): Html =>
  html`<span class="outcome ${outcomeTone(trace)}">${outcomeWords(trace)}</span>`

const renderFinding = (trace: FindingTrace, anchor: string): Html => html`
<li class="finding card" id="${anchor}">
<div class="row"><h4>${renderInline(trace.finding.id, 20)} ${renderInline(sectionWords(trace.finding.section), 200)}</h4>
${renderSeverity(trace.finding)} ${trace.late ? renderTag('plain', 'came late') : null} ${renderOutcome(trace)}</div>
${renderProse(trace.finding.problem)}
${renderField('Evidence', trace.finding.evidence)}
${renderField('Fix', trace.finding.fix)}
<ol class="trail" aria-label="What became of it">${trace.steps.map(renderStep)}</ol>
</li>`

const renderField = (name: string, text: string): Html | null =>
  text.trim() === '' ? null : html`<p class="field faint">${name}</p>${renderProse(text)}`

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
<li class="dated ${tone}"><strong>${where}</strong>
<span class="event">${words}${reason === '' ? null : html` — ${renderSentence(reason)}`}</span></li>`
}

/** Time and tokens of each revision, as bars with a part for each pass, and as numbers. */
function renderCosts(revisions: readonly RevisionView[]): Html {
  const rows = revisions.map(({ revision, anchor }) => {
    const parts = costParts(revision)
    return { revision, anchor, parts, cost: sumCosts(parts) }
  })
  const mostMs = Math.max(1, ...rows.map(({ cost }) => cost.ms))
  const mostTokens = Math.max(1, ...rows.map(({ cost }) => cost.tokens ?? 0))
  const kinds = new Set(rows.flatMap(({ parts }) => parts.map(({ kind }) => kind)))
  const keys = [...kinds].map(
    (kind) => html`
<li><svg width="12" height="12" aria-hidden="true"><rect class="pass-${kind}" width="12" height="12" rx="2"/></svg>
${partKinds[kind]}</li>`,
  )
  const amount = (bar: Html | null, words: string): Html =>
    html`<td><div class="beside">${bar}<span>${words}</span></div></td>`
  const lines = rows.map(({ revision, anchor, parts, cost }) => {
    const of = `of revision ${revision.revision}`
    const time = renderBar(`Time ${of}`, parts, (part) => part.ms / mostMs)
    const tokens = renderBar(`Tokens ${of}`, parts, (part) => (part.tokens ?? 0) / mostTokens)
    return html`
<tr><th scope="row"><a href="#${anchor}">v${revision.revision}</a></th>
<td class="of-verdict">${renderLabel(revisionLabel(revision))}</td>
${amount(time, formatDuration(cost.ms))}${amount(tokens, formatTokens(cost.tokens))}</tr>`
  })
  const all = sumCosts(rows.map(({ cost }) => cost))
  return html`
<ul class="row faint" aria-label="Colours of the bars">${keys}</ul>
<table class="costs"><caption class="unseen">Time and tokens of each revision’s review</caption>
<thead><tr><th scope="col">Revision</th><th scope="col" class="of-verdict">Verdict</th>
<th scope="col">Time</th><th scope="col">Tokens</th></tr></thead>
<tbody>${lines}</tbody>
<tfoot><tr><th scope="row">All</th><td class="of-verdict"></td>
${amount(null, formatDuration(all.ms))}${amount(null, formatTokens(all.tokens))}</tr></tfoot></table>`
}

/** A bar is stretched to the width of its cell; so it is drawn in units of its own, with a gap of some of them. */
const [barWidth, barGap] = [1000, 3]

function renderBar(name: string, parts: readonly CostPart[], share: (part: CostPart) => number): Html {
  let x = 0
  const drawn = parts.map((part) => {
    const [from, wide] = [x, share(part) * barWidth]
    x += wide
    if (wide === 0) return null
    return html`
<rect class="pass-${part.kind}" x="${from.toFixed(1)}" y="0" width="${Math.max(1, wide - barGap).toFixed(1)}"
 height="14"><title>${part.words}</title></rect>`
  })
  return html`
<svg class="bar" viewBox="0 0 ${barWidth} 14" preserveAspectRatio="none" role="img"
 aria-label="${name}: ${parts.map(({ words }) => words).join('; ')}">${drawn}</svg>`
}

/** More events than this in one cycle are a log, and there is `plan-gate log` for that. */
const [mostFirst, mostLast] = [100, 300]

function renderEvents(events: readonly LedgerEvent[]): Html {
  const left = events.length - mostFirst - mostLast
  if (left <= 0) return html`<ol>${events.map(renderEvent)}</ol>`
  return html`<ol>${events.slice(0, mostFirst).map(renderEvent)}
<li class="faint">${countOf(left, 'event')} left out here; <code>plan-gate log</code> has them.</li>
${events.slice(-mostLast).map(renderEvent)}</ol>`
}

const eventTones = { good: 'good', bad: 'bad', warn: 'wait', busy: 'plain', quiet: 'plain quiet' } as const

function renderEvent(event: LedgerEvent): Html {
  const { tone, label, text } = formatEvent(event)
  return html`
<li class="dated ${eventTones[tone]}">${renderTime(event.at)}
<p class="event"><strong>${renderInline(label, 200)}</strong> <span>${renderSentence(text)}</span></p></li>`
}

/** Every approval there was, those by hand marked. */
export function renderApprovals(data: ReportData): Html {
  const approvals = listApprovals(data)
  const body =
    approvals.length === 0
      ? renderNothing('Nothing has been approved.')
      : renderWide('Table of approvals', ['When', 'Plan', 'By', 'Why', 'Then'], approvals.map(renderApproval))
  return renderPart('approvals', 'Approvals', body)
}

/** On a narrow screen it is moved sideways, by the keyboard as well. */
const renderWide = (name: string, columns: readonly string[], rows: readonly Html[]): Html => html`
<div class="wide" role="region" aria-label="${name}" tabindex="0"><table>
<thead><tr>${columns.map((words) => html`<th scope="col">${words}</th>`)}</tr></thead>
<tbody>${rows}</tbody></table></div>`

function renderApproval({ at, cycle, revision, hash, route, why, ended }: ApprovalEntry): Html {
  const by = route === 'manual' ? byHand : ({ tone: 'good', mark: '✓', words: route } as const)
  const link = revision === null ? null : html`, <a href="#c${cycle}-v${revision}">revision ${revision}</a>`
  return html`
<tr><td>${renderTime(at)}</td>
<td><span title="SHA-256 ${hash}">cycle ${cycle}${link}</span></td>
<td>${renderLabel(by)}</td>
<td>${renderSentence(why)}</td>
<td>${ended === null ? 'stands' : renderSentence(ended, 300)}</td></tr>`
}

const [mostSessions, mostDenials, mostRules] = [40, 100, 20]

/** What the gate refused, session by session. The last one lies open, if it is not long. */
export function renderDenials(sessions: readonly SessionDenials[]): Html {
  const left = sessions.slice(mostSessions)
  const denials = left.reduce((sum, session) => sum + session.denials.length, 0)
  return renderPart('denials', 'Denials by session', [
    sessions.length === 0 ? renderNothing('No session is on record.') : null,
    ...sessions
      .slice(0, mostSessions)
      .map((session, index) => renderSession(session, index === 0 && session.denials.length <= 20)),
    left.length === 0
      ? null
      : renderNothing(`${countOf(left.length, 'older session')} with ${countOf(denials, 'denial')} left out.`),
  ])
}

function renderSession(entry: SessionDenials, isOpen: boolean): Html {
  const { session, client_version: version, started_at: started, last_seen_at: seen, denials } = entry
  const when = started === null ? null : html`${renderTime(started)} to ${renderTime(seen)}`
  const head = html`<strong>Session ${renderInline(session.slice(0, 8), 8)}</strong>
${countOf(denials.length, 'denial')}
<span class="faint">${when}${version === null ? null : html` · Claude Code ${renderInline(version, 30)}`}</span>`
  if (denials.length === 0) return html`<p class="session">${head}</p>`
  const counts = new Map<string, number>()
  for (const { rule } of denials) counts.set(rule, (counts.get(rule) ?? 0) + 1)
  const mostFrequent = [...counts].sort((a, b) => b[1] - a[1]).slice(0, mostRules)
  const left = denials.length - mostDenials
  return html`
<details class="session"${isOpen ? html` open` : null}><summary>${head}</summary>
<ul class="row" aria-label="Rules">${mostFrequent.map(
    ([rule, count]) => html`<li>${renderTag('plain', rule)} × ${formatCount(count)}</li>`,
  )}</ul>
${left > 0 ? renderNothing(`The last ${mostDenials}; ${formatCount(left)} before them are left out.`) : null}
<ol>${denials.slice(-mostDenials).map(renderDenial)}</ol></details>`
}

const renderDenial = ({ at, tool, target, rule, reason }: Denial): Html => html`
<li class="dated">${renderTime(at)}
<div><p><strong>${renderInline(tool, 60)}</strong> <code>${renderInline(target)}</code>
${renderTag('plain', rule)}</p>
<p class="faint">${renderSentence(reason, 500)}</p></div></li>`

/** What the reviewers of the route table are worth here, as `plan-gate calibrate` has measured it last. */
export function renderCalibration(measured: Calibration): Html {
  const { made_at, type, complete, repeat, why, comparisons, notes, cells, defects, controls } = measured
  const columns = ['Reviewer', 'Found', 'Held up', 'Held up for nothing', 'Time', 'Reviews']
  const share = ({ share, low, high }: CellResult['recall']): string =>
    share === null ? '–' : `${share.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`
  const rows = cells.map(
    ({ name, recall, held, false_blocks, seconds, reviews, failed }) => html`
<tr><th scope="row">${renderInline(name)}</th>
${[recall, held, false_blocks].map((each) => html`<td>${share(each)}</td>`)}
<td>${seconds === null ? '–' : formatDuration(seconds * 1000)}</td>
<td>${reviews}${failed === 0 ? null : html`, ${failed} failed`}</td></tr>`,
  )
  return renderPart('calibration', 'How much the reviewers find', [
    html`<p class="prose">Measured ${renderTime(made_at)} on ${defects} copies of \
${type === 'plan' ? 'plans' : 'changes'} with one defect and ${controls} without, each \
${complete ? '' : 'to be '}reviewed ${repeat === 1 ? 'once' : html`${repeat} times`}. \
In brackets: the 95 % interval. The same as <code>plan-gate calibrate</code>.</p>`,
    complete ? null : html`<p class="prose"><strong>Not complete.</strong> ${renderSentence(why ?? '')}</p>`,
    renderWide('Table of reviewers', columns, rows),
    ...[...comparisons.map(({ words }) => words), ...notes].map(
      (words) => html`<p class="prose">${renderSentence(words)}</p>`,
    ),
  ])
}

/** Whether the ledger's chain, each snapshot and the approval agree with one another. */
export const renderChecks = ({ checks }: Pick<ReportData, 'checks'>): Html =>
  renderPart('record', 'Ledger check', [
    html`<p class="prose">Each line of the ledger carries the hash of the line before, and each reviewed revision is compared \
with the bytes that were submitted. The same as <code>plan-gate verify</code>, at the time when this report was made.</p>`,
    html`<ul>${checks.map(
      ({ name, holds, detail }) => html`
<li class="dated"><span>${renderLabel(holds ? holding : broken)}</span>
<span><strong>${renderInline(name, 100)}</strong> <span class="faint">${renderInline(detail)}</span></span></li>`,
    )}</ul>`,
  ])

const holding = { tone: 'good', mark: '✓', words: 'holds' } as const
const broken = { tone: 'bad', mark: '✗', words: 'does not hold' } as const
