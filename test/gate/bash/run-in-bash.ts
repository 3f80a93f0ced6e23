import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { ThrowawayRepo } from './throwaway-repo.ts'

export type BashRun = {
  readonly command: string
  readonly timedOut: boolean
  /** The programs that were started, by their names; null where nobody watched. */
  readonly programs: readonly string[] | null
}

const strace = 'strace'
export const hasStrace = spawnSync(strace, ['-V']).status === 0

let runs = 0

/**
 * Runs a command line the way a tool does, but with a stdin that never ends instead of an empty one: what waits for
 * it is seen to hang. rg asks whether stdin is a pipe, and would search that instead of the directory; head and tail
 * may read nothing. Claude Code gives /dev/null to all of them.
 */
export function runInBash(command: string, { repo, env, base }: ThrowawayRepo, watch: boolean): Promise<BashRun> {
  runs += 1
  const trace = join(base, `trace-${runs}`)
  const bash = ['bash', '-c', command]
  const [program = '', ...args] = watch
    ? [strace, '-f', '-qq', '--seccomp-bpf', '-e', 'trace=execve', '-o', trace, ...bash]
    : bash
  const stdin = /(?:^|[;&|] )(?:rg|head|tail)\b/.test(command) ? 'ignore' : 'pipe'
  const child = spawn(program, args, { cwd: repo, env, stdio: [stdin, 'ignore', 'ignore'], detached: true })
  return new Promise((resolve, reject) => {
    let timedOut = false
    const deadline = setTimeout(() => {
      timedOut = true
      process.kill(-(child.pid ?? 0), 'SIGKILL')
    }, 5_000)
    child.on('error', reject)
    child.on('close', () => {
      clearTimeout(deadline)
      resolve({ command, timedOut, programs: watch ? programsIn(trace) : null })
    })
  })
}

const programsIn = (trace: string): string[] => [
  ...new Set(
    [...readFileSync(trace, 'utf8').matchAll(/execve\("([^"]+)".*= 0$/gm)].map(([, path = '']) => basename(path)),
  ),
]
