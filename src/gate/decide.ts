import type { PlanState } from '../state/approval.ts'
import { planPath } from '../state/own-paths.ts'
import { printable } from '../text/clean.ts'
import type { PathKind } from './protected-paths.ts'
import type { ToolCall } from './tools.ts'

export type Decision =
  | { kind: 'allow' }
  | { kind: 'deny'; rule: string; reason: string }
  /** The user decides, in Claude Code's own dialog. */
  | { kind: 'ask'; rule: string; reason: string }

/** `gate.scope`: what becomes of a write to a file that the approved plan does not name under `## Changes`. */
export type Scope = { kind: 'off' } | { kind: 'ask' | 'deny'; names: (path: string) => boolean }

/** What the decision may know beside the call itself. Everything is read before; nothing is looked up here. */
export type GateContext = {
  readonly plan: PlanState
  /** Where the write goes; only asked for a call that writes. */
  readonly place: (path: string) => PathKind
  readonly permissionMode: string
  /** Whether a command line only reads; null where it does, else the rule and the reason. Only asked for while the gate is closed. */
  readonly judgeCommand: (command: string) => { rule: string; reason: string } | null
  /** The commands that run as a skill or an agent is loaded; in brackets, why nobody can say which do. */
  readonly inlineCommands: (name: string) => readonly string[]
  /** Only asked for once the plan is approved. */
  readonly scope: () => Scope
  /** Whether `gate.tools.allow` of the configuration names this tool. */
  readonly toolIsAllowed: (tool: string) => boolean
  /** What is wrong with plan-gate.yaml, a line each. While anything is, nobody knows what it was meant to forbid. */
  readonly configProblems: readonly string[]
}

const allow: Decision = { kind: 'allow' }

const deny = (rule: string, ...lines: string[]): Extract<Decision, { kind: 'deny' }> => ({
  kind: 'deny',
  rule,
  reason: [`plan-gate: ${lines[0]}`, ...lines.slice(1)].join('\n'),
})

export function decideToolCall(call: ToolCall, world: GateContext): Decision {
  switch (call.kind) {
    case 'harmless':
      return allow
    case 'malformed':
      return deny('malformed-call', `this ${printable(call.tool)} call cannot be judged: ${call.why}.`)
    case 'write':
      return decideWrite(call, world)
    case 'shell':
      return decideShell(call, world)
    case 'agent':
      return call.isolation === null
        ? decideLoading(call, world)
        : unlessApproved(
            world,
            'agent',
            'an isolated agent (it opens a worktree of its own) is',
            'Start it without isolation.',
          )
    case 'skill':
      return decideLoading(call, world)
    case 'leaving':
      return unlessApproved(world, 'leaving', `${printable(call.tool)} (it acts outside this worktree or session) is`)
    case 'other':
      return world.toolIsAllowed(call.tool)
        ? allow
        : unlessApproved(
            world,
            'unknown-tool',
            `${printable(call.tool)} (it is not known to be read-only) is`,
            'If it only reads, the user can name it under gate.tools.allow in plan-gate.yaml.',
          )
  }
}

function decideWrite(call: Extract<ToolCall, { kind: 'write' }>, world: GateContext): Decision {
  const place = world.place(call.path)
  switch (place.kind) {
    case 'control-plane':
      return deny(
        'control-plane',
        `${printable(call.path)} is never written by a tool, approved plan or not.`,
        `${printable(place.part)} belongs to what decides whether the gate holds.`,
        'If the user wants it changed, they change it themselves, outside this session.',
      )
    case 'unresolvable':
      return deny(
        'unresolvable',
        `${printable(call.path)} cannot be judged: ${place.why}. Use the plain path of the file.`,
      )
    case 'plan':
      return allow
    case 'plan-by-a-link':
      return unlessApproved(
        world,
        'linked-plan',
        `writing ${planPath} is`,
        `Here ${place.why}; it must be a plain file.`,
      )
    case 'plan-mode-plan':
      if (world.permissionMode === 'plan') return allow
      return unlessApproved(world, 'write', `writing ${printable(call.path)} is`)
    case 'elsewhere':
      return world.plan.kind === 'approved' && world.configProblems.length === 0
        ? decideScope(call.path, world.scope())
        : unlessApproved(world, 'write', `writing ${printable(call.path)} is`)
  }
}

/** PowerShell has no list of its own: nothing of it is proved to read only. */
function decideShell(call: Extract<ToolCall, { kind: 'shell' }>, world: GateContext): Decision {
  if (call.tool === 'PowerShell' || world.plan.kind === 'approved' || world.configProblems.length > 0)
    return unlessApproved(world, 'shell', `${call.tool} is`, 'Use Read, Grep and Glob to look around.')
  const refusal = world.judgeCommand(call.command)
  if (refusal === null) return allow
  const why = world.plan.kind === 'open' ? printable(world.plan.because, 300) : `${planPath} does not exist yet`
  return deny(
    `bash-${refusal.rule}`,
    `${why}; until it is approved, only commands that read are allowed.`,
    refusal.reason,
  )
}

/** A skill or an agent may look around as it is loaded; any other command in it has to wait like every command. */
function decideLoading(call: Extract<ToolCall, { kind: 'skill' | 'agent' }>, world: GateContext): Decision {
  if (world.plan.kind === 'approved' && world.configProblems.length === 0) return allow
  const refused = world.inlineCommands(call.name).find((command) => world.judgeCommand(command) !== null)
  if (refused === undefined) return allow
  const why = refused.startsWith('(')
    ? printable(refused, 80)
    : `(it runs \`${printable(refused, 80)}\` as it is loaded)`
  return unlessApproved(world, call.kind, `the ${call.kind} ${printable(call.name)} ${why} is`)
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
function unlessApproved(
  { plan, configProblems }: GateContext,
  rule: string,
  what: string,
  ...more: string[]
): Decision {
  if (configProblems.length > 0)
    return deny(
      'invalid-config',
      `${what} not allowed while plan-gate.yaml is invalid:`,
      ...configProblems.slice(0, 5).map((problem) => `  ${printable(problem, 300)}`),
      'The user has to mend that line (no tool may write plan-gate.yaml); then try again.',
    )
  switch (plan.kind) {
    case 'approved':
      return allow
    case 'missing':
      return deny(
        rule,
        `${what} not allowed before there is an approved plan, and ${planPath} does not exist yet.`,
        ...more,
        next,
      )
    case 'open':
      return deny(rule, `${what} not allowed yet: ${printable(plan.because, 300)}.`, ...more, next)
  }
}

const next = `Now: read and search freely, and write ${planPath}. Only the user can approve past the review; \`plan-gate status\` shows them where it stands.`
