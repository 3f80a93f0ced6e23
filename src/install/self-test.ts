import { join } from 'node:path'
import { isCallRunning } from '../gate/call-notes.ts'
import { readPlanStateOrThrow } from '../gate/read-plan-state.ts'
import { planPath, reviewPaths, sharedSettings } from '../state/own-paths.ts'
import { type CommandOutcome, describeOutcome, runCommand } from '../system/run-command.ts'
import { asRecord, parseRecord } from '../text/json.ts'
import type { HookEntries } from './hook-entries.ts'
import { type InstalledSettings, type OwnHook, ownHooksOf, settingsFrom } from './settings.ts'

/** By the entries that the install wrote, because a settings file may name another program since. */
export async function selfTest(root: string, { path, after }: InstalledSettings) {
  const hooks = ownHooksOf(settingsFrom(after))
  const hook = hooks.find(({ event }) => event === 'PreToolUse')
  if (hook === undefined) return { checks: 1, problems: [`${path} has no plan-gate PreToolUse hook`] }
  const { state } = readPlanStateOrThrow(root)
  const canaries = state.kind === 'approved' ? anyStateCanaries : [...anyStateCanaries, ...closedGateCanaries]
  const problems = await Promise.all(canaries.map((canary) => findProblem(root, hook, canary)))
  return { checks: canaries.length, problems: problems.filter((problem) => problem !== null) }
}

/** Null where this is no session, or a tool call runs: a session start takes the notes of calls for leftovers. */
export async function startSessionHere(root: string, gitDir: string, entries: HookEntries): Promise<string | null> {
  const { CLAUDE_CODE_SESSION_ID: session_id } = process.env
  if (session_id === undefined || isCallRunning(gitDir)) return null
  const hook = ownHooksOf({ hooks: entries }).find(({ event, args }) => event === 'SessionStart' && args.length > 0)
  if (hook === undefined) return null
  const event = { hook_event_name: 'SessionStart', session_id, cwd: root, source: 'startup' }
  const outcome = await runOwnHook(root, hook, JSON.stringify(event))
  if (outcome.kind !== 'ended' || outcome.exitCode !== 0) return null
  const { systemMessage, hookSpecificOutput } = parseRecord(outcome.stdout) ?? {}
  const texts = [systemMessage, asRecord(hookSpecificOutput).additionalContext]
  return texts.filter((text) => typeof text === 'string' && text !== '').join('\n') || null
}

/** As Claude Code does it: no shell, and nothing but the project folder is substituted. */
export const runOwnHook = (root: string, hook: OwnHook, input: string): Promise<CommandOutcome> =>
  runCommand(
    hook.command,
    hook.args.map((arg) => arg.replaceAll('${CLAUDE_PROJECT_DIR}', () => root)),
    { cwd: root, env: { ...process.env, CLAUDE_PROJECT_DIR: root }, input, timeoutMs: hook.timeout * 1000 },
  )

async function findProblem(root: string, hook: OwnHook, [name, input, expected = 'refused']: Canary) {
  const outcome = await runOwnHook(root, hook, input(root))
  if (outcome.kind !== 'ended') return `${name} could not be tested: ${describeOutcome(outcome)}`
  const { exitCode, stdout, stderr } = outcome
  const answer = exitCode === 2 ? 'refused' : exitCode === 0 && stdout === '' ? 'allowed' : 'not answered'
  if (answer === expected) return null
  return `${name} was ${answer} instead of ${expected} (exit code ${exitCode}: ${stderr.trim().slice(0, 300)})`
}

/** A PreToolUse event, and what the gate must answer. */
type Canary = readonly [name: string, input: (root: string) => string, expected?: 'refused' | 'allowed']

const toolCall = (tool_name: string, tool_input: object): string =>
  JSON.stringify({ hook_event_name: 'PreToolUse', permission_mode: 'bypassPermissions', tool_name, tool_input })

const write = (path: string) => (root: string) => toolCall('Write', { file_path: join(root, path), content: 'canary' })

const anyStateCanaries: readonly Canary[] = [
  ['a write to the settings', write(sharedSettings)],
  ['a write to approval.json', write(reviewPaths.approval)],
  ['input that is not JSON', () => 'canary'],
  ['a write to the plan', write(planPath), 'allowed'],
]

/** Only while no plan is approved. */
const closedGateCanaries: readonly Canary[] = [
  ['a write to a file', write('plan-gate-canary.txt')],
  ['a command', () => toolCall('Bash', { command: 'touch plan-gate-canary.txt' })],
  ['a notebook', (root) => toolCall('NotebookEdit', { notebook_path: join(root, 'canary.ipynb'), new_source: '' })],
  ['an MCP tool', () => toolCall('mcp__canary__write', {})],
]
