import { archiveCycle } from './archive-cycle.ts'
import { listCycles } from './history.ts'
import { noStep, type Step } from './step.ts'

/** Finishes what a crash left of `endCycle`. `withLock` does it before anything else; so no other caller is needed. */
export async function recoverCycle(root: string, now = () => new Date(), step: Step = noStep): Promise<void> {
  for (const { folder, kind } of listCycles(root)) {
    if (kind === 'partial') await archiveCycle(root, folder, true, { now, step })
  }
}
