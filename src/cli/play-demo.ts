import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { bootstrap } from '../../bootstrap/bootstrap.ts'
import { sharedSettings } from '../../bootstrap/install/plan-install.ts'
import { ownHooksOf, parseSettings } from '../protocol/settings.ts'
import { gitOrThrow } from '../system/git.ts'
import { runCommand } from '../system/run-command.ts'
import { UserError } from '../system/user-error.ts'
import { type Act, demoScript } from './demo-script.ts'
import type { Terminal } from './terminal.ts'

/**
 * A scripted agent in a throwaway repository. It goes through the hooks that were installed there, by the commands
 * that stand in the settings file, just as Claude Code does; nothing is pretended but the agent.
 */
export async function playDemo(terminal: Terminal, folder: string): Promise<{ worktree: string; failures: number }> {
  const repo = await throwawayRepository(join(folder, 'shop'))
  const options = {
    strategy: null,
    name: 'greeting',
    branch: null,
    base: null,
    dir: null,
    reviewer: 'checklist',
    reflect: false,
    setup: true,
    launch: false,
    dryRun: false,
    claudeFlags: [],
  } as const
  const { worktree } = await bootstrap(repo, options, () => {})
  terminal.note(terminal.paint('bold', `A gated worktree: ${worktree}\n`))

  const session = { terminal, worktree, hooks: hooksOf(worktree), failures: 0 }
  for (const act of demoScript(worktree)) await perform(session, act)
  return { worktree, failures: session.failures }
}

type Session = { terminal: Terminal; worktree: string; hooks: ReturnType<typeof ownHooksOf>; failures: number }

/** One tool call as Claude Code would make it: ask the gate, do it if it may, tell what was done. */
async function perform(session: Session, act: Act): Promise<void> {
  const { terminal, worktree } = session
  const { paint } = terminal
  const asked = await fire(session, 'PreToolUse', act)
  const answer = asked.exitCode === 0 ? 'allowed' : 'denied'
  const target = act.input.file_path?.slice(worktree.length + 1) ?? act.input.command ?? ''
  if (answer === 'allowed') carryOut(act)
  const told =
    answer === 'allowed' ? linesTold((await fire(session, 'PostToolUse', act)).stdout) : linesOf(asked.stderr)
  const isAsPromised = answer === act.expected && told.join('\n').includes(act.hears)
  if (!isAsPromised) session.failures += 1

  terminal.note(paint('bold', act.says))
  terminal.note(`  ${act.tool} ${target}`)
  terminal.note(`  ${answer === 'allowed' ? paint('green', '✓ allowed') : paint('red', '✗ denied')}`)
  for (const line of told) terminal.note(paint('dim', `    ${line.replaceAll(`${worktree}/`, '')}`))
  if (!isAsPromised) terminal.note(paint('red', `  This is not what plan-gate promises: ${promiseOf(act)}.`))
  terminal.note('')
  if (terminal.json) {
    const { says, tool, expected } = act
    terminal.out(
      JSON.stringify({ event: 'act', says, tool, target, answer, expected, told, as_promised: isAsPromised }),
    )
  }
}

const promiseOf = ({ expected, hears }: Act): string => `${expected}${hears === '' ? '' : `, with "${hears}"`}`

async function fire(
  { hooks, worktree }: Session,
  event: string,
  act: Act,
): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  const hook = hooks.find((hook) => hook.event === event)
  if (hook === undefined) throw new Error(`the settings have no ${event} hook`)
  const input = JSON.stringify({
    session_id: 'demo',
    cwd: worktree,
    permission_mode: 'bypassPermissions',
    hook_event_name: event,
    tool_name: act.tool,
    tool_input: act.input,
  })
  const outcome = await runCommand('/bin/sh', ['-c', hook.command], {
    cwd: worktree,
    env: { ...process.env, CLAUDE_PROJECT_DIR: worktree },
    input,
    timeoutMs: 20_000,
  })
  if (outcome.kind === 'not-started') throw new UserError(`${outcome.why}.`, 'Put that right, then try again.', 1)
  if (outcome.kind !== 'ended') throw new Error(`the ${event} hook was ${outcome.kind}`)
  return outcome
}

function carryOut(act: Act): void {
  const { file_path: path, content } = act.input
  if (path === undefined || content === undefined) return
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}

type Told = { reason?: string; hookSpecificOutput?: { additionalContext?: string } }

/** What Claude would be told beside the result of its tool. */
function linesTold(stdout: string): string[] {
  if (stdout === '') return []
  const { reason, hookSpecificOutput } = JSON.parse(stdout) as Told
  return linesOf(reason ?? hookSpecificOutput?.additionalContext ?? '')
}

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '')

function hooksOf(worktree: string): ReturnType<typeof ownHooksOf> {
  const parsed = parseSettings(readFileSync(join(worktree, sharedSettings), 'utf8'))
  return parsed.kind === 'settings' ? ownHooksOf(parsed.settings) : []
}

async function throwawayRepository(dir: string): Promise<string> {
  mkdirSync(dir)
  await gitOrThrow(dir, ['init', '--quiet'])
  writeFileSync(join(dir, 'README.md'), '# A shop\n')
  await gitOrThrow(dir, ['add', '-A'])
  await gitOrThrow(dir, [
    '-c',
    'user.name=demo',
    '-c',
    'user.email=demo@localhost',
    '-c',
    'commit.gpgSign=false',
    'commit',
    '--quiet',
    '-m',
    'A shop',
  ])
  return dir
}
