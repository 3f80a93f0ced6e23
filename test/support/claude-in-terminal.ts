import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ClaudeClient, claudeBinary } from './claude-clients.ts'
import { claudeEnv } from './run-claude.ts'
import type { MessagesApi } from './servers/messages-api.ts'
import type { Tmux } from './tmux.ts'

type Place = { root: string; home: string; env?: { readonly [name: string]: string } }

/** What a person sees: Claude Code in a terminal, started as people start it, in a folder that they trust. */
export async function startClaude(
  terminal: Tmux,
  place: Place,
  api: MessagesApi,
  client: ClaudeClient = 'newest',
): Promise<void> {
  const { root, home } = place
  mkdirSync(join(home, 'tmp'), { recursive: true })
  const known = {
    hasCompletedOnboarding: true,
    theme: 'dark',
    customApiKeyResponses: { approved: ['fake'], rejected: [] },
    projects: { [root]: { hasTrustDialogAccepted: true } },
  }
  writeFileSync(join(home, '.claude.json'), JSON.stringify(known))
  const env = { ...claudeEnv(home, api.url), ...place.env, HOME: home }
  const words = Object.entries(env).map(([name, value]) => `${name}='${value}'`)
  const claude = await claudeBinary(client)
  terminal.start(`cd '${root}' && env -i ${words.join(' ')} '${claude}' 'Go on.' --permission-mode acceptEdits`)
}

/** Whoever lives in this home writes to it until its end, which tmux does not wait for. */
export async function untilGone(home: string): Promise<void> {
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
