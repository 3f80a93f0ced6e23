import type { EffectiveConfig } from '../config/schema.ts'
import type { ConditionFacts, Route, RouteTable } from '../reviewers/route-table.ts'
import type {
  AskReviewer,
  BackendName,
  EarlierFinding,
  Effort,
  Failure,
  Finding,
  ReviewResult,
  ReviewType,
  Thread,
  ThreadAfter,
  Verdict,
} from '../schemas/review.ts'
import type { Expected, PassTimes } from '../state/pass-times.ts'
import type { PassKind } from './prompts.ts'
import type { CountTokens } from './tokens.ts'

/** The parts of a request that go into prompts, redacted there. */
export type Material = {
  readonly type: ReviewType
  readonly content: string
  readonly expertise: string | null
  readonly context: string | null
  readonly iteration: number
  /** The findings of the review before that are still open. */
  readonly earlier: readonly Finding[]
  /** The diff since the review before, or to the text that was approved last. */
  readonly changes: string | null
  /** What was asked for: the request of a plan, the approved plan of a change to code. */
  readonly intent: string | null
  readonly guidelines: string | null
  /** What the author answers to earlier findings: arguments, neither instructions nor findings. */
  readonly replies: string | null
  /** The number of this round, and after how many the user decides; null: it is not known. */
  readonly rounds: number | null
}

export type ReviewRequest = Material & {
  /** The highest number of a finding so far, so that no id is reused. */
  readonly lastId: number
  /** Ids of earlier findings that the author has contested twice: a fresh reader decides them. */
  readonly contested: readonly string[]
  /** The folder whose files the reviewer may read; null: none. */
  readonly root: string | null
  /** The thread of all passes except the verification. */
  readonly thread: Thread
  /** The name of the row that the thread belongs to, since another one cannot go on with it; absent: of any. */
  readonly threadOf?: string
  readonly fast: boolean
  /** What counts of an answer, in the light of the reviews before. */
  readonly settle: Settle
  readonly passTimeoutMs: number
  readonly totalMs: number
}

/** The answer of a reviewer, with the ids of its findings. */
export type Reported = {
  readonly backend: BackendName
  readonly verdict: Verdict
  readonly question: string | null
  readonly findings: readonly Finding[]
  readonly statuses: readonly EarlierFinding[]
  /** Open after the review before, redacted. */
  readonly earlier: readonly Finding[]
}

export type Settled = {
  readonly verdict: Verdict
  readonly question: string | null
  readonly findings: readonly Finding[]
  readonly previous: readonly EarlierFinding[]
  /** Ids of findings that came too late to hold anything up. */
  readonly late: readonly string[]
  /** Where the verdict differs from the reviewer's, and why. */
  readonly notices: readonly string[]
  /** Earlier critical and major findings of which the reviewer did not say, with a reason, what became of them. */
  readonly unanswered: readonly string[]
  /** It requires changes, and nothing that is open may hold anything up. */
  readonly isUnfounded: boolean
}

/** `first`: the reviewer can be asked once more about what is unanswered or unfounded; `final`: it cannot. */
export type Settle = (reported: Reported, stage: 'first' | 'final') => Settled

export type ReviewDependencies = {
  readonly reviewers: (route: Route) => AskReviewer
  readonly facts: ConditionFacts
  /** Redacts secrets. When it fails, nothing is sent, saved or shown. */
  readonly redact: (text: string) => { kind: 'redacted'; text: string } | { kind: 'failed'; why: string }
  readonly tokenizer: () => Promise<CountTokens>
  /** The paths that a plan names under `## Changes`. */
  readonly readChanges: (plan: string) => readonly { readonly pattern: string }[]
  readonly now: () => number
  readonly sleep: (ms: number) => Promise<void>
  readonly random: () => string
  /** Absent: nothing is known of earlier passes. */
  readonly passTimes?: PassTimes
  readonly signal: AbortSignal
  readonly onEvent: (event: ReviewEvent) => void
  readonly savePass: (pass: PassRecord) => void
  readonly saveThread: (thread: ThreadAfter, route: string) => void
}

export type ReviewEvent =
  | {
      readonly kind: 'pass'
      readonly pass: number
      readonly passes: number
      readonly does: PassKind
      readonly backend: string
      readonly deadlineAt: number
      /** What this pass takes as a rule; null: not known. */
      readonly expectedMs?: number | null
      /** The same for this pass and those after it. */
      readonly forecast?: Expected | null
    }
  | { readonly kind: 'sign'; readonly text: string }
  | { readonly kind: 'trace'; readonly line: string }
  | { readonly kind: 'notice'; readonly text: string }

export type PassRecord = {
  readonly pass: number
  readonly does: PassKind
  readonly backend: string
  readonly outcome: 'valid' | 'malformed' | Failure['failure']
  readonly why: string | null
  readonly duration_ms: number
  readonly effort: Effort | null
  readonly tokens: number | null
  readonly answer: string | null
}

export type ReviewOutcome =
  | {
      readonly kind: 'reviewed'
      readonly result: ReviewResult
      readonly lastId: number
      /** The findings of the review before, redacted. */
      readonly earlier: readonly Finding[]
    }
  | ({
      readonly kind: 'unavailable'
      readonly exitCode: number
      readonly notices: readonly string[]
      /** What it has cost all the same, as far as that is known. */
      readonly tokens: number
    } & Failure)

export type ReviewSettings = {
  readonly review: EffectiveConfig['review']
  readonly table: RouteTable
  /** null: the caller counts. */
  readonly maxIterations: number | null
}
