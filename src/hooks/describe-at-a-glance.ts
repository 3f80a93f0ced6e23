import type { PlanState } from '../gate/plan-state.ts'
import { printable } from '../gate/printable.ts'
import type { LedgerEvent } from '../schemas/ledger-event.ts'
import type { Progress } from '../schemas/progress.ts'

export type StatusSnapshot =
  /** Something that decides whether the gate holds is not as it was installed. */
  | { kind: 'not-whole'; why: string }
  | { kind: 'invalid-config' }
  | { kind: 'reviewing'; progress: Progress }
  | { kind: 'stands'; plan: PlanState; last: LedgerEvent | null }

/** What the last word on a plan can be. */
export const tellingEvents: readonly string[] = [
  'reviewed',
  'review-unavailable',
  'approved',
  'approved-manually',
  'approval-revoked',
  'limit-reached',
  'continued',
  'cycle-archived',
]

export type GlanceLine = { tone: 'good' | 'bad' | 'busy' | 'waiting'; text: string }

/** Where things stand, in the one line that there is for it. */
export function formatStatusLine(glance: StatusSnapshot, now: number): GlanceLine {
  const { tone, text } = lineOf(glance, now)
  return { tone, text: printable(`▣ plan-gate: ${text}`, 120) }
}

function lineOf(glance: StatusSnapshot, now: number): GlanceLine {
  switch (glance.kind) {
    case 'not-whole':
      return { tone: 'bad', text: `gate not whole: ${glance.why} (plan-gate doctor)` }
    case 'invalid-config':
      return { tone: 'bad', text: 'gate closed, plan-gate.yaml is invalid (plan-gate config)' }
    case 'reviewing':
      return { tone: 'busy', text: reviewing(glance.progress, now) }
    case 'stands':
      return standing(glance.plan, glance.last)
  }
}

function reviewing({ revision, pass, passes, backend, started_at, pass_started_at }: Progress, now: number): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(pass_started_at ?? started_at)) / 1000))
  const since = Number.isNaN(seconds) ? '' : `, ${seconds} s`
  return `reviewing v${revision} (${backend}): pass ${pass} of ${passes}${since}`
}

function standing(plan: PlanState, last: LedgerEvent | null): GlanceLine {
  switch (plan.kind) {
    case 'missing':
      return { tone: 'waiting', text: 'gate closed, no plan yet' }
    case 'approved':
      return { tone: 'good', text: `gate open, ${approvedBy(last)}` }
    case 'open':
      return { tone: 'waiting', text: `gate closed, ${lastWord(last)}` }
  }
}

function approvedBy(last: LedgerEvent | null): string {
  if (last?.type === 'approved') return `v${last.revision} is approved`
  return last?.type === 'approved-manually' ? 'approved by hand' : 'the plan is approved'
}

function lastWord(last: LedgerEvent | null): string {
  if (last === null) return 'the plan is not reviewed yet'
  const { type, revision, verdict, findings, failure } = last
  if (type === 'reviewed') {
    const found = findings === 1 ? '1 finding' : `${findings} findings`
    return `v${revision} ${verdict}${Number(findings) > 0 ? ` (${found})` : ''}`
  }
  if (type === 'review-unavailable') return `no verdict: ${failure} (plan-gate status)`
  if (type === 'limit-reached') return `v${revision} was the last one: your decision (plan-gate status)`
  return 'the plan is not reviewed yet'
}
