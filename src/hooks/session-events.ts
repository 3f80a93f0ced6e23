import { readFileSync } from 'node:fs'
import { failClosed, failOpen } from '../schemas/hook-answer.ts'
import { loadBundle } from '../system/load-bundle.ts'
import { endProcess } from './runtime.ts'
import type { SessionEvent } from './session.ts'

/** The events of a session are few, and need much of what a review needs, so they share its bundle. */
export async function start(event: SessionEvent): Promise<never> {
  try {
    const { reviews } = await loadBundle<typeof import('./reviews.ts')>('reviews')
    return await reviews.runSessionHook(event)
  } catch (error) {
    const fail = event === 'ConfigChange' || (event === 'Stop' && isFirstStop()) ? failClosed : failOpen
    return endProcess(fail(`plan-gate: ${event} could not be answered: ${String(error)}`))
  }
}

/** The second one always lets go. */
function isFirstStop(): boolean {
  try {
    return (JSON.parse(readFileSync(0, 'utf8')) as { stop_hook_active?: unknown }).stop_hook_active !== true
  } catch {
    return false
  }
}
