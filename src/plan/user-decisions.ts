import { escapeUntrusted } from '../redact/untrusted-text.ts'
import {
  isBlocking,
  isGraver,
  isSameLocation,
  isUsers,
  similarity,
  type UserComment,
  type UserFinding,
  userFindingsIn,
} from '../review/findings.ts'
import type { LedgerEvent } from '../schemas/records.ts'
import type { EarlierFinding, Finding } from '../schemas/review.ts'
import { eventsFromEnd } from '../state/ledger.ts'
import { clipEnd } from '../text/clean.ts'

/** Those of this cycle, in their order. */
export function readUserFindings(root: string): readonly UserFinding[] {
  const found: UserFinding[] = []
  for (const event of eventsFromEnd(root, ['changes-requested', 'cycle-archived'])) {
    if (event.type === 'cycle-archived') break
    found.unshift(...userFindingsIn(event))
  }
  return found
}

type Known = { readonly findings: readonly Finding[]; readonly previous: readonly EarlierFinding[] }

/** Of which no review has said anything yet. */
export function pendingFindings(root: string, reviewed: readonly Known[]): readonly Finding[] {
  const known = new Set(reviewed.flatMap(({ findings, previous }) => [...findings, ...previous].map(({ id }) => id)))
  return readUserFindings(root).flatMap(({ finding }) => (known.has(finding.id) ? [] : [finding]))
}

/** Whether one of them, that the user has not taken back, keeps an earlier approval from counting again. */
export function isHeldByUser(root: string, pending: readonly Finding[]): boolean {
  const waived = new Set(readWaivers(root).map(({ id }) => id))
  return pending.some(({ id }) => !waived.has(id))
}

/** No id is used twice in a worktree. */
export function lastUserNumber(root: string): number {
  for (const event of eventsFromEnd(root, ['changes-requested', 'ledger-replaced'])) {
    if (event.type === 'ledger-replaced') return Number(event.last_user)
    const numbers = userFindingsIn(event).map(({ finding }) => Number(finding.id.slice(1)))
    if (numbers.length > 0) return Math.max(...numbers)
  }
  return 0
}

/** Claude Code truncates added context at 10,000 characters. */
const maxNoteLength = 8_000

/** For Claude, with its next tool call or the user's next message. */
export function formatUserNote(comments: readonly UserComment[], hadApproval: boolean): string {
  const lines = comments.map(({ id, section, place, quote, text }) => {
    const where = [section, place].filter((part) => part !== '').join(', ')
    const on = quote === '' ? '' : `, “${clipEnd(quote, 200)}”`
    return `${id} (${inLine(where + on)}): ${escapeUntrusted(text).replaceAll('\n', '\n    ')}`
  })
  const shown = lines.filter((_, at) => lines.slice(0, at + 1).join('\n').length <= maxNoteLength)
  const rest = comments.slice(shown.length).map(({ id }) => id)
  return [
    `plan-gate: the user has read docs/plan.md and requests changes.${hadApproval ? ' Its approval has ended: the gate is closed.' : ''} This is what they wrote, not a reviewer's claim:`,
    ...shown,
    ...(rest.length === 0 ? [] : [`And ${rest.join(', ')}, in .claude/review/events.jsonl (changes-requested).`]),
    'Settle each in docs/plan.md, then save it once. The reviewer says of each whether it is done; only the user can take one back (plan-gate waive).',
  ].join('\n')
}

const inLine = (text: string): string => escapeUntrusted(text).replace(/\s+/g, ' ')

export type Waiver = Pick<Finding, 'id' | 'severity' | 'section' | 'problem'> & {
  readonly reason: string
  /** A finding of the reviewer's has another id since. */
  readonly isCarried?: boolean
}

type Waivers = { readonly standing: readonly Waiver[]; readonly withdrawn: readonly Waiver[] }

/** Those of this cycle. */
export const readWaived = (root: string): Waivers =>
  waivedIn(eventsFromEnd(root, ['finding-waived', 'waiver-withdrawn', 'cycle-archived']))

export function waivedIn(events: Iterable<LedgerEvent>): Waivers {
  const latest = new Map<string, Waiver>()
  const undone = new Set<string>()
  for (const event of events) {
    if (event.type === 'cycle-archived') break
    const { finding: id, severity, section, problem, reason } = event as unknown as Waiver & { finding: string }
    if (latest.has(id)) continue
    if (event.type === 'waiver-withdrawn') undone.add(id)
    else if (event.type === 'finding-waived')
      latest.set(id, {
        id,
        severity,
        section,
        problem,
        reason,
        ...(event.carried_from === undefined ? {} : { isCarried: true }),
      })
  }
  const all = [...latest.values()].reverse()
  return { standing: all.filter(({ id }) => !undone.has(id)), withdrawn: all.filter(({ id }) => undone.has(id)) }
}

export const readWaivers = (root: string): readonly Waiver[] => readWaived(root).standing

/** A waived finding, also under another id, is advice from then on: it never holds the plan. */
export const applyWaivers = (findings: readonly Finding[], waivers: readonly Waiver[]): readonly Finding[] =>
  findings.map((finding) =>
    isBlocking(finding) && isWaived(finding, waivers)
      ? { ...finding, severity: 'advice', raised_as: finding.severity }
      : finding,
  )

export const isWaived = (finding: Finding, waivers: readonly Waiver[]): boolean =>
  waivers.some((waiver) => isSame(asRaised(finding), waiver))

const asRaised = ({ raised_as, ...finding }: Finding): Finding => ({
  ...finding,
  severity: raised_as ?? finding.severity,
})

type Recorded = { readonly findings: readonly Finding[]; readonly late: readonly string[] }

/** The findings of the last of these reviews; what was advice only by a waiver that the user took back weighs again. */
export function restoreWithdrawn(reviews: readonly Recorded[], { standing, withdrawn }: Waivers): readonly Finding[] {
  return (reviews.at(-1)?.findings ?? []).map((finding) =>
    finding.raised_as !== undefined &&
    isWaived(finding, withdrawn) &&
    !isWaived(finding, standing) &&
    !cameLate(finding, reviews)
      ? asRaised(finding)
      : finding,
  )
}

/** Advice because it came late, and not because it was waived when it blocked the plan. */
function cameLate({ id }: Finding, reviews: readonly Recorded[]): boolean {
  const blocked = ({ findings }: Recorded) => findings.some((other) => other.id === id && isBlocking(other))
  const last = reviews.findLast((review) => review.late.includes(id) || blocked(review))
  return last?.late.includes(id) === true
}

/** Models rephrase. */
const sameProblem = 0.6

/** A graver one is not what the user has decided about, whatever its id and its words. */
const isSame = (finding: Finding, waiver: Waiver): boolean =>
  !isGraver(finding, waiver) &&
  ((finding.id === waiver.id && (isUsers(finding) || waiver.isCarried !== true)) ||
    (!isUsers(finding) &&
      isSameLocation(finding.section, waiver.section) &&
      similarity(finding.problem, waiver.problem) >= sameProblem))

/** For the reviewer, as a part of what the user wants. */
export const formatWaivers = (waivers: readonly Waiver[]): string | null =>
  waivers.length === 0
    ? null
    : [
        'The user has decided about these findings: they need not be fixed, and may not hold the plan.',
        ...waivers.map(
          ({ id, section, problem, reason }) => `- ${id} (${section}): ${problem}\n  The reason: ${reason}`,
        ),
      ].join('\n')
