import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { startClaude, untilGone } from '../../support/claude-in-terminal.ts'
import { finding, planText, verdict } from '../../support/plan-texts.ts'
import { type ReviewedWorktree, reviewedWorktree } from '../../support/reviewed-worktree.ts'
import { type MessagesApi, startMessagesApi } from '../../support/servers/messages-api.ts'
import { byTmux, hasTmux, openTmux } from '../../support/tmux.ts'

const terminal = openTmux()
let worktree: ReviewedWorktree | undefined
let messages: MessagesApi | undefined
afterEach(async () => {
  terminal.end()
  if (worktree !== undefined) await untilGone(worktree.home)
  await messages?.close()
  worktree?.remove()
  vi.unstubAllEnvs()
})

describe.skipIf(!hasTmux).each(['newest', 'oldest'] as const)(`the %s Claude Code ${byTmux}`, (client) => {
  it('shows our status line, which tells of the review while it runs and of what came of it', async () => {
    // Whoever runs this may have a status line of their own.
    vi.stubEnv('CLAUDE_CONFIG_DIR', join(tmpdir(), 'nobody-s-settings'))
    worktree = await reviewedWorktree([
      { ...verdict({ verdict: 'CHANGES_REQUIRED', findings: [finding('Unclear.')] }), afterMs: 10_000 },
    ])
    vi.unstubAllEnvs()
    const file_path = worktree.at('docs/plan.md')
    messages = await startMessagesApi({
      turns: [{ tools: [{ name: 'Write', input: { file_path, content: planText() } }] }, { text: 'I see.' }],
    })
    await startClaude(terminal, worktree, messages, client)
    await terminal.seen(/▣ plan-gate: reviewing v1 \(codex\): pass 1 of 3, 0:\d\d/)
    const shown = await terminal.seen(/▣ plan-gate: gate closed, v1 CHANGES_REQUIRED \(1 finding\)/)
    // One row of its own, below the prompt, however often it was drawn.
    expect(shown.match(/▣ plan-gate/g)).toHaveLength(1)
    expect(terminal.tmux('capture-pane', '-p', '-e')).toMatch(/\u001b\[33m▣ plan-gate/)
  }, 90_000)
})
