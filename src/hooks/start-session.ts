import { addContext, failOpen } from '../protocol/answers.ts'
import { parseEvent } from '../protocol/parse-event.ts'
import validate from '../schemas/generated/session-start.js'
import { pruneSessions } from '../store/prune-sessions.ts'
import { recordSession } from '../store/record-session.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { readWorkingTree, rebaseline } from './check-drift.ts'
import { clientVersion } from './client-version.ts'
import { describePlanState } from './describe-plan-state.ts'
import { loadCompiler } from './load-compiler.ts'
import { readPlanState } from './read-plan-state.ts'
import { rememberPlan } from './remember-plan.ts'
import type { Hook } from './run-hook.ts'
import { rememberSettings } from './settings-baseline.ts'
import { syncApprovalBetweenTurns } from './settle-between-turns.ts'
import { sweepLeftovers } from './sweep-leftovers.ts'
import { worktreeRoot } from './worktree-root.ts'

/** A session begins (or resumes, or was compacted): say so on disk, and tell Claude in a few lines where the plan stands. */
export const startSession: Hook = {
  deadlineMs: 15_000,
  onFailure: failOpen,
  work: async (input) => {
    const parsed = parseEvent(validate, input)
    if (parsed.kind === 'malformed') return failOpen(`plan-gate: ${parsed.why}`)
    const { event } = parsed
    const root = worktreeRoot()
    const { recompileConfig } = await loadCompiler()
    const config = recompileConfig(root)
    if (event.session_id !== undefined)
      recordSession(
        root,
        {
          session_id: event.session_id,
          client_version: clientVersion(),
          source: event.source ?? 'startup',
          cwd: event.cwd ?? root,
        },
        new Date(),
      )
    pruneSessions(root)
    const gitDirs = readGitDirs(root)
    if (gitDirs !== null) sweepLeftovers(root, gitDirs)
    const change = await syncApprovalBetweenTurns(root)
    rememberPlan(root)
    rememberSettings(root)
    const plan = readPlanState(root)
    // A compaction is the same session: what it has done is not forgiven by it. And while a plan is carried out, the
    // worktree is held against what it was when that began.
    const isUnderWay = plan.kind === 'approved' && change.kind !== 'approved-by-hand'
    if (event.source !== 'compact' && !isUnderWay && gitDirs !== null)
      rebaseline(gitDirs.own, readWorkingTree(root, gitDirs))
    return addContext('SessionStart', describePlanState(plan, config.problems))
  },
}
