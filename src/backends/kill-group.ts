import { spawn } from 'node:child_process'

/** What must not outlive this program, however it ends. */
const groups = new Set<number>()
const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export function rememberGroup(pid: number): void {
  if (groups.size === 0) {
    process.on('exit', killAll)
    for (const signal of endings) process.on(signal, endBySignal)
  }
  groups.add(pid)
}

export function forgetGroup(pid: number): void {
  if (!groups.delete(pid) || groups.size > 0) return
  process.off('exit', killAll)
  for (const signal of endings) process.off(signal, endBySignal)
}

/** Its members that are left get the signal; a group that is gone is what was wanted. */
export function killGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (process.platform === 'win32') {
    // There are no groups; the tree is the nearest thing, and it has no softer way.
    spawn('taskkill', ['/PID', String(pid), '/T', '/F'], { stdio: 'ignore', windowsHide: true }).on('error', () => {})
    return
  }
  try {
    process.kill(-pid, signal)
  } catch {}
}

/** After the leader's end. Where there are no groups its number may be somebody else's by now. */
export function sweepGroup(pid: number): void {
  if (process.platform !== 'win32') killGroup(pid, 'SIGKILL')
}

const killAll = (): void => {
  for (const pid of groups) killGroup(pid, 'SIGKILL')
}

/** A signal ends a program without its `exit` event. Who else listens for it decides on the end alone. */
function endBySignal(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return
  killAll()
  for (const each of endings) process.off(each, endBySignal)
  process.kill(process.pid, signal)
}
