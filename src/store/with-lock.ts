import { join } from 'node:path'
import { ensureReviewDir } from './ensure-review-dir.ts'
import { type Held, holdLock } from './hold-lock.ts'
import { recoverCycle } from './recover-cycle.ts'
import { reviewDir, reviewPaths } from './review-paths.ts'
import { sweepTemporaries } from './sweep-temporaries.ts'

/**
 * Alone in `.claude/review`, which is first put in order: what killed writers left is swept, a cycle whose end was
 * interrupted is ended. `work` must look at the signal before it writes (see `holdLock`). Allow more than 5 s, or a
 * holder that was killed makes this call busy. Do not nest; the ledger has its own lock and is free inside.
 */
export async function withLock<T>(
  root: string,
  work: (signal: AbortSignal) => T | Promise<T>,
  options: { waitMs: number },
): Promise<Held<T>> {
  ensureReviewDir(root)
  return holdLock(
    join(root, reviewPaths.lock),
    async (signal) => {
      sweepTemporaries(root, reviewDir)
      sweepTemporaries(root, reviewPaths.passes)
      await recoverCycle(root)
      return work(signal)
    },
    options,
  )
}
