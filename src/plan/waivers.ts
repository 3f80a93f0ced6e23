import { isBlocking, isGraver, isSameLocation, isUsers, similarity } from '../review/findings.ts'
import type { Finding } from '../schemas/review.ts'
import { eventsFromEnd } from '../state/ledger.ts'

/** A finding that the user decided not to have fixed. */
export type Waiver = Pick<Finding, 'id' | 'severity' | 'section' | 'problem'> & { readonly reason: string }

/** Those of this cycle that stand. */
export function readWaivers(root: string): readonly Waiver[] {
  const waivers = new Map<string, Waiver | null>()
  for (const event of eventsFromEnd(root, ['finding-waived', 'waiver-withdrawn', 'cycle-archived'])) {
    if (event.type === 'cycle-archived') break
    const { finding: id, severity, section, problem, reason } = event as unknown as Waiver & { finding: string }
    if (waivers.has(id)) continue
    waivers.set(id, event.type === 'finding-waived' ? { id, severity, section, problem, reason } : null)
  }
  return [...waivers.values()].filter((waiver) => waiver !== null).reverse()
}

/** A waived finding, also under another id, is advice from then on: it never holds the plan. */
export const applyWaivers = (findings: readonly Finding[], waivers: readonly Waiver[]): readonly Finding[] =>
  findings.map((finding) =>
    isBlocking(finding) && waivers.some((waiver) => isSame(finding, waiver))
      ? { ...finding, severity: 'advice', raised_as: finding.severity }
      : finding,
  )

/** Models rephrase. */
const sameProblem = 0.6

/** A graver one is not what the user has decided about, whatever its id and its words. */
const isSame = (finding: Finding, waiver: Waiver): boolean =>
  !isGraver(finding, waiver) &&
  (finding.id === waiver.id ||
    (!isUsers(finding) &&
      isSameLocation(finding.section, waiver.section) &&
      similarity(finding.problem, waiver.problem) >= sameProblem))

/** For the reviewer, as a part of what the user wants. */
export const formatWaivers = (waivers: readonly Waiver[]): string | null =>
  waivers.length === 0
    ? null
    : [
        'The user has decided about these findings: they need not be fixed, and may not hold the plan.',
        ...waivers.map(
          ({ id, section, problem, reason }) => `- ${id} (${section}): ${problem}\n  The reason: ${reason}`,
        ),
      ].join('\n')
