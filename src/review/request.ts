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
  /** Whose eyes to read with, beside what the type of the review asks for. */
  readonly expertise: string | null
  /** What the content belongs to: the feature, the requirements. */
  readonly context: string | null
  readonly iteration: number
  /** The findings of the review before that are still open. */
  readonly earlier: readonly Finding[]
  /** The number of the last finding there was, so that no id is given out twice. */
  readonly lastId: number
  /** What changed since then, as a diff. */
  readonly changes: string | null
  /** The folder whose files the reviewer may read; null: none. */
  readonly root: string | null
  /** The thread that the passes but the last are turns of. */
  readonly thread: Thread
  readonly fast: boolean
  readonly passTimeoutMs: number
  readonly totalMs: number
}

/** The redacted parts of a request that go into prompts. */
export type Material = Pick<ReviewRequest, 'type' | 'content' | 'expertise' | 'context' | 'changes' | 'earlier'>

/** What a review does to the world, as functions. */
export type ReviewDependencies = {
  readonly reviewers: {
    readonly [name in BackendName]: AskReviewer
  }
  readonly facts: ConditionFacts
  /** Blanks secrets. What it returns when it fails is a reason, and then nothing is sent, kept or shown. */
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

/** Signs of life, for whoever waits. */
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

/** What a pass came to, kept as it came (redacted), so that a review can be understood afterwards. */
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
      /** The findings of the review before, without secrets. */
      readonly earlier: readonly Finding[]
    }
  | ({
      readonly kind: 'unavailable'
      readonly exitCode: number
      readonly notices: readonly string[]
    } & Failure)

export type ReviewSettings = {
  readonly review: EffectiveConfig['review']
  readonly table: RouteTable
  /** null: whoever asks counts by itself. */
  readonly maxIterations: number | null
}
