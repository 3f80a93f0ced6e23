import validate from '../schemas/generated/handled-plan.js'
import type { HandledPlan } from '../schemas/handled-plan.ts'
import { readJson } from './read-json.ts'
import { throwIfUnreadable } from './refuse-unread.ts'
import { reviewPaths } from './review-paths.ts'
import { saveJson } from './save-file.ts'
import { readCounter } from './version-counter.ts'

/** One that makes no sense counts as none: then the plan is looked at once more. */
export function readHandled(root: string): HandledPlan | null {
  const read = readJson(root, reviewPaths.handled, validate, 256 * 1024)
  // A review is not paid for twice because a disk did not answer.
  throwIfUnreadable(reviewPaths.handled, read)
  return read.kind === 'read' ? read.value : null
}

/** What was said about these bytes and still stands. After the end of its cycle, when the counter is at 0 again, nothing does. */
export function readStanding(root: string, hash: string): HandledPlan | null {
  const handled = readHandled(root)
  return handled?.plan_hash === hash && !handled.again && readCounter(root).value > 0 ? handled : null
}

export const writeHandled = (root: string, handled: HandledPlan): void => saveJson(root, reviewPaths.handled, handled)
