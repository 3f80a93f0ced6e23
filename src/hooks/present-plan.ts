import { planPath } from '../gate/place-of.ts'
import { putFile } from '../store/put-file.ts'
import { readRegular } from '../store/read-regular.ts'
import { throwIfUnreadable } from '../store/refuse-unread.ts'
import { reviewPaths } from '../store/review-paths.ts'
import { listRevisions, readRevision } from '../store/revisions.ts'
import { saveFile } from '../store/save-file.ts'

/** The plan that Claude presents at the end of plan mode becomes docs/plan.md; a text that it replaces is not lost. */
export function presentPlan(root: string, text: string): void {
  const bytes = Buffer.from(text.endsWith('\n') ? text : `${text}\n`)
  const there = readRegular(root, planPath, 64 * 1024 * 1024)
  throwIfUnreadable(planPath, there)
  if (there.kind === 'read' && there.bytes.equals(bytes)) return
  if (there.kind === 'read' && !isRevision(root, there.bytes)) saveFile(root, reviewPaths.replacedPlan, there.bytes)
  putFile(root, planPath, bytes, 0o644)
}

const isRevision = (root: string, bytes: Buffer): boolean =>
  listRevisions(root).some(({ revision }) => {
    const { snapshot } = readRevision(root, revision)
    return snapshot.kind === 'read' && snapshot.bytes.equals(bytes)
  })
