import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
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
const marks = ['ran-hook', 'ran-line', 'ran-server']

it.skipIf(!hasTmux)(
  `asks once at a terminal: no loads nothing, yes loads all of it, and then nothing is asked ${byTmux}`,
  async () => {
    place = launchPlace(brought)
    const { home, folder, repo, worktree } = place
    api = await startMessagesApi({
      turns: [{ text: 'First.' }, { text: 'Second.' }, { text: 'Third.' }],
      lifetimeMs: 150_000,
    })
    mkdirSync(join(folder, 'bin'))
    symlinkSync(await claudeBinary('newest'), join(folder, 'bin/claude'))
    const env = {
      ...claudeEnv(home, api.url),
      PATH: `${join(folder, 'bin')}:${dirname(process.execPath)}:/usr/bin:/bin`,
    }
    const words = Object.entries(env).map(([name, value]) => `${name}='${value}'`)
    const planGate = (args: string): void =>
      terminal.start(
        `cd '${repo}' && env -i ${words.join(' ')} '${process.execPath}' '${cli}' ${args} -- --permission-mode acceptEdits; sleep 60`,
      )
    const ran = (): string[] => marks.filter((name) => existsSync(join(worktree, name)))
    // Keys that are typed before the prompt is there are lost.
    const say = async (text: string): Promise<void> => {
      await terminal.seen(/accept edits on/)
      terminal.tmux('send-keys', text)
      await terminal.seen(new RegExp(`❯\\s${text}`))
      terminal.tmux('send-keys', 'Enter')
    }
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
    await say('Go')
    await terminal.seen(/Second\./)
    await expect.poll(ran, { timeout: 10_000 }).toEqual(marks)
    terminal.end()
    await untilGone(home)

    planGate('open work')
    await say('Go')
    await terminal.seen(/Third\./)
    expect(terminal.screen()).not.toMatch(/\[y\/N\]/)
  },
  150_000,
)
