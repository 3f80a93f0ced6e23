import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { hookArgs } from '../../support/hook-args.ts'
import type { ReviewedWorktree } from '../../support/reviewed-worktree.ts'

export type StartedHook = {
  /** To it alone, or to its whole process group. */
  kill: (signal: NodeJS.Signals, whom: 'process' | 'group') => void
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }>
}

/** The tool that has run; without it, docs/plan.md was written. */
type Start = { tool?: { tool_name: string; tool_input: object } }

/** The installed hook hears of a tool, in a group of its own as Claude Code starts it. */
export function startHook({ root, at, env }: ReviewedWorktree, { tool }: Start = {}): StartedHook {
  const written = { tool_name: 'Write', tool_input: { file_path: at('docs/plan.md'), content: '' } }
  const child = spawn(process.execPath, hookArgs(root, 'post-tool-use'), {
    cwd: root,
    env: { ...env, CLAUDE_PROJECT_DIR: root },
    detached: true,
  })
  child.stdin.on('error', () => {})
  child.stdin.end(
    JSON.stringify({ hook_event_name: 'PostToolUse', tool_response: {}, cwd: root, ...(tool ?? written) }),
  )
  const ends = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  return {
    kill: (signal, whom) => {
      if (child.pid === undefined) throw new Error('it did not start')
      if (child.exitCode === null && child.signalCode === null)
        process.kill(whom === 'group' ? -child.pid : child.pid, signal)
    },
    ended: Promise.all([ends, text(child.stdout), text(child.stderr)]).then(([[code, signal], stdout, stderr]) => ({
      code,
      signal,
      stdout,
      stderr,
    })),
  }
}
