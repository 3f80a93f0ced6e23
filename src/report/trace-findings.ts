import type { Finding } from '../schemas/review-result.ts'
import type { Revision } from './report-data.ts'

/** `gone`: a later review says nothing about it any more. */
export type FindingState = 'raised' | 'not-fixed' | 'fixed' | 'rejected' | 'gone'

/** In these revisions, the first and the last included, it was in this state. */
export type FindingStep = {
  readonly state: FindingState
  readonly from: number
  readonly to: number
  readonly reason: string
}

export type FindingTrace = {
  /** As it was said last. */
  readonly finding: Finding
  readonly steps: readonly FindingStep[]
  readonly fate: 'open' | 'fixed' | 'rejected' | 'gone'
  /** It came too late to hold the plan up. */
  readonly late: boolean
}

type Tracing = { finding: Finding; steps: FindingStep[]; fate: FindingTrace['fate']; late: boolean }

/** What became of each finding of a cycle, in the order in which they were raised. */
export function traceFindings(revisions: readonly Revision[]): readonly FindingTrace[] {
  const traces = new Map<string, Tracing>()
  for (const { revision, result } of revisions) {
    if (result === null) continue
    const open = new Map(result.findings.map((finding) => [finding.id, finding]))
    const said = new Map((result.previous_findings ?? []).map((entry) => [entry.id, entry]))
    for (const [id, trace] of traces) {
      const entry = said.get(id)
      const finding = open.get(id)
      if (finding !== undefined) trace.finding = finding
      else if (trace.fate !== 'open') continue
      addStep(trace, stateOf(finding !== undefined, entry?.status), revision, entry?.reason ?? '')
    }
    for (const [id, finding] of open)
      if (!traces.has(id)) {
        const steps: FindingStep[] = [{ state: 'raised', from: revision, to: revision, reason: '' }]
        traces.set(id, { finding, steps, fate: 'open', late: false })
      }
    for (const id of result.late ?? []) {
      const trace = traces.get(id)
      if (trace !== undefined) trace.late = true
    }
  }
  return [...traces.values()]
}

function stateOf(isReported: boolean, status: 'fixed' | 'rejected' | 'not_fixed' | undefined): FindingState {
  if (isReported || status === 'not_fixed') return 'not-fixed'
  return status ?? 'gone'
}

function addStep(trace: Tracing, state: FindingState, revision: number, reason: string): void {
  trace.fate = state === 'fixed' || state === 'rejected' || state === 'gone' ? state : 'open'
  const last = trace.steps.at(-1)
  if (last?.state === state)
    trace.steps[trace.steps.length - 1] = { ...last, to: revision, reason: reason || last.reason }
  else trace.steps.push({ state, from: revision, to: revision, reason })
}

/** In words: `fixed in v3`. */
export function fateWords({ fate, steps }: FindingTrace): string {
  const last = steps.at(-1)
  switch (fate) {
    case 'open':
      return last?.state === 'not-fixed' ? `not fixed in v${last.to}` : 'open'
    case 'fixed':
      return `fixed in v${last?.to ?? '?'}`
    case 'rejected':
      return `rejected in v${last?.to ?? '?'}`
    case 'gone':
      return `not named again in v${last?.from ?? '?'}`
  }
}
