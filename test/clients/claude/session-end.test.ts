import { spawnSync } from 'node:child_process'
import { afterEach, describe, expect, it } from 'vitest'
import { listSessions } from '../../../src/state/sessions.ts'
import type { ClaudeClient } from '../../support/claude-clients.ts'
import { startClaude, untilGone } from '../../support/claude-in-terminal.ts'
import { type GatedWorktree, gatedWorktree } from '../../support/gated-worktree.ts'
import { runClaude } from '../../support/run-claude.ts'
import { type MessagesApi, startMessagesApi } from '../../support/servers/messages-api.ts'
import { byTmux, hasTmux, openTmux } from '../../support/tmux.ts'

/** A session that somebody started without plan-gate, so that only its own hooks can say that it has ended. */
const terminal = openTmux()
let worktree: GatedWorktree | undefined
let api: MessagesApi | undefined
afterEach(async () => {
  terminal.end()
  if (worktree !== undefined) await untilGone(worktree.at('.git/home'))
  await api?.close()
  worktree?.remove()
})

const hasEnded = (root: string): boolean[] =>
  listSessions(root).flatMap(({ session }) => (session === null ? [] : [session.ended_at !== undefined]))

const processOf = (home: string): number => {
  const rows = spawnSync('ps', ['-A', 'eww', '-o', 'pid=,args='], { encoding: 'utf8', maxBuffer: 64 << 20 }).stdout
  const row = rows.split('\n').find((line) => line.includes(`HOME=${home}`) && /claude\S* Go on\./.test(line))
  return Number(/^\s*(\d+)/.exec(row ?? '')?.[1] ?? Number.NaN)
}

describe.each<ClaudeClient>(['newest', 'oldest'])('a session of the %s client', (client) => {
  it('is marked as ended in print mode', async () => {
    worktree = await gatedWorktree()
    await runClaude({ client, cwd: worktree.root, turns: [{ text: 'Done.' }] })
    expect(hasEnded(worktree.root)).toEqual([true])
  })

  it.skipIf(!hasTmux).each<[string, (home: string) => unknown]>([
    ['/exit', () => void terminal.tmux('send-keys', '/exit', 'Enter')],
    [
      'Ctrl-C twice',
      async () => {
        terminal.tmux('send-keys', 'C-c')
        await terminal.seen(/again to exit/i)
        terminal.tmux('send-keys', 'C-c')
      },
    ],
    ['kill', (home) => void process.kill(processOf(home), 'SIGTERM')],
    ['a closed terminal', () => terminal.end()],
  ])(`and by %s ${byTmux}`, async (_, end) => {
    worktree = await gatedWorktree()
    const { root } = worktree
    const home = worktree.at('.git/home')
    api = await startMessagesApi({ turns: [{ text: 'Done.' }], lifetimeMs: 60_000 })
    await startClaude(terminal, { root, home }, api, client)
    await terminal.seen(/Done\./)
    await expect.poll(() => hasEnded(root), { timeout: 10_000 }).toEqual([false])
    await end(home)
    await expect.poll(() => hasEnded(root), { timeout: 15_000 }).toEqual([true])
  })
})
