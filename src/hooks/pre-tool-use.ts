import { resolve } from 'node:path'
import { decideToolCall } from '../gate/decide-tool-call.ts'
import { matchesTool } from '../gate/matches-tool.ts'
import { type Place, placeOf } from '../gate/place-of.ts'
import { toolCallOf } from '../gate/tool-call.ts'
import { type Answer, denyToolCall, failClosed, silence } from '../protocol/answers.ts'
import { parseEvent } from '../protocol/parse-event.ts'
import validate from '../schemas/generated/pre-tool-use.js'
import { readHouse, slashed } from '../system/read-house.ts'
import { resolvePath } from '../system/resolve-path.ts'
import { gateConfig } from './gate-config.ts'
import { noteDenial } from './note-denial.ts'
import { readPlanState } from './read-plan-state.ts'
import { runHook } from './run-hook.ts'
import { worktreeRoot } from './worktree-root.ts'

await runHook({ deadlineMs: 5_000, onFailure: failClosed, work: judge })

/** Before any tool call: may it go ahead? */
async function judge(input: string): Promise<Answer> {
  const parsed = parseEvent(validate, input)
  if (parsed.kind === 'malformed') return denyToolCall(`plan-gate: this call cannot be judged: ${parsed.why}.`)
  const { event } = parsed
  const call = toolCallOf(event.tool_name, event.tool_input)
  if (call.kind === 'harmless') return silence
  const root = worktreeRoot()
  const config = await gateConfig(root)
  const decision = decideToolCall(call, {
    plan: readPlanState(root),
    place: (path) => placeIn(root, resolve(event.cwd ?? root, path), config.plan_mode_dirs),
    permissionMode: event.permission_mode ?? 'default',
    toolIsAllowed: (tool) => matchesTool(config.tool_patterns, tool),
    configProblems: config.problems,
  })
  if (decision.kind === 'allow') return silence
  return { ...denyToolCall(decision.reason), afterwards: () => noteDenial(root, event, decision) }
}

function placeIn(root: string, path: string, planModeDirs: readonly string[]): Place {
  const target = resolvePath(path)
  const named =
    target.kind === 'resolved' ? { ...target, path: slashed(target.path), real: slashed(target.real) } : target
  return placeOf(named, readHouse(root, planModeDirs))
}
