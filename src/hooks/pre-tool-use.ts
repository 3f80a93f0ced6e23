import { resolve } from 'node:path'
import { decideToolCall } from '../gate/decide-tool-call.ts'
import { matchesTool } from '../gate/matches-tool.ts'
import { classifyPath, type PathKind, type ProtectedPaths } from '../gate/place-of.ts'
import { type ToolCall, toolCallOf } from '../gate/tool-call.ts'
import { type Answer, askUser, denyToolCall, failClosed, silence } from '../protocol/answers.ts'
import { parseEvent } from '../protocol/parse-event.ts'
import validate from '../schemas/generated/pre-tool-use.js'
import { resolvePath } from '../system/resolve-path.ts'
import { slashed } from '../system/slashed.ts'
import { commandJudge } from './command-judge.ts'
import { exitPlanMode } from './exit-plan-mode.ts'
import { gateConfig } from './gate-config.ts'
import { inlineCommands } from './inline-commands.ts'
import { noteOfDenial } from './note-denial.ts'
import { planScope } from './plan-scope.ts'
import { readPlanState } from './read-plan-state.ts'
import { runHook } from './run-hook.ts'
import { worktreeRoot } from './worktree-root.ts'

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
