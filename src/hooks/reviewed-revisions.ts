import type { Reviewed } from '../plan/find-stuck.ts'
import validate from '../schemas/generated/review-result.js'
import type { ReviewResult } from '../schemas/review-result.ts'
import { throwIfUnreadable } from '../store/refuse-unread.ts'
import { listRevisions, readRevision } from '../store/revisions.ts'

export type ReviewedRevision = Reviewed & { readonly result: ReviewResult }

/** Those that were reviewed, but nobody can say any more what came of it. */
export const lostRevisions = (root: string, reviewed: readonly ReviewedRevision[]): readonly number[] =>
  listRevisions(root)
    .filter(
      ({ revision, parts }) => parts.includes('codex.json') && !reviewed.some((each) => each.revision === revision),
    )
    .map(({ revision }) => revision)

/** The revisions of this cycle that have a result which can still be read, in their order. */
export const reviewedRevisions = (root: string): readonly ReviewedRevision[] =>
  listRevisions(root).flatMap(({ revision }) => {
    const { snapshot, result } = readRevision(root, revision)
    // Without them the reviewer would not be asked about what was found before.
    for (const read of [snapshot, result]) throwIfUnreadable(`plan_v${revision}`, read)
    if (snapshot.kind !== 'read' || result.kind !== 'read' || !validate(result.value)) return []
    const { verdict, findings, previous_findings: previous = [] } = result.value
    return [{ revision, plan: snapshot.bytes.toString('utf8'), verdict, findings, previous, result: result.value }]
  })
