import type { EffectiveConfig } from '../config/schema.ts'
import { readPlanState } from '../gate/read-plan-state.ts'
import { compileConfig } from '../install/compile-config.ts'
import { readRevisionLimit, reviewedRevisions } from '../plan/revisions.ts'
import { readRouteTable } from '../reviewers/create.ts'
import { canonicalTable } from '../reviewers/route-table.ts'
import type { Status } from '../schemas/output.ts'
import { listCycles } from '../state/cycles.ts'
import { eventsFromEnd, ledgerProblem } from '../state/ledger.ts'
import { readInstallRecord } from '../state/records.ts'
import { countRevisions, readProgress, readThread } from '../state/revisions.ts'
import { listSessions, readDenials } from '../state/sessions.ts'
import type { GitDirs } from '../system/git-dirs.ts'
import { sha256 } from '../system/sha256.ts'
import { installUnknown } from './ui.ts'

export function readStatus(root: string, gitDirs: GitDirs): Status {
  const record = readInstallRecord(gitDirs.own)
  const thread = readThread(root)
  const listed = listSessions(root)
  const sessions = listed.flatMap(({ session }) => (session === null ? [] : [session]))
  const denials = sessions[0] === undefined ? [] : readDenials(root, sessions[0].session_id)
  const last = denials.at(-1)
  const compiled = compileConfig(root)
  const config = compiled.config
  const trouble = ledgerProblem(root)
  const { revisions, limit } =
    trouble.length === 0
      ? readRevisionLimit(root, config.plan.max_revisions)
      : { revisions: countRevisions(root).value, limit: config.plan.max_revisions }
  const reviewed = reviewedRevisions(root)
  const progress = readProgress(root)
  const unreadable = [
    ...(record.kind === 'refused' ? [`${installUnknown}${record.why}`] : []),
    ...[thread, progress].flatMap((read) => (read.kind === 'refused' ? [read.why] : [])),
    ...listed.flatMap(({ why }) => (why === null ? [] : [why])),
    ...trouble,
  ]
  return {
    root,
    installed: record.kind === 'read' ? record.value.package_version : null,
    plan: readPlanState(root),
    revisions,
    limit,
    deadline_seconds: config.plan.deadline_seconds,
    cycles: listCycles(root).length,
    verdicts: reviewed.map(({ revision, verdict, findings }) => ({ revision, verdict, findings: findings.length })),
    findings: reviewed.at(-1)?.findings ?? [],
    review: progress.kind === 'running' ? progress.progress : null,
    unavailable: trouble.length === 0 ? lastFailure(root) : null,
    routes_hash: compiled.problems.length > 0 ? null : routesHash(root, config),
    thread: thread.kind === 'known' ? thread.id : null,
    sessions,
    denials: denials.length,
    last_denial: last === undefined ? null : `${last.tool} ${last.target}`.trim(),
    problems: [...compiled.problems, ...unreadable],
  }
}

/** Of the table by which the next review goes. */
function routesHash(root: string, config: EffectiveConfig): string | null {
  const { built } = readRouteTable(root, config, process.env)
  return built.kind === 'table' ? sha256(canonicalTable(built.table)) : null
}

/** An outage that a verdict or a new revision has followed is over. */
function lastFailure(root: string): string | null {
  const about = ['reviewed', 'review-unavailable', 'cycle-archived', 'approved-manually']
  const [last] = eventsFromEnd(root, about)
  return last?.type === 'review-unavailable' ? `${last.failure}: ${last.why}` : null
}
