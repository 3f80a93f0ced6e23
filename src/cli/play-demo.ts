import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { bootstrap } from '../../bootstrap/bootstrap.ts'
import { sharedSettings } from '../../bootstrap/install/plan-install.ts'
import { ownHooksOf, parseSettings } from '../protocol/settings.ts'
import { gitOutput } from '../system/git.ts'
import { runCommand } from '../system/run-command.ts'
import type { Terminal } from './terminal.ts'

type Act = {
  says: string
  tool: 'Write' | 'Bash' | 'NotebookEdit'
  input: { readonly [key: string]: string }
  expected: 'denied' | 'allowed'
}

const plan = (goal: string, changes: string): string =>
  `# Greeting\n\n## Goal\n\n${goal}\n\n## Context\n\n\`src/greet.js\` does not exist; \`README.md\` mentions no greeting.\n\n## Approach\n\nOne function that returns the text; a class would be more than is needed.\n\n## Changes\n\n${changes}\n\n## Risks\n\nA name may be empty; the greeting is then only "Hello".\n\n## Open Questions\n\nNone.\n`

const hasty = '# Greeting\n\n## Goal\n\nTODO\n\n## Changes\n\n- `src/greeting.js`: greet people\n'
const sound = plan(
  '`greet("Ada")` returns "Hello, Ada".',
  '- `src/greet.js` (new): `greet(name)`\n- `README.md` (changed): how to call it',
)
const edited = plan(
  'Greet, and deploy.',
  '- `src/greet.js` (new): `greet(name)`\n- `deploy.sh`: run it after each greeting',
)

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
    launch: false,
    dryRun: false,
    claudeFlags: [],
  } as const
  const { worktree } = await bootstrap(repo, options, () => {})
  terminal.note(terminal.paint('bold', `A gated worktree: ${worktree}\n`))

  const session = { terminal, worktree, hooks: hooksOf(worktree), failures: 0 }
  const code = {
    file_path: join(worktree, 'src/greet.js'),
    content: "export const greet = (name) => 'Hello, ' + name\n",
  }
  const planFile = join(worktree, 'docs/plan.md')
  await perform(session, {
    says: 'The agent starts to write code at once.',
    tool: 'Write',
    input: code,
    expected: 'denied',
  })
  await perform(session, {
    says: 'It tries the shell instead.',
    tool: 'Bash',
    input: { command: "python3 -c \"open('src/greet.js','w')\"" },
    expected: 'denied',
  })
  await perform(session, {
    says: 'Looking around is fine: a pipe of commands that only read.',
    tool: 'Bash',
    input: { command: 'git log --oneline | head -3' },
    expected: 'allowed',
  })
  await perform(session, {
    says: 'It tries to approve itself.',
    tool: 'Write',
    input: { file_path: join(worktree, '.claude/review/approval.json'), content: '{"is_optimal":true}' },
    expected: 'denied',
  })
  await perform(session, {
    says: 'So it writes a plan, in a hurry.',
    tool: 'Write',
    input: { file_path: planFile, content: hasty },
    expected: 'allowed',
  })
  await perform(session, {
    says: 'It mends what was found wanting, and the reviewer (here the built-in checklist) approves.',
    tool: 'Write',
    input: { file_path: planFile, content: sound },
    expected: 'allowed',
  })
  await perform(session, { says: 'Now the same write goes through.', tool: 'Write', input: code, expected: 'allowed' })
  await perform(session, {
    says: 'The gate itself stays out of reach.',
    tool: 'Write',
    input: { file_path: join(worktree, '.claude/settings.json'), content: '{}' },
    expected: 'denied',
  })
  await perform(session, {
    says: 'It edits the approved plan…',
    tool: 'Write',
    input: { file_path: planFile, content: edited },
    expected: 'allowed',
  })
  await perform(session, {
    says: '…which ends the approval: the gate is closed again.',
    tool: 'Write',
    input: code,
    expected: 'denied',
  })
  return { worktree, failures: session.failures }
}

type Session = { terminal: Terminal; worktree: string; hooks: ReturnType<typeof ownHooksOf>; failures: number }

/** One tool call as Claude Code would make it: ask the gate, do it if it may, tell what was done. */
async function perform(session: Session, act: Act): Promise<void> {
  const { terminal } = session
  narrate(session, act.says)
  const asked = await fire(session, 'PreToolUse', act)
  const answer = asked.exitCode === 0 ? 'allowed' : 'denied'
  const target = act.input.file_path?.slice(session.worktree.length + 1) ?? act.input.command ?? ''
  terminal.note(`  ${act.tool} ${target}`)
  terminal.note(`  ${answer === 'allowed' ? terminal.paint('green', '✓ allowed') : terminal.paint('red', '✗ denied')}`)
  for (const line of asked.stderr
    .trim()
    .split('\n')
    .filter((line) => line !== ''))
    terminal.note(terminal.paint('dim', `    ${line}`))
  if (answer === 'allowed') {
    carryOut(act)
    const told = await fire(session, 'PostToolUse', act)
    for (const line of linesTold(told.stdout)) terminal.note(terminal.paint('dim', `    ${line}`))
  }
  terminal.note('')
  if (answer !== act.expected) session.failures += 1
  if (terminal.json)
    terminal.out(
      JSON.stringify({ event: 'act', says: act.says, tool: act.tool, target, answer, expected: act.expected }),
    )
}

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
  if (outcome.kind !== 'ended') throw new Error(`the ${event} hook was ${outcome.kind}`)
  return outcome
}

function carryOut(act: Act): void {
  const { file_path: path, content } = act.input
  if (path === undefined || content === undefined) return
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}

const narrate = ({ terminal }: Session, text: string): void => terminal.note(terminal.paint('bold', text))

type Told = { reason?: string; hookSpecificOutput?: { additionalContext?: string } }

/** What Claude would be told beside the result of its tool. */
function linesTold(stdout: string): string[] {
  if (stdout === '') return []
  const { reason, hookSpecificOutput } = JSON.parse(stdout) as Told
  return (reason ?? hookSpecificOutput?.additionalContext ?? '').split('\n').filter((line) => line.trim() !== '')
}

function hooksOf(worktree: string): ReturnType<typeof ownHooksOf> {
  const parsed = parseSettings(readFileSync(join(worktree, sharedSettings), 'utf8'))
  return parsed.kind === 'settings' ? ownHooksOf(parsed.settings) : []
}

async function throwawayRepository(dir: string): Promise<string> {
  mkdirSync(dir)
  await gitOutput(dir, ['init', '--quiet'])
  writeFileSync(join(dir, 'README.md'), '# A shop\n')
  await gitOutput(dir, ['add', '-A'])
  await gitOutput(dir, [
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
