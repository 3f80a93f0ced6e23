import { lstatEntry } from './check-folder.ts'
import { ensureFolder } from './ensure-folder.ts'
import { reviewDir, reviewPaths } from './review-paths.ts'
import { noStep, type Step } from './step.ts'
import { writeWhole } from './write-whole.ts'

/** `.claude/review`, or a folder in it. It keeps itself out of `git status`, wherever it was made. */
export function ensureReviewDir(root: string, folder: string = reviewDir, step: Step = noStep): void {
  ensureFolder(root, folder)
  if (lstatEntry(root, reviewPaths.ignore).kind === 'absent') writeWhole(root, reviewPaths.ignore, '*\n', step)
}
