import { diffLines } from '../plan/diff-lines.ts'
import { locateFinding } from '../plan/locate-finding.ts'
import { readPlanText } from '../plan/read-plan-text.ts'
import type { Finding } from '../schemas/review-result.ts'
import type { Cycle, Revision } from './report-data.ts'
import { type FindingTrace, traceFindings } from './trace-findings.ts'

/** A cycle with what follows from its record. */
export type CycleView = {
  readonly cycle: Cycle
  readonly anchor: string
  readonly revisions: readonly RevisionView[]
  readonly traces: readonly FindingTrace[]
}

export type RevisionView = {
  readonly revision: Revision
  readonly anchor: string
  readonly cycle: number
  /** Its place among all revisions of the report. */
  readonly index: number
  /** The one that it is compared with: the one before, of an earlier cycle for the first; null: there is none. */
  readonly before: RevisionView | null
  readonly added: number
  readonly removed: number
  readonly findings: readonly PlacedFinding[]
}

/** `line`: under which it stands in the plan; null: nobody knows. */
export type PlacedFinding = { readonly finding: Finding; readonly line: number | null; readonly anchor: string }

export function viewCycles(cycles: readonly Cycle[]): readonly CycleView[] {
  let index = 0
  let before: RevisionView | null = null
  return cycles.map((cycle) => {
    const anchor = `c${cycle.cycle}`
    const traces = traceFindings(cycle.revisions)
    const anchorOf = (id: string): string => `${anchor}-f${traces.findIndex(({ finding }) => finding.id === id) + 1}`
    const revisions = cycle.revisions.map((revision): RevisionView => {
      const view: RevisionView = {
        revision,
        anchor: `${anchor}-v${revision.revision}`,
        cycle: cycle.cycle,
        index,
        before,
        ...countChanges(before?.revision.text ?? null, revision.text),
        findings: placeFindings(revision, anchorOf),
      }
      index += 1
      if (revision.text !== null) before = view
      return view
    })
    return { cycle, anchor, revisions, traces }
  })
}

function countChanges(before: string | null, after: string | null): { added: number; removed: number } {
  if (before === null || after === null) return { added: 0, removed: 0 }
  const changes = diffLines(before, after)
  return {
    added: changes.reduce((sum, change) => sum + change.added.length, 0),
    removed: changes.reduce((sum, change) => sum + change.removed.length, 0),
  }
}

function placeFindings({ text, result }: Revision, anchorOf: (id: string) => string): readonly PlacedFinding[] {
  if (result === null) return []
  const plan = text === null ? null : readPlanText(text)
  return result.findings.map((finding) => {
    const place = plan === null ? null : locateFinding(plan, finding)
    return { finding, line: place?.lines[0] ?? place?.section?.from ?? null, anchor: anchorOf(finding.id) }
  })
}
