import { type FromSchema, objectOf, type Schema } from './schema.ts'

/**
 * `.claude/review/approval.json`. Only the first two fields decide, so that a person can approve by hand; the others
 * are what a review adds for the reader.
 */
export const approvalSchema = {
  $id: 'approval',
  title: 'plan-gate approval',
  type: 'object',
  required: ['is_optimal', 'plan_hash'],
  properties: {
    is_optimal: { type: 'boolean', description: 'The gate opens only for the literal true.' },
    plan_hash: { type: 'string', pattern: '^[0-9a-f]{64}$', description: "SHA-256 of docs/plan.md's bytes, in hex." },
    review_version: { type: ['integer', 'null'], description: 'The revision that was approved.' },
    approved_at: { type: ['string', 'null'], description: 'When, in ISO 8601.' },
    codex_thread_id: { type: ['string', 'null'] },
    verification: { type: ['string', 'null'], description: 'Whether a verification pass confirmed the verdict.' },
    route: { type: ['string', 'null'], description: 'The backend that answered, or "manual".' },
    reason: { type: ['string', 'null'], description: 'Why a person approved over the reviewer.' },
  },
} as const satisfies Schema

export type Approval = FromSchema<typeof approvalSchema>

const { is_optimal, plan_hash, review_version, approved_at, verification, route, reason } = approvalSchema.properties

/** What `verify --export` writes beside the plan, for a team to commit. It reads as an approval, too. */
export const approvalRecordSchema = {
  $id: 'approval-record',
  title: 'The approval of a plan as plan-gate exports it: what `verify --approval` reads in CI',
  ...objectOf({
    version: { const: 1 },
    plan: { type: 'string', description: 'The plan, from the root of the checkout.' },
    is_optimal,
    plan_hash,
    review_version,
    approved_at,
    verification,
    route,
    reason,
    ledger_head: { type: 'string', description: 'The hash of the ledger’s last line at that time.' },
    ledger_events: { type: 'integer' },
    plan_gate: { type: 'string', description: 'The version of plan-gate that wrote it.' },
  }),
} as const satisfies Schema

export type ApprovalRecord = FromSchema<typeof approvalRecordSchema>

/** A line of `.claude/review/sessions/<id>/denials.jsonl`: a call that the gate refused. */
export const denialSchema = {
  $id: 'denial',
  type: 'object',
  required: ['at', 'tool', 'target', 'rule', 'reason'],
  properties: {
    at: { type: 'string' },
    tool: { type: 'string' },
    target: { type: 'string', description: 'The path or the command line, redacted; shortened where it was long.' },
    rule: { type: 'string' },
    reason: { type: 'string' },
  },
} as const satisfies Schema

export type Denial = FromSchema<typeof denialSchema>

const text = { type: 'string' } as const
const textOrNull = { type: ['string', 'null'] } as const
const { $id: _, title: __, ...approval } = approvalSchema

/** `finished.json` of an archive. */
export const finishedSchema = {
  $id: 'finished',
  title: 'What an archive of plan-gate is about: finished.json, beside what was in .claude/review and docs/plan.md',
  ...objectOf({
    version: { const: 1 },
    finished_at: text,
    worktree: text,
    branch: textOrNull,
    base: { ...textOrNull, description: 'The branch that it started from.' },
    base_commit: text,
    head: { ...textOrNull, description: 'The last commit.' },
    merged_into: { ...textOrNull, description: 'Where its commits were found; null: nowhere, or it was not asked.' },
    plan_hash: { ...textOrNull, description: 'SHA-256 of docs/plan.md.' },
    approval: { anyOf: [approval, { type: 'null' }], description: 'approval.json, where it holds for that plan.' },
    ledger_head: { ...textOrNull, description: 'The hash of the last line of events.jsonl.' },
    discarded: { type: 'array', items: text, description: 'What was given up with --discard.' },
    plan_gate: text,
  }),
} as const satisfies Schema

export type Finished = FromSchema<typeof finishedSchema>

/**
 * `.claude/review/handled.json`: the bytes of the plan that were dealt with last and what was said about them, so that
 * the same bytes cost no second look. It approves nothing.
 */
export const handledPlanSchema = {
  $id: 'handled-plan',
  type: 'object',
  required: ['plan_hash', 'again', 'kind', 'text', 'user'],
  properties: {
    plan_hash: { type: 'string', pattern: '^[0-9a-f]{64}$' },
    again: { type: 'boolean', description: 'Whether saving the same bytes again is a reason to try again.' },
    kind: { enum: ['silence', 'context', 'block'], description: 'How it was said to Claude.' },
    text: { type: 'string' },
    user: { type: ['string', 'null'], description: 'The line that the user saw.' },
  },
} as const satisfies Schema

export type HandledPlan = FromSchema<typeof handledPlanSchema>

const textInstallRecord = { type: 'string' } as const
const textOrNullInstallRecord = { type: ['string', 'null'] } as const

/**
 * What an install did, kept in the worktree's git directory where no tool of Claude Code may write. Written before the
 * first change, so that an install that was cut short can be finished or undone.
 */
export const installRecordSchema = {
  $id: 'install-record',
  type: 'object',
  required: [
    'version',
    'package_version',
    'installed_at',
    'complete',
    'track',
    'reviewer',
    'reflect',
    'config',
    'settings',
    'files',
    'created_dirs',
    'excluded',
  ],
  properties: {
    version: { const: 1 },
    package_version: textInstallRecord,
    package_root: {
      ...textInstallRecord,
      description: 'Where the package lies that was installed; what is too large to copy is read there.',
    },
    installed_at: textInstallRecord,
    complete: { type: 'boolean' },
    track: { type: 'boolean', description: 'Whether the files are meant to be committed.' },
    reviewer: textOrNullInstallRecord,
    reflect: { type: 'boolean' },
    config: {
      ...textOrNullInstallRecord,
      description: 'The plan-gate.yaml that counts while the worktree has none of its own.',
    },
    settings: {
      type: 'object',
      required: ['path', 'before', 'before_mode', 'after', 'denied'],
      properties: {
        path: textInstallRecord,
        before: {
          ...textOrNullInstallRecord,
          description: 'The bytes before us, in base64; null where there was no file.',
        },
        before_mode: { type: ['integer', 'null'] },
        after: { ...textInstallRecord, description: 'The bytes that we wrote, in base64.' },
        denied: { type: 'array', items: textInstallRecord },
      },
    },
    files: {
      type: 'array',
      items: {
        type: 'object',
        required: ['path', 'sha256', 'mode'],
        properties: { path: textInstallRecord, sha256: textInstallRecord, mode: { type: 'integer' } },
      },
    },
    created_dirs: {
      type: 'array',
      items: textInstallRecord,
      description: 'Folders that were not there before, outermost first.',
    },
    excluded: { type: 'array', items: textInstallRecord, description: 'Our lines in info/exclude.' },
  },
} as const satisfies Schema

export type InstallRecord = FromSchema<typeof installRecordSchema>

/** What every line of `.claude/review/events.jsonl` has. Types this version does not know are read all the same. */
export const ledgerEventSchema = {
  $id: 'ledger-event',
  type: 'object',
  required: ['seq', 'at', 'type', 'prev'],
  properties: {
    seq: { type: 'integer', minimum: 1, description: 'The number of its line.' },
    at: { type: 'string' },
    type: { type: 'string', pattern: '^[a-z][a-z0-9-]*$' },
    prev: {
      type: 'string',
      pattern: '^[0-9a-f]{64}$',
      description: 'SHA-256 of the line before, without its newline.',
    },
  },
} as const satisfies Schema

export type LedgerEvent = FromSchema<typeof ledgerEventSchema> & { readonly [field: string]: unknown }

const textLedgerEvent = { type: 'string' } as const
const textOrNullLedgerEvent = { type: ['string', 'null'] } as const
const count = { type: 'integer' } as const
const countOrNull = { type: ['integer', 'null'] } as const
const yesOrNo = { type: 'boolean' } as const
const texts = { type: 'array', items: textLedgerEvent } as const

/** What each type of event says beside that. */
export const ledgerEntrySchemas = {
  'cycle-started': objectOf({ cycle: count }),
  'revision-submitted': objectOf({ revision: count, plan_hash: textLedgerEvent }),
  reviewed: objectOf({
    revision: count,
    plan_hash: textLedgerEvent,
    verdict: textLedgerEvent,
    backend: textLedgerEvent,
    findings: count,
  }),
  'review-unavailable': objectOf({ plan_hash: textLedgerEvent, failure: textLedgerEvent, why: textLedgerEvent }),
  'routes-effective': objectOf({ routes_hash: textLedgerEvent }),
  'thread-started': objectOf({ thread: textLedgerEvent }),
  'thread-replaced': objectOf({ thread: textLedgerEvent, was: textLedgerEvent, why: textLedgerEvent }),
  approved: objectOf({
    revision: count,
    plan_hash: textLedgerEvent,
    route: textLedgerEvent,
    verification: textOrNullLedgerEvent,
  }),
  'approved-manually': objectOf({ plan_hash: textLedgerEvent, reason: textOrNullLedgerEvent }),
  'approval-revoked': objectOf({ why: textLedgerEvent }),
  'limit-reached': objectOf({ revision: count }),
  continued: objectOf({ revision: count }),
  'cycle-archived': objectOf({ cycle: count, revisions: count, approved: yesOrNo, recovered: yesOrNo }),
  denied: objectOf({ tool: textLedgerEvent, rule: textLedgerEvent, reason: textLedgerEvent }),
  'config-change-vetoed': objectOf({ source: textLedgerEvent, path: textOrNullLedgerEvent }),
  'control-plane-restored': objectOf({ paths: texts }),
  'drift-found': objectOf({ paths: texts }),
  'drift-accepted': objectOf({ paths: texts }),
  reflected: objectOf({
    session: textLedgerEvent,
    kind: textLedgerEvent,
    about: textLedgerEvent,
    duration_ms: count,
    verdict: textLedgerEvent,
    tokens: countOrNull,
  }),
  'reflection-unavailable': objectOf({
    session: textLedgerEvent,
    kind: textLedgerEvent,
    about: textLedgerEvent,
    duration_ms: count,
    failure: textLedgerEvent,
    why: textLedgerEvent,
  }),
  installed: objectOf({ version: textLedgerEvent }),
  uninstalled: objectOf({ version: textLedgerEvent }),
  /** Written by the ledger itself after a crash: `prev` covers the torn bytes, `after` the last whole line. */
  'torn-line': objectOf({ after: textLedgerEvent, lines: count, bytes: count }),
} as const satisfies { [type: string]: Schema }

type Entries = typeof ledgerEntrySchemas

export type LedgerEntry = { [T in keyof Entries]: { readonly type: T } & FromSchema<Entries[T]> }[keyof Entries]

const textOrNullOpenedWorktree = { type: ['string', 'null'] } as const

/** What `bootstrap` notes in the git directory of a worktree that it opened, for `finish`. */
export const openedWorktreeSchema = {
  $id: 'opened-worktree',
  ...objectOf({
    version: { const: 1 },
    opened_at: { type: 'string' },
    base: {
      ...textOrNullOpenedWorktree,
      description: 'The branch that it started from, as a full name; null where that was none.',
    },
    base_commit: { type: 'string' },
    own_branch: {
      ...textOrNullOpenedWorktree,
      description: 'The branch that goes with the worktree; null: it is the user’s.',
    },
  }),
} as const satisfies Schema

export type OpenedWorktree = FromSchema<typeof openedWorktreeSchema>

/** `.claude/review/progress.json`: which pass of a review is running, for `plan-gate watch` and `status`. */
export const progressSchema = {
  $id: 'progress',
  type: 'object',
  required: ['pass', 'passes', 'backend', 'started_at', 'deadline_at', 'revision', 'pid'],
  properties: {
    pass: { type: 'integer', minimum: 1 },
    passes: { type: 'integer', minimum: 1, description: 'How many passes are expected; may shrink after the first.' },
    backend: { type: 'string' },
    started_at: { type: 'string' },
    deadline_at: { type: 'string' },
    revision: { type: 'integer', minimum: 1 },
    pid: { type: 'integer', minimum: 1, description: 'The process that reviews; if it is gone, so is the review.' },
    does: { type: 'string', description: 'What the pass is for: plan, review, verify or combined.' },
    pass_started_at: { type: 'string', description: '`started_at` and `deadline_at` are those of the whole review.' },
    pass_deadline_at: { type: 'string' },
    sign: { type: 'string', description: 'The last sign of life of the backend, without secrets.' },
    signed_at: { type: 'string' },
  },
} as const satisfies Schema

export type Progress = FromSchema<typeof progressSchema>

/** `.claude/review/sessions/<id>/session.json`: that a Claude Code session was here, and when it was last heard of. */
export const sessionSchema = {
  $id: 'session',
  type: 'object',
  required: ['session_id', 'client_version', 'started_at', 'last_seen_at', 'source', 'cwd'],
  properties: {
    session_id: { type: 'string', description: 'As Claude Code gave it; the folder may be named for its hash.' },
    client_version: { type: ['string', 'null'] },
    started_at: { type: 'string' },
    last_seen_at: { type: 'string' },
    source: { type: 'string', description: 'startup, resume, clear or compact.' },
    cwd: { type: 'string' },
    ended_at: { type: 'string', description: 'Told by whoever had started it; a later sign of life takes it back.' },
  },
} as const satisfies Schema

export type Session = FromSchema<typeof sessionSchema>

const countThreadUse = { type: 'integer', minimum: 0 } as const

/** `.claude/review/codex_thread_use.json`: what the thread has used so far; Codex reports totals, a turn is the rest. */
export const threadUseSchema = {
  $id: 'thread-use',
  type: 'object',
  required: ['thread', 'used'],
  properties: {
    thread: { type: 'string' },
    used: {
      type: 'object',
      required: ['input', 'cached', 'output', 'reasoning'],
      properties: { input: countThreadUse, cached: countThreadUse, output: countThreadUse, reasoning: countThreadUse },
    },
  },
} as const satisfies Schema

export type ThreadUse = FromSchema<typeof threadUseSchema>
