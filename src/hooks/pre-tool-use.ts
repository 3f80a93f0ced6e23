import { resolve } from 'node:path'
import { gateConfig } from '../config/compiled-config.ts'
import type { CompiledConfig } from '../config/schema.ts'
import { noteCall } from '../gate/call-notes.ts'
import { checkCommands } from '../gate/check-commands.ts'
import { gateClosedFor } from '../gate/closed-mark.ts'
import {
  commandsToCheck,
  type Decision,
  decideToolCall,
  type GateState,
  isGateOpen,
  passInSandbox,
  refuseAll,
  type Scope,
} from '../gate/decide.ts'
import { classifyPath, type PathKind, type ProtectedPaths } from '../gate/protected-paths.ts'
import { readPlanState } from '../gate/read-plan-state.ts'
import { closeApproved, openApproved } from '../gate/sandbox/approved.ts'
import { type CommandRule, commandRule } from '../gate/sandbox/rules.ts'
import { inScope, readPlanScope } from '../gate/scope.ts'
import { couldChangeAnything, matchesTool, type ToolCall, targetOf, toolCallOf } from '../gate/tools.ts'
import { planModeSlug } from '../gate/transcript.ts'
import { askUser, denyToolCall, failClosed, type HookAnswer, silence } from '../schemas/hook-answer.ts'
import { type PreToolUse, preToolUseSchema } from '../schemas/hook-events.ts'
import { readRegular, StoreError } from '../state/files.ts'
import { planPath } from '../state/own-paths.ts'
import { appendDenial } from '../state/sessions.ts'
import { foldersBelow } from '../system/environment.ts'
import { systemErrorCode } from '../system/errors.ts'
import { type GitDirs, readGitDirs } from '../system/git-dirs.ts'
import { loadBundle } from '../system/load-bundle.ts'
import { resolvePath, slashed } from '../system/paths.ts'
import { printable } from '../text/clean.ts'
import { mayHoldSecret, withheld } from './may-hold-secret.ts'
import { parseEvent, runHook, worktreeRoot } from './runtime.ts'

export const start = (): Promise<never> => runHook({ deadlineMs: 5_000, onFailure: failClosed, work: answerEvent })

/** Before any tool call: may it run? */
export async function answerEvent(input: string, extendDeadline: (ms: number) => void): Promise<HookAnswer> {
  const parsed = parseEvent(preToolUseSchema, input)
  if (parsed.kind === 'malformed') return denyToolCall(`plan-gate: this call cannot be checked: ${parsed.why}.`)
  const { event } = parsed
  if (event.tool_name === 'ExitPlanMode') return exitPlanMode(worktreeRoot(), event.tool_input, extendDeadline)
  const call = toolCallOf(event.tool_name, event.tool_input)
  if (call.kind === 'harmless') return silence
  const root = worktreeRoot()
  const gitDirs = readGitDirs(root)
  const { decision, isOpen } = await judge(root, gitDirs, event, call, null)
  const refusal =
    decision.kind === 'deny' ? decision : noteOrDeny(root, gitDirs, event, isOpen, decision.kind === 'ask')
  if (gitDirs !== null) {
    if (!isOpen) closeApproved(gitDirs.own)
    else if (refusal === null && runsCommands(call)) openApproved(root, gitDirs.own)
  }
  if (refusal !== null) return { ...denyToolCall(refusal.reason), afterwards: await denialNote(root, event, refusal) }
  return decision.kind === 'ask' ? askUser(decision.reason) : silence
}

type Denial = Extract<Decision, { kind: 'deny' }>
type JudgedEvent = Pick<
  PreToolUse,
  'tool_name' | 'tool_input' | 'session_id' | 'transcript_path' | 'cwd' | 'permission_mode'
>

/** After the call, for an input that another hook has rewritten. `wasOpen`: what the gate was before the call. */
export const judgeAgain = async (root: string, event: JudgedEvent, wasOpen: boolean): Promise<Decision> =>
  (await judge(root, readGitDirs(root), event, toolCallOf(event.tool_name, event.tool_input), wasOpen)).decision

/** `wasOpen`: null where it is to be found out. */
async function judge(
  root: string,
  gitDirs: GitDirs | null,
  event: JudgedEvent,
  call: ToolCall,
  wasOpen: boolean | null,
): Promise<{ decision: Decision; isOpen: boolean }> {
  const config = await gateConfig(root)
  const paths = config.protected_paths as ProtectedPaths
  const loadedFrom = { ...paths, mergedRoots: [...paths.mergedRoots, ...foldersBelow(root)] }
  const { bash, tools } = (config.config.gate ?? {}) as {
    bash?: { mode?: string }
    tools?: { allow?: readonly string[] }
  }
  const mode = bash?.mode ?? 'auto'
  const rule = mode === 'sandbox' || (mode === 'auto' && runsCommands(call)) ? ruleFor(gitDirs, event.session_id) : null
  const mark = gitDirs === null ? null : gateClosedFor(gitDirs.own, event.session_id)
  const state = wasOpen === null ? gateState() : pastState(wasOpen)
  const loadsText = call.kind === 'skill' || call.kind === 'agent'
  const readers = loadsText ? (await loadBundle<typeof import('./reviews.ts')>('reviews')).yamlReaders : null
  const commands = commandsToCheck(
    call,
    state,
    (loaded) => readers?.inlineCommands(loadedFrom, loaded) ?? ['(its text was not read)'],
  )
  const decision = decideToolCall(call, {
    ...state,
    commands:
      rule?.kind === 'sandbox'
        ? passInSandbox(commands)
        : mark?.turnsCommands
          ? refuseAll(commands)
          : await checkCommands(root, config, commands, event.cwd),
    untrustedHead: await untrustedHead(),
    noSandbox: rule?.kind === 'list' && process.platform === 'linux' ? rule.why : null,
    scope: () => readScope(root, config),
    classify: (path) => classifyRealPath(resolve(event.cwd ?? root, path), paths),
    permissionMode: event.permission_mode ?? 'default',
    planModeSlug: () => planModeSlug(event.transcript_path, event.session_id),
    toolIsAllowed: (tool) => matchesTool(tools?.allow ?? [], tool),
  })
  return { decision, isOpen: isGateOpen(state) }

  /** The user's own skills and agents are theirs. */
  async function untrustedHead(): Promise<string | null> {
    if (readers === null || !loadsText || !isGateOpen(state) || gitDirs === null) return null
    const found = readers
      .inlineCommands({ ...loadedFrom, userDirs: [] }, call)
      .find((command) => command.startsWith('('))
    return found === undefined || (await readers.readTrust(root, gitDirs)).loadsRepository ? null : found
  }

  function gateState(): GateState {
    const closed = mark?.why ?? (mode === 'sandbox' && rule?.kind === 'list' ? sandboxMissing(rule.why) : null)
    return {
      plan: closed === null ? readPlanState(root) : { kind: 'open', because: closed },
      configProblems: config.problems,
    }
  }
}

const pastState = (wasOpen: boolean): GateState => ({
  plan: wasOpen ? { kind: 'approved', hash: '' } : { kind: 'open', because: 'the gate was closed' },
  configProblems: [],
})

/** Fails closed: after the call, one without a note is taken for one that nobody judged. */
function noteOrDeny(
  root: string,
  gitDirs: GitDirs | null,
  event: PreToolUse,
  wasOpen: boolean,
  asked: boolean,
): Denial | null {
  if (gitDirs === null) return null
  const { tool_name, tool_input } = event
  try {
    const couldChange = couldChangeAnything(toolCallOf(tool_name, tool_input))
    noteCall(gitDirs.own, event, root, { wasOpen, asked, couldChangeAnything: couldChange })
    return null
  } catch (error) {
    const why = error instanceof StoreError ? error.message : systemErrorCode(error)
    if (why === null) throw error
    const reason = `plan-gate: ${printable(tool_name)} was not run, because the gate could not record it in the git directory: ${why}\nTell the user: a full disk or a missing permission is the usual cause. Then try again.`
    return { kind: 'deny', rule: 'note', reason }
  }
}

const runsCommands = ({ kind }: ToolCall): boolean => ['shell', 'skill', 'agent'].includes(kind)

const ruleFor = (gitDirs: GitDirs | null, session: string | undefined): CommandRule =>
  gitDirs === null
    ? { kind: 'list', why: 'this is not a git worktree' }
    : commandRule(gitDirs.own, session, process.env)

/** `gate.bash.mode: sandbox`: nothing opens the gate without it. */
const sandboxMissing = (why: string): string => `gate.bash.mode is sandbox, and the sandbox is not used: ${why}`

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
  'You are still in plan mode. The reviewed plan is in docs/plan.md now. When it is ready, present it again with ExitPlanMode.'

/**
 * Records the denial for `status`, `watch` and the report, once the answer is out. The self-test's events have no session
 * and are not recorded.
 */
async function denialNote(root: string, event: PreToolUse, decision: Denial): Promise<() => void> {
  const { session_id } = event
  if (session_id === undefined) return () => {}
  const target = targetOf(event.tool_input)
  const isSecret = await mayHoldSecret(`${target}\n${decision.reason}`)
  const denial = {
    tool: printable(event.tool_name),
    target: isSecret ? withheld : target,
    rule: decision.rule,
    reason: isSecret ? withheld : decision.reason,
  }
  return () => appendDenial(root, session_id, denial)
}
