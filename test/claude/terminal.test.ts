import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { type MessagesApi, startMessagesApi } from '../servers/messages-api.ts'
import { claudeBinary } from '../support/claude-clients.ts'
import { finding, planText, type ReviewedWorktree, reviewedWorktree, verdict } from '../support/reviewed-worktree.ts'
import { claudeEnv } from '../support/run-claude.ts'

const hasTmux = spawnSync('tmux', ['-V']).status === 0
const socket = `plan-gate-${process.pid}`
const tmux = (...args: string[]): string => spawnSync('tmux', ['-L', socket, ...args], { encoding: 'utf8' }).stdout

let worktree: ReviewedWorktree | undefined
let messages: MessagesApi | undefined
afterEach(async () => {
  tmux('kill-server')
  if (worktree !== undefined) await untilGone(worktree.home)
  await messages?.close()
  worktree?.remove()
})

/** What a person sees: Claude Code in a terminal, started as people start it. */
async function startInTerminal(place: ReviewedWorktree, api: MessagesApi): Promise<void> {
  const { root, home } = place
  mkdirSync(join(home, 'tmp'))
  const known = {
    hasCompletedOnboarding: true,
    theme: 'dark',
    customApiKeyResponses: { approved: ['fake'], rejected: [] },
    projects: { [root]: { hasTrustDialogAccepted: true } },
  }
  writeFileSync(join(home, '.claude.json'), JSON.stringify(known))
  const env = { ...claudeEnv(home, api.url), ...place.env, HOME: home }
  const words = Object.entries(env).map(([name, value]) => `${name}='${value}'`)
  const claude = await claudeBinary('newest')
  const command = `cd '${root}' && env -i ${words.join(' ')} '${claude}' 'Go on.' --permission-mode acceptEdits`
  tmux('new-session', '-d', '-x', '200', '-y', '50', command)
}

async function seen(pattern: RegExp, ms = 30_000): Promise<string> {
  const giveUpAt = Date.now() + ms
  for (;;) {
    const screen = tmux('capture-pane', '-p')
    if (pattern.test(screen)) return screen
    if (Date.now() > giveUpAt) throw new Error(`${pattern} was not seen on:\n${screen}`)
    await sleep(100)
  }
}

it.skipIf(!hasTmux)(
  `shows what goes on while the plan is reviewed, and what came of it (a terminal by tmux${hasTmux ? '' : ', which is not installed here'})`,
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
    await startInTerminal(worktree, messages)
    expect(await seen(/plan-gate: looking at the plan; a review of it takes minutes/)).not.toBe('')
    await seen(/revision 1 of the plan is not approved/)
    await seen(/I see\./)
    expect(existsSync(worktree.at('.claude/review/plan_v1.annotated.md'))).toBe(true)
  },
  60_000,
)

it.skipIf(!hasTmux)(
  `leaves no reviewer behind when the person presses Esc (a terminal by tmux${hasTmux ? '' : ', which is not installed here'})`,
  async () => {
    worktree = await reviewedWorktree([{ kind: 'hang', when: 'after-created' }])
    const { home, root } = worktree
    const file_path = worktree.at('docs/plan.md')
    messages = await startMessagesApi({
      turns: [{ tools: [{ name: 'Write', input: { file_path, content: planText() } }] }],
    })
    await startInTerminal(worktree, messages)
    await worktree.api.asked(1)
    expect(processesOf(home)).not.toEqual([])
    tmux('send-keys', 'Escape')
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

/** Whoever lives in this home writes to it until its end, which tmux does not wait for. */
async function untilGone(home: string): Promise<void> {
  const giveUpAt = Date.now() + 10_000
  for (let pids = livingIn(home); pids.length > 0; pids = livingIn(home)) {
    if (Date.now() > giveUpAt - 5_000) for (const pid of pids) spawnSync('kill', ['-9', pid])
    if (Date.now() > giveUpAt) return
    await sleep(100)
  }
}

const livingIn = (home: string): string[] =>
  spawnSync('ps', ['-A', 'eww', '-o', 'pid=,stat=,args='], { encoding: 'utf8', maxBuffer: 64 << 20 })
    .stdout.split('\n')
    .map((row) => /^\s*(\d+) (\S+) (.*)$/.exec(row))
    .flatMap((row) => (row?.[3]?.includes(`HOME=${home}`) && !row[2]?.startsWith('Z') ? [row[1] ?? ''] : []))

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
