import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hookArgs } from '../../support/hook-args.ts'
import { planText } from '../../support/plan-texts.ts'
import { type ReviewedWorktree, reviewedWorktree } from '../../support/reviewed-worktree.ts'
import { runProgram } from '../../support/run-program.ts'
import type { Turn } from '../../support/servers/responses-api.ts'
import { type Measured, measure, type Program, round } from './measure.ts'

type Row = Measured & { against: string; ratio: number; limit: number }

/** A change that was judged a moment ago, made once more: what the hook costs then, against a node that does nothing. */
export async function benchFollow(runs: number): Promise<Row[]> {
  const rows: Row[] = []
  for (const verdict of ['PASS', 'FAIL'] as const) {
    const answer: Turn = { kind: 'model', text: `${verdict}\n- src/app.ts:1: it is a line.` }
    const worktree = await reviewedWorktree([answer], { 'src/app.ts': 'export {}\n' }, 'codex', true)
    try {
      rows.push(await benchRepeat(worktree, verdict, runs))
    } finally {
      worktree.remove()
    }
  }
  return rows
}

async function benchRepeat(worktree: ReviewedWorktree, verdict: string, runs: number): Promise<Row> {
  const { root, write, api, home } = worktree
  write('docs/plan.md', planText())
  worktree.approve()
  await hear(worktree, 'session-start', { hook_event_name: 'SessionStart', source: 'startup' })
  const content = 'console.log("hello")\n'
  const tool_input = { file_path: write('src/app.ts', content), content }
  const event = { hook_event_name: 'PostToolUse', tool_name: 'Write', tool_input, tool_response: {} }
  await hear(worktree, 'post-tool-use', event)
  writeFileSync(join(home, 'empty.mjs'), '')
  const node: Program = { name: 'bare node', file: process.execPath, args: [join(home, 'empty.mjs')], exitCode: 0 }
  const repeat: Program = {
    name: `follow: the same change, a ${verdict}`,
    file: process.execPath,
    args: hookArgs(root, 'post-tool-use'),
    input: lineOf(worktree, event),
    env: { ...worktree.env, CLAUDE_PROJECT_DIR: root },
    cwd: root,
    exitCode: 0,
  }
  const [bare, again] = measure([node, repeat], runs)
  if (bare === undefined || again === undefined) throw new Error('nothing was measured')
  if (api.requests.length !== 1) throw new Error(`Codex was asked ${api.requests.length} times, and not once.`)
  return { ...again, against: 'bare node', ratio: round(again.median_ms / bare.median_ms), limit: 1.5 }
}

/** As Claude Code writes it: one line. */
const lineOf = ({ root }: ReviewedWorktree, event: object): string =>
  `${JSON.stringify({ session_id: 'bench', cwd: root, ...event })}\n`

/** Beside the server, which answers from this very process. */
async function hear(worktree: ReviewedWorktree, hook: string, event: object): Promise<void> {
  const { root, env } = worktree
  const { exitCode, stderr } = await runProgram(process.execPath, hookArgs(root, hook), {
    cwd: root,
    env: { ...env, CLAUDE_PROJECT_DIR: root },
    timeoutMs: 60_000,
    converse: ({ stdin }) => void stdin.end(lineOf(worktree, event)),
  })
  if (exitCode !== 0) throw new Error(`${hook} ended with ${exitCode}: ${stderr}`)
}
