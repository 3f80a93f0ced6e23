/** Claude wants to stop, or its context is about to be compacted: one review of the whole. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readPlanScope } from '../gate/scope.ts'
import { readWorkingTree } from '../gate/working-tree.ts'
import type { HookAnswer } from '../schemas/hook-answer.ts'
import type { PreCompact, Stop } from '../schemas/hook-events.ts'
import type { TreeBaseline } from '../schemas/records.ts'
import { readRegular } from '../state/files.ts'
import { isOwnPath, planPath } from '../state/own-paths.ts'
import { readTreeBaseline } from '../state/records.ts'
import { debug } from '../system/debug.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { gitSyncOrThrow } from '../system/hook-git.ts'
import { sha256 } from '../system/sha256.ts'
import { digestOfPath } from '../system/tree-state.ts'
import { type ChangedFile, worktreeChanges } from '../system/worktree-diff.ts'
import { formatCompaction, noMessage, toHookAnswer } from './messages.ts'
import { type ReflectionContext, reflect } from './reflect.ts'
import { clearOpen, openFindings, readSessionState, type SessionState, updateSessionState } from './session-state.ts'
import { decideAfterReview, decideStop, letGo } from './stop.ts'
import { type Trace, tracePlan } from './trace-plan.ts'
import { readTranscriptTail } from './transcript.ts'

/**
 * An open finding holds Claude once, without a call; otherwise one review of the whole does, unless it is a PASS. A second
 * stop is always let go.
 */
export async function reflectAtStop(context: ReflectionContext, event: Stop): Promise<HookAnswer> {
  const { root, settings, compiled } = context
  const plan = readPlanText(root)
  if (plan === null) return toHookAnswer('Stop', noMessage)
  const isActive = event.stop_hook_active === true
  const state = await clearGoneFiles(context)
  context.extendDeadline(preparationMs)
  const work = isActive ? null : await readWork(root, plan)
  if (work?.isBegun === false && (await mayAskToStart(context, plan, state))) return toHookAnswer('Stop', noMessage)
  const trace = settings.traceability === 'off' ? null : (work?.trace ?? null)
  // Before anything is changed, Claude may still be asking: it must not be sent to begin.
  const traceBlocks = settings.traceability === 'blocking' && work?.isBegun === true
  const decided = decideStop({ isActive, open: openFindings(state), trace, traceBlocks })
  debug(`stop: ${decided === null ? 'ask' : decided.blocks ? 'block' : 'let-go'}`)
  if (decided !== null) return toHookAnswer('Stop', decided)
  const content =
    event.last_assistant_message?.trim() || readTranscriptTail(event.transcript_path, 60_000, compiled).trim()
  if (content === '') return toHookAnswer('Stop', letGo(trace))
  const about = 'the work as a whole'
  const subject = { kind: 'stop', hash: null, key: null, about, content, plan, changes: work?.diff ?? null } as const
  return toHookAnswer('Stop', decideAfterReview(await reflect(context, subject), trace))
}

/** For the session state and for git, before the reviewer is asked. */
const preparationMs = 90_000

/** Before a compaction: what a second reviewer thinks is worth keeping. A failure does not keep the context from shrinking. */
export async function reflectBeforeCompaction(context: ReflectionContext, event: PreCompact): Promise<HookAnswer> {
  const content = readTranscriptTail(event.transcript_path, 120_000, context.compiled)
  if (content === '') return toHookAnswer('PreCompact', noMessage)
  const plan = readPlanText(context.root)
  const subject = { kind: 'compaction', hash: null, key: null, about: 'the session so far', content, plan } as const
  const review = await reflect(context, subject)
  if (review.kind === 'judged') return toHookAnswer('PreCompact', formatCompaction(review.summary))
  debug(`no reflection before the compaction: ${review.why}`)
  return toHookAnswer('PreCompact', noMessage)
}

function readPlanText(root: string): string | null {
  const plan = readRegular(root, planPath)
  return plan.kind === 'read' ? plan.bytes.toString('utf8') : null
}

/** The first stop after an approval, with nothing done yet, is the question whether to start. */
async function mayAskToStart(
  { root, session }: ReflectionContext,
  plan: string,
  state: SessionState,
): Promise<boolean> {
  const askedToStart = sha256(plan)
  if (state.askedToStart === askedToStart || state.fails.fails.length > 0) return false
  await updateSessionState(root, session, (from) => ({ state: { ...from, askedToStart } }))
  return true
}

/** A finding about a file that was deleted could never pass. */
async function clearGoneFiles({ root, session }: ReflectionContext): Promise<SessionState> {
  const state = readSessionState(root, session)
  const gone = state.fails.fails.filter(({ key }) => isGone(root, key)).map(({ key }) => key)
  if (gone.length === 0) return state
  return (await updateSessionState(root, session, (from) => ({ state: gone.reduce(clearOpen, from) }))).state
}

function isGone(root: string, key: string): boolean {
  const path = /^file ([^/].*)$/s.exec(key)?.[1]
  return path !== undefined && !existsSync(join(root, path))
}

/** What was done since the approval, and how it compares with the plan. null: not known. */
type Work = { readonly diff: string | null; readonly trace: Trace | null; readonly isBegun: boolean | null }

async function readWork(root: string, plan: string): Promise<Work> {
  const gitDirs = readGitDirs(root)
  if (gitDirs === null) return unknownWork('there is no git directory')
  // A git that could be made to run a program is not asked; this says so first.
  const now = readWorkingTree(root, gitDirs)
  if (now.kind === 'failed') return unknownWork(now.why)
  const baseline = readTreeBaseline(gitDirs.own)
  const before: Pick<TreeBaseline, 'head' | 'paths'> =
    baseline.kind === 'read' ? baseline.value : { head: 'HEAD', paths: {} }
  /** Changed before the approval and still the same, even if committed since. */
  const isUnchanged = (path: string): boolean => {
    const name = Buffer.from(path).toString('latin1')
    const known = before.paths[name]
    return known !== undefined && known.digest === (now.paths[name] ?? { digest: digestOfPath(root, name) }).digest
  }
  const isWork = ({ path }: ChangedFile): boolean => !isOwnPath(path) && !isUnchanged(path)
  try {
    const { diff, files } = await worktreeChanges(gitDirs, { commit: before.head, without: planPath }, (args, env) =>
      gitSyncOrThrow(root, args, gitTimeoutMs, env),
    )
    const changed = files.filter(isWork)
    return { diff: clipDiff(diff), trace: tracePlan(readPlanScope(plan), changed), isBegun: changed.length > 0 }
  } catch (error) {
    return unknownWork(error instanceof Error ? error.message : String(error))
  }
}

/** For one command of git; a stop must not wait for it as long as for a review. */
const gitTimeoutMs = 10_000

function unknownWork(why: string): Work {
  debug(`what changed since the approval is not known: ${why}`)
  return { diff: null, trace: null, isBegun: null }
}

const maxDiff = 1_000_000

/** Whole files, so that no secret is cut in two before it is redacted. */
function clipDiff(diff: string): string {
  if (diff.length <= maxDiff) return diff
  const end = diff.lastIndexOf('\ndiff --git ', maxDiff)
  return `${diff.slice(0, Math.max(0, end))}\n[… and more files that are not shown …]`
}
