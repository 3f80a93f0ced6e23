import { resolve } from 'node:path'
import { gateConfig } from '../config/compiled-config.ts'
import type { CompiledConfig } from '../config/schema.ts'
import { noteCall } from '../gate/call-notes.ts'
import { checkCommands, passInSandbox } from '../gate/check-commands.ts'
import { commandsToCheck, type Decision, decideToolCall, isGateOpen, type Scope } from '../gate/decide.ts'
import { inlineCommands } from '../gate/loaded-commands.ts'
import type { PlanState } from '../gate/plan-state.ts'
import { classifyPath, type PathKind, type ProtectedPaths } from '../gate/protected-paths.ts'
import { readPlanState } from '../gate/read-plan-state.ts'
import { closeApproved, openApproved } from '../gate/sandbox/approved.ts'
import { type CommandRule, commandRule } from '../gate/sandbox/rules.ts'
import { inScope, readPlanScope } from '../gate/scope.ts'
import { couldChangeAnything, matchesTool, type ToolCall, toolCallOf } from '../gate/tools.ts'
import { mayHoldSecret, withheld } from '../redact/may-hold-secret.ts'
import validate from '../schemas/generated/pre-tool-use.js'
import { askUser, denyToolCall, failClosed, type HookAnswer, silence } from '../schemas/hook-answer.ts'
import type { PreToolUse } from '../schemas/hook-events.ts'
import { readRegular } from '../state/files.ts'
import { planPath } from '../state/own-paths.ts'
import { appendDenial } from '../state/sessions.ts'
import { type GitDirs, readGitDirs } from '../system/git-dirs.ts'
import { loadBundle } from '../system/load-bundle.ts'
import { resolvePath, slashed } from '../system/paths.ts'
import { printable } from '../text/clean.ts'
import { parseEvent, runHook, worktreeRoot } from './runtime.ts'

export const start = (): Promise<never> => runHook({ deadlineMs: 5_000, onFailure: failClosed, work: answerEvent })

/** Before any tool call: may it run? */
export async function answerEvent(input: string, extendDeadline: (ms: number) => void): Promise<HookAnswer> {
  const parsed = parseEvent(validate, input)
  if (parsed.kind === 'malformed') return denyToolCall(`plan-gate: this call cannot be checked: ${parsed.why}.`)
  const { event } = parsed
  if (event.tool_name === 'ExitPlanMode') return exitPlanMode(worktreeRoot(), event.tool_input, extendDeadline)
  const call = toolCallOf(event.tool_name, event.tool_input)
  if (call.kind === 'harmless') return silence
  const root = worktreeRoot()
  const config = await gateConfig(root)
  const paths = config.protected_paths as ProtectedPaths
  const gitDirs = readGitDirs(root)
  const { mode = 'auto' } = (config.config.gate as { bash?: { mode?: string } } | undefined)?.bash ?? {}
  const rule = mode === 'sandbox' || (mode === 'auto' && runsCommands(call)) ? ruleFor(gitDirs, event.session_id) : null
  const needed = mode === 'sandbox' && rule?.kind === 'list' ? rule.why : null
  const state = {
    plan: needed === null ? readPlanState(root) : withoutSandbox(needed),
    configProblems: config.problems,
  }
  const commands = commandsToCheck(call, state, (loaded) => inlineCommands(paths, loaded))
  const decision = decideToolCall(call, {
    ...state,
    commands:
      rule?.kind === 'sandbox' ? passInSandbox(commands) : await checkCommands(root, config, commands, event.cwd),
    noSandbox: rule?.kind === 'list' && process.platform === 'linux' ? rule.why : null,
    scope: () => readScope(root, config),
    classify: (path) => classifyRealPath(resolve(event.cwd ?? root, path), paths),
    permissionMode: event.permission_mode ?? 'default',
    toolIsAllowed: (tool) => matchesTool(config.tool_patterns, tool),
  })
  if (gitDirs !== null) {
    if (decision.kind !== 'deny' && couldChangeAnything(call)) noteCall(gitDirs.own, event.tool_use_id ?? '', root)
    if (!isGateOpen(state)) closeApproved(gitDirs.own)
    else if (decision.kind !== 'deny' && runsCommands(call)) openApproved(root, gitDirs.own)
  }
  switch (decision.kind) {
    case 'allow':
      return silence
    case 'ask':
      return askUser(decision.reason)
    case 'deny':
      return { ...denyToolCall(decision.reason), afterwards: await denialNote(root, event, decision) }
  }
}

const runsCommands = ({ kind }: ToolCall): boolean => ['shell', 'skill', 'agent'].includes(kind)

const ruleFor = (gitDirs: GitDirs | null, session: string | undefined): CommandRule =>
  gitDirs === null
    ? { kind: 'list', why: 'this is not a git worktree' }
    : commandRule(gitDirs.own, session, process.env)

/** `gate.bash.mode: sandbox`: nothing opens the gate without it. */
const withoutSandbox = (why: string): PlanState => ({
  kind: 'open',
  because: `gate.bash.mode is sandbox, and the sandbox is not used: ${why}`,
})

function classifyRealPath(path: string, paths: ProtectedPaths): PathKind {
  const target = resolvePath(path)
  return classifyPath(
    target.kind === 'resolved' ? { ...target, path: slashed(target.path), real: slashed(target.real) } : target,
    paths,
  )
}

/** `gate.scope`; the plan is read only where it is switched on. */
function readScope(root: string, config: CompiledConfig): Scope {
  const mode = (config.config.gate as { scope?: unknown } | undefined)?.scope
  if (mode !== 'ask' && mode !== 'deny') return { kind: 'off' }
  const read = readRegular(root, planPath)
  const entries = read.kind === 'read' ? readPlanScope(read.bytes.toString('utf8')) : []
  return {
    kind: mode,
    names: (path) => [...relativePaths(root, path)].every((inside) => inside !== '' && inScope(inside, entries)),
  }
}

/** As it is named and as it really is: a link inside the scope must not lead out of it. Empty: not in the worktree. */
function relativePaths(root: string, path: string): Set<string> {
  const [target, base] = [resolvePath(path), resolvePath(root)]
  if (target.kind !== 'resolved' || base.kind !== 'resolved') return new Set([''])
  const named = below(base.path, target.path) ?? below(base.real, target.path) ?? ''
  return new Set([named, below(base.real, target.real) ?? ''])
}

const below = (root: string, path: string): string | null =>
  path.startsWith(`${root}/`) ? path.slice(root.length + 1) : null

/**
 * At the end of plan mode the plan goes to the same reviewer, and the user's dialog appears once it is approved. Until
 * then Claude stays in plan mode, with the findings.
 */
async function exitPlanMode(root: string, input: unknown, extendDeadline: (ms: number) => void): Promise<HookAnswer> {
  const { plan: settings } = (await gateConfig(root)).config
  if (settings.exit_plan_mode === 'off') return silence
  const { plan } = input as { plan?: unknown }
  if (typeof plan !== 'string' || plan.trim() === '')
    return denyToolCall('plan-gate: there is no plan to leave plan mode with. Write it first, then try again.')
  const { reviews } = await loadBundle<typeof import('./reviews.ts')>('reviews')
  const message = await reviews.reviewPlan(root, extendDeadline, plan)
  return readPlanState(root).kind === 'approved' ? silence : denyToolCall(`${message.text}\n\n${stillInPlanMode}`)
}

const stillInPlanMode =
  'You are still in plan mode. The plan that was reviewed stands in docs/plan.md now; when it is as it should be, present it again with ExitPlanMode.'

/**
 * Records the denial for `status`, `watch` and the report, once the answer is out. The self-test's events have no session
 * and are not recorded.
 */
async function denialNote(
  root: string,
  event: PreToolUse,
  decision: Extract<Decision, { kind: 'deny' }>,
): Promise<() => void> {
  const { session_id } = event
  if (session_id === undefined) return () => {}
  const { file_path, notebook_path, command } = event.tool_input
  const named = file_path ?? notebook_path ?? command ?? ''
  const target = printable(typeof named === 'string' ? named : JSON.stringify(named), 400)
  const isSecret = await mayHoldSecret(`${target}\n${decision.reason}`)
  const denial = {
    at: new Date().toISOString(),
    tool: printable(event.tool_name),
    target: isSecret ? withheld : target,
    rule: decision.rule,
    reason: isSecret ? withheld : decision.reason,
  }
  return () => appendDenial(root, session_id, denial)
}
