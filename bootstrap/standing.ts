import { basename, relative } from 'node:path'
import { closedSessions } from '../src/gate/closed-mark.ts'
import { readPlanState } from '../src/gate/read-plan-state.ts'
import { checkDrift, isNewCommit, printablePath, readGitKeys, readWorkingTree } from '../src/gate/working-tree.ts'
import { compileConfig } from '../src/install/compile-config.ts'
import { readThreats } from '../src/install/settings.ts'
import { failureWords, remedyOf, type Unavailability } from '../src/plan/messages.ts'
import { type NextAction, nextAction, type Standing } from '../src/plan/next-action.ts'
import { readHandled } from '../src/plan/plan-change.ts'
import { type ReviewedRevision, reviewedRevisions } from '../src/plan/revisions.ts'
import { applyWaivers, pendingFindings, readWaivers } from '../src/plan/user-decisions.ts'
import { isBlocking } from '../src/review/findings.ts'
import type { LedgerEvent } from '../src/schemas/records.ts'
import { readPlanBytes } from '../src/state/approval.ts'
import { readRegular, StoreError } from '../src/state/files.ts'
import { eventsFromEnd, ledgerProblem } from '../src/state/ledger.ts'
import { readInstallRecord } from '../src/state/records.ts'
import { readProgress } from '../src/state/revisions.ts'
import { listSessions, sessionName } from '../src/state/sessions.ts'
import { systemErrorCode } from '../src/system/errors.ts'
import { type GitDirs, readGitDirs } from '../src/system/git-dirs.ts'
import { findRepository, listWorktrees, resolveLinks } from '../src/system/repository.ts'
import { sha256 } from '../src/system/sha256.ts'
import { shellWord } from '../src/text/own-commands.ts'

/** A worktree with a gate, for the lists of `open` and `status`. */
export type GatedWorktree = {
  root: string
  branch: string | null
  next: NextAction
  lastUsed: string | null
  command: string
}

/** Of the repository of a folder, the one that was used last first. */
export async function listGated(cwd: string): Promise<GatedWorktree[]> {
  const repository = await findRepository(cwd)
  const all = (await listWorktrees(repository.dir)).map(({ path, branch }) => ({ root: resolveLinks(path), branch }))
  const gated = all.flatMap(({ root, branch }) => {
    const gitDirs = readGitDirs(root)
    if (gitDirs === null || readInstallRecord(gitDirs.own).kind !== 'read') return []
    const { next, last } = stateOf(root, gitDirs)
    const prefix = `${repository.name}-`
    const name = basename(root).startsWith(prefix) ? basename(root).slice(prefix.length) : root
    const isUnique = all.filter((other) => basename(other.root) === basename(root)).length === 1
    const command = `plan-gate open ${shellWord(isUnique ? name : root)}`
    return [{ root, branch, next, lastUsed: last, command }]
  })
  return gated.sort((a, b) => (b.lastUsed ?? '').localeCompare(a.lastUsed ?? ''))
}

/** One worktree that cannot be read does not hide the others. */
function stateOf(root: string, gitDirs: GitDirs): { next: NextAction; last: string | null } {
  try {
    const [last] = listSessions(root)
    const next = nextAction(readStanding(root, gitDirs, { drift: false }))
    return { next, last: last?.session?.last_seen_at ?? null }
  } catch (error) {
    if (!(error instanceof StoreError) && systemErrorCode(error) === null) throw error
    const why = error instanceof Error ? error.message : String(error)
    return { next: { state: 'damaged', text: `It cannot be read: ${why}`, command: 'plan-gate doctor' }, last: null }
  }
}

/** `drift`: whether git is asked for it, which takes longer than all the rest. */
export function readStanding(root: string, gitDirs: GitDirs, { drift }: { drift: boolean }): Standing {
  const record = readInstallRecord(gitDirs.own)
  const [config] = compileConfig(root).problems
  const plan = readPlanState(root)
  const ledger = ledgerProblem(root)
  const damage =
    record.kind === 'refused' ? record.why : record.kind === 'read' ? damageIn(root, record.value.files) : null
  const progress = readProgress(root)
  const bytes = readPlanBytes(root)
  const hash = bytes.kind === 'read' ? sha256(bytes.bytes) : null
  const handled = readHandled(root)
  const reviewed = ledger === null ? reviewedRevisions(root) : []
  return {
    isInstalled: record.kind !== 'absent',
    damage,
    ledgerProblem: ledger,
    configProblem: config ?? null,
    closed: closedNow(root, gitDirs.own),
    tampering: ledger === null ? lastTampering(root) : null,
    review: progress.kind === 'running' ? progress.progress : null,
    drift: drift && plan.kind !== 'approved' && record.kind === 'read' ? driftIn(root, gitDirs) : null,
    plan,
    last: ledger === null ? lastAbout(root, hash) : { kind: 'other', reviewed: null },
    told: handled?.plan_hash === hash && notReady.includes(handled.outcome ?? '') ? handled.user : null,
    ...openPoints(root, reviewed),
  }
}

/** Outcomes that the ledger does not know, because no reviewer was asked. */
const notReady = ['checklist', 'too-long', 'not-utf8']

/** The files as they were installed, and nothing in the settings that would switch the gate off. */
function damageIn(root: string, files: readonly { readonly path: string; readonly sha256: string }[]): string | null {
  const [threat] = readThreats(root)
  if (threat !== undefined) return `${relative(root, threat.file)}: ${threat.what}`
  for (const { path, sha256: digest } of files) {
    const read = readRegular(root, path)
    if (read.kind === 'refused') return read.why
    if (read.kind === 'absent' || sha256(read.bytes) !== digest) return `${path} is not as it was installed`
  }
  return null
}

/** Of the session that was active last; a new one is not concerned. */
function closedNow(root: string, gitDir: string): string | null {
  const [last] = listSessions(root)
  const id = last?.session?.session_id
  if (id === undefined || last?.session?.ended_at !== undefined) return null
  return closedSessions(gitDir).find(({ session }) => session === sessionName(id))?.why ?? null
}

const tamperingWords: { readonly [type: string]: (event: LedgerEvent) => string } = {
  'approval-tampered': ({ tool }) => `approval.json changed while ${tool} ran, and was put back`,
  'gate-bypassed': ({ tool, target }) => `${tool} got past the gate (${target})`,
  'control-plane-restored': ({ paths }) =>
    `Files of the gate were changed and put back (${Array.isArray(paths) ? paths.slice(0, 3).join(', ') : 'several'})`,
}

/** What the user did since, or a plan that went to review since, answers it. */
const answers =
  'revision-submitted approved approved-manually changes-requested drift-accepted installed continued'.split(' ')

function lastTampering(root: string): string | null {
  const [last] = eventsFromEnd(root, [...Object.keys(tamperingWords), ...answers])
  return last === undefined ? null : (tamperingWords[last.type]?.(last) ?? null)
}

function driftIn(root: string, gitDirs: GitDirs): string | null {
  const keys = readGitKeys(root, gitDirs).changed
  if (keys.length > 0) return `git’s configuration: ${named(keys)}`
  const check = checkDrift(gitDirs.own, readWorkingTree(root, gitDirs))
  if (check.kind === 'found')
    return named(check.drift.map((drift) => (isNewCommit(drift) ? 'a new commit' : printablePath(drift.path))))
  return check.kind === 'unknown' ? check.why : null
}

const named = (names: readonly string[]): string =>
  `${names.slice(0, 3).join(', ')}${names.length > 3 ? ` and ${names.length - 3} more` : ''}`

const types = ['revision-submitted', 'reviewed', 'review-unavailable', 'limit-reached', 'continued', 'cycle-archived']

function lastAbout(root: string, hash: string | null): Standing['last'] {
  let [isLimit, isContinued] = [false, false]
  for (const event of eventsFromEnd(root, types)) {
    const { type, plan_hash, revision } = event
    if (type === 'cycle-archived') break
    if (type === 'continued') isContinued = true
    else if (type === 'limit-reached') isLimit ||= !isContinued
    else if (type === 'reviewed' && (isLimit || plan_hash === hash))
      return { kind: 'verdict', revision: Number(revision), verdict: String(event.verdict), isLimit }
    else if (plan_hash !== hash)
      return { kind: 'other', reviewed: type === 'review-unavailable' ? null : Number(revision) }
    else if (type === 'revision-submitted') return { kind: 'submitted' }
    else return { kind: 'no-verdict', ...failureIn(event) }
  }
  return { kind: 'other', reviewed: null }
}

const failureIn = ({ failure, why, next_step }: LedgerEvent) => ({
  failure: String(failure),
  why: String(why),
  remedy: typeof next_step === 'string' ? next_step : knownRemedy(String(failure)),
})

/** Events of older versions have none of their own. */
const knownRemedy = (failure: string): string =>
  Object.hasOwn(failureWords, failure) ? remedyOf(failure as Unavailability) : ''

function openPoints(root: string, reviewed: readonly ReviewedRevision[]): Pick<Standing, 'open' | 'question'> {
  const last = reviewed.at(-1)
  const findings = [...(last?.findings ?? []), ...pendingFindings(root, reviewed)]
  const open = applyWaivers(findings, readWaivers(root)).filter(isBlocking)
  return { open: open.map(({ id }) => id), question: last?.result.question ?? null }
}
