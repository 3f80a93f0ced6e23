import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
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
})

it.skipIf(!hasTmux)(
  `shows what goes on while the plan is reviewed, and what came of it ${byTmux}`,
  async () => {
    worktree = await reviewedWorktree([
      {
        ...verdict({ verdict: 'CHANGES_REQUIRED', findings: [finding('What is printed is not said.')] }),
        afterMs: 4_000,
      },
    ])
    const content = planText()
    const file_path = worktree.at('docs/plan.md')
    messages = await startMessagesApi({
      turns: [{ tools: [{ name: 'Write', input: { file_path, content } }] }, { text: 'I see.' }],
    })
    await startClaude(terminal, worktree, messages)
    expect(await terminal.seen(/plan-gate: a review takes minutes/)).not.toBe('')
    await terminal.seen(/revision 1 of the plan is not approved/)
    await terminal.seen(/I see\./)
    expect(existsSync(worktree.at('.claude/review/plan_v1.annotated.md'))).toBe(true)
  },
  60_000,
)

it.skipIf(!hasTmux)(
  `leaves no reviewer behind when the person presses Esc ${byTmux}`,
  async () => {
    worktree = await reviewedWorktree([{ kind: 'hang', when: 'after-created' }])
    const { home, root } = worktree
    const file_path = worktree.at('docs/plan.md')
    messages = await startMessagesApi({
      turns: [{ tools: [{ name: 'Write', input: { file_path, content: planText() } }] }],
    })
    await startClaude(terminal, worktree, messages)
    await worktree.api.asked(1)
    expect(processesOf(home)).not.toEqual([])
    terminal.tmux('send-keys', 'Escape')
    const giveUpAt = Date.now() + 10_000
    const progress = join(root, '.claude/review/progress.json')
    // The reviewer is ended first; what it was at is cleared away a moment later.
    while ((processesOf(home).length > 0 || existsSync(progress)) && Date.now() < giveUpAt) await sleep(100)
    expect(processesOf(home)).toEqual([])
    expect(existsSync(progress)).toBe(false)
    expect(existsSync(join(root, '.claude/review/approval.json'))).toBe(false)
  },
  60_000,
)

/** Codex and what it started; its home is in its environment. */
function processesOf(home: string): string[] {
  const rows = spawnSync('ps', ['-A', 'eww', '-o', 'stat=,args='], { encoding: 'utf8', maxBuffer: 64 << 20 }).stdout
  return rows
    .split('\n')
    .filter(
      (row) =>
        row.includes(`CODEX_HOME=${home}`) &&
        /codex/.test(row.split(' CODEX_HOME=')[0] ?? '') &&
        /exec --json|exec --/.test(row) &&
        !row.startsWith('Z'),
    )
}
