import { findGatedCheckout } from '../../bootstrap/find-worktree.ts'
import { amendedRevision, reviewedRevisions } from '../plan/revisions.ts'
import { applyWaivers, readUserFindings, readWaivers } from '../plan/user-decisions.ts'
import { traceFindings } from '../report/data.ts'
import { foundBy } from '../review/findings.ts'
import type { FindingsOutput } from '../schemas/review.ts'
import { throwIfLedgerDamaged } from '../state/ledger.ts'
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
