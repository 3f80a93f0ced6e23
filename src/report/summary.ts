import type { VerifyOutput } from '../schemas/output.ts'
import { clipEnd } from '../text/clean.ts'
import { parseMarkdown } from '../text/markdown.ts'
import { countOf, type Html, html, renderInline, renderSentence, sectionWords } from './html.ts'
import { renderMarkdown } from './markdown.ts'

/** What `verify --summary` writes: the verdict and the plan, for the page of a job or a comment in a forge. */

export type PlanSummary = {
  readonly output: VerifyOutput
  readonly plan: { readonly path: string; readonly text: string }
  /** By whom and when; null: there is no approval. */
  readonly approved: string | null
  /** As they were committed: anything. */
  readonly findings: unknown
  readonly waived: unknown
}

/** GitHub refuses a summary of more than 1 MiB. */
const maxBytes = 900 * 1024

export function formatSummary(summary: PlanSummary): string {
  for (let share = 1; ; share /= 2) {
    const text = formatBlocks(blocksOf(summary, share))
    if (byteLength(text) <= maxBytes) return text
  }
}

export const formatProblem = (message: string, next: string): string =>
  formatBlocks([html`<h3>✗ The plan could not be checked</h3>`, html`<p>${message}<br>→ ${next}</p>`])

const byteLength = (text: string): number => new TextEncoder().encode(text).length

function blocksOf({ output, plan, approved, findings, waived }: PlanSummary, share: number): readonly Html[] {
  const { holds, checks, out_of_scope: outside = [] } = output
  const isApproved = checks.every((check) => check.holds || check.name === 'scope')
  const failure = isApproved ? '✗ The change is not what was planned' : '✗ The plan is not approved'
  return [
    html`<h3>${holds ? '✓ The plan is approved' : failure}</h3>`,
    ...(approved === null
      ? []
      : [html`<p>${isApproved ? 'Approved' : 'The record says: approved'} ${prose(approved)}</p>`]),
    renderTable(['', 'Check', 'Result'], checks.map(checkRow)),
    ...listFiles(outside, Math.floor(200 * share)),
    ...listFindings(findings, waived, Math.floor(100 * share)),
    renderPlan(plan, output.plan_hash ?? '', Math.floor(400_000 * share)),
  ]
}

const prose = (text: unknown): Html => renderSentence(typeof text === 'string' ? text : '', 1_000)

const checkRow = ({ name, holds, detail, next_step: next }: VerifyOutput['checks'][number]): readonly Html[] => [
  html`${holds ? '✓' : '✗'}`,
  html`${name}`,
  html`${prose(detail)}${next === undefined ? null : html`<br>→ ${prose(next)}`}`,
]

function listFiles(paths: readonly string[], limit: number): readonly Html[] {
  if (paths.length === 0) return []
  const items = paths.slice(0, limit).map((path) => html`<li><code>${renderInline(path)}</code></li>`)
  const more = paths.length <= limit ? null : html`<li>and ${paths.length - limit} more</li>`
  return [
    html`<h4>${countOf(paths.length, 'changed file')} that the plan does not name</h4>`,
    html`<ul>${items}${more}</ul>`,
  ]
}

/** An export of an older version has only what was waived. */
function listFindings(findings: unknown, waived: unknown, limit: number): readonly Html[] {
  const isRecorded = Array.isArray(findings)
  const rows = isRecorded
    ? findings
    : Array.isArray(waived)
      ? waived.map((entry) => ({ ...entry, state: 'waived' }))
      : []
  if (rows.length === 0) return isRecorded ? [html`<p>The review of this plan found nothing.</p>`] : []
  const cells = rows.slice(0, limit).map((row): readonly Html[] => {
    const { id, severity, state, section, problem, reason } = (row ?? {}) as { readonly [name: string]: unknown }
    const about = [problem, reason].filter((text) => typeof text === 'string' && text !== '')
    return [
      prose(id),
      prose(severity),
      prose(state),
      prose(typeof section === 'string' ? sectionWords(section) : ''),
      html`${about.map((text, at) => html`${at === 0 ? null : html`<br>→ `}${prose(text)}`)}`,
    ]
  })
  return [
    html`<h4>${countOf(rows.length, 'finding')} of the review</h4>`,
    renderTable(['Id', 'Severity', 'State', 'Section', 'Finding'], cells),
    ...(rows.length > limit ? [html`<p>and ${rows.length - limit} more</p>`] : []),
  ]
}

const renderTable = (heads: readonly string[], rows: readonly (readonly Html[])[]): Html =>
  html`<table><tr>${heads.map((head) => html`<th>${head}</th>`)}</tr>${rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</table>`

function renderPlan({ path, text }: PlanSummary['plan'], hash: string, limit: number): Html {
  const clipped = clipEnd(text, limit)
  const title = parseMarkdown(clipped.slice(0, 20_000)).headings[0]?.text ?? 'The plan'
  const about = html`<b>${renderInline(title)}</b> <code>${renderInline(path)}</code> <code>${hash.slice(0, 12)}</code>`
  const cut = clipped === text ? null : html`<p>The rest is left out here.</p>`
  return html`<details><summary>${about}</summary>${withoutMarks(renderMarkdown(clipped))}${cut}</details>`
}

/** The style of the report hides the marks of lists; a forge shows them. */
const withoutMarks = ({ html }: Html): Html => ({ html: html.replaceAll('<span class="item-mark">•</span> ', '') })

/**
 * A block of HTML is one line: nothing in it is read as Markdown, which would begin again behind an empty line. What
 * forges look for in the text of a page afterwards (mentions, numbers of issues, addresses) is interrupted; they leave
 * code alone.
 */
const formatBlocks = (blocks: readonly Html[]): string =>
  `${blocks.map(({ html }) => html.replace(/\n/g, '&#10;').split(code).map(defuse).join('')).join('\n\n')}\n`

const code = /(<code>.*?<\/code>)/

const defuse = (piece: string, index: number): string =>
  (index % 2 === 1
    ? piece
    : piece.replace(/@|(?<!&)#(?=\w)|:(?=\/\/)|\bGH(?=-)/gi, '$&&#8203;').replace(/\bwww(?=\.)/gi, '$&&#8203;')
  ).replace(/[`*_|[\]\\~$@^{}]/g, (mark) => `&#${mark.charCodeAt(0)};`)
