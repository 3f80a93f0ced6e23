import type { FailureClass } from '../schemas/backend.ts'
import type { EarlierFinding, Finding, Verdict } from '../schemas/review-result.ts'

/** What a review said, as far as it is told on. All of it is the reviewer's text. */
export type ToldReview = {
  readonly summary: string
  readonly findings: readonly Finding[]
  readonly previous: readonly EarlierFinding[]
  /** The ids of findings that came late. */
  readonly late: readonly string[]
  /** What is stuck, in words. */
  readonly stuck: readonly string[]
}

/** `no-route`: no reviewer could be asked. `not-recorded`: the files of plan-gate could not be read or written. */
export type Unavailability = FailureClass | 'no-route' | 'not-recorded'

/** What has become of a plan that was written. */
export type PlanOutcome =
  | {
      readonly kind: 'approved'
      readonly revision: number
      readonly review: ToldReview
      readonly verification: 'passed' | 'skipped' | null
    }
  /** `left`: how many more revisions are reviewed. */
  | { readonly kind: 'changes-required'; readonly revision: number; readonly left: number; readonly review: ToldReview }
  | {
      readonly kind: 'decision-needed'
      readonly revision: number
      readonly question: string | null
      readonly review: ToldReview
    }
  /** `wasReviewed`: whether the plan as it is now is the last revision, or was not sent to review at all. */
  | {
      readonly kind: 'limit-reached'
      readonly revision: number
      readonly wasReviewed: boolean
      readonly review: ToldReview
    }
  | { readonly kind: 'unavailable'; readonly failure: Unavailability; readonly why: string; readonly nextStep: string }
  /** Reviews are switched off. */
  | { readonly kind: 'skipped'; readonly why: string }
  | { readonly kind: 'changed-during-review' }
  | { readonly kind: 'checklist'; readonly findings: readonly Pick<Finding, 'section' | 'problem' | 'fix'>[] }
  | {
      readonly kind: 'same-plan'
      readonly revision: number
      readonly verdict: Verdict
      readonly question: string | null
      readonly review: ToldReview
    }
  | { readonly kind: 'too-long'; readonly bytes: number; readonly limit: number }
  | { readonly kind: 'not-utf8' }

/** Makes text of the reviewer safe to pass on. */
export type Neutralise = (text: string) => string
