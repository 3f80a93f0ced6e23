import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readPlanStateOrThrow } from '../gate/read-plan-state.ts'
import { runCommand } from '../system/run-command.ts'
import { ownHooksOf, parseSettings } from './settings.ts'

/** A made-up event, and what the gate must answer to it whatever the state of the plan. */
type Canary = {
  name: string
  event: 'PreToolUse' | 'ConfigChange'
  input: (root: string) => string
  expected: 'refused' | 'silent'
}

const toolCall = (tool_name: string, tool_input: object): string =>
  JSON.stringify({ hook_event_name: 'PreToolUse', permission_mode: 'bypassPermissions', tool_name, tool_input })

const write = (path: string) => (root: string) => toolCall('Write', { file_path: join(root, path), content: 'canary' })

const anyStateCanaries: readonly Canary[] = [
  { name: 'a write to the settings', event: 'PreToolUse', input: write('.claude/settings.json'), expected: 'refused' },
  {
    name: 'a write to approval.json',
    event: 'PreToolUse',
    input: write('.claude/review/approval.json'),
    expected: 'refused',
  },
  { name: 'input that is not JSON', event: 'PreToolUse', input: () => 'canary', expected: 'refused' },
  { name: 'a write to the plan', event: 'PreToolUse', input: write('docs/plan.md'), expected: 'silent' },
]

/** Only while no plan is approved: afterwards these are meant to work. */
const closedGateCanaries: readonly Canary[] = [
  { name: 'a write to a file', event: 'PreToolUse', input: write('plan-gate-canary.txt'), expected: 'refused' },
  {
    name: 'a command',
    event: 'PreToolUse',
    input: () => toolCall('Bash', { command: 'touch plan-gate-canary.txt' }),
    expected: 'refused',
  },
  {
    name: 'a notebook',
    event: 'PreToolUse',
    input: (root) => toolCall('NotebookEdit', { notebook_path: join(root, 'canary.ipynb'), new_source: '' }),
    expected: 'refused',
  },
  { name: 'an MCP tool', event: 'PreToolUse', input: () => toolCall('mcp__canary__write', {}), expected: 'refused' },
]

export type CanaryResult = { name: string; passed: boolean; detail: string }

/**
 * Runs the installed hooks as Claude Code will: the very commands that stand in the settings file, through `/bin/sh`,
 * with the event on standard input. A gate that does not refuse a canary is no gate, whatever the files look like.
 */
export async function selfTest(root: string, settingsPath: string): Promise<CanaryResult[]> {
  const parsed = parseSettings(readFileSync(join(root, settingsPath), 'utf8'))
  const hooks = parsed.kind === 'settings' ? ownHooksOf(parsed.settings) : []
  const { state } = readPlanStateOrThrow(root)
  const canaries = state.kind === 'approved' ? anyStateCanaries : [...anyStateCanaries, ...closedGateCanaries]
  return Promise.all(canaries.map((canary) => tryCanary(root, hooks, canary)))
}

async function tryCanary(
  root: string,
  hooks: readonly { event: string; command: string; timeout: number }[],
  canary: Canary,
): Promise<CanaryResult> {
  const hook = hooks.find(({ event }) => event === canary.event)
  if (hook === undefined)
    return { name: canary.name, passed: false, detail: `the settings have no ${canary.event} hook of ours` }
  const outcome = await runCommand('/bin/sh', ['-c', hook.command], {
    cwd: root,
    env: { ...process.env, CLAUDE_PROJECT_DIR: root },
    input: canary.input(root),
    timeoutMs: hook.timeout * 1000,
  })
  if (outcome.kind === 'not-started') return { name: canary.name, passed: false, detail: `not tried: ${outcome.why}` }
  if (outcome.kind !== 'ended') return { name: canary.name, passed: false, detail: `the hook was ${outcome.kind}` }
  const answer =
    outcome.exitCode === 2 ? 'refused' : outcome.exitCode === 0 && outcome.stdout === '' ? 'silent' : 'unclear'
  const passed = answer === canary.expected
  return {
    name: canary.name,
    passed,
    detail: passed ? answer : `${answer} (exit code ${outcome.exitCode}: ${outcome.stderr.trim().slice(0, 300)})`,
  }
}
