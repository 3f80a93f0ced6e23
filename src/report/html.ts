import { showHidden } from '../redact/show-hidden.ts'
import { isBlocking } from '../review/findings.ts'
import type { Severity, Verdict } from '../schemas/review.ts'
import type { FindingTrace, Gate, Revision } from './data.ts'

/** Text that is markup already. Nothing but `html` makes it out of what others wrote. */
export type Html = { readonly html: string }

type Piece = string | number | null | Html | readonly Piece[]

/**
 * Markup with holes. What stands in a hole is text, for an element or for an attribute in double quotes, unless it is
 * `Html` itself; so nothing that a plan, a reviewer or a file name says can become markup.
 */
export const html = (parts: TemplateStringsArray, ...holes: readonly Piece[]): Html => ({
  html: parts.map((part, index) => part + (index < holes.length ? markupOf(holes[index] ?? null) : '')).join(''),
})

function markupOf(piece: Piece): string {
  if (piece === null) return ''
  if (typeof piece === 'string') return escaped(showHidden(piece))
  if (typeof piece === 'number') return String(piece)
  return 'html' in piece ? piece.html : piece.map(markupOf).join('')
}

const entities: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '')

/** `0.4 s`, `41 s`, `2 min 13 s`, `1 h 5 min`. */
export function formatDuration(ms: number): string {
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** `1,234,567`. */
export const formatCount = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ',')

/** `1 finding`, `3 findings`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`

/** `2026-01-02 03:04:05` of `2026-01-02T03:04:05.678Z`; what is no time stays as it is. */
export const formatTime = (at: string): string => {
  const [, day, time] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/.exec(at) ?? []
  return day === undefined ? at : `${day} ${time}`
}

/** `12.3 kB`. */
export const formatBytes = (bytes: number): string =>
  bytes < 1000
    ? counted(bytes, 'byte')
    : bytes < 999_950
      ? `${(bytes / 1000).toFixed(1)} kB`
      : `${(bytes / 1e6).toFixed(1)} MB`

export const shortHash = (hash: string): string => hash.slice(0, 12)

/** Where a finding belongs, as its reviewer named it; a heading without its marks. */
export const placeWords = (section: string): string => section.replace(/^\s*#{1,6}\s+/, '').trim() || 'no place named'

/** What a colour means. Beside it there is always a word and a mark, for those who do not see it. */
export type Tone = 'good' | 'wait' | 'ask' | 'bad' | 'plain'

export type Label = { readonly tone: Tone; readonly mark: string; readonly words: string }

const ofVerdict: { readonly [V in Verdict]: Label } = {
  APPROVED: { tone: 'good', mark: '✓', words: 'Approved' },
  CHANGES_REQUIRED: { tone: 'wait', mark: '✎', words: 'Changes required' },
  DECISION_NEEDED: { tone: 'ask', mark: '?', words: 'Decision needed' },
  SKIPPED: { tone: 'plain', mark: '–', words: 'Skipped' },
}

export const revisionLabel = ({ result }: Pick<Revision, 'result'>): Label =>
  result === null ? { tone: 'plain', mark: '…', words: 'No verdict' } : ofVerdict[result.verdict]

/** For verdicts out of the ledger, which may be of a later version. */
export const verdictLabel = (verdict: string): Label =>
  ofVerdict[verdict as Verdict] ?? { tone: 'plain', mark: '·', words: verdict }

export const gateLabels: { readonly [K in Gate['kind']]: Label } = {
  open: { tone: 'good', mark: '✓', words: 'The gate is open' },
  closed: { tone: 'wait', mark: '■', words: 'The gate is closed' },
  'no-plan': { tone: 'plain', mark: '■', words: 'The gate is closed' },
  reviewing: { tone: 'ask', mark: '…', words: 'Under review' },
  kept: { tone: 'plain', mark: '▤', words: 'Kept reviews' },
}

export const severityTones: { readonly [S in Severity]: Tone } = {
  critical: 'bad',
  major: 'wait',
  minor: 'plain',
  advice: 'plain',
}

/** What is only advice may stay open. */
export const fateTone = ({ fate, finding }: FindingTrace): Tone =>
  fate === 'fixed' ? 'good' : fate === 'open' && isBlocking(finding) ? 'wait' : 'plain'

type CodeSpan = { readonly text: string; readonly isCode: boolean }

/** Text with `code` in it, as reviewers write; everything else of Markdown stays as it was written. */
export function splitCode(text: string): readonly CodeSpan[] {
  const spans: CodeSpan[] = []
  let done = 0
  for (const match of text.matchAll(/`([^`\n]{1,400})`/g)) {
    if (match.index > done) spans.push({ text: text.slice(done, match.index), isCode: false })
    spans.push({ text: match[1] ?? '', isCode: true })
    done = match.index + match[0].length
  }
  return done < text.length ? [...spans, { text: text.slice(done), isCode: false }] : spans
}

/** In words: `fixed in v3`. */
export function fateWords({ fate, steps }: FindingTrace): string {
  const last = steps.at(-1)
  switch (fate) {
    case 'open':
      return last?.state === 'not-fixed' ? `not fixed in v${last.to}` : 'open'
    case 'fixed':
      return `fixed in v${last?.to ?? '?'}`
    case 'rejected':
      return `rejected in v${last?.to ?? '?'}`
    case 'gone':
      return `not named again in v${last?.from ?? '?'}`
  }
}
