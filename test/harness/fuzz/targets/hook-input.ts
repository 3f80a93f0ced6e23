import { posix } from 'node:path'
import { commandsToCheck, type Decision, decideToolCall } from '../../../../src/gate/decide.ts'
import type { PlanState } from '../../../../src/gate/plan-state.ts'
import { classifyPath, type ProtectedPaths } from '../../../../src/gate/protected-paths.ts'
import { harmlessTools, type ToolCall, toolCallOf } from '../../../../src/gate/tools.ts'
import { parseEvent } from '../../../../src/hooks/runtime.ts'
import { weightOf } from '../../../../src/reflect/ask.ts'
import { subjectOf } from '../../../../src/reflect/subject.ts'
import { denyToolCall } from '../../../../src/schemas/hook-answer.ts'
import {
  configChangeSchema,
  type PostToolUse,
  type PostToolUseFailure,
  type PreToolUse,
  postToolUseFailureSchema,
  postToolUseSchema,
  preCompactSchema,
  preToolUseSchema,
  sessionStartSchema,
  stopSchema,
} from '../../../../src/schemas/hook-events.ts'
import type { Schema } from '../../../../src/schemas/schema.ts'
import { demand, same, type Target } from '../target.ts'
import { eventPieces, events } from './events.ts'

/** What Claude Code writes to a hook, for every event, and what the gate decides about it in each state of the plan. */
export const hookInput: Target = {
  name: 'hook-input',
  seeds: events,
  pieces: eventPieces,
  parses: 6,
  open: () => ({ look }),
}

const others: readonly Schema[] = [configChangeSchema, preCompactSchema, sessionStartSchema, stopSchema]

function look(input: string): string {
  const before = parseEvent(preToolUseSchema, input)
  if (before.kind === 'malformed' && before.why === 'it is not JSON') return before.why
  const words = others.map((schema) => parseEvent(schema, input).kind[0])
  const after = parseEvent(postToolUseSchema, input)
  const failure = parseEvent(postToolUseFailureSchema, input)
  if (after.kind === 'event') words.push(lookAfter(after.event))
  if (failure.kind === 'event') words.push(lookAfter(failure.event))
  if (before.kind === 'event') words.push(lookBefore(before.event))
  else demand(before.why.length < 200 + input.length, 'the reason has no end')
  return words.join('')
}

const protectedPaths: ProtectedPaths = {
  root: { named: '/w', real: '/w' },
  gitDirs: ['/main/.git/worktrees/w', '/main/.git'],
  mergedRoots: ['/main'],
  userDirs: ['/h/.claude'],
  userFiles: ['/h/.gitconfig'],
  planModeDirs: [{ named: '/h/.claude/plans', real: '/h/.claude/plans' }],
}

const states: readonly PlanState[] = [
  { kind: 'missing' },
  { kind: 'open', because: 'docs/plan.md is not approved yet' },
  { kind: 'approved', hash: 'a'.repeat(64) },
]

function lookBefore({ tool_name, tool_input, cwd, permission_mode }: PreToolUse): string {
  const call = toolCallOf(tool_name, tool_input)
  const pathOf = (path: string) => posix.resolve('/w', cwd ?? '', path)
  const decide = (plan: PlanState, configProblems: readonly string[]): Decision => {
    const commands = commandsToCheck(call, { plan, configProblems }, ({ name }) =>
      name === 'sneaky' ? ['touch x'] : [],
    )
    return decideToolCall(call, {
      plan,
      configProblems,
      classify: (path) =>
        classifyPath({ kind: 'resolved', path: pathOf(path), real: pathOf(path), hardLinks: 1 }, protectedPaths),
      permissionMode: permission_mode ?? 'default',
      planModeSlug: () => 'deep-blue',
      commands: commands.map((command) => ({
        command,
        refusal: command === 'ls' ? null : { rule: 'command', reason: 'not on the list' },
      })),
      scope: () => ({ kind: 'off' }),
      untrustedHead: null,
      noSandbox: null,
      toolIsAllowed: () => false,
    })
  }
  const kinds = states.map((plan) => {
    const decision = decide(plan, [])
    if (decision.kind === 'allow')
      demand(mayPass(call, plan, permission_mode, pathOf), `it passes while the plan is ${plan.kind}`)
    else lookAtReason(decision.reason)
    const broken = decide(plan, ['line 1: wrong'])
    demand(broken.kind !== 'allow' || decision.kind === 'allow', 'a broken configuration opens the gate')
    return decision.kind
  })
  return ` ${call.kind} ${kinds.join(' ')}`
}

/** The same rules a second time, in the plainest words. */
function mayPass(call: ToolCall, plan: PlanState, mode: string | undefined, pathOf: (path: string) => string): boolean {
  const isApproved = plan.kind === 'approved'
  switch (call.kind) {
    case 'malformed':
      return false
    case 'write': {
      const path = pathOf(call.path)
      if (isControlPlane(path)) return false
      const isPlanModePlan = path === '/h/.claude/plans/deep-blue.md' && mode === 'plan'
      return isApproved || path === '/w/docs/plan.md' || isPlanModePlan
    }
    case 'harmless':
      return (harmlessTools as readonly string[]).includes(call.tool)
    case 'shell':
      return isApproved || (call.command === 'ls' && call.tool !== 'PowerShell')
    case 'agent':
      return isApproved || call.isolation === null
    case 'skill':
      return isApproved || call.name !== 'sneaky'
    case 'leaving':
    case 'other':
      return isApproved
  }
}

const isControlPlane = (path: string): boolean =>
  /^\/(?:w|main)\/(?:\.claude\/(?:review|hooks)(?:\/|$)|\.git(?:\/|$)|plan-gate\.yaml$|\.claude$|\.claude\/settings[^/]*\.json$)/i.test(
    path,
  ) ||
  /^\/w\/.*\/\.git(?:\/|$)/.test(path) ||
  /^\/(?:w|main)\/(?:.*\/)?(?:\.claude\/(?:skills|agents|commands|plugins)(?:\/|$)|\.mcp\.json$)/i.test(path) ||
  path === '/h/.gitconfig' ||
  /^\/h\/\.claude\/(?:settings[^/]*\.json$|skills\/|agents\/|CLAUDE\.md$)/.test(path)

function lookAtReason(reason: string): void {
  const answer = denyToolCall(reason)
  const told = JSON.parse(answer.stdout ?? '') as { hookSpecificOutput: { permissionDecisionReason: string } }
  same(told.hookSpecificOutput.permissionDecisionReason, reason, 'the answer says another reason')
  demand(
    !/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/.test(reason),
    'the reason has signs that a terminal obeys',
  )
  demand(reason.length < 2_000, 'the reason has no end')
}

function lookAfter(event: PostToolUse | PostToolUseFailure): string {
  const subject = subjectOf(event, '# Plan\n', {
    planModePlan: (path) => (path.startsWith('/h/') ? '# P' : null),
    pathInWork: (path) => (path.startsWith('/etc') ? null : path.replace('/w/', '')),
    sensitiveFiles: [],
  })
  if (subject?.kind !== 'change') return ` ${subject?.kind ?? 'skip'}`
  const { linesAfter = -1, linesBefore = -1 } = subject.size ?? {}
  const weight = weightOf(subject)
  demand(linesAfter >= 0 && linesBefore >= 0, 'a change has less than no lines')
  return ` change ${weight.model} ${weight.effort}`
}
