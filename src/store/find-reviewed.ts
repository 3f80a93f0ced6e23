import { readRegular } from './read-regular.ts'
import { revisionPath } from './review-paths.ts'
import { listRevisions } from './revisions.ts'
import { sha256 } from './sha256.ts'

/** The last revision of this cycle that has a result and whose snapshot has this SHA-256 (hex). */
export const findReviewed = (root: string, planHash: string): number | undefined =>
  listRevisions(root).findLast(
    ({ revision, parts }) => parts.includes('codex.json') && snapshotHash(root, revision) === planHash,
  )?.revision

function snapshotHash(root: string, revision: number): string | undefined {
  const read = readRegular(root, revisionPath(revision, 'snapshot.md'))
  return read.kind === 'read' ? sha256(read.bytes) : undefined
}
