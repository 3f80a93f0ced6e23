import { Command } from 'commander'
import type { EffectiveConfig } from '../config/schema.ts'
import { closedSessions } from '../gate/closed-mark.ts'
import { readPlanState } from '../gate/read-plan-state.ts'
import { readMode } from '../gate/sandbox/rules.ts'
import { compileConfig } from '../install/compile-config.ts'
import { readRevisionLimit, reviewedRevisions } from '../plan/revisions.ts'
import { pendingFindings } from '../plan/user-findings.ts'
import { applyWaivers, readWaivers } from '../plan/waivers.ts'
import { escapeUntrusted } from '../redact/untrusted-text.ts'
import { describeReviewer } from '../review/describe.ts'
import { readRouteTable } from '../reviewers/create.ts'
import { canonicalTable } from '../reviewers/route-table.ts'
import type { Status } from '../schemas/output.ts'
import type { Approval } from '../schemas/records.ts'
import { readApproval } from '../state/approval.ts'
import { listCycles } from '../state/cycles.ts'
import { eventsFromEnd, ledgerProblem } from '../state/ledger.ts'
import { readInstallRecord } from '../state/records.ts'
import { countRevisions, readProgress, readThread } from '../state/revisions.ts'
import { listSessions, readDenials } from '../state/sessions.ts'
import type { GitDirs } from '../system/git-dirs.ts'
import { findCheckout } from '../system/repository.ts'
import { sha256 } from '../system/sha256.ts'
import { describePlan, helpText, openTerminal, type Paint } from './terminal.ts'

export const statusCommand = (): Command =>
  new Command('status')
    .description('Show the state of the plan, and whether the hooks of the gate have run.')
    .option('--json', 'the status as JSON on stdout')
    .addHelpText('after', helpText([['plan-gate status'], ['plan-gate status --json | jq -r .plan.kind']]))
    .action(async (flags: { json?: boolean }) => {
      const terminal = openTerminal(flags.json === true)
      const { root, gitDirs } = await findCheckout(process.cwd())
      const { servingHere } = await import('../../bootstrap/doctor.ts')
      const { words } = await servingHere(root, compileConfig(root).config)
      const status: Status = { ...readStatus(root, gitDirs), reviewer: words }
      if (terminal.json) return terminal.out(JSON.stringify(status))
      for (const [name, text, style] of linesOf(status)) {
        const shown = toLine(text)
        terminal.say(
          terminal.paintOut('dim', name.padEnd(10)) + (style === undefined ? shown : terminal.paintOut(style, shown)),
        )
      }
    })

type Line = [name: string, text: string, style?: Parameters<Paint>[0]]

const linesOf = (status: Status): Line[] => [
  ['worktree', status.root],
  gateIn(status),
  ...status.closed.map(({ session, why }) => line('closed', `in session ${session}: ${why}`, 'red')),
  ['plan', describePlan(status.plan), status.plan.kind === 'approved' ? 'green' : 'yellow'],
  ...(status.approved_by === null ? [] : [line('approved', status.approved_by)]),
  ['revisions', revisionsIn(status)],
  ...(status.review === null ? [] : [line('review', reviewIn(status.review))]),
  ...(status.unavailable === null ? [] : [line('review', `the last one failed: ${status.unavailable}`, 'yellow')]),
  ...status.findings.map(({ id, severity, section, problem }) => line(id, `${severity}  ${section}: ${problem}`)),
  ['deadline', `${status.deadline_seconds} s per review of a plan`],
  ['reviewer', status.reviewer],
  status.routes_hash === null
    ? ['routes', 'not valid (plan-gate routes)', 'red']
    : ['routes', `sha256 ${status.routes_hash}`],
  ['thread', status.thread ?? 'none yet'],
  [
    'commands',
    status.commands === 'sandbox' ? 'run in the sandbox' : 'are decided by the list (plan-gate doctor says why)',
  ],
  ['sessions', sessionsIn(status)],
  ['denials', denialsIn(status)],
  ...status.problems.map((problem) => line('config', problem, 'red')),
]

function gateIn(status: Status): Line {
  const why = notInstalledReason(status)
  return why === null ? ['gate', `installed, plan-gate ${status.installed}`] : ['gate', why, 'red']
}

const line = (...line: Line): Line => line

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

const denialsIn = ({ denials, last_denial }: Status): string =>
  denials === 0 ? 'none in the last session' : `${denials} in the last session; last: ${last_denial}`

const toLine = (text: string): string => escapeUntrusted(text).replaceAll('\n', ' ').slice(0, 300)

/** Without what asks for the programs of this machine. */
export type StatusHere = Omit<Status, 'reviewer'>

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
  const ledgerProblems = ledgerProblem(root)
  const { revisions, limit } =
    ledgerProblems.length === 0
      ? readRevisionLimit(root, config.plan.max_revisions)
      : { revisions: countRevisions(root).value, limit: config.plan.max_revisions }
  const reviewed = reviewedRevisions(root)
  const progress = readProgress(root)
  const unreadable = [
    ...(record.kind === 'refused' ? [`${unknownInstallPrefix}${record.why}`] : []),
    ...[thread, progress].flatMap((read) => (read.kind === 'refused' ? [read.why] : [])),
    ...listed.flatMap(({ why }) => (why === null ? [] : [why])),
    ...ledgerProblems,
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
    unavailable: ledgerProblems.length === 0 ? lastFailure(root) : null,
    routes_hash: compiled.problems.length > 0 ? null : routesHash(root, config),
    thread: thread.kind === 'known' ? thread.id : null,
    commands: config.gate.bash.mode !== 'list' && readMode(gitDirs.own) === 'sandbox' ? 'sandbox' : 'list',
    sessions,
    denials: denials.length,
    last_denial: last === undefined ? null : `${last.tool} ${last.target}`.trim(),
    problems: [...compiled.problems, ...unreadable],
  }
}

/** Who looked at it, or who decided without. */
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

/** Of the table for the next review. */
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
