import type { EffectiveConfig } from '../config/schema.ts'
import type { ConditionFacts } from '../reviewers/conditions.ts'
import type { RouteTable } from '../reviewers/route-table.ts'
import type {
  AskReviewer,
  BackendName,
  Failure,
  Finding,
  ReviewResult,
  ReviewType,
  Thread,
  ThreadAfter,
} from '../schemas/review.ts'
import type { PassKind } from './prompts.ts'
import type { CountTokens } from './tokens.ts'

/** What is to be reviewed, and what its reviewer should know. */
export type ReviewRequest = {
  readonly type: ReviewType
  readonly content: string
  /** The text of a reviewer profile file. */
  readonly expertise: string | null
  /** A background document: the feature, the requirements. */
  readonly context: string | null
  readonly iteration: number
  /** The findings of the review before that are still open. */
  readonly earlier: readonly Finding[]
  /** The highest number of a finding so far, so that no id is reused. */
  readonly lastId: number
  /** The diff since the review before. */
  readonly changes: string | null
  /** The folder whose files the reviewer may read; null: none. */
  readonly root: string | null
  /** The thread of all passes except the verification. */
  readonly thread: Thread
  readonly fast: boolean
  readonly passTimeoutMs: number
  readonly totalMs: number
}

/** The redacted parts of a request that go into prompts. */
export type Material = Pick<ReviewRequest, 'type' | 'content' | 'expertise' | 'context' | 'changes' | 'earlier'>

/** Side effects injected into the review engine. */
export type ReviewDependencies = {
  readonly reviewers: {
    readonly [name in BackendName]: AskReviewer
  }
  readonly facts: ConditionFacts
  /** Redacts secrets. When it fails, nothing is sent, saved or shown. */
  readonly redact: (text: string) => { kind: 'redacted'; text: string } | { kind: 'failed'; why: string }
  readonly tokenizer: () => Promise<CountTokens>
  /** The paths that a plan names under `## Changes`. */
  readonly readChanges: (plan: string) => readonly { readonly pattern: string }[]
  readonly now: () => number
  readonly sleep: (ms: number) => Promise<void>
  readonly random: () => string
  readonly signal: AbortSignal
  readonly onEvent: (event: ReviewEvent) => void
  readonly savePass: (pass: PassRecord) => void
  readonly saveThread: (thread: ThreadAfter) => void
}

export type ReviewEvent =
  | {
      readonly kind: 'pass'
      readonly pass: number
      readonly passes: number
      readonly does: PassKind
      readonly backend: BackendName
      readonly deadlineAt: number
    }
  | { readonly kind: 'sign'; readonly text: string }
  | { readonly kind: 'trace'; readonly line: string }
  | { readonly kind: 'notice'; readonly text: string }

/** The outcome of a pass and its redacted answer, saved for later inspection. */
export type PassRecord = {
  readonly pass: number
  readonly does: PassKind
  readonly backend: BackendName
  readonly outcome: 'valid' | 'malformed' | Failure['failure']
  readonly why: string | null
  readonly duration_ms: number
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
  | ({ readonly kind: 'unavailable'; readonly exitCode: number; readonly notices: readonly string[] } & Failure)

export type ReviewSettings = {
  readonly review: EffectiveConfig['review']
  readonly table: RouteTable
  /** null: the caller counts. */
  readonly maxIterations: number | null
}
