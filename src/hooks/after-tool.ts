import { toolCallOf } from '../gate/tool-call.ts'
import type { PlanChange } from '../plan/judge-plan-change.ts'
import { type Answer, addContext, blockAfterTool, silence } from '../protocol/answers.ts'
import type { PostToolUse, PostToolUseFailure } from '../schemas/hook-events.ts'
import type { InstallRecord } from '../schemas/install-record.ts'
import { readInstallRecord } from '../store/install-record.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { acceptTree, checkDrift, describeDrift } from './check-drift.ts'
import { describePlanChange } from './describe-plan-change.ts'
import { readPlanState } from './read-plan-state.ts'
import { describeRestored, restoreControlPlane } from './restore-control-plane.ts'
import { settlePlan } from './settle-plan.ts'

/**
 * After a tool has run, or failed: is the gate whole, is the approved plan still the plan, and did anything change that
 * may not? A file tool was judged by its path before it ran; everything else is looked after.
 */
export async function afterTool(root: string, event: PostToolUse | PostToolUseFailure): Promise<Answer> {
  const gitDirs = readGitDirs(root)
  const read = gitDirs === null ? null : readInstallRecord(gitDirs.own)
  const record = read?.kind === 'read' ? read.value : null
  const couldDoAnything = ['shell', 'other', 'leaving'].includes(toolCallOf(event.tool_name, event.tool_input).kind)
  const restored =
    couldDoAnything && gitDirs !== null && record !== null ? await restoreControlPlane(root, gitDirs.own, record) : []
  const change = await settlePlan(root)
  if (gitDirs === null) return answerTo(event.hook_event_name, change, [])
  const approvalEnded = change.kind === 'approval-outdated' || restored.length > 0
  if (approvalEnded) await acceptTree(root, gitDirs.own, record)
  const drift = couldDoAnything && !approvalEnded ? await driftUnlessApproved(root, gitDirs.own, record) : null
  return answerTo(event.hook_event_name, change, [
    ...(restored.length > 0 ? [describeRestored(restored)] : []),
    ...(drift === null ? [] : [drift]),
  ])
}

async function driftUnlessApproved(root: string, gitDir: string, record: InstallRecord | null): Promise<string | null> {
  if (readPlanState(root).kind === 'approved') return null
  const check = await checkDrift(root, gitDir, record)
  switch (check.kind) {
    case 'none':
      return null
    case 'found':
      return describeDrift(check.drift)
    case 'unknown':
      return `plan-gate: whether the command changed files is not known: ${check.why}. Tell the user before you go on.`
  }
}

function answerTo(event: string, change: PlanChange, alarms: readonly string[]): Answer {
  const told = describePlanChange(change)
  if (alarms.length > 0) return blockAfterTool(event, [...alarms, ...(told === null ? [] : [told])].join('\n\n'))
  return told === null ? silence : addContext(event, told)
}
