import type { Finding, Verdict } from '../schemas/review.ts'

/** What was last answered about a plan (`handled.json`). */
type LastAnswer = { readonly plan_hash: string; readonly again: boolean }

type SavedPlan<Answer extends LastAnswer> = {
  readonly planHash: string
  readonly approvedHash: string | null
  readonly last: () => Answer | null
  /** How many revisions of this cycle count; 0 once the cycle has ended. */
  readonly counter: () => number
  /** Whether the tool wrote the plan by name, rather than that its bytes changed in some other way. */
  readonly wrotePlan: boolean
}

/** Do these bytes of the plan need an answer? The only place that decides it, before the lock is taken and again after. */
export function findAnswer<Answer extends LastAnswer>(
  plan: SavedPlan<Answer>,
): { kind: 'not-needed' } | { kind: 'repeat'; answer: Answer } | { kind: 'new' } {
  if (plan.approvedHash === plan.planHash) return { kind: 'not-needed' }
  const last = plan.last()
  if (last?.plan_hash !== plan.planHash) return { kind: 'new' }
  if (!plan.wrotePlan) return { kind: 'not-needed' }
  return last.again || plan.counter() === 0 ? { kind: 'new' } : { kind: 'repeat', answer: last }
}

/** A plan that needs an answer. What costs something to find out is a function. */
export type PlanWrite = {
  readonly hash: string
  /** The hash of other bytes that are approved; null: none are. */
  readonly approvedHash: string | null
  readonly reviewed: readonly { readonly revision: number; readonly planHash: string; readonly verdict: Verdict }[]
  readonly counter: number
  readonly maxRevisions: number
  readonly continued: number
  /** null: it is not. */
  readonly tooLong: TooLong | null
  /** Whether the tokens that the reviews of this cycle may use are used up. */
  readonly isSpent: boolean
  readonly isUtf8: () => boolean
  readonly checklist: () => readonly Finding[]
}

/** Tokens; of the sections, the largest first. */
export type TooLong = {
  readonly tokens: number
  readonly limit: number
  readonly sections: readonly { readonly title: string; readonly tokens: number }[]
}

export type NextStep =
  /** The verdict on the same bytes counts again; an approval among them is one that a crash kept from being written. */
  | { readonly kind: 'same-as'; readonly revision: number; readonly verdict: Verdict }
  | { readonly kind: 'limit'; readonly revisions: number }
  | { readonly kind: 'refused-input'; readonly why: 'not-utf8' }
  | ({ readonly kind: 'refused-input'; readonly why: 'too-long' } & TooLong)
  | { readonly kind: 'checklist'; readonly newCycle: boolean; readonly findings: readonly Finding[] }
  /** `left`: how many more are reviewed after this one. */
  | { readonly kind: 'review'; readonly revision: number; readonly newCycle: boolean; readonly left: number }

/** A new cycle begins where an approval of other bytes has to be archived first. */
export function decideNextStep(plan: PlanWrite): NextStep {
  const newCycle = plan.approvedHash !== null
  const [counter, reviewed] = newCycle ? [0, []] : [plan.counter, plan.reviewed]
  const limit = plan.maxRevisions + (newCycle ? 0 : plan.continued)
  const same = reviewed.findLast(({ planHash, verdict }) => planHash === plan.hash && verdict !== 'SKIPPED')
  const repeat = same && ({ kind: 'same-as', revision: same.revision, verdict: same.verdict } as const)
  if (repeat?.verdict === 'APPROVED') return repeat
  if (counter >= limit || (plan.isSpent && !newCycle)) return { kind: 'limit', revisions: counter }
  if (repeat !== undefined) return repeat
  if (plan.tooLong !== null) return { kind: 'refused-input', why: 'too-long', ...plan.tooLong }
  if (!plan.isUtf8()) return { kind: 'refused-input', why: 'not-utf8' }
  const findings = plan.checklist()
  if (findings.length > 0) return { kind: 'checklist', newCycle, findings }
  return { kind: 'review', revision: counter + 1, newCycle, left: limit - counter - 1 }
}
