import { errnoOf } from './store-error.ts'

/** Signal 0 asks without sending. EPERM: it lives, and is somebody else's. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errnoOf(error) === 'EPERM'
  }
}
