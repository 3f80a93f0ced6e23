import { execFileSync } from 'node:child_process'
import type { ReviewedWorktree } from '../../support/reviewed-worktree.ts'

/** Its program lies in the worktree's own home, so those of no other test are among them. What only waits to be fetched has ended. */
export function codexProcesses({ home }: Pick<ReviewedWorktree, 'home'>): number[] {
  const rows = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,stat=,args='], { encoding: 'utf8', maxBuffer: 64 << 20 })
  return rows.split('\n').flatMap((row) => {
    const [, pid, state, args] = /^\s*(\d+)\s+(\S+)\s+(.*)$/.exec(row) ?? []
    return args?.includes(home) && !state?.startsWith('Z') ? [Number(pid)] : []
  })
}
