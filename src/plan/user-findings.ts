import { escapeUntrusted } from '../redact/untrusted-text.ts'
import { type UserComment, type UserFinding, userFindingsIn } from '../review/user-finding.ts'
import type { EarlierFinding, Finding } from '../schemas/review.ts'
import { eventsFromEnd } from '../state/ledger.ts'
import { clipEnd } from '../text/clean.ts'
import { readWaivers } from './waivers.ts'

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
