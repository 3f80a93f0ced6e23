import type { Finding, Verdict } from '../schemas/review.ts'

/** Where a plan stands when some tool has run. The looks that cost something are functions, asked for only if needed. */
export type PlanWrite = {
  /** Null where there is no plan. */
  readonly plan: { readonly hash: string; readonly bytes: number } | null
  /** Whether the tool wrote the plan by name, rather than that its bytes may have changed by some way. */
  readonly isPlanWrite: boolean
  /** The bytes that Claude was last told about, whatever it was told; null: none of this cycle. */
  readonly toldHash: string | null
  /** The hash in a well-formed approval; null: there is none. */
  readonly approvedHash: string | null
  /** What was reviewed in this cycle. */
  readonly reviewed: readonly { readonly revision: number; readonly planHash: string; readonly verdict: Verdict }[]
  /** How many revisions of this cycle count. */
  readonly counter: number
  readonly maxRevisions: number
  /** How many more the user has granted. */
  readonly continued: number
  readonly maxBytes: number
  readonly isUtf8: () => boolean
  readonly checklist: () => readonly Finding[]
}

export type NextStep =
  | { readonly kind: 'nothing' }
  /** Its verdict is told again. An approval among them is one that a crash kept from being written. */
  | { readonly kind: 'same-as'; readonly revision: number; readonly verdict: Verdict }
  | { readonly kind: 'limit'; readonly revisions: number }
  | { readonly kind: 'refused-input'; readonly why: 'not-utf8' }
  | { readonly kind: 'refused-input'; readonly why: 'too-long'; readonly bytes: number; readonly limit: number }
  | { readonly kind: 'checklist'; readonly newCycle: boolean; readonly findings: readonly Finding[] }
  /** `left`: how many more are reviewed after this one. */
  | { readonly kind: 'review'; readonly revision: number; readonly newCycle: boolean; readonly left: number }

/** What a look at the plan leads to. A new cycle is one that an approval of other bytes has to be archived for. */
export function decideNextStep(write: PlanWrite): NextStep {
  const { plan, approvedHash } = write
  if (plan === null || approvedHash === plan.hash) return { kind: 'nothing' }
  // A plan that was told about is told about again only to someone who writes it again.
  if (!write.isPlanWrite && write.toldHash === plan.hash) return { kind: 'nothing' }
  const newCycle = approvedHash !== null
  const [counter, reviewed] = newCycle ? [0, []] : [write.counter, write.reviewed]
  const most = write.maxRevisions + (newCycle ? 0 : write.continued)
  const same = reviewed.findLast(({ planHash, verdict }) => planHash === plan.hash && verdict !== 'SKIPPED')
  if (same?.verdict === 'APPROVED') return sameAs(same)
  if (counter >= most) return { kind: 'limit', revisions: counter }
  if (same !== undefined) return sameAs(same)
  if (plan.bytes > write.maxBytes) {
    return { kind: 'refused-input', why: 'too-long', bytes: plan.bytes, limit: write.maxBytes }
  }
  if (!write.isUtf8()) return { kind: 'refused-input', why: 'not-utf8' }
  const findings = write.checklist()
  if (findings.length > 0) return { kind: 'checklist', newCycle, findings }
  return { kind: 'review', revision: counter + 1, newCycle, left: most - counter - 1 }
}

const sameAs = ({ revision, verdict }: PlanWrite['reviewed'][number]): NextStep => ({
  kind: 'same-as',
  revision,
  verdict,
})
