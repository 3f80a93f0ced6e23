import { isBlocking } from '../review/findings.ts'
import type { Severity, Verdict } from '../schemas/review.ts'
import { clipEnd } from '../text/clean.ts'
import type { FindingTrace, Gate, ReportedRevision } from './data.ts'

/** Text that is markup already; only `html` makes it from text of others. */
export type Html = { readonly html: string }
type Piece = string | number | null | Html | readonly Piece[]

/**
 * Markup with holes. What stands in a hole is text, for an element or for an attribute in double quotes, unless it is
 * `Html` itself; so nothing that a plan, a reviewer or a file name says can become markup.
 */
export const html = (parts: TemplateStringsArray, ...holes: readonly Piece[]): Html => ({
  html: parts.map((part, index) => part + markupOf(holes[index] ?? null)).join(''),
})

function markupOf(piece: Piece): string {
  if (piece === null) return ''
  if (typeof piece === 'number') return String(piece)
  if (typeof piece === 'string')
    return showHidden(piece).replace(/[&<>"']/g, (character) => entities[character] ?? character)
  return 'html' in piece ? piece.html : piece.map(markupOf).join('')
}

const entities: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/**
 * Text of others as a page can show it: what would hide in it, or turn its neighbours round, becomes a name that can be
 * read, `⟨U+202E⟩`. What joins the parts of an emoji or of a Persian word is part of what people see, and stays.
 */
export const showHidden = (text: string): string =>
  text.replaceAll('\r\n', '\n').replace(hiddenOrJoined, (found) => ([...found].length === 1 ? nameOf(found) : found))

const emoji = '\\p{Extended_Pictographic}[\\ufe0f\\u{1f3fb}-\\u{1f3ff}]*'
const letter = '(?=\\p{L})\\p{Script=Arabic}'
const persian = `${letter}(?:\\u200c${letter})+`

const hidden =
  '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u034f\\u115f\\u1160\\u2028\\u2029\\u2800\\u3164\\uffa0\\u{e0100}-\\u{e01ef}]|\\p{Cf}|\\p{Cs}'

const hiddenOrJoined = new RegExp(`${emoji}(?:\\u200d${emoji})+|${persian}|${hidden}`, 'gu')

const nameOf = (character: string): string =>
  `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`

/** Text with `code` in it, as reviewers write; everything else of Markdown stays as it was written. */
export const splitCode = (text: string): readonly { readonly text: string; readonly isCode: boolean }[] =>
  text
    .split(/`([^`\n]{1,400})`/)
    .map((part, index) => ({ text: part, isCode: index % 2 === 1 }))
    .filter((part) => part.text !== '')

/** `0.4 s`, `41 s`, `2 min 13 s`, `1 h 5 min`. */
export function formatDuration(ms: number): string {
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  const [large, small] =
    minutes < 60 ? [`${minutes} min`, `${seconds % 60} s`] : [`${Math.floor(minutes / 60)} h`, `${minutes % 60} min`]
  return small.startsWith('0 ') ? large : `${large} ${small}`
}

/** `1,234,567`. */
export const formatCount = (count: number): string => count.toLocaleString('en-US')

/** `1 finding`, `3 findings`. */
export const countOf = (count: number, one: string, many = `${one}s`): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`

/** `2026-01-02 03:04:05` of `2026-01-02T03:04:05.678Z`; what is no time stays as it is. */
export const formatTime = (at: string): string => at.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/, '$1 $2')

/** `12.3 kB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return countOf(bytes, 'byte')
  return bytes < 999_950 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}

/** The section of a finding, as its reviewer named it; a heading without its `#`. */
export const sectionWords = (section: string): string => section.replace(/^\s*#{1,6}\s+/, '').trim() || 'no place named'

/** What a colour means; a word and a mark beside it say the same. */
export type LabelTone = 'good' | 'wait' | 'ask' | 'bad' | 'plain'
export type Label = { readonly tone: LabelTone; readonly mark: string; readonly words: string }

const verdictLabels: { readonly [V in Verdict]: Label } = {
  APPROVED: { tone: 'good', mark: '✓', words: 'Approved' },
  CHANGES_REQUIRED: { tone: 'wait', mark: '✎', words: 'Changes required' },
  DECISION_NEEDED: { tone: 'ask', mark: '?', words: 'Decision needed' },
  SKIPPED: { tone: 'plain', mark: '–', words: 'Skipped' },
}

export const revisionLabel = ({ result }: Pick<ReportedRevision, 'result'>): Label =>
  result === null ? { tone: 'plain', mark: '…', words: 'No verdict' } : verdictLabels[result.verdict]

export const byHand: Label = { tone: 'ask', mark: '☞', words: 'By hand' }

export const gateLabels: { readonly [K in Gate['kind']]: Label } = {
  open: { tone: 'good', mark: '✓', words: 'The gate is open' },
  closed: { tone: 'wait', mark: '■', words: 'The gate is closed' },
  'no-plan': { tone: 'plain', mark: '■', words: 'The gate is closed' },
  reviewing: { tone: 'ask', mark: '…', words: 'Under review' },
  kept: { tone: 'plain', mark: '▤', words: 'Kept reviews' },
}

export const severityTones: { readonly [S in Severity]: LabelTone } = {
  critical: 'bad',
  major: 'wait',
  minor: 'plain',
  advice: 'plain',
}

/** Advice may stay open. */
export const outcomeTone = ({ outcome, finding }: FindingTrace): LabelTone =>
  outcome === 'fixed' ? 'good' : outcome === 'open' && isBlocking(finding) ? 'wait' : 'plain'

export function outcomeWords({ outcome, steps }: FindingTrace): string {
  const last = steps.at(-1)
  if (outcome === 'open') return last?.state === 'not-fixed' ? `not fixed in v${last.to}` : 'open'
  return `${outcome === 'gone' ? 'not named again' : outcome} in v${last?.from ?? 0}`
}

/** A verdict or a state: a colour, and the word for it. */
export const renderLabel = ({ tone, mark, words }: Label): Html =>
  html`<span class="label ${tone}"><span aria-hidden="true">${mark}</span> ${words}</span>`

export const renderTag = (tone: LabelTone, words: string): Html => html`<span class="tag ${tone}">${words}</span>`

/** Longer fields are truncated; the files of the review have all of it. */
const maxProse = 8_000

/** What a reviewer wrote, in its own lines. */
export const renderProse = (text: string): Html | null =>
  text.trim() === '' ? null : html`<p class="prose" dir="auto">${withCode(clipEnd(text.trim(), maxProse))}</p>`

/** A sentence inside of another one, which it cannot turn round. */
export const renderSentence = (text: string, limit = 600): Html => html`<bdi>${withCode(clipEnd(text, limit))}</bdi>`

/** A name or a path, in the same way. */
export const renderInline = (text: string, limit = 400): Html => html`<bdi>${clipEnd(text, limit)}</bdi>`

const withCode = (text: string): readonly Html[] =>
  splitCode(text).map(({ text, isCode }) => (isCode ? html`<code>${text}</code>` : html`${text}`))

export const renderTime = (at: string | null): Html =>
  at === null ? html`<span class="faint">not known</span>` : html`<time datetime="${at}">${formatTime(at)}</time>`
