import { archiveCycle, beginArchive } from './archive-cycle.ts'
import { pathExists } from './check-folder.ts'
import { listCycles } from './history.ts'
import { reviewPaths } from './review-paths.ts'
import { noStep, type Step } from './step.ts'

/** Whether the end of a cycle was interrupted. */
export const isHalfEnded = (root: string): boolean =>
  pathExists(root, reviewPaths.revoked) || listCycles(root).some(({ kind }) => kind === 'partial')

/** Finishes what a crash left of `endCycle`. `withLock` does it before anything else; so no other caller is needed. */
export async function recoverCycle(root: string, now = () => new Date(), step: Step = noStep): Promise<void> {
  for (const { folder, kind } of listCycles(root)) {
    if (kind === 'partial') await archiveCycle(root, folder, true, { now, step })
  }
  if (pathExists(root, reviewPaths.revoked)) await archiveCycle(root, beginArchive(root, step), true, { now, step })
}
