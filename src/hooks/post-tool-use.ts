import { type EndedCall, endCall } from '../gate/call-notes.ts'
import { readPlanState, readPlanStateOrThrow, recordSeenPlan } from '../gate/read-plan-state.ts'
import { closeApproved, describePlanted, takePlanted } from '../gate/sandbox/approved.ts'
import { explainRefusals, findRefusals, ranInSandbox } from '../gate/sandbox/rules.ts'
import { couldChangeAnything, targetOf, toolCallOf } from '../gate/tools.ts'
import { formatDrift, readWorkingTree, rebaselineOrForget, reportDrift } from '../gate/working-tree.ts'
import { describeControlPlane, pendingConfigNotice, restoreControlPlane } from '../install/repair.ts'
import { formatPlanChange, formatTampering, type PlanChange, takeNote } from '../plan/plan-change.ts'
import {
  deferReview,
  detectPlanChange,
  type HookMessage,
  reviewIfChanged,
  syncApproval,
  undoTampering,
} from '../plan/sync-approval.ts'
import { reflectAfterTool, reflectOnFailure } from '../reflect/reflect.ts'
import { addContext, blockAfterTool, failOpen, type HookAnswer, notifyUser, silence } from '../schemas/hook-answer.ts'
import { type AfterTool, postToolUseFailureSchema, postToolUseSchema } from '../schemas/hook-events.ts'
import { StoreError } from '../state/files.ts'
import { appendDenial } from '../state/sessions.ts'
import { systemErrorCode } from '../system/errors.ts'
import { type GitDirs, readGitDirs } from '../system/git-dirs.ts'
import { loadBundle } from '../system/load-bundle.ts'
import { mayHoldSecret, withheld } from './may-hold-secret.ts'
import { gitDirMissing, type Hook, parseEvent, runHook, worktreeRoot } from './runtime.ts'

/** `word`: null for a tool that has run, `failure` or `reflect` for one that failed, `prompt` for a message of the user's. */
export const start = (word: string | null = null): Promise<never> =>
  runHook(
    word === 'prompt'
      ? promptHook
      : {
          deadlineMs: word === null ? 60_000 : 45_000,
          onFailure: failOpen,
          work: (input, extendDeadline) => answerEvent(input, extendDeadline, word),
        },
  )

/** What the user has decided while Claude was idle reaches it with their next message. */
const promptHook: Hook = {
  deadlineMs: 5_000,
  onFailure: failOpen,
  work: () => {
    const note = takeNote(worktreeRoot())
    return note === null ? silence : addContext('UserPromptSubmit', note)
  },
}

/**
 * After any tool that may have changed something, also one that failed: that fires an event of its own, and for it a
 * second entry, `reflect`, runs in the background and reviews only what the failure means.
 */
export async function answerEvent(
  input: string,
  extendDeadline: (ms: number) => void,
  word: string | null = null,
): Promise<HookAnswer> {
  const parsed = word === null ? parseEvent(postToolUseSchema, input) : parseEvent(postToolUseFailureSchema, input)
  if (parsed.kind === 'malformed') return notifyUser(`plan-gate: ${parsed.why}`)
  const event: AfterTool = parsed.event
  return word === 'reflect' && event.hook_event_name === 'PostToolUseFailure'
    ? reflectOnFailure(worktreeRoot(), event, extendDeadline)
    : afterTool(worktreeRoot(), event, extendDeadline)
}

/**
 * Is the gate intact, is the approved plan unchanged, and did anything change without an approval? A file tool was
 * checked by its path before it ran, so the worktree is compared only after the others.
 */
async function afterTool(root: string, event: AfterTool, extendDeadline: (ms: number) => void): Promise<HookAnswer> {
  const alarms: string[] = []
  try {
    return await checkAfterTool(root, event, extendDeadline, alarms)
  } catch (error) {
    if (!(error instanceof StoreError) && systemErrorCode(error) === null) throw error
    const why =
      error instanceof StoreError
        ? error.message
        : `the checks after this tool call could not finish (${error instanceof Error ? error.message : error}).`
    // A full disk, for example. The gate stays closed, and the alarms found so far are reported too.
    return blockAfterTool(event.hook_event_name, [...alarms, `plan-gate: ${why} Tell the user.`].join('\n\n'))
  }
}

async function checkAfterTool(
  root: string,
  event: AfterTool,
  extendDeadline: (ms: number) => void,
  alarms: string[],
): Promise<HookAnswer> {
  const gitDirs = readGitDirs(root)
  if (gitDirs === null) return toAnswer(event.hook_event_name, await syncApproval(root), [gitDirMissing], null)
  const ended = endCall(gitDirs.own, event, root)
  const changed = ended?.changed
  const tampering = changed?.approval === true ? await undoTampering(root, gitDirs.own, event.tool_name) : null
  const couldDoAnything = couldChangeAnything(toolCallOf(event.tool_name, event.tool_input))
  const wasApproved = tampering?.ended ?? wasApprovedBefore(root, alarms)
  let tree = couldDoAnything && !wasApproved ? readWorkingTree(root, gitDirs) : null
  const controlPlane = await restoreControlPlane(root, gitDirs, changed?.config === true)
  if (tampering !== null) alarms.push(formatTampering(tampering))
  alarms.push(...describeControlPlane(controlPlane))
  const bypass = await bypassOf(root, gitDirs, event, ended)
  if (bypass !== null) {
    if (!wasApproved) tree ??= readWorkingTree(root, gitDirs)
    alarms.push(await bypass(wasApproved))
  }
  const isTampered = tampering !== null || bypass !== null || controlPlane.restored.length > 0
  // Work done under an approval that ends here is not drift.
  const endsHere = detectPlanChange(root).kind === 'approval-outdated' || (isTampered && wasApproved)
  if (endsHere) rebaselineOrForget(gitDirs.own, tree ?? readWorkingTree(root, gitDirs))
  const change = await syncApproval(root)
  const drift = endsHere || tree === null ? null : formatDrift(await reportDrift(root, gitDirs.own, tree))
  if (drift !== null) alarms.push(drift)
  const isApproved = recordSeenPlan(root, gitDirs.own).kind === 'approved'
  const pending = pendingConfigNotice(root, gitDirs.own)
  if (!isApproved) closeApproved(gitDirs.own)
  const planted = describePlanted(takePlanted(gitDirs.own))
  if (planted !== null) alarms.push(planted)
  // What ran may have prepared the answer of the review.
  if (isTampered) {
    const text = deferReview(root) || endsHere ? notReviewed : ''
    return toAnswer(event.hook_event_name, change, alarms, { kind: 'block', text, user: alarms.join('\n') })
  }
  const note = takeNote(root)
  // Last, because it may take minutes.
  const review = isApproved ? null : await reviewIfChanged(root, event, extendDeadline)
  const reflection =
    review === null && wasApproved && !endsHere ? await reflectIfWanted(root, event, extendDeadline) : null
  return toAnswer(
    event.hook_event_name,
    change,
    alarms,
    review ?? reflection,
    [note, pending, await sandboxNote(root, gitDirs, event, isApproved)],
    pending,
  )
}

async function bypassOf(root: string, gitDirs: GitDirs, event: AfterTool, ended: EndedCall | null) {
  if (ended?.isRewritten === false || event.tool_use_id === undefined) return null
  const { reviews } = await loadBundle<typeof import('./reviews.ts')>('reviews')
  return reviews.findBypass(root, gitDirs, event, ended, async (...call) =>
    (await loadBundle<typeof import('./pre-tool-use.ts')>('pre-tool-use')).judgeAgain(...call),
  )
}

/** What the sandbox seems to have refused a command, for Claude and for the log. */
async function sandboxNote(
  root: string,
  gitDirs: GitDirs,
  event: AfterTool,
  isApproved: boolean,
): Promise<string | null> {
  const call = toolCallOf(event.tool_name, event.tool_input)
  if (call.kind !== 'shell' || !ranInSandbox(gitDirs.own, event.session_id)) return null
  const output = event.hook_event_name === 'PostToolUse' ? event.tool_response : event.error
  const refused = findRefusals(typeof output === 'string' ? output : (JSON.stringify(output) ?? ''))
  if (refused.length === 0) return null
  const reason = explainRefusals(refused, isApproved)
  if (event.session_id !== undefined)
    appendDenial(root, event.session_id, {
      tool: call.tool,
      target: (await mayHoldSecret(call.command)) ? withheld : targetOf(event.tool_input),
      rule: 'sandbox',
      reason,
    })
  return reason
}

const notReviewed = 'docs/plan.md was not reviewed after this call. Save it again to have it reviewed.'

/** A file that cannot be looked at once is told, and looked at again. */
function wasApprovedBefore(root: string, alarms: string[]): boolean {
  try {
    return readPlanStateOrThrow(root).state.kind === 'approved' || detectPlanChange(root).kind === 'carried-over'
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    alarms.push(`plan-gate: ${error.message} Tell the user.`)
    return readPlanState(root).kind === 'approved'
  }
}

/** Reflection, while the approved plan is carried out. A failed command is reviewed in the background. */
async function reflectIfWanted(
  root: string,
  event: AfterTool,
  extendDeadline: (ms: number) => void,
): Promise<HookMessage | null> {
  if (event.hook_event_name === 'PostToolUseFailure') return null
  const { user, model } = await reflectAfterTool(root, event, extendDeadline)
  return { kind: model === null ? 'silence' : 'context', text: model ?? '', user }
}

function toAnswer(
  event: string,
  change: PlanChange,
  alarms: readonly string[],
  review: HookMessage | null,
  notes: readonly (string | null)[] = [],
  forUser: string | null = null,
): HookAnswer {
  const texts = [formatPlanChange(change), review?.text ?? null, ...notes]
  const messages = [...alarms, ...texts.filter((text) => text !== null && text !== '')]
  const told = [forUser, review?.user].filter((line) => typeof line === 'string' && line !== '').join('\n')
  if (messages.length === 0) return told === '' ? silence : notifyUser(told)
  const answer = alarms.length > 0 || review?.kind === 'block' ? blockAfterTool : addContext
  return answer(event, messages.join('\n\n'), told || undefined)
}
