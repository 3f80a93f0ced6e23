import type { PlanState } from '../gate/plan-state.ts'
import { compileConfig } from '../hooks/compile-config.ts'
import { readPlanState } from '../hooks/read-plan-state.ts'
import { readRevisionLimit } from '../hooks/read-revision-limit.ts'
import { reviewedRevisions } from '../hooks/reviewed-revisions.ts'
import type { EffectiveConfig } from '../schemas/config.ts'
import type { Finding, Verdict } from '../schemas/review-result.ts'
import type { Session } from '../schemas/session.ts'
import { readThread } from '../store/codex-thread.ts'
import { listCycles } from '../store/history.ts'
import { readInstallRecord } from '../store/install-record.ts'
import { listSessions } from '../store/list-sessions.ts'
import { readProgress } from '../store/progress.ts'
import { readDenials } from '../store/read-denials.ts'
import { type EventsRead, readEvents } from '../store/read-events.ts'
import type { GitDirs } from '../system/git-dirs.ts'

export type Status = {
  root: string
  /** The version of the plan-gate that was installed here. */
  installed: string | null
  plan: PlanState
  revisions: number
  /** How many are reviewed before the decision is the user's. */
  limit: number
  cycles: number
  /** Of this cycle, in their order. */
  verdicts: readonly { revision: number; verdict: Verdict; findings: number }[]
  /** What the last review left open. */
  findings: readonly Finding[]
  /** The review that is running now. */
  review: { pass: number; passes: number; backend: string; revision: number; deadline_at: string } | null
  /** Why the last review came to no verdict, where that is the last that was heard of it. */
  unavailable: string | null
  thread: string | null
  sessions: readonly Session[]
  denials: number
  lastDenial: string | null
  problems: readonly string[]
}

export function readStatus(root: string, gitDirs: GitDirs): Status {
  const record = readInstallRecord(gitDirs.own)
  const thread = readThread(root)
  const listed = listSessions(root)
  const sessions = listed.flatMap(({ session }) => (session === null ? [] : [session]))
  const denials = sessions[0] === undefined ? [] : readDenials(root, sessions[0].session_id)
  const last = denials.at(-1)
  const compiled = compileConfig(root)
  const { revisions, limit } = readRevisionLimit(root, (compiled.config as EffectiveConfig).plan.max_revisions)
  const reviewed = reviewedRevisions(root)
  const progress = readProgress(root)
  const events = readEvents(root)
  const unreadable = [
    ...[record, thread, progress, events].flatMap((read) => (read.kind === 'refused' ? [read.why] : [])),
    ...listed.flatMap(({ why }) => (why === null ? [] : [why])),
  ]
  return {
    root,
    installed: record.kind === 'read' ? record.value.package_version : null,
    plan: readPlanState(root),
    revisions,
    limit,
    cycles: listCycles(root).length,
    verdicts: reviewed.map(({ revision, verdict, findings }) => ({ revision, verdict, findings: findings.length })),
    findings: reviewed.at(-1)?.findings ?? [],
    review: progress.kind === 'running' ? progress.progress : null,
    unavailable: lastFailure(events),
    thread: thread.kind === 'known' ? thread.id : null,
    sessions,
    denials: denials.length,
    lastDenial: last === undefined ? null : `${last.tool} ${last.target}`.trim(),
    problems: [...compiled.problems, ...unreadable],
  }
}

/** An outage that a verdict or a new revision has followed is over. */
function lastFailure(read: EventsRead): string | null {
  const about = ['reviewed', 'review-unavailable', 'cycle-archived', 'approved-manually']
  const last = read.kind === 'read' ? read.events.findLast(({ type }) => about.includes(type)) : undefined
  return last?.type === 'review-unavailable' ? `${last.failure}: ${last.why}` : null
}
