import type { LedgerEvent } from '../schemas/records.ts'
import type { Finding } from '../schemas/review.ts'
import { isUsers } from './findings.ts'

/** What the user wrote about the plan, as the ledger has it. */
export type UserComment = {
  readonly id: string
  readonly section: string
  /** `docs/plan.md:12`, or `revision 2, line 12`; '' for the plan as a whole. */
  readonly place: string
  readonly quote: string
  readonly text: string
}

/** `revision`: the last one that had been reviewed then; 0: none. */
export type UserFinding = { readonly revision: number; readonly finding: Finding }

export function userFindingsIn(event: LedgerEvent): readonly UserFinding[] {
  const source = event.only_user === true ? damagedLedger : 'the user'
  return commentsIn(event).map((comment) => ({
    revision: Number(event.revision) || 0,
    finding: toFinding(comment, source),
  }))
}

export const commentsIn = (event: LedgerEvent): readonly UserComment[] =>
  event.type === 'changes-requested' && Array.isArray(event.findings) ? event.findings.filter(isComment) : []

/** Who found what only the user can settle. */
export const damagedLedger = 'the damaged ledger'

/** The ledger can be edited. */
const isComment = (value: Partial<UserComment> | null): value is UserComment =>
  [value?.section, value?.place, value?.quote, value?.text].every((each) => typeof each === 'string') &&
  isUsers({ id: String(value?.id) })

/** It holds the plan until the reviewer says that it is fixed, or the user takes it back. */
const toFinding = ({ id, section, place, quote, text }: UserComment, source: string): Finding => ({
  id,
  severity: 'major',
  section,
  problem: text,
  evidence: quote === '' ? place : `${place} “${quote}”`.trim(),
  fix: '',
  sources: [source],
})
