import {
  bool,
  count,
  type FromSchema,
  integerOrNull,
  listOf,
  objectOf,
  type Schema,
  strictObjectOf,
  text,
  textOrNull,
  texts,
} from './schema.ts'

export const reviewTypes = ['plan', 'code', 'prd', 'sdd', 'sprint'] as const
export type ReviewType = (typeof reviewTypes)[number]

export const backendNames = ['hounfour', 'codex', 'claude', 'curl', 'checklist'] as const
export type BackendName = (typeof backendNames)[number]
export const efforts = ['xhigh', 'high', 'medium', 'low'] as const
export type Effort = (typeof efforts)[number]

/** One question to one reviewer. Everything in it is redacted already. */
export type Question = {
  /** Who the reviewer is, what is asked, and how to answer: the same for each turn of a thread. */
  readonly system: string
  /** This turn: its task, what is to be reviewed and what belongs to it, fenced. */
  readonly user: string
  /** The same without what the resumed thread has been told in this review; null or absent: it holds nothing of it. */
  readonly turn?: string | null
  /** null: the backend's default. */
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
  readonly why: string
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

/** `onProgress` is called with a few words at each sign of life. An abort leaves no process and answers `cancelled`. */
export type AskContext = { readonly signal: AbortSignal; readonly onProgress: (sign: string) => void }

/** The one function type of all backends. It does not throw: what goes wrong is a class of failure. */
export type AskReviewer = (question: Question, context: AskContext) => Promise<Answer>

/** `.claude/review/passes/plan_vN.pass-K.json`: the result of one question to a reviewer, in the order of asking. */
export const keptPassSchema = {
  $id: 'kept-pass',
  ...objectOf({
    pass: { type: 'integer', minimum: 1 },
    does: { ...text, description: 'plan, review, verify or combined.' },
    backend: text,
    outcome: { ...text, description: 'valid, malformed, or a class of failure.' },
    why: textOrNull,
    duration_ms: { type: 'number', minimum: 0 },
    tokens: { type: ['integer', 'null'], minimum: 0 },
  }),
} as const satisfies Schema

export type KeptPass = FromSchema<typeof keptPassSchema>

const countOrNull = { type: ['integer', 'null'], minimum: 0 } as const

/** Only the first approves. */
export const verdicts = ['APPROVED', 'CHANGES_REQUIRED', 'DECISION_NEEDED', 'SKIPPED'] as const
export type Verdict = (typeof verdicts)[number]

/** The first two keep a plan or a change from being approved; the others are the author's choice. */
export const severities = ['critical', 'major', 'minor', 'advice'] as const
export type Severity = (typeof severities)[number]

const findingProperties = {
  severity: { type: 'string', enum: severities },
  section: { ...text, description: 'Where: a heading of the document, or path:line.' },
  problem: { ...text, description: 'What is wrong, and what happens because of it.' },
  evidence: { ...text, description: 'What shows it: a quotation, a file and line, a rule.' },
  fix: { ...text, description: 'The smallest change that fixes it.' },
} as const

export const findingSchema = {
  ...objectOf(
    { id: { ...text, description: 'Stays the same for as long as the finding does.' }, ...findingProperties },
    {
      raised_as: {
        enum: severities,
        description: 'What the reviewer called it, where it came too late to hold a plan up and is advice.',
      },
      sources: { ...texts, description: 'Which of several readers have reported it.' },
    },
  ),
  additionalProperties: false,
} as const satisfies Schema

const earlierFindingSchema = strictObjectOf({
  id: text,
  status: {
    type: 'string',
    enum: ['fixed', 'rejected', 'withdrawn', 'not_fixed'],
    description: 'rejected: the author declined it, with a valid reason. withdrawn: the finding was wrong.',
  },
  reason: text,
}) satisfies Schema

const complexities = ['low', 'medium', 'high'] as const
export type Complexity = (typeof complexities)[number]

export const reviewResultSchema = {
  $id: 'review-result',
  title: 'The result of a review by plan-gate',
  description: 'What `plan-gate review` prints and what .claude/review/plan_vN.codex.json holds.',
  type: 'object',
  required: ['verdict', 'is_optimal', 'summary', 'findings'],
  properties: {
    verdict: { enum: verdicts },
    is_optimal: { ...bool, description: 'True exactly for APPROVED.' },
    summary: text,
    question: { ...textOrNull, description: 'What the user has to decide, for DECISION_NEEDED.' },
    findings: listOf(findingSchema),
    previous_findings: {
      ...listOf(earlierFindingSchema),
      description: 'What became of each finding of the review before.',
    },
    verification: {
      enum: ['passed', 'skipped', null],
      description: 'Whether each finding was verified by a second pass; null: a single pass has no verification.',
    },
    iteration: { type: 'integer', minimum: 1 },
    notices: { ...texts, description: 'What was done otherwise than asked for, and why.' },
    plan_hash: { ...text, description: 'For docs/plan.md: SHA-256 of the bytes that were reviewed.' },
    last_id: { ...count, description: 'For docs/plan.md: the highest number of a finding in this cycle so far.' },
    late: { ...texts, description: 'For docs/plan.md: findings that came too late to hold it up.' },
    stuck: { ...texts, description: 'For docs/plan.md: where revising goes round in circles.' },
    pass_metadata: {
      type: 'object',
      required: ['passes_completed', 'total_duration_ms', 'reasoning_mode', 'route', 'complexity'],
      properties: {
        passes_completed: count,
        pass1_tokens: countOrNull,
        pass2_tokens: countOrNull,
        pass3_tokens: countOrNull,
        total_duration_ms: count,
        reasoning_mode: { enum: ['multi-pass', 'single-pass'] },
        route: { ...text, description: 'The row that answered, by its name.' },
        model: textOrNull,
        complexity: { enum: [...complexities, null] },
        repository: { ...bool, description: 'Whether the reviewer could read the repository.' },
        instead_of: {
          ...texts,
          description:
            'The reviewers before it in the table that failed, where nobody named this one; it approves no plan.',
        },
        calls: {
          ...count,
          description: 'All questions to a reviewer, with those that were retried, failed or malformed.',
        },
        failed_calls: count,
        malformed_calls: count,
        input_tokens: countOrNull,
        cached_input_tokens: countOrNull,
        output_tokens: countOrNull,
        cost_usd: {
          type: ['number', 'null'],
          minimum: 0,
          description: 'By the prices of the rows; null: a price or the tokens are not known.',
        },
        readers: {
          ...listOf(
            objectOf({
              name: text,
              model: textOrNull,
              verdict: { enum: [...verdicts, null], description: 'null: it gave none.' },
              why: { ...textOrNull, description: 'Why it gave none.' },
            }),
          ),
          description: 'Where several have read it: who they are, and what each concluded in the end.',
        },
      },
    },
  },
} as const satisfies Schema

export type ReviewResult = FromSchema<typeof reviewResultSchema>
export type Finding = FromSchema<typeof findingSchema>
export type EarlierFinding = FromSchema<typeof earlierFindingSchema>

const findingStates = ['open', 'waived', 'fixed', 'rejected', 'withdrawn', 'gone'] as const
const listedFinding = { ...findingSchema.properties, state: { enum: findingStates }, late: bool, reason: text } as const

export const findingsSchema = {
  $id: 'findings',
  title: 'What `plan-gate findings --json` prints: the findings of this cycle',
  ...objectOf({
    revision: { ...integerOrNull, description: 'The one that was reviewed last; null: none was.' },
    findings: listOf({
      ...findingSchema,
      properties: listedFinding,
      required: [...findingSchema.required, 'state', 'late', 'reason'],
    }),
  }),
} as const satisfies Schema

export type FindingsOutput = FromSchema<typeof findingsSchema>

export const waiveSchema = {
  $id: 'waive',
  title: 'What `plan-gate waive --json` prints',
  ...objectOf({
    finding: text,
    waived: { ...bool, description: 'false: it was taken back.' },
    open: { ...texts, description: 'What still holds the plan.' },
    approved: { ...bool, description: 'Whether the plan was approved by this decision.' },
  }),
} as const satisfies Schema

export type WaiveOutput = FromSchema<typeof waiveSchema>

export const servedReportSchema = {
  $id: 'report-serve',
  title: 'What `plan-gate report --serve --json` prints',
  ...objectOf({
    url: { ...text, description: 'With its token: whoever has it can decide.' },
    root: text,
    idle_minutes: count,
  }),
} as const satisfies Schema

export type ServedOutput = FromSchema<typeof servedReportSchema>

const answeredFinding = strictObjectOf({
  id: { ...textOrNull, description: 'The id of the earlier finding that this is again; null for a new one.' },
  ...findingProperties,
}) satisfies Schema

const answered = {
  verdict: { type: 'string', enum: ['APPROVED', 'CHANGES_REQUIRED', 'DECISION_NEEDED'] },
  is_optimal: { ...bool, description: 'True exactly when the verdict is APPROVED.' },
  summary: { ...text, description: 'Two or three sentences.' },
  question: { ...textOrNull, description: 'With DECISION_NEEDED: what only the user can decide. Otherwise null.' },
  findings: listOf(answeredFinding),
  previous_findings: listOf(earlierFindingSchema),
} as const

/**
 * What a reviewer is asked to answer with, in every turn: a schema is part of the prefix that a service caches. Every key
 * is required and each enum has a type, as the strict mode of OpenAI's structured outputs wants it; Codex does not check
 * the answer, so the contract does.
 */
export const reviewerAnswerSchema = {
  $id: 'reviewer-answer',
  ...strictObjectOf({
    ...answered,
    context_summary: {
      ...textOrNull,
      description: 'null unless it is asked for: scope, dependencies, risks, test gaps.',
    },
    complexity: {
      ...strictObjectOf({
        risk_area_count: count,
        files_affected: count,
        scope_category: { type: 'string', enum: complexities },
      }),
      type: ['object', 'null'],
    },
  }),
} as const satisfies Schema

/** Read leniently: models add and leave out fields. `verdict` and the shape of `findings` are what the contract holds. */
export type ReviewerAnswer = {
  readonly verdict: Verdict
  readonly summary: string
  readonly question: string | null
  readonly findings: readonly AnsweredFinding[]
  readonly previous_findings: readonly EarlierFinding[]
  readonly context_summary: string | null
  readonly complexity: { readonly risk_area_count: number; readonly files_affected: number } | null
}
/** `sources`: the readers who have reported it, where there were several; never of an answer. */
export type AnsweredFinding = FromSchema<typeof answeredFinding> & { readonly sources?: readonly string[] }
