import { join } from 'node:path'
import { keepLongHistory } from '../../clients/report/keep-long-history.ts'
import { gatedWorktree } from '../../support/gated-worktree.ts'
import { hookArgs } from '../../support/hook-args.ts'
import { cli } from '../../support/project.ts'
import { medianOf, type Run, runMeasured } from '../load/run-measured.ts'
import { bareNode } from '../load/scenarios/worktrees-at-once.ts'
import { round } from './measure.ts'

export type MemoryRow = { name: string; peak_mb: number; against: string; ratio: number }

/** The most memory that a program of ours ever holds, against bare node. */
export async function benchMemory(runs: number): Promise<MemoryRow[]> {
  const worktree = await gatedWorktree()
  try {
    const { root, at } = worktree
    const hook = (file: string, event: object, exitCodes: readonly number[]): Run => ({
      cwd: root,
      args: hookArgs(root, file),
      input: `${JSON.stringify({ session_id: 'bench', cwd: root, permission_mode: 'default', ...event })}\n`,
      env: { CLAUDE_PROJECT_DIR: root },
      exitCodes,
    })
    const write = { tool_name: 'Write', tool_input: { file_path: at('src/a.ts'), content: 'x' } }
    const bash = { tool_name: 'Bash', tool_input: { command: 'git log --oneline | head -3' } }
    const programs: readonly (readonly [string, Run])[] = [
      ['gate: denied Write', hook('pre-tool-use', { hook_event_name: 'PreToolUse', ...write }, [2])],
      ['gate: allowed Bash', hook('pre-tool-use', { hook_event_name: 'PreToolUse', ...bash }, [0])],
      ['after a command', hook('post-tool-use', { hook_event_name: 'PostToolUse', ...bash, tool_response: {} }, [0])],
      ['status line', hook('status-line', {}, [0])],
      ['status', { cwd: root, args: [cli, 'status'] }],
      [
        'report: 50 revisions of 200 kB',
        { cwd: root, args: [cli, 'report', '--output', join(root, '.git', 'report.html')] },
      ],
    ]
    await keepLongHistory(root)
    const base = await medianOf(runs, bareNode)
    const rows: MemoryRow[] = []
    for (const [name, run] of programs) {
      const { peak_mb } = await medianOf(runs, () => runMeasured(run))
      rows.push({ name, peak_mb: round(peak_mb, 1), against: 'bare node', ratio: round(peak_mb / base.peak_mb) })
    }
    return rows
  } finally {
    worktree.remove()
  }
}
