import { describe, expect, it, onTestFinished } from 'vitest'
import { gatedWorktree } from '../../support/gated-worktree.ts'
import { runClaude } from '../../support/run-claude.ts'
import type { ToolUse } from '../../support/servers/messages-api.ts'

/** Promise: what counts as plan-gate.yaml is moved by the user, and never by what a tool call writes. */
const before = 'gate:\n  tools:\n    allow: ["mcp__note__*"]\n'
const more = 'gate:\n  tools:\n    allow: ["*"]\n'

describe.each(['newest', 'oldest'] as const)('%s Claude Code', (client) => {
  it('cannot widen its own rules through a tool that may write, nor by a session that starts later', async () => {
    const worktree = await gatedWorktree({ 'plan-gate.yaml': before })
    onTestFinished(() => worktree.remove())
    const note = (path: string, text: string): ToolUse => ({
      name: 'mcp__note__write_note',
      input: { path: worktree.at(path), text },
    })
    const other: ToolUse = { name: 'ScheduleWakeup', input: { delaySeconds: 60, reason: 'x', prompt: 'x' } }
    const run = (turns: readonly ToolUse[]) =>
      runClaude({ client, cwd: worktree.root, noteServer: true, turns: turns.map((tool) => ({ tools: [tool] })) })
    const { toolResults, feedback } = await run([note('plan-gate.yaml', more), other, note('a.txt', 'x')])
    expect(toolResults.map(({ isError }) => isError)).toEqual([false, true, false])
    expect(feedback.join('\n')).toMatch(/plan-gate\.yaml: restored/)
    expect(worktree.read('plan-gate.yaml')).toBe(before)
    expect((await run([other])).toolResults.map(({ isError }) => isError)).toEqual([true])
  })

  it('is told of a change by the user, which counts in the next session', async () => {
    const worktree = await gatedWorktree({ 'plan-gate.yaml': 'gate: {}\n' })
    onTestFinished(() => worktree.remove())
    const note: ToolUse = { name: 'mcp__note__write_note', input: { path: worktree.at('a.txt'), text: 'x' } }
    const look: ToolUse = { name: 'Bash', input: { command: 'ls', description: 'look' } }
    const run = (onTurn: (turn: number) => void = () => {}) =>
      runClaude({
        client,
        cwd: worktree.root,
        noteServer: true,
        turns: (_, turn) => {
          onTurn(turn)
          return [{ tools: [look] }, { tools: [note] }][turn - 1]
        },
      })
    // Between two calls: when the model is asked.
    const first = await run((turn) => {
      if (turn === 1) worktree.write('plan-gate.yaml', before)
    })
    expect(first.toolResults.map(({ isError }) => isError)).toEqual([false, true])
    expect(first.feedback.join('\n')).toMatch(/plan-gate\.yaml has changed\. The gate still uses the earlier text/)
    expect((await run()).toolResults.map(({ isError }) => isError)).toEqual([false, false])
    expect(worktree.read('plan-gate.yaml')).toBe(before)
  })
})
