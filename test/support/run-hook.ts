import { spawnSync } from 'node:child_process'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { hookArgs } from './hook-args.ts'
import { dist } from './project.ts'

export type HookRun = { exitCode: number; stdout: string; stderr: string; ms: number }

const distHooks = join(dist, 'hooks')

/** Runs an installed bundle as its entry does; a word behind the name is passed on. An end that no hook may have throws, so that a crash cannot pass for an answer. */
export function runHook(
  root: string,
  name: string,
  event: object | string,
  env: NodeJS.ProcessEnv = {},
  fromDist = false,
): HookRun {
  const since = performance.now()
  const run = spawnSync(process.execPath, hookArgs(root, name, fromDist ? distHooks : undefined), {
    cwd: root,
    input: typeof event === 'string' ? event : JSON.stringify(event),
    env: { PATH: process.env.PATH, HOME: homedir(), CLAUDE_PROJECT_DIR: root, ...env },
    encoding: 'utf8',
    timeout: 30_000,
    maxBuffer: 64 * 1024 * 1024,
  })
  const allowed = ['pre-tool-use', 'config-change', 'stop'].includes(name) ? [0, 2] : [0]
  if (run.status === null || !allowed.includes(run.status))
    throw new Error(`${name} ended with ${run.status ?? run.signal}: ${run.stderr}`)
  return { exitCode: run.status, stdout: run.stdout, stderr: run.stderr, ms: performance.now() - since }
}

/** What the gate says to a tool call: null for silence, else the reason of the denial. */
export function askGate(
  root: string,
  tool: string,
  input: object,
  more: object = {},
  env: NodeJS.ProcessEnv = {},
): string | null {
  const event = {
    hook_event_name: 'PreToolUse',
    permission_mode: 'bypassPermissions',
    cwd: root,
    tool_name: tool,
    tool_input: input,
    ...more,
  }
  const run = runHook(root, 'pre-tool-use', event, env)
  if (run.exitCode === 0) {
    if (run.stdout !== '') throw new Error(`an allow must be silent, not ${run.stdout}`)
    return null
  }
  const answer = JSON.parse(run.stdout) as {
    hookSpecificOutput: { hookEventName: string; permissionDecision: string; permissionDecisionReason: string }
  }
  const { hookEventName, permissionDecision, permissionDecisionReason } = answer.hookSpecificOutput
  if (hookEventName !== 'PreToolUse' || permissionDecision !== 'deny') throw new Error(`not a denial: ${run.stdout}`)
  if (run.stderr !== `${permissionDecisionReason}\n`) throw new Error(`stderr says something else: ${run.stderr}`)
  return permissionDecisionReason
}
