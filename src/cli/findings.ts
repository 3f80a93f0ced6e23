import type { Command } from 'commander'
import { findGatedCheckout } from '../../bootstrap/find-worktree.ts'
import { amendedRevision, reviewedRevisions } from '../plan/revisions.ts'
import { applyWaivers, readUserFindings, readWaivers } from '../plan/user-decisions.ts'
import { traceFindings } from '../report/data.ts'
import { foundBy } from '../review/findings.ts'
import type { FindingsOutput } from '../schemas/review.ts'
import { throwIfLedgerDamaged } from '../state/ledger.ts'
import { newCommand } from './new-command.ts'
import { oneLine, openTerminal } from './terminal.ts'

type Flags = { open?: boolean; late?: boolean; json?: boolean }
type Listed = FindingsOutput['findings'][number]

export const findingsCommand = (): Command =>
  newCommand('findings', 'Show what the reviews of this cycle found, and what became of each finding.', [
    'plan-gate findings --open',
    "plan-gate findings --json | jq -r '.findings[].problem'",
  ])
    .option('--open', 'only what is still open')
    .option('--late', 'only what came too late to hold the plan up')
    .option('--json', 'the findings as JSON on stdout')
    .action(async (flags: Flags) => {
      const terminal = openTerminal(flags.json === true)
      const { root } = await findGatedCheckout(process.cwd())
      throwIfLedgerDamaged(root, 'so not every finding is known')
      const { revision, findings } = listFindings(root)
      const shown = findings.filter(
        ({ state, late }) => (flags.open !== true || state === 'open') && (flags.late !== true || late),
      )
      if (terminal.json) return terminal.out(JSON.stringify({ revision, findings: shown } satisfies FindingsOutput))
      if (revision === null && findings.length === 0)
        return terminal.out('No revision of the plan has been reviewed in this cycle.')
      if (shown.length === 0) return terminal.out('There are no such findings.')
      for (const { id, severity, raised_as, state, late, section, problem, reason, fix, sources = [] } of shown) {
        const was = raised_as === undefined ? '' : `, was ${raised_as}`
        const about = `${state}, ${severity}${was}${late ? ', late' : ''}${foundBy({ sources })}`
        terminal.out(`${terminal.paintOut('bold', oneLine(id))}  ${about}  ${oneLine(section)}`)
        terminal.out(`    ${oneLine(problem)}`)
        if (state === 'open' && fix.trim() !== '')
          terminal.out(`    ${terminal.paintOut('dim', `Fix: ${oneLine(fix)}`)}`)
        else if (state !== 'open' && reason !== '') terminal.out(`    ${terminal.paintOut('dim', oneLine(reason))}`)
      }
    })

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
