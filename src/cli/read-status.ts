import type { PlanState } from '../gate/plan-state.ts'
import { compileConfig } from '../hooks/compile-config.ts'
import { readPlanState } from '../hooks/read-plan-state.ts'
import type { Session } from '../schemas/session.ts'
import { readThread } from '../store/codex-thread.ts'
import { countRevisions } from '../store/count-revisions.ts'
import { listCycles } from '../store/history.ts'
import { readInstallRecord } from '../store/install-record.ts'
import { listSessions } from '../store/list-sessions.ts'
import { readDenials } from '../store/read-denials.ts'
import type { GitDirs } from '../system/git-dirs.ts'

export type Status = {
  root: string
  /** The version of the plan-gate that was installed here. */
  installed: string | null
  plan: PlanState
  revisions: number
  cycles: number
  thread: string | null
  sessions: readonly Session[]
  denials: number
  lastDenial: string | null
  problems: readonly string[]
}

export function readStatus(root: string, gitDirs: GitDirs): Status {
  const record = readInstallRecord(gitDirs.own)
  const thread = readThread(root)
  const sessions = listSessions(root).flatMap(({ session }) => (session === null ? [] : [session]))
  const denials = sessions[0] === undefined ? [] : readDenials(root, sessions[0].session_id)
  const last = denials.at(-1)
  return {
    root,
    installed: record.kind === 'read' ? record.value.package_version : null,
    plan: readPlanState(root),
    revisions: countRevisions(root).value,
    cycles: listCycles(root).length,
    thread: thread.kind === 'known' ? thread.id : null,
    sessions,
    denials: denials.length,
    lastDenial: last === undefined ? null : `${last.tool} ${last.target}`.trim(),
    problems: compileConfig(root).problems,
  }
}
