import { resolve } from 'node:path'
import { gateConfig } from '../config/compiled-config.ts'
import type { CompiledConfig, EffectiveConfig } from '../config/schema.ts'
import type { BashPolicy, BashVerdict } from '../gate/bash/check-command.ts'
import { type Decision, decideToolCall, type GateContext, type Scope } from '../gate/decide.ts'
import { inlineCommands } from '../gate/loaded-commands.ts'
import { classifyPath, type PathKind, type ProtectedPaths } from '../gate/protected-paths.ts'
import { inScope, readPlanScope } from '../gate/scope.ts'
import { matchesTool, type ToolCall, toolCallOf } from '../gate/tools.ts'
import { changedGitConfigKeys } from '../gate/working-tree.ts'
import validate from '../schemas/generated/pre-tool-use.js'
import { type Answer, askUser, denyToolCall, failClosed, silence } from '../schemas/hook-answer.ts'
import type { PreToolUse } from '../schemas/hook-events.ts'
import { readPlanState } from '../state/approval.ts'
import { readRegular } from '../state/files.ts'
import { appendDenial } from '../state/ledger.ts'
import { planPath } from '../state/own-paths.ts'
import { relativeEntries } from '../system/find-program.ts'
import { readGitDirs } from '../system/git.ts'
import { loadBundle } from '../system/load-bundle.ts'
import { resolvePath, slashed } from '../system/paths.ts'
import { printable } from '../text/clean.ts'
import { parseEvent, runHook, worktreeRoot } from './runtime.ts'

export const start = (): Promise<never> => runHook({ deadlineMs: 5_000, onFailure: failClosed, work: judge })

/** Before any tool call: may it go ahead? */
export async function judge(input: string, extend: (ms: number) => void): Promise<Answer> {
  const parsed = parseEvent(validate, input)
  if (parsed.kind === 'malformed') return denyToolCall(`plan-gate: this call cannot be judged: ${parsed.why}.`)
  const { event } = parsed
  if (event.tool_name === 'ExitPlanMode') return exitPlanMode(worktreeRoot(), event.tool_input, extend)
  const call = toolCallOf(event.tool_name, event.tool_input)
  if (call.kind === 'harmless') return silence
  const root = worktreeRoot()
  const config = await gateConfig(root)
  const house = config.house as ProtectedPaths
  const plan = readPlanState(root)
  const commands = plan.kind === 'approved' && config.problems.length === 0 ? [] : commandsOf(call, house)
  const decision = decideToolCall(call, {
    plan,
    judgeCommand: await commandJudge(root, config, commands),
    inlineCommands: () => commands,
    scope: () => planScope(root, config),
    place: (path) => placeIn(resolve(event.cwd ?? root, path), house),
    permissionMode: event.permission_mode ?? 'default',
    toolIsAllowed: (tool) => matchesTool(config.tool_patterns, tool),
    configProblems: config.problems,
  })
  switch (decision.kind) {
    case 'allow':
      return silence
    case 'ask':
      return askUser(decision.reason)
    case 'deny':
      return { ...denyToolCall(decision.reason), afterwards: await noteOfDenial(root, event, decision) }
  }
}

/** The command lines that a call would have the shell run. */
function commandsOf(call: ToolCall, house: ProtectedPaths): readonly string[] {
  if (call.kind === 'shell') return [call.command]
  return call.kind === 'skill' || call.kind === 'agent' ? inlineCommands(house, call) : []
}

function placeIn(path: string, house: ProtectedPaths): PathKind {
  const target = resolvePath(path)
  return classifyPath(
    target.kind === 'resolved' ? { ...target, path: slashed(target.path), real: slashed(target.real) } : target,
    house,
  )
}

type BashConfig = { allow?: readonly string[]; compound?: boolean }

/**
 * The judge of these command lines, with what this worktree and its configuration say. Git's configuration is looked
 * at only where git is named, and the parser is loaded only for a line that is more than plain words.
 */
async function commandJudge(
  root: string,
  config: CompiledConfig,
  commands: readonly string[],
): Promise<GateContext['judgeCommand']> {
  if (commands.length === 0) return unasked
  const [relative] = relativeEntries(process.env.PATH)
  if (relative !== undefined) return () => ambiguous(relative)
  const bash = (config.config.gate as { bash?: BashConfig } | undefined)?.bash
  const policy = {
    compound: bash?.compound ?? true,
    allowed: bash?.allow ?? [],
    untrustedGitKeys: commands.some((command) => /\bgit\b/.test(command.slice(0, 10_000))) ? untrustedIn(root) : [],
  }
  const verdicts = new Map<string, BashVerdict>()
  for (const command of commands) verdicts.set(command, await judgeHooks(command, policy))
  return (command) => {
    const verdict = verdicts.get(command)
    return verdict === undefined ? unasked() : verdict.kind === 'allow' ? null : verdict
  }
}

async function judgeHooks(command: string, policy: BashPolicy): Promise<BashVerdict> {
  const { judgePlain } = await import('../gate/bash/check-plain-command.ts')
  const { asVerdict } = await import('../gate/bash/refusal.ts')
  const plain = judgePlain(command, policy)
  if (plain.kind === 'unread') return (await loadParser()).judgeCommand(command, policy)
  return asVerdict(plain.kind === 'allowed' ? undefined : plain.refusal)
}

type Parser = typeof import('../gate/bash/check-command.ts')
const loadParser = (): Promise<Parser> => loadBundle<Parser>('judge-command')

const ambiguous = (entry: string) => ({
  rule: 'path',
  reason: `PATH has an entry that is not absolute, ${JSON.stringify(entry)}, so any command could be a program of this repository. The user has to take it out and start Claude Code again.`,
})

/** For calls without a command. */
const unasked = () => ({ rule: 'unasked', reason: 'No command was expected.' })

function untrustedIn(root: string): string[] {
  const gitDirs = readGitDirs(root)
  return gitDirs === null ? [] : changedGitConfigKeys(root, gitDirs)
}

/**
 * The end of plan mode presents a plan, too: it goes to the same reviewer, and the user's dialog appears when it is
 * approved. Until then Claude stays in plan mode with the findings.
 */
async function exitPlanMode(root: string, input: unknown, extend: (ms: number) => void): Promise<Answer> {
  const { plan: settings } = (await gateConfig(root)).config as EffectiveConfig
  if (settings.exit_plan_mode === 'off') return silence
  const { plan } = input as { plan?: unknown }
  if (typeof plan !== 'string' || plan.trim() === '')
    return denyToolCall('plan-gate: there is no plan to leave plan mode with. Write it first, then try again.')
  const { reviewPlan } = (await loadBundle<typeof import('./reviews.ts')>('reviews')).reviews
  const told = await reviewPlan(root, extend, plan)
  return readPlanState(root).kind === 'approved' ? silence : denyToolCall(`${told.text}\n\n${inPlanMode}`)
}

const inPlanMode =
  'You are still in plan mode. The plan that was reviewed stands in docs/plan.md now; when it is as it should be, present it again with ExitPlanMode.'

/** For `status`, `watch` and the report. A canary of the self-test has no session and leaves no note. */
async function noteOfDenial(
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

/** The gate has no time to look for the very characters that are secret, so all of the text goes. */
const withheld = '(not kept: it may hold a secret)'

/** What a look that costs nothing finds harmless is; the real question takes its patterns milliseconds to be asked. */
const couldHoldSecret =
  /[a-z0-9+]{18}|\b(?:sk|gh[pousr]|glpat|xox\w|npm|hf)[-_]|(?:pass|pwd|secret|token|key|auth|cred|cookie|sess|jwt)[\w.-]*["']?\s*[:= ]|bearer|basic|:\/\/\S*@/i

/** For what a hook is about to keep or show, where there is no time to look for the very characters. */
async function mayHoldSecret(text: string): Promise<boolean> {
  if (!couldHoldSecret.test(text)) return false
  const { looksSecret } = await import('../redact/looks-secret.ts')
  return looksSecret(text)
}

/** What `gate.scope` holds writes to; read from the plan only where it is switched on. */
function planScope(root: string, config: CompiledConfig): Scope {
  const mode = (config.config.gate as { scope?: unknown } | undefined)?.scope
  if (mode !== 'ask' && mode !== 'deny') return { kind: 'off' }
  const read = readRegular(root, planPath)
  const entries = read.kind === 'read' ? readPlanScope(read.bytes.toString('utf8')) : []
  return {
    kind: mode,
    names: (path) => [...waysInto(root, path)].every((inside) => inside !== '' && inScope(inside, entries)),
  }
}

/** Both as it is named and as it really is: a link inside the scope must not lead out of it. */
function waysInto(root: string, path: string): Set<string> {
  const [target, base] = [resolvePath(path), resolvePath(root)]
  if (target.kind !== 'resolved' || base.kind !== 'resolved') return new Set([''])
  const named = below(base.path, target.path) ?? below(base.real, target.path) ?? ''
  return new Set([named, below(base.real, target.real) ?? ''])
}

const below = (root: string, path: string): string | null =>
  path.startsWith(`${root}/`) ? path.slice(root.length + 1) : null
