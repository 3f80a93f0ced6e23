import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { registerGate } from '../../../src/state/gates.ts'
import type { ClaudeClient } from '../../support/claude-clients.ts'
import { launchPlace } from '../../support/launch-place.ts'
import { planText, verdict } from '../../support/plan-texts.ts'
import { claudeCommand, installPlugin, type PluginHome, pluginHome, unpackPackage } from '../../support/plugin-home.ts'
import { type ReviewedWorktree, reviewedWorktree } from '../../support/reviewed-worktree.ts'
import { runClaude } from '../../support/run-claude.ts'
import { type Delivery, launchedBy } from './failure-table.ts'

let folder: string
let unpacked: string
beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'plugin-answers-')))
  unpacked = await unpackPackage(folder)
})
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))

let worktree: ReviewedWorktree | undefined
let plugin: PluginHome | undefined
afterEach(() => {
  worktree?.remove()
  plugin?.remove()
})

type HookEvent = { type: string; subtype: string; hook_event: string; stdout: string; outcome: string }

const hooksIn = (stdout: string): HookEvent[] =>
  stdout
    .split('\n')
    .flatMap((line): HookEvent[] => (line.startsWith('{') ? [JSON.parse(line)] : []))
    .filter(({ subtype }) => subtype === 'hook_response')
const answersIn = (stdout: string): HookEvent[] => hooksIn(stdout).filter((hook) => hook.stdout !== '')

/** A denied write and command, an approved plan, and both again: what the session and the records show of the hooks. */
async function session(client: ClaudeClient, delivery: Delivery): Promise<object> {
  worktree = await reviewedWorktree(() => verdict({ verdict: 'APPROVED' }))
  const { at, root, env, api } = worktree
  plugin = delivery === 'both' || delivery === 'launched+' ? await pluginHome(client, unpacked) : undefined
  if (plugin !== undefined)
    registerGate(root, worktree.gitDirs, worktree.installed.record, join(plugin.home, '.claude'))
  const launched = delivery.startsWith('launched') ? launchedBy(worktree) : { args: [], env: {} }
  const write = (path: string, content: string) => ({
    tools: [{ name: 'Write', input: { file_path: at(path), content } }],
  })
  const bash = (command: string) => ({ tools: [{ name: 'Bash', input: { command, description: 'x' } }] })
  const outcome = await runClaude({
    client,
    cwd: root,
    home: plugin?.home ?? worktree.home,
    turns: [
      write('src/new.ts', 'x'),
      bash('touch src/bash.ts'),
      write('docs/plan.md', planText()),
      write('src/new.ts', 'x'),
      bash('touch src/bash.ts'),
    ],
    ...launched,
    args: [...launched.args, '--include-hook-events'],
    env: { ...env, ...launched.env, HOME: plugin?.home ?? worktree.home },
    timeoutMs: 90_000,
  })
  const ran = hooksIn(outcome.stdout)
  const ledger = worktree.read('.claude/review/events.jsonl')
  return {
    ran: ran.filter(({ hook_event }) => hook_event === 'PreToolUse').length,
    made: existsSync(at('src/bash.ts')),
    answers: answersIn(outcome.stdout).map(({ hook_event }) => hook_event),
    isError: outcome.toolResults.map(({ isError }) => isError),
    feedback: outcome.feedback.length,
    reviews: api.requests.length,
    ledger: ledger.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line).type])),
  }
}

describe.each(['newest', 'oldest'] as const)('%s Claude Code, where the gate comes twice', (client) => {
  it.each<[Delivery, number]>([
    ['settings', 1],
    ['both', 2],
    ['launched', 1],
    ['launched+', 2],
  ])('%s: one answer for each event, one review, one line each in the ledger', async (delivery, hooks) => {
    expect(await session(client, delivery)).toEqual({
      ran: 5 * hooks,
      isError: [true, true, false, false, false],
      made: true,
      answers: ['SessionStart', 'PreToolUse', 'PreToolUse', 'PostToolUse'],
      feedback: 2,
      reviews: 1,
      ledger: ['installed', 'revision-submitted', 'routes-effective', 'thread-started', 'reviewed', 'approved'],
    })
  })
})

describe.each(['newest', 'oldest'] as const)(
  '%s Claude Code, with the plugin, in a worktree of bootstrap',
  (client) => {
    it('one answer where plan-gate has started it, and by the plugin where nothing else is left', async () => {
      const place = launchPlace({ 'src/app.ts': 'export {}\n' })
      try {
        const { home, worktree } = place
        await installPlugin(client, home, unpacked)
        const turns = [{ tools: [{ name: 'Write', input: { file_path: join(worktree, 'src/new.ts'), content: 'x' } }] }]
        const flags = ['-p', '--permission-mode', 'bypassPermissions', '--output-format', 'stream-json', '--verbose']
        const launch = ['bootstrap', '--name', 'work', '--reviewer', 'checklist']
        const launched = await place.run(launch, { client, turns, flags: [...flags, '--include-hook-events'] })
        expect(answersIn(launched.stdout).map(({ hook_event }) => hook_event)).toEqual(['SessionStart', 'PreToolUse'])
        const byHand = async () =>
          (await place.claude([...flags, 'Go on.'], { client, turns, cwd: join(worktree, 'src') })).toolResults
        const denied = [{ isError: true, text: expect.stringContaining('plan-gate') }]
        expect(launched.toolResults).toMatchObject(denied)
        expect(await byHand()).toMatchObject(denied)
        rmSync(join(worktree, '.claude'), { recursive: true })
        expect(await byHand()).toMatchObject(denied)
        await claudeCommand(client, home, ['plugin', 'uninstall', 'plan-gate@plan-gate'])
        expect(await byHand()).toMatchObject([{ isError: false }])
      } finally {
        place.remove()
      }
    }, 120_000)
  },
)
