import { listRevisions } from './revisions.ts'
import { type Counter, readCounter } from './version-counter.ts'

/**
 * The counter, or the last revision with a result where that is more: after a crash between the two, or when somebody
 * reset the counter to get more revisions than the limit.
 */
export function countRevisions(root: string): Counter {
  const counter = readCounter(root)
  const reviewed = listRevisions(root).filter(({ parts }) => parts.includes('codex.json'))
  const last = reviewed.at(-1)?.revision ?? 0
  return last > counter.value ? { value: last, why: `plan_v${last} has a result` } : counter
}
