import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { claudeBinary } from '../../support/claude-clients.ts'
import { untilGone } from '../../support/claude-in-terminal.ts'
import { type LaunchPlace, launchPlace } from '../../support/launch-place.ts'
import { cli } from '../../support/project.ts'
import { claudeEnv } from '../../support/run-claude.ts'
import { type MessagesApi, startMessagesApi } from '../../support/servers/messages-api.ts'
import { byTmux, hasTmux, openTmux } from '../../support/tmux.ts'

const terminal = openTmux()
let place: LaunchPlace | undefined
let api: MessagesApi | undefined
afterEach(async () => {
  terminal.end()
  if (place !== undefined) await untilGone(place.home)
  await api?.close()
  place?.remove()
})

const touching = (name: string): object => ({ type: 'command', command: `touch "$CLAUDE_PROJECT_DIR/${name}"` })
const brought = {
  '.claude/settings.json': JSON.stringify({
    hooks: { SessionStart: [{ hooks: [touching('ran-hook')] }] },
    statusLine: touching('ran-line'),
    enableAllProjectMcpServers: true,
  }),
  '.mcp.json': JSON.stringify({ mcpServers: { x: { command: '/bin/sh', args: ['-c', 'touch ran-server; sleep 5'] } } }),
}
/** Runs plan-gate in the terminal, as somebody does who has the real Claude Code on PATH. */
async function planGateIn({ home, folder, repo }: LaunchPlace, url: string): Promise<(args: string) => void> {
  mkdirSync(join(folder, 'bin'), { recursive: true })
  symlinkSync(await claudeBinary('newest'), join(folder, 'bin/claude'))
  const env = { ...claudeEnv(home, url), PATH: `${join(folder, 'bin')}:${dirname(process.execPath)}:/usr/bin:/bin` }
  const words = Object.entries(env).map(([name, value]) => `${name}='${value}'`)
  return (args) =>
    terminal.start(
      `cd '${repo}' && env -i ${words.join(' ')} '${process.execPath}' '${cli}' ${args} -- --permission-mode acceptEdits; sleep 60`,
    )
}

/** A dialog that has only just been drawn does not listen yet. */
async function chooseInDialog(...keys: string[]): Promise<void> {
  await terminal.seen(/Accessing workspace[\s\S]*Enter to confirm/)
  await sleep(1_500)
  for (const key of keys) {
    terminal.tmux('send-keys', key)
    await sleep(300)
  }
}

const marks = ['ran-hook', 'ran-line', 'ran-server']

it.skipIf(!hasTmux)(
  `asks once at a terminal: no loads nothing, yes loads all of it, and then nothing is asked ${byTmux}`,
  async () => {
    place = launchPlace(brought)
    const { home, worktree } = place
    api = await startMessagesApi({
      turns: [{ text: 'First.' }, { text: 'Second.' }, { text: 'Third.' }],
      lifetimeMs: 150_000,
    })
    const planGate = await planGateIn(place, api.url)
    const ran = (): string[] => marks.filter((name) => existsSync(join(worktree, name)))
    const answer = async (question: RegExp, key: string): Promise<void> => {
      await terminal.seen(question)
      terminal.tmux('send-keys', key, 'Enter')
    }

    planGate('bootstrap --name work --reviewer checklist')
    await answer(/Let Claude Code load these 4\?.*\[y\/N\]/, 'n')
    await terminal.seen(/First\./)
    await terminal.seen(/▣ plan-gate: gate closed, no plan yet/)
    expect(ran()).toEqual([])
    terminal.end()
    await untilGone(home)

    planGate('open work')
    await answer(/Let Claude Code load these 4\?.*\[y\/N\]/, 'y')
    await terminal.seen(/Second\./)
    await expect.poll(ran, { timeout: 10_000 }).toEqual(marks)
    terminal.end()
    await untilGone(home)

    planGate('open work')
    await terminal.seen(/Third\./)
    expect(terminal.screen()).not.toMatch(/\[y\/N\]/)
  },
  150_000,
)

it.skipIf(!hasTmux)(
  `announces the trust dialog, says what to do after a No, carries out an approved plan, and prints how to go on ${byTmux}`,
  async () => {
    place = launchPlace()
    const { home, worktree } = place
    const state = join(home, '.claude.json')
    const known = JSON.parse(readFileSync(state, 'utf8')) as { projects: object }
    writeFileSync(state, JSON.stringify({ ...known, projects: {} }))
    api = await startMessagesApi({ turns: [{ text: 'Planned.' }, { text: 'Carried out.' }], lifetimeMs: 150_000 })
    const planGate = await planGateIn(place, api.url)

    planGate('bootstrap --name work --reviewer checklist')
    await chooseInDialog('Enter')
    const declined = await terminal.seen(/Go on with:\n.* open \S+/)
    expect(declined).toMatch(/! Claude Code will ask whether you trust this folder\. Choose Yes: the default is No/)
    expect(declined).toMatch(/! Claude Code ended before a session began, because this folder is not trusted/)
    expect(declined).toContain(`node ${cli} open ${worktree}\n`)
    terminal.end()
    await untilGone(home)

    planGate('open work')
    await chooseInDialog('Down', 'Enter')
    await terminal.seen(/Planned\./)
    expect(JSON.stringify(api.requests)).toContain('Look at what is there')
    await sleep(1_000)
    terminal.tmux('send-keys', 'C-c')
    await sleep(300)
    terminal.tmux('send-keys', 'C-c')
    const ended = await terminal.seen(/Go on with:\n.* open \S+ -- --resume [0-9a-f-]{36}/)
    expect(ended).not.toMatch(/ended before a session began/)
    terminal.end()
    await untilGone(home)

    mkdirSync(join(worktree, 'docs'))
    writeFileSync(join(worktree, 'docs/plan.md'), '# Plan\n')
    await place.run(['approve', '--force', '--reason', 'a test'], { cwd: worktree })
    planGate('open work')
    await terminal.seen(/Carried out\./)
    expect(terminal.screen()).toContain('/implement-approved-plan')
    expect(terminal.screen()).not.toMatch(/will ask whether you trust/)
    expect(JSON.stringify(api.requests.at(-1))).toContain('Make sure that the approval holds')
  },
  150_000,
)
