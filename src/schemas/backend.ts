import type { Schema } from './schema.ts'

export const reviewTypes = ['plan', 'code', 'prd', 'sdd', 'sprint'] as const
export type ReviewType = (typeof reviewTypes)[number]

export const backendNames = ['hounfour', 'codex', 'curl', 'checklist'] as const
export type BackendName = (typeof backendNames)[number]

export type Effort = 'xhigh' | 'high' | 'medium' | 'low'

/** One question to one reviewer. Everything in it is redacted already. */
export type Question = {
  /** Who the reviewer is, what is asked, and how to answer. */
  readonly system: string
  /** What is to be reviewed and what belongs to it, fenced. */
  readonly user: string
  /** null: whatever the backend is configured for. */
  readonly model: string | null
  /** Dropped with a notice by a backend, or for a model, that has no such setting. */
  readonly effort: Effort | null
  /** The form of the answer, for backends that can ask a model to keep to one. */
  readonly schema: (Schema & { readonly $id: string }) | null
  readonly thread: Thread
  /** The folder that the review is about, whose files may be read; null: none may. */
  readonly root: string | null
  readonly timeoutMs: number
  /** What is under review, as it is, for a backend that judges it without a model. */
  readonly subject: { readonly type: ReviewType; readonly content: string }
}

/** `used`: what the whole thread had used after its last turn, where that is known; Codex reports totals. */
export type Thread =
  | { readonly kind: 'none' }
  | { readonly kind: 'start' }
  | { readonly kind: 'resume'; readonly id: string; readonly used: Usage | null }

export type Usage = {
  readonly input: number
  readonly cached: number
  readonly output: number
  readonly reasoning: number
}

/** The class of a failure decides what is done about it; see src/routes. None of them is a verdict. */
export const failureClasses = [
  'not-installed',
  'auth',
  'quota',
  'rate-limited',
  'timeout',
  'transport',
  'server',
  'malformed',
  'refused',
  /** The request itself was not accepted: too long, an unknown model, a schema it does not take. */
  'rejected',
  'crashed',
  'cancelled',
] as const
export type FailureClass = (typeof failureClasses)[number]

export type Failure = {
  readonly failure: FailureClass
  /** A sentence for people: what happened. */
  readonly why: string
  /** What they can do about it. */
  readonly nextStep: string
  readonly retryAfterMs: number | null
}

export type Answer = (
  | { readonly kind: 'answered'; readonly text: string; readonly usage: Usage | null; readonly model: string | null }
  | ({ readonly kind: 'failed' } & Failure)
) & {
  /** The thread that holds this turn and can be resumed; null where there is none. */
  readonly thread: ThreadAfter | null
  /** What was done otherwise than asked for. */
  readonly notices: readonly string[]
}

export type ThreadAfter = {
  readonly id: string
  readonly used: Usage | null
  /** Set when the thread that was to be resumed could not be, and this one took its place. */
  readonly replaced: { readonly was: string; readonly why: string } | null
}

/** `tell` is called with a few words whenever there is a sign of life. An abort leaves no process and answers `cancelled`. */
export type AskContext = { readonly signal: AbortSignal; readonly tell: (sign: string) => void }

/** The one function type of all backends. It does not throw: what goes wrong is a class of failure. */
export type Backend = (question: Question, context: AskContext) => Promise<Answer>
