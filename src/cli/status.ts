import type { GatedWorktree } from '../../bootstrap/standing.ts'
import { reflectSettings } from '../config/environment.ts'
import type { EffectiveConfig } from '../config/schema.ts'
import { closedSessions } from '../gate/closed-mark.ts'
import { readPlanState } from '../gate/read-plan-state.ts'
import { readMode } from '../gate/sandbox/rules.ts'
import { compileConfig } from '../install/compile-config.ts'
import type { CheckResult } from '../install/prerequisites.ts'
import { missingReflection } from '../install/settings.ts'
import { type NextAction, nextAction } from '../plan/next-action.ts'
import { readRevisionLimit, reviewedRevisions } from '../plan/revisions.ts'
import { applyWaivers, pendingFindings, readWaivers } from '../plan/user-decisions.ts'
import { escapeUntrusted } from '../redact/untrusted-text.ts'
import { describeReviewer } from '../review/findings.ts'
import { readRouteTable } from '../reviewers/create.ts'
import { canonicalTable } from '../reviewers/route-table.ts'
import type { Approval } from '../schemas/records.ts'
import type { Status, WorktreeOutput } from '../schemas/status.ts'
import { readApproval } from '../state/approval.ts'
import { listCycles } from '../state/cycles.ts'
import { eventsFromEnd, ledgerProblem } from '../state/ledger.ts'
import { readInstallRecord } from '../state/records.ts'
import { countRevisions, readProgress, readThread } from '../state/revisions.ts'
import { listSessions, readDenials } from '../state/sessions.ts'
import type { GitDirs } from '../system/git-dirs.ts'
import { findCheckout } from '../system/repository.ts'
import { sha256 } from '../system/sha256.ts'
import { printable } from '../text/clean.ts'
import type { Run } from './command.ts'
import { describePlan, type Paint, type Terminal, withOwnCommand } from './terminal.ts'

export const statusCommand: Run<'status'> = async ({ verbose }, terminal) => {
  const { root, gitDirs } = await findCheckout(process.cwd())
  const { checkMoved, servingHere } = await import('../../bootstrap/doctor.ts')
  const { listGated, readStanding } = await import('../../bootstrap/standing.ts')
  const here = readStatus(root, gitDirs)
  const next = nextAction(readStanding(root, gitDirs, { drift: true }))
  const isGated = next.state !== 'not-installed'
  const worktrees = isGated ? [] : await listGated(root)
  const [moved] = isGated ? [] : await checkMoved(root)
  const { words } = await servingHere(root, compileConfig(root).config)
  const status: Status = {
    ...here,
    reviewer: words,
    next_step: nextStepHere(moved === undefined ? next : nextForMoved(moved)),
    worktrees: worktrees.map(worktreeHere),
  }
  if (terminal.json) return terminal.answer(status, [])
  const lines = isGated ? linesOf(status, verbose) : linesWithout(status, worktrees)
  printLines(lines, terminal)
}

export function printLines(lines: readonly Line[], { say, paintOut }: Terminal): void {
  for (const [name, text, style] of lines) {
    const cut = toLine(text)
    say(paintOut('dim', name.padEnd(10)) + (style === undefined ? cut : paintOut(style, cut)))
  }
}

const nextStepHere = ({ state, text, command }: NextAction): Status['next_step'] => ({
  state,
  text: withOwnCommand(text),
  command: command === null ? null : withOwnCommand(command),
})

export const worktreeHere = ({ root, branch, next, lastUsed, command }: GatedWorktree): WorktreeOutput => ({
  root,
  branch,
  next_step: nextStepHere(next),
  last_used: lastUsed,
  open: withOwnCommand(command),
})

type Line = [name: string, text: string, style?: Parameters<Paint>[0]]

function linesOf(status: Status, isVerbose: boolean): Line[] {
  const { root, plan, approved_by: approved, review, findings, reviewer, denials, problems } = status
  const whyNot = notInstalledReason(status)
  return [
    ['worktree', printable(root, 4_096)],
    ...lineIf('gate', whyNot, 'red'),
    ['plan', describePlan(plan), plan.kind === 'approved' ? 'green' : 'yellow'],
    ...lineIf('approved', approved),
    ['revisions', revisionsIn(status)],
    ...lineIf('review', review === null ? null : reviewIn(review)),
    ...findings.flatMap(({ id, severity, section, problem }) => lineIf(id, `${severity}  ${section}: ${problem}`)),
    ['reviewer', reviewer],
    ...lineIf('denials', denials === 0 ? null : `${denials} in the last session; last: ${status.last_denial}`),
    ...[...new Set(problems)].flatMap((problem) => lineIf('problem', problem, 'red')),
    ...(isVerbose ? internalsOf(status) : []),
    ...nextLines(status.next_step),
  ]
}

const lineIf = (name: string, text: string | null, style?: Line[2]): Line[] =>
  text === null ? [] : [style === undefined ? [name, text] : [name, text, style]]

/** For whoever looks for a fault, not for the work. */
const internalsOf = (status: Status): Line[] => [
  ['version', status.installed ?? 'unknown'],
  ...status.closed.flatMap(({ session, why }) => lineIf('closed', `in session ${session}: ${why}`, 'red')),
  ...lineIf('failure', status.unavailable, 'yellow'),
  ['deadline', `${status.deadline_seconds} s per review of a plan`],
  status.routes_hash === null
    ? ['routes', 'not valid (plan-gate routes)', 'red']
    : ['routes', `sha256 ${status.routes_hash}`],
  ['thread', status.thread ?? 'none yet'],
  [
    'commands',
    status.commands === 'sandbox' ? 'run in the sandbox' : 'are decided by the list (plan-gate doctor says why)',
  ],
  ['sessions', sessionsIn(status)],
]

const nextLines = ({ text, command }: Status['next_step']): Line[] => [
  ['next', text, 'bold'],
  ...lineIf('', command, 'cyan'),
]

/** As `plan-gate open` says it. */
const nextForMoved = ({ detail, remedy }: CheckResult): NextAction => ({
  state: 'damaged',
  text: `${detail}. ${remedy ?? ''}`,
  command: 'plan-gate doctor',
})

function linesWithout({ root, next_step }: Status, worktrees: readonly GatedWorktree[]): Line[] {
  const none: Line[] = [
    ['next', 'Open a worktree with a gate:', 'bold'],
    ['', 'plan-gate bootstrap --name <name>', 'cyan'],
  ]
  const next = next_step.state === 'damaged' ? nextLines(next_step) : worktrees.length > 0 ? [] : none
  return [['gate', `there is none in ${printable(root, 4_096)}`], ...worktreeLines(worktrees), ...next]
}

export const worktreeLines = (worktrees: readonly GatedWorktree[]): Line[] =>
  worktrees.flatMap(({ root, branch, next, lastUsed, command }): Line[] => [
    ['worktree', printable(`${root}${branch === null ? '' : ` on ${branch}`}`, 4_096)],
    ['', `${next.text}${lastUsed === null ? '' : ` Last used ${localTime(lastUsed)}.`}`],
    ['', command, 'cyan'],
  ])

export function localTime(iso: string): string {
  const at = new Date(iso)
  if (Number.isNaN(at.getTime())) return iso
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16).replace('T', ' ')
}

function revisionsIn({ revisions, limit, cycles, verdicts }: Status): string {
  const list = verdicts.map(({ revision, verdict }) => `v${revision} ${verdict}`).join(', ')
  const before = cycles === 0 ? '' : `; ${cycles} ${cycles === 1 ? 'cycle' : 'cycles'} before`
  return `${revisions} of ${limit} reviewed in this cycle${list === '' ? '' : ` (${list})`}${before}`
}

function reviewIn({ pass, passes, backend, revision, deadline_at }: NonNullable<Status['review']>): string {
  const left = Math.max(0, Math.round((Date.parse(deadline_at) - Date.now()) / 1000))
  return `revision ${revision} is with ${backend}: pass ${pass} of ${passes}, at most ${left} s more`
}

function sessionsIn({ sessions }: Status): string {
  const [last] = sessions
  if (last === undefined) return 'none yet'
  const origin = last.launched === false ? ', started by hand (plan-gate open holds more)' : ''
  return `${sessions.length}, last active ${last.last_seen_at}${origin}`
}

const toLine = (text: string): string => escapeUntrusted(text).replaceAll('\n', ' ').slice(0, 1_000)

/** Without what asks for git or the programs of this machine. */
export type StatusHere = Omit<Status, 'reviewer' | 'next_step' | 'worktrees'>

export function readStatus(root: string, gitDirs: GitDirs): StatusHere {
  const record = readInstallRecord(gitDirs.own)
  const [plan, approval] = [readPlanState(root), readApproval(root)]
  const thread = readThread(root)
  const listed = listSessions(root)
  const sessions = listed.flatMap(({ session }) => (session === null ? [] : [session]))
  const denials = sessions[0] === undefined ? [] : readDenials(root, sessions[0].session_id)
  const last = denials.at(-1)
  const compiled = compileConfig(root)
  const config = compiled.config
  const ledger = ledgerProblem(root)
  const { revisions, limit } =
    ledger === null
      ? readRevisionLimit(root, config.plan.max_revisions)
      : { revisions: countRevisions(root).value, limit: config.plan.max_revisions }
  const reviewed = reviewedRevisions(root)
  const isReflecting = reflectSettings(config, process.env) !== null
  const reflection = record.kind === 'read' ? missingReflection(isReflecting, record.value.settings) : null
  const progress = readProgress(root)
  const unreadable = [
    ...(record.kind === 'refused' ? [`${unknownInstallPrefix}${record.why}`] : []),
    ...[thread, progress].flatMap((read) => (read.kind === 'refused' ? [read.why] : [])),
    ...listed.flatMap(({ why }) => (why === null ? [] : [why])),
    ...(ledger === null ? [] : [ledger]),
  ]
  return {
    root,
    installed: record.kind === 'read' ? record.value.package_version : null,
    plan,
    approved_by: plan.kind === 'approved' && approval.kind === 'recorded' ? describeApproval(approval.approval) : null,
    closed: closedSessions(gitDirs.own),
    revisions,
    limit,
    deadline_seconds: config.plan.deadline_seconds,
    cycles: listCycles(root).length,
    verdicts: reviewed.map(({ revision, verdict, findings }) => ({ revision, verdict, findings: findings.length })),
    findings: applyWaivers(
      [...(reviewed.at(-1)?.findings ?? []), ...pendingFindings(root, reviewed)],
      readWaivers(root),
    ),
    review: progress.kind === 'running' ? progress.progress : null,
    unavailable: ledger === null ? lastFailure(root) : null,
    routes_hash: compiled.problems.length > 0 ? null : routesHash(root, config),
    thread: thread.kind === 'known' ? thread.id : null,
    commands: config.gate.bash.mode !== 'list' && readMode(gitDirs.own) === 'sandbox' ? 'sandbox' : 'list',
    sessions,
    denials: denials.length,
    last_denial: last === undefined ? null : `${last.tool} ${last.target}`.trim(),
    problems: [...compiled.problems, ...unreadable, ...(reflection === null ? [] : [reflection])],
  }
}

export function describeApproval({ route, reason, waived = [], carried_from, ...looked }: Approval): string {
  const isByHand = typeof route !== 'string' || route === 'manual'
  const by = isByHand ? `by hand${reason ? `: ${reason}` : ''}` : `by ${describeReviewer({ route, ...looked })}`
  const ids = isByHand ? [] : waived.map(({ id }) => id)
  return [
    by,
    ...(ids.length === 0 ? [] : [`waived: ${ids.join(', ')}`]),
    ...(carried_from ? ['carried over to ticked boxes'] : []),
  ].join('; ')
}

function routesHash(root: string, config: EffectiveConfig): string | null {
  const { built } = readRouteTable(root, config, process.env)
  return built.kind === 'table' ? sha256(canonicalTable(built.table)) : null
}

/** Null if a verdict or a new revision came after it. */
function lastFailure(root: string): string | null {
  const types = ['reviewed', 'review-unavailable', 'cycle-archived', 'approved-manually']
  const [last] = eventsFromEnd(root, types)
  return last?.type === 'review-unavailable' ? `${last.failure}: ${last.why}` : null
}

/** The prefix of the problem if `plan-gate status` cannot tell. */
export const unknownInstallPrefix = 'the install record cannot be read: '

/** Null if it is installed. An unreadable record does not mean that it is not. */
export function notInstalledReason({ installed, problems }: Pick<Status, 'installed' | 'problems'>): string | null {
  if (installed !== null) return null
  return (
    problems.find((problem) => problem.startsWith(unknownInstallPrefix)) ?? 'not installed here (plan-gate install)'
  )
}
