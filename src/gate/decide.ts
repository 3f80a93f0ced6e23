import { planPath } from '../state/own-paths.ts'
import { printable } from '../text/clean.ts'
import type { PlanState } from './plan-state.ts'
import type { PathKind } from './protected-paths.ts'
import type { ToolCall } from './tools.ts'

export type Decision =
  | { kind: 'allow' }
  | { kind: 'deny'; rule: string; reason: string }
  /** The user decides, in Claude Code's own dialog. */
  | { kind: 'ask'; rule: string; reason: string }

/** `gate.scope`: the answer to a write to a file that the approved plan does not name under `## Changes`. */
export type Scope = { kind: 'off' } | { kind: 'ask' | 'deny'; names: (path: string) => boolean }

/** What opens the gate: an approved plan, under a configuration that could be read. */
export type GateState = {
  readonly plan: PlanState
  /** What is wrong with plan-gate.yaml, a line each. An invalid configuration closes the gate. */
  readonly configProblems: readonly string[]
}

/** A command line that the call would run; `refusal` is null where it only reads. */
export type CheckedCommand = {
  readonly command: string
  readonly refusal: { readonly rule: string; readonly reason: string } | null
}

/** Everything that the decision depends on besides the call. */
export type GateContext = GateState & {
  /** Where a write would land. */
  readonly classify: (path: string) => PathKind
  readonly permissionMode: string
  /** The name of this session's plan in plan mode; null where there is none. */
  readonly planModeSlug: () => string | null
  /** Those that `commandsToCheck` named. */
  readonly commands: readonly CheckedCommand[]
  /** What the head of a skill or an agent would start that nobody has agreed to: asked for once the plan is approved. */
  readonly untrustedHead: string | null
  /** Why the list decides about commands and not the sandbox; null where that is not worth a word. */
  readonly noSandbox: string | null
  /** Only asked for once the plan is approved. */
  readonly scope: () => Scope
  /** Whether `gate.tools.allow` of the configuration names this tool. */
  readonly toolIsAllowed: (tool: string) => boolean
}

/** The only place that says whether the gate is open. */
export const isGateOpen = ({ plan, configProblems }: GateState): boolean =>
  plan.kind === 'approved' && configProblems.length === 0

/** None while the gate is open. `inlineCommands`: what runs as a text is loaded; in brackets, why that is not known. */
export function commandsToCheck(
  call: ToolCall,
  state: GateState,
  inlineCommands: (loaded: Extract<ToolCall, { kind: 'skill' | 'agent' }>) => readonly string[],
): readonly string[] {
  if (isGateOpen(state)) return []
  if (call.kind === 'shell') return state.configProblems.length > 0 ? [] : [call.command]
  return call.kind === 'skill' || call.kind === 'agent' ? inlineCommands(call) : []
}

/** In the sandbox a command can change nothing. In brackets: what a skill or an agent would load besides commands. */
export const passInSandbox = (commands: readonly string[]): readonly CheckedCommand[] =>
  commands.map((command) => ({ command, refusal: command.startsWith('(') ? loadsMore : null }))

/** Where the list would judge another command than the one that runs. */
export const refuseAll = (commands: readonly string[]): readonly CheckedCommand[] =>
  commands.map((command) => ({
    command,
    refusal: { rule: 'turned', reason: 'Use Read, Grep and Glob to look around.' },
  }))

const loadsMore: CheckedCommand['refusal'] = { rule: 'loads', reason: 'It loads more than commands.' }

const allow: Decision = { kind: 'allow' }

const deny = (rule: string, ...lines: string[]): Extract<Decision, { kind: 'deny' }> => ({
  kind: 'deny',
  rule,
  reason: [`plan-gate: ${lines[0]}`, ...lines.slice(1)].join('\n'),
})

export function decideToolCall(call: ToolCall, context: GateContext): Decision {
  switch (call.kind) {
    case 'harmless':
      return allow
    case 'malformed':
      return deny('malformed-call', `this ${printable(call.tool)} call cannot be checked: ${call.why}.`)
    case 'write':
      return decideWrite(call, context)
    case 'shell':
      return decideShell(call, context)
    case 'agent':
      return call.isolation === null
        ? decideLoading(call, context)
        : unlessApproved(
            context,
            'agent',
            'an isolated agent (it opens a worktree of its own) is',
            'Start it without isolation.',
          )
    case 'skill':
      return decideLoading(call, context)
    case 'leaving':
      return unlessApproved(context, 'leaving', `${printable(call.tool)} (it acts outside this worktree or session) is`)
    case 'other':
      return context.toolIsAllowed(call.tool)
        ? allow
        : unlessApproved(
            context,
            'unknown-tool',
            `${printable(call.tool)} (it is not known to be read-only) is`,
            'If it only reads, the user can name it under gate.tools.allow in plan-gate.yaml.',
          )
  }
}

function decideWrite(call: Extract<ToolCall, { kind: 'write' }>, context: GateContext): Decision {
  const path = context.classify(call.path)
  switch (path.kind) {
    case 'control-plane':
      return deny(
        'control-plane',
        `${printable(call.path)} is never written by a tool, approved plan or not.`,
        `${printable(path.part)} belongs to what decides whether the gate holds, or to what Claude Code loads: settings, hooks, skills, agents, servers.`,
        'If the user wants it changed, they change it themselves, outside this session: write the text to another place and tell them.',
      )
    case 'unresolvable':
      return deny(
        'unresolvable',
        `${printable(call.path)} cannot be checked: ${path.why}. Use the plain path of the file.`,
      )
    case 'plan':
      return allow
    case 'plan-by-a-link':
      return unlessApproved(
        context,
        'linked-plan',
        `writing ${planPath} is`,
        `Here ${path.why}; it must be a plain file.`,
      )
    case 'plan-mode-plan':
      if (context.permissionMode === 'plan' && context.planModeSlug() === path.slug) return allow
      return decideElsewhere(call.path, context)
    case 'elsewhere':
      return decideElsewhere(call.path, context)
  }
}

const decideElsewhere = (path: string, context: GateContext): Decision =>
  isGateOpen(context)
    ? decideScope(path, context.scope())
    : unlessApproved(context, 'write', `writing ${printable(path)} is`)

/** PowerShell has no list of its own, so none of it is known to only read. */
function decideShell(call: Extract<ToolCall, { kind: 'shell' }>, context: GateContext): Decision {
  if (call.tool === 'PowerShell' || isGateOpen(context) || context.configProblems.length > 0)
    return unlessApproved(context, 'shell', `${call.tool} is`, 'Use Read, Grep and Glob to look around.')
  const [checked = unchecked] = context.commands
  if (checked.refusal === null) return allow
  const { refusal } = checked
  if (refusal.rule === 'turned') return unlessApproved(context, 'shell', `${call.tool} is`, refusal.reason)
  const why = context.plan.kind === 'open' ? printable(context.plan.because, 400) : `${planPath} does not exist yet`
  return deny(
    `bash-${refusal.rule}`,
    `${why}; until it is approved, only commands that read are allowed.`,
    refusal.reason,
    ...(context.noSandbox === null
      ? []
      : [`(The sandbox, in which any command may run, is not used: ${context.noSandbox}.)`]),
  )
}

const unchecked: CheckedCommand = {
  command: '',
  refusal: { rule: 'unchecked', reason: 'The command was not checked; this is a bug in plan-gate.' },
}

/** A skill or an agent may read as it is loaded; any other command in it has to wait for the approval. */
function decideLoading(call: Extract<ToolCall, { kind: 'skill' | 'agent' }>, context: GateContext): Decision {
  if (context.untrustedHead !== null)
    return deny(
      call.kind,
      `the ${call.kind} ${printable(call.name)} ${printable(context.untrustedHead, 80)} is not loaded, approved plan or not.`,
      'What it starts would run outside of the gate, and stay when the approval ends.',
      'If the user wants it, they allow it (plan-gate trust) and start a new session.',
    )
  const refused = context.commands.find(({ refusal }) => refusal !== null)?.command
  if (refused === undefined) return allow
  const why = refused.startsWith('(')
    ? printable(refused, 80)
    : `(it runs \`${printable(refused, 80)}\` as it is loaded)`
  return unlessApproved(context, call.kind, `the ${call.kind} ${printable(call.name)} ${why} is`)
}

function decideScope(path: string, scope: Scope): Decision {
  if (scope.kind === 'off' || scope.names(path)) return allow
  const lines = [
    `${printable(path)} is not among the files that the approved plan names under ## Changes.`,
    'If it has to change, add it to the plan, which is then reviewed again; `plan-gate explain --plan` lists what was understood.',
  ]
  return { ...deny('scope', ...lines), kind: scope.kind }
}

/** A denial names the rule, the reason, what works now, and who can change it. */
function unlessApproved({ plan, configProblems }: GateState, rule: string, what: string, ...more: string[]): Decision {
  if (configProblems.length > 0)
    return deny(
      'invalid-config',
      `${what} not allowed while plan-gate.yaml is invalid:`,
      ...configProblems.slice(0, 5).map((problem) => `  ${printable(problem, 300)}`),
      'The user has to fix that line (no tool may write plan-gate.yaml) and run `plan-gate config --apply`; then try again.',
    )
  if (plan.kind === 'approved') return allow
  const why =
    plan.kind === 'missing'
      ? `before there is an approved plan, and ${planPath} does not exist yet`
      : `yet: ${printable(plan.because, 400)}`
  return deny(rule, `${what} not allowed ${why}.`, ...more, nextStep)
}

const nextStep = `Now: read and search freely, and write ${planPath}. Only the user can approve past the review; \`plan-gate status\` shows them where it stands.`
