import { diffLines } from '../plan/diff-lines.ts'
import { findStuck } from '../plan/find-stuck.ts'
import { reconcileFindings } from '../plan/settle-findings.ts'
import type { ReviewOutcome } from '../review/review-request.ts'
import type { ReviewResult } from '../schemas/review-result.ts'
import type { Revision } from './review-revision.ts'

/** What the reviewer said, and what follows from it in the light of the reviews before. */
export function mergeWithPreviousReview(
  outcome: ReviewOutcome & { kind: 'reviewed' },
  { text, hash, revision, reviewed, lost }: Revision,
): ReviewResult {
  const { result, lastId } = outcome
  const last = reviewed.at(-1)
  const isChecklist = [result, last?.result].every((each) => each?.pass_metadata?.route === 'checklist')
  const settled = reconcileFindings({
    verdict: result.verdict,
    question: result.question ?? null,
    findings: result.findings,
    statuses: result.previous_findings ?? [],
    before: last === undefined ? null : { verdict: last.verdict, findings: last.findings },
    plan: text,
    changes: diffLines(last?.plan ?? '', text),
    // Who approves the plan as it is has said enough about what was found before; what it calls open, stays open.
    whenSilent: isChecklist || result.verdict === 'APPROVED' ? 'settled' : 'open',
  })
  const { verdict, question, findings, previous, late } = settled
  const history = [...reviewed, { revision, plan: text, verdict, findings, previous }]
  return {
    ...result,
    verdict,
    is_optimal: verdict === 'APPROVED',
    question,
    findings,
    previous_findings: previous,
    notices: [...(result.notices ?? []), ...lost.map(lostNotice), ...settled.notices],
    plan_hash: hash,
    last_id: lastId,
    late,
    stuck: findStuck(history).map(({ words }) => words),
  }
}

const lostNotice = (revision: number): string =>
  `The result of revision ${revision} cannot be read, so what was found then was not asked about.`
