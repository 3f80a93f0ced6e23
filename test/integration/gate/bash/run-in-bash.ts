import { spawn, spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { readTrace, type Trace, tracedCalls } from './read-trace.ts'
import type { ThrowawayRepo } from './throwaway-repo.ts'

export type BashRun = {
  readonly command: string
  readonly timedOut: boolean
  /** What was started and what was written; null where nobody watched. */
  readonly trace: Trace | null
}

const strace = 'strace'
export const hasStrace = spawnSync(strace, ['-V']).status === 0

let runs = 0

/**
 * Runs a command line the way a tool does, but with a stdin that never ends instead of an empty one: what waits for
 * it is seen to hang. rg, and ugrep and busybox with -r, ask whether stdin is a pipe, and would search that instead of the
 * directory; head and tail may read nothing. Claude Code gives /dev/null to all of them.
 */
export function runInBash(
  command: string,
  { repo, env, base }: ThrowawayRepo,
  watch: boolean,
  forMs = 5_000,
): Promise<BashRun> {
  runs += 1
  const trace = join(base, `trace-${runs}`)
  const bash = ['bash', '-c', command]
  const [program = '', ...args] = watch
    ? [strace, '-f', '-qq', '--seccomp-bpf', '-e', 'signal=none', '-e', `trace=${tracedCalls}`, '-o', trace, ...bash]
    : bash
  const stdin = /(?:^|[;&|\n]|do)\s*(?:rg|head|tail|\w*grep\b.*\s(?:['"]?-\w*[rRf]\w*|--recursive))\b/.test(command)
    ? 'ignore'
    : 'pipe'
  const child = spawn(program, args, { cwd: repo, env, stdio: [stdin, 'ignore', 'ignore'], detached: true })
  return new Promise((resolve, reject) => {
    let timedOut = false
    const deadline = setTimeout(() => {
      timedOut = true
      process.kill(-(child.pid ?? 0), 'SIGKILL')
    }, forMs)
    child.on('error', reject)
    child.on('close', () => {
      clearTimeout(deadline)
      const read = watch ? readTrace(readFileSync(trace, 'utf8'), base) : null
      rmSync(trace, { force: true })
      resolve({ command, timedOut, trace: read })
    })
  })
}
