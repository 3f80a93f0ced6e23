import { findGatedCheckout } from '../../bootstrap/find-worktree.ts'
import { readPlanState } from '../gate/read-plan-state.ts'
import { closeApproved } from '../gate/sandbox/approved.ts'
import { readWorkingTree, rebaselineOrForget } from '../gate/working-tree.ts'
import { leaveNote } from '../plan/plan-change.ts'
import { amendedRevision, type ReviewedRevision, reviewedRevisions } from '../plan/revisions.ts'
import { applyWaivers, pendingFindings, readUserFindings, readWaivers } from '../plan/user-decisions.ts'
import { traceFindings } from '../report/data.ts'
import { foundBy, isBlocking } from '../review/findings.ts'
import type { Finding, FindingsOutput, WaiveOutput } from '../schemas/review.ts'
import { readApproval, readPlanBytes, withdrawApproval } from '../state/approval.ts'
import { appendEvent, throwIfLedgerDamaged } from '../state/ledger.ts'
import { UserError } from '../system/errors.ts'
import type { GitDirs } from '../system/git-dirs.ts'
import { clipEnd } from '../text/clean.ts'
import { approveByHand, decideHere } from './approve.ts'
import type { Run } from './command.ts'
import { oneLine } from './terminal.ts'

type Listed = FindingsOutput['findings'][number]

export const findingsCommand: Run<'findings'> = async ({ open, late: onlyLate }, terminal) => {
  const { root } = await findGatedCheckout(process.cwd())
  throwIfLedgerDamaged(root, 'so not every finding is known')
  const { revision, findings } = listFindings(root)
  const shown = findings.filter(({ state, late }) => (!open || state === 'open') && (!onlyLate || late))
  if (terminal.json) return terminal.answer({ revision, findings: shown } satisfies FindingsOutput, [])
  if (revision === null && findings.length === 0)
    return terminal.out('No revision of the plan has been reviewed in this cycle.')
  if (shown.length === 0) return terminal.out('There are no such findings.')
  for (const { id, severity, raised_as, state, late, section, problem, reason, fix, sources = [] } of shown) {
    const was = raised_as === undefined ? '' : `, was ${raised_as}`
    const about = `${state}, ${severity}${was}${late ? ', late' : ''}${foundBy({ sources })}`
    terminal.out(`${terminal.paintOut('bold', oneLine(id))}  ${about}  ${oneLine(section)}`)
    terminal.out(`    ${oneLine(problem)}`)
    if (state === 'open' && fix.trim() !== '') terminal.out(`    ${terminal.paintOut('dim', `Fix: ${oneLine(fix)}`)}`)
    else if (state !== 'open' && reason !== '') terminal.out(`    ${terminal.paintOut('dim', oneLine(reason))}`)
  }
}

/** Of this cycle. `revision`: the one that was reviewed last. */
export function listFindings(root: string): FindingsOutput {
  const reviewed = reviewedRevisions(root)
  const waivers = readWaivers(root)
  // What the approval before left open goes on in this cycle.
  const before = reviewed.length === 0 ? null : amendedRevision(root)
  const traced = traceFindings(
    [...(before === null ? [] : [{ ...before, revision: -1 }]), ...reviewed],
    readUserFindings(root),
  )
  return {
    revision: reviewed.at(-1)?.revision ?? null,
    findings: traced.map(({ finding, steps, outcome, late }): Listed => {
      const waived = waivers.find(({ id }) => id === finding.id)
      const [counted = finding] = applyWaivers([finding], waivers)
      return waived === undefined || outcome !== 'open'
        ? { ...counted, state: outcome, late, reason: steps.at(-1)?.reason ?? '' }
        : { ...counted, state: 'waived', late, reason: waived.reason }
    }),
  }
}

export const waiveCommand: Run<'waive'> = async (flags, terminal, [finding = '']) => {
  const id = finding.trim().toUpperCase()
  const reason = (flags.reason ?? '').trim()
  if (!flags.undo && reason === '')
    throw new UserError(
      'A waiver needs a reason.',
      `plan-gate waive ${oneLine(id)} --reason "why it need not be fixed"`,
    )
  const { output, words } = await decideHere((root, gitDirs) => {
    throwIfLedgerDamaged(root, 'so nothing was changed')
    return flags.undo ? undo(root, gitDirs, id) : waive(root, gitDirs, id, reason)
  })
  terminal.answer(output, words)
}

type Done = { readonly output: WaiveOutput; readonly words: string }

async function waive(root: string, gitDirs: GitDirs, id: string, reason: string): Promise<Done> {
  const { last, revision, findings } = readOpen(root)
  const known = findings.find((finding) => finding.id === id)
  if (known === undefined) throw notOpen(id, findings, last)
  if (readWaivers(root).some((waiver) => waiver.id === id))
    throw new UserError(`${id} is waived already.`, `Take it back with plan-gate waive ${id} --undo.`)
  const { severity, raised_as, section, problem } = known
  await appendEvent(root, {
    type: 'finding-waived',
    finding: id,
    revision,
    severity: raised_as ?? severity,
    section: clipEnd(section, 500),
    problem: clipEnd(problem, 3000),
    reason: clipEnd(reason, 3000),
  })
  const open = openFindings(root, findings)
  const approved = open.length === 0 && last !== null && (await approveIfReviewed(root, gitDirs, last))
  const output = { finding: id, waived: true, open, approved }
  const told = `the user decided that ${id} need not be fixed: ${clipEnd(oneLine(reason), 300)}`
  const [note, words] = approved
    ? [
        'With that docs/plan.md is approved, by the user, and the gate is open. Ask "Ready to execute?" before you start.',
        'Nothing else holds the plan, so it is approved by you; the gate is open.',
      ]
    : open.length === 0
      ? ['Leave it as it is.', 'The next review of the plan takes it into account.']
      : [`Leave it as it is. Still to fix: ${open.join(', ')}.`, `Still open: ${open.join(', ')}.`]
  leaveNote(root, `plan-gate: ${told}. ${note}`)
  return { output, words: `${id} is waived. ${words}` }
}

/** Only what was required to change, and is there as it was reviewed. */
async function approveIfReviewed(root: string, gitDirs: GitDirs, last: ReviewedRevision): Promise<boolean> {
  const plan = readPlanBytes(root)
  const isThere = plan.kind === 'read' && plan.bytes.equals(Buffer.from(last.plan))
  if (!isThere || last.verdict !== 'CHANGES_REQUIRED' || readPlanState(root).kind === 'approved') return false
  const waived = readWaivers(root).map(({ id, severity, reason }) => ({ id, severity, reason }))
  await approveByHand(root, gitDirs, `waived ${waived.map(({ id, reason }) => `${id}: ${reason}`).join('; ')}`, waived)
  return true
}

/** The cycle goes on, with what else the user has decided in it. */
async function undo(root: string, gitDirs: GitDirs, id: string): Promise<Done> {
  const approval = readApproval(root)
  const wasNeeded =
    approval.kind === 'recorded' && approval.approval.waived?.some((waiver) => waiver.id === id) === true
  const isStanding = readWaivers(root).some((waiver) => waiver.id === id)
  // A crash may have come between the event and the end of the approval.
  if (!isStanding && !wasNeeded) throw new UserError(`${oneLine(id)} is not waived.`, 'See `plan-gate findings`.')
  if (isStanding)
    await appendEvent(root, {
      type: 'waiver-withdrawn',
      finding: id,
      revision: reviewedRevisions(root).at(-1)?.revision ?? 0,
    })
  if (wasNeeded) {
    // What was done under the approval is no drift.
    rebaselineOrForget(gitDirs.own, readWorkingTree(root, gitDirs))
    await withdrawApproval(root, `the user took the waiver of ${id} back`)
    closeApproved(gitDirs.own)
  }
  const open = openFindings(root, readFindings(root).findings)
  const ended = wasNeeded ? ', and with it the approval: the gate is closed' : ''
  const rest = open.length === 0 ? '' : ` Open: ${open.join(', ')}.`
  leaveNote(
    root,
    `plan-gate: the user took the waiver of ${id} back${ended}.${rest} Settle what is open in docs/plan.md, then save it once.`,
  )
  return {
    output: { finding: id, waived: false, open, approved: false },
    words: `The waiver of ${id} is taken back${ended}.${rest}`,
  }
}

function readFindings(root: string) {
  const reviewed = reviewedRevisions(root)
  const last = reviewed.at(-1) ?? null
  return { last, findings: [...(last?.findings ?? []), ...pendingFindings(root, reviewed)] }
}

function readOpen(root: string) {
  const { last, findings } = readFindings(root)
  if (last !== null || findings.length > 0) return { last, revision: last?.revision ?? 0, findings }
  throw new UserError('No revision of the plan has been reviewed in this cycle.', 'Have it reviewed first.')
}

const openFindings = (root: string, findings: readonly Finding[]): readonly string[] =>
  applyWaivers(findings, readWaivers(root))
    .filter(isBlocking)
    .map(({ id }) => id)

function notOpen(id: string, findings: readonly Finding[], last: ReviewedRevision | null): UserError {
  const closed = last?.previous.find((entry) => entry.id === id)
  const open = findings.map((finding) => finding.id).join(', ') || 'none'
  const what = closed === undefined ? `There is no finding ${oneLine(id)}` : `${id} is not open: it is ${closed.status}`
  return new UserError(`${what}. Open: ${open}.`, 'See `plan-gate findings`.')
}
