import { readPlanState } from '../gate/read-plan-state.ts'
import { commentsIn } from '../review/findings.ts'
import { withLock } from '../state/cycles.ts'
import {
  appendEvent,
  ledgerProblem,
  putLedgerAside,
  readDamagedLedger,
  throwIfLedgerDamaged,
  unreplacedLedgers,
} from '../state/ledger.ts'
import { UserError } from '../system/errors.ts'
import { sha256 } from '../system/sha256.ts'
import { leaveNote } from './plan-change.ts'
import { lastUserNumber, readUserFindings, readWaivers, waivedIn } from './user-decisions.ts'

/** In words, what was done about ledgers that cannot be relied on. Each of them is kept. */
export async function replaceDamagedLedger(root: string): Promise<readonly string[]> {
  if (ledgerProblem(root) === null) return []
  const replace = async (): Promise<readonly string[]> => {
    await putLedgerAside(root)
    const said: string[] = []
    for (const damaged of unreplacedLedgers(root)) said.push(await carryOver(root, damaged))
    throwIfLedgerDamaged(root, 'so it could not be replaced')
    return said
  }
  const held = await withLock(root, replace, { waitMs: 10_000 })
  if (held.kind === 'done') return held.value
  throw new UserError('A review of the plan is running.', 'Wait for it (plan-gate status), then try again.', 1)
}

/**
 * What the user decided in the cycle, and what can still be read of it: what they asked for counts as open, since the
 * verdicts of reviews are not taken over. The event that ends it comes last; a run that was interrupted is repeated.
 */
async function carryOver(root: string, damaged: string): Promise<string> {
  const { events, isWhole, text } = readDamagedLedger(root, damaged)
  const known = new Set([
    ...readUserFindings(root).map(({ finding }) => finding.id),
    ...readWaivers(root).map(({ id }) => `waived ${id}`),
  ])
  const requests = events.flatMap((event) => {
    const findings = commentsIn(event).filter(({ id }) => !known.has(id))
    return findings.length === 0 ? [] : [{ plan_hash: String(event.plan_hash), findings: [...findings] }]
  })
  const waivers = waivedIn(events.toReversed()).standing.filter(({ id }) => !known.has(`waived ${id}`))
  const record = { revision: 0, carried_from: damaged }
  for (const request of requests) await appendEvent(root, { type: 'changes-requested', ...request, ...record })
  for (const { id, severity, section, problem, reason } of waivers)
    await appendEvent(root, { type: 'finding-waived', finding: id, severity, section, problem, reason, ...record })
  // Ids may be lost with the lines that had them: one request has at most a hundred.
  const numbers = [...text.matchAll(/"id":"U(\d{1,7})"/g)].map(([, number]) => Number(number))
  const first = Math.ceil((Math.max(0, ...numbers) + 1) / 100) * 100 + 1
  const isHeld = !isWhole && readPlanState(root).kind !== 'approved'
  const hold = `U${first}`
  if (isHeld && !known.has(hold)) {
    const findings = [{ id: hold, section: 'Overall', place: '', quote: '', text: lostDecisions(damaged) }]
    await appendEvent(root, { type: 'changes-requested', plan_hash: sha256(''), findings, only_user: true, ...record })
  }
  await appendEvent(root, {
    type: 'ledger-replaced',
    damaged: [damaged],
    last_user: Math.max(first, lastUserNumber(root)),
  })
  const ids = [...requests.flatMap(({ findings }) => findings.map(idOf)), ...waivers.map(({ id }) => `waiver of ${id}`)]
  const said = [
    `The ledger was damaged; it is kept as ${damaged}.`,
    ids.length === 0
      ? 'No decision of yours that still counts could be read in it.'
      : `Carried over: ${ids.join(', ')}.`,
    ...(isHeld ? [`What else you decided may be lost, so the plan is held by ${hold}: ${decide(hold)}`] : []),
  ].join(' ')
  leaveNote(root, `plan-gate: ${said}`)
  return said
}

const idOf = ({ id }: { readonly id: string }): string => id

const decide = (id: string): string => `read the plan, then \`plan-gate waive ${id} --reason "…"\``

const lostDecisions = (damaged: string): string =>
  `The ledger was damaged (${damaged}): changes that the user has requested, or waivers that they have taken back, may be missing. No reviewer can settle this, only the user.`
