import { readPlanState } from '../gate/read-plan-state.ts'
import { toolCallOf } from '../gate/tools.ts'
import { checkDrift, type DriftCheck, formatDrift, readWorkingTree, rebaselineOrForget } from '../gate/working-tree.ts'
import { describeControlPlane, restoreControlPlane } from '../install/repair.ts'
import type { PlanChange } from '../plan/plan-change.ts'
import { formatPlanChange } from '../plan/plan-change.ts'
import { detectPlanChange, type HookMessage, reviewIfChanged, syncApproval } from '../plan/sync-approval.ts'
import { reflectAfterTool, reflectOnFailure } from '../reflect/after-tool.ts'
import { reflectionSetup } from '../reflect/session-state.ts'
import validate from '../schemas/generated/post-tool-use.js'
import validateFailure from '../schemas/generated/post-tool-use-failure.js'
import { addContext, blockAfterTool, failOpen, type HookAnswer, notifyUser, silence } from '../schemas/hook-answer.ts'
import type { PostToolUse, PostToolUseFailure } from '../schemas/hook-events.ts'
import { StoreError } from '../state/files.ts'
import { systemFailure } from '../system/errors.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { parseEvent, runHook, worktreeRoot } from './runtime.ts'

/** `word`: null for a tool that has run, `failure` or `reflect` for one that failed. */
export const start = (word: string | null = null): Promise<never> =>
  runHook({
    deadlineMs: word === null ? 60_000 : 45_000,
    onFailure: failOpen,
    work: (input, extend) => answerEvent(input, extend, word),
  })

/**
 * After any tool that may have changed something. A command that failed may have done so all the same; it fires an event
 * of its own. For that one a second entry, `reflect`, runs in the background and asks only what the failure means.
 */
export async function answerEvent(
  input: string,
  extend: (ms: number) => void,
  word: string | null = null,
): Promise<HookAnswer> {
  const parsed = word === null ? parseEvent(validate, input) : parseEvent(validateFailure, input)
  if (parsed.kind === 'malformed') return notifyUser(`plan-gate: ${parsed.why}`)
  const event: PostToolUse | PostToolUseFailure = parsed.event
  return word === 'reflect' && event.hook_event_name === 'PostToolUseFailure'
    ? reflectOnFailure(worktreeRoot(), event, extend)
    : afterTool(worktreeRoot(), event, extend)
}

/**
 * After a tool has run, or failed: is the gate whole, is the approved plan still the plan, and did anything change that
 * may not? A file tool was judged by its path before it ran, so the worktree is looked at only after the others.
 */
async function afterTool(
  root: string,
  event: PostToolUse | PostToolUseFailure,
  extend: (ms: number) => void,
): Promise<HookAnswer> {
  const alarms: string[] = []
  try {
    return await checkAfterTool(root, event, extend, alarms)
  } catch (error) {
    const why = incompleteCheckMessage(error)
    if (why === null) throw error
    // A full disk, say: the gate is closed all the same, and what was found before that is told as well.
    return blockAfterTool(event.hook_event_name, [...alarms, why].join('\n\n'))
  }
}

async function checkAfterTool(
  root: string,
  event: PostToolUse | PostToolUseFailure,
  extend: (ms: number) => void,
  alarms: string[],
): Promise<HookAnswer> {
  const gitDirs = readGitDirs(root)
  if (gitDirs === null) return toAnswer(event.hook_event_name, await syncApproval(root), [gitDirMissing], null)
  const couldDoAnything = ['shell', 'other', 'leaving'].includes(toolCallOf(event.tool_name, event.tool_input).kind)
  const wasApproved = readPlanState(root).kind === 'approved'
  const tree = couldDoAnything && !wasApproved ? readWorkingTree(root, gitDirs) : null
  const controlPlane = await restoreControlPlane(root, gitDirs)
  alarms.push(...describeControlPlane(controlPlane))
  // What was done under an approval that ends here is no drift; what was done without one stays one.
  const endsHere =
    detectPlanChange(root).kind === 'approval-outdated' || (controlPlane.restored.length > 0 && wasApproved)
  if (endsHere) rebaselineOrForget(gitDirs.own, tree ?? readWorkingTree(root, gitDirs))
  const change = await syncApproval(root)
  if (!endsHere && tree !== null) alarms.push(...driftAlarms(await checkDrift(root, gitDirs.own, tree)))
  // Last, because it may take minutes.
  const review = await reviewIfChanged(root, event, extend)
  const reflection = review === null && wasApproved && !endsHere ? await reflectIfWanted(root, event, extend) : null
  return toAnswer(event.hook_event_name, change, alarms, review ?? reflection)
}

/** null for a mistake of ours. */
function incompleteCheckMessage(error: unknown): string | null {
  if (error instanceof StoreError) return `plan-gate: ${error.message} Tell the user.`
  if (systemFailure(error) === null) return null
  return `plan-gate: not all was looked at (${messageOf(error)}). Tell the user.`
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The second pair of eyes, while the approved plan is carried out. A command that failed is looked at in the background. */
async function reflectIfWanted(
  root: string,
  event: PostToolUse | PostToolUseFailure,
  extend: (ms: number) => void,
): Promise<HookMessage | null> {
  if (event.hook_event_name === 'PostToolUseFailure') return null
  const setup = await reflectionSetup(root)
  if (setup === null) return null
  const { user, model } = await reflectAfterTool(root, event, setup, extend)
  return { kind: model === null ? 'silence' : 'context', text: model ?? '', user }
}

const gitDirMissing =
  'plan-gate: the git directory of this worktree is gone, and with it what the gate is compared with. Stop here and tell the user.'

function driftAlarms(check: DriftCheck): string[] {
  switch (check.kind) {
    case 'none':
      return []
    case 'found':
      return [formatDrift(check.drift)]
    case 'unknown':
      return [
        `plan-gate: whether the command changed files is not known: ${check.why}. Tell the user before you go on.`,
      ]
  }
}

function toAnswer(
  event: string,
  change: PlanChange,
  alarms: readonly string[],
  review: HookMessage | null,
): HookAnswer {
  const changed = formatPlanChange(change)
  const told = [...alarms, ...(changed === null ? [] : [changed]), ...(review?.text ? [review.text] : [])]
  if (told.length === 0) return review?.user ? notifyUser(review.user) : silence
  const answer = alarms.length > 0 || review?.kind === 'block' ? blockAfterTool : addContext
  return answer(event, told.join('\n\n'), review?.user ?? undefined)
}
