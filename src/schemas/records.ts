/** The files that plan-gate keeps, in `.claude/review` and in the worktree's git directory. */
import {
  bool,
  count,
  embedded,
  type FromSchema,
  integer,
  integerOrNull,
  listOf,
  objectOf,
  type Schema,
  sha256Hex,
  text,
  textOrNull,
  texts,
} from './schema.ts'

const positive = { type: 'integer', minimum: 1 } as const
const formatVersion = { const: 1 } as const

/** Who looked at the text that was approved, and what the user decided about it. Absent in older approvals. */
const approvalDetails = {
  model: { ...textOrNull, description: 'The model that reviewed; null: the one that the backend chose.' },
  passes: { ...integer, description: 'How many passes the review had.' },
  repository: { ...bool, description: 'Whether the reviewer could read the repository.' },
  readers: { ...texts, description: 'Who else has read it and approved.' },
  waived: {
    ...listOf(objectOf({ id: text, severity: text, reason: text })),
    description: 'Findings that the user decided not to have fixed.',
  },
  carried_from: {
    ...textOrNull,
    description: 'SHA-256 of the text that was approved, where only ticks and white space have changed since.',
  },
} as const satisfies { [name: string]: Schema }

/**
 * `.claude/review/approval.json`. Only the first two fields decide, so that a person can approve by hand; a review adds
 * the others for the reader.
 */
export const approvalSchema = {
  $id: 'approval',
  title: 'plan-gate approval',
  ...objectOf(
    {
      is_optimal: { ...bool, description: 'The gate opens only for the literal true.' },
      plan_hash: { ...sha256Hex, description: "SHA-256 of docs/plan.md's bytes, in hex." },
    },
    {
      review_version: { ...integerOrNull, description: 'The revision that was approved.' },
      approved_at: { ...textOrNull, description: 'When, in ISO 8601.' },
      codex_thread_id: textOrNull,
      verification: { ...textOrNull, description: 'Whether a verification pass confirmed the verdict.' },
      route: { ...textOrNull, description: 'The backend that answered, or "manual".' },
      reason: { ...textOrNull, description: 'Why a person approved over the reviewer.' },
      ...approvalDetails,
    },
  ),
} as const satisfies Schema

export type Approval = FromSchema<typeof approvalSchema>

const { is_optimal, plan_hash, review_version, approved_at, verification, route, reason } = approvalSchema.properties
const exportedApproval = { is_optimal, plan_hash, review_version, approved_at, verification, route, reason } as const

/** What `verify --export` writes beside the plan, for a team to commit. It reads as an approval, too. */
export const approvalRecordSchema = {
  $id: 'approval-record',
  title: 'The approval of a plan as plan-gate exports it: what `verify --approval` reads in CI',
  ...objectOf(
    {
      version: formatVersion,
      plan: { ...text, description: 'The plan, from the root of the checkout.' },
      ...exportedApproval,
      ledger_head: { ...text, description: 'The hash of the ledger’s last line at that time.' },
      ledger_events: integer,
      plan_gate: { ...text, description: 'The version of plan-gate that wrote it.' },
    },
    {
      ...approvalDetails,
      findings: {
        ...listOf(
          objectOf({
            id: text,
            severity: text,
            state: { ...text, description: 'open, waived, fixed, rejected, withdrawn or gone.' },
            section: text,
            problem: { ...text, description: 'In the words of the reviewer, shortened.' },
            reason: { ...text, description: 'Why it has that state, shortened.' },
          }),
        ),
        description: 'What the reviews of this cycle found. Absent in older exports.',
      },
    },
  ),
} as const satisfies Schema

export type ApprovalRecord = FromSchema<typeof approvalRecordSchema>

/** A line of `.claude/review/sessions/<id>/denials.jsonl`: a call that the gate refused. */
export const denialSchema = {
  $id: 'denial',
  ...objectOf({
    at: text,
    tool: text,
    target: { ...text, description: 'The path or the command line, redacted and truncated.' },
    rule: text,
    reason: text,
  }),
} as const satisfies Schema

export type Denial = FromSchema<typeof denialSchema>

const { title: __, ...approval } = embedded(approvalSchema)

export const finishedSchema = {
  $id: 'finished',
  title: 'What an archive of plan-gate is about: finished.json, beside what was in .claude/review and docs/plan.md',
  ...objectOf({
    version: formatVersion,
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
    discarded: { ...texts, description: 'What was given up with --discard.' },
    plan_gate: text,
  }),
} as const satisfies Schema

export type Finished = FromSchema<typeof finishedSchema>

/**
 * `.claude/review/handled.json`: the bytes of the plan that were handled last and the message about them, so that the
 * same bytes are not reviewed twice. It approves nothing.
 */
export const handledPlanSchema = {
  $id: 'handled-plan',
  ...objectOf(
    {
      plan_hash: sha256Hex,
      again: { ...bool, description: 'Whether saving the same bytes again is a reason to try again.' },
      kind: { enum: ['silence', 'context', 'block'], description: 'How Claude received it.' },
      text,
      user: { ...textOrNull, description: 'The line that the user saw.' },
    },
    {
      outcome: { ...text, description: 'What came of it, such as changes-required or checklist.' },
      note: { ...text, description: 'What the user has decided since, until Claude is told.' },
    },
  ),
} as const satisfies Schema

export type HandledPlan = FromSchema<typeof handledPlanSchema>

/**
 * `plan-gate.yaml` and what else the gate must know, as JSON, because a YAML parser costs the gate 22 ms a call. Only
 * plan-gate writes it, so its form is checked, and not each part of it.
 */
export const compiledConfigSchema = {
  $id: 'compiled-config',
  ...objectOf({
    version: { const: 1 },
    recorded: { ...bool, description: 'Whether there was a record of an install when it was compiled.' },
    source: { ...textOrNull, description: 'The text it was compiled from; another text means: compile again.' },
    problems: { ...texts, description: 'What is wrong with the text; while anything is, the gate denies.' },
    notices: { ...texts, description: 'What is ignored in the text, or has another name now.' },
    protected_paths: {
      ...objectOf({ root: objectOf({ named: text }) }),
      description: 'The folders that the gate judges a write by; looking them up costs half a millisecond a call.',
    },
    config: { type: 'object', description: 'The whole configuration, every default filled in.' },
  }),
} as const satisfies Schema

/**
 * What an install did, kept in the worktree's git directory where no tool of Claude Code may write. Written before the
 * first change, so that an interrupted install can be finished or undone.
 */
export const installRecordSchema = {
  $id: 'install-record',
  ...objectOf(
    {
      version: formatVersion,
      package_version: text,
      installed_at: text,
      complete: bool,
      track: { ...bool, description: 'Whether the files are meant to be committed.' },
      reviewer: textOrNull,
      reflect: bool,
      config: { ...textOrNull, description: 'The plan-gate.yaml that counts while the worktree has none of its own.' },
      settings: objectOf(
        {
          path: text,
          before: { ...textOrNull, description: 'The bytes before the install, in base64; null: there was no file.' },
          before_mode: integerOrNull,
          after: { ...text, description: 'The bytes that the install wrote, in base64.' },
          denied: texts,
        },
        {
          brought_env: {
            ...text,
            description: 'The env of the committed settings, as JSON: asked about, not refused.',
          },
        },
      ),
      files: listOf(objectOf({ path: text, sha256: text, mode: integer })),
      created_dirs: { ...texts, description: 'Folders that were not there before, outermost first.' },
      excluded: { ...texts, description: 'The lines added to info/exclude.' },
    },
    {
      package_root: {
        ...text,
        description: 'The folder of the installed package; what is too large to copy is read from there.',
      },
    },
  ),
} as const satisfies Schema

export type InstallRecord = FromSchema<typeof installRecordSchema>

/** What every line of `.claude/review/events.jsonl` has. Types that this version does not know are read all the same. */
export const ledgerEventSchema = {
  $id: 'ledger-event',
  ...objectOf({
    seq: { ...positive, description: 'The number of its line.' },
    at: text,
    type: { type: 'string', pattern: '^[a-z][a-z0-9-]*$' },
    prev: { ...sha256Hex, description: 'SHA-256 of the line before, without its newline.' },
  }),
} as const satisfies Schema

export type LedgerEvent = FromSchema<typeof ledgerEventSchema> & { readonly [field: string]: unknown }

const carried = { carried_from: { ...text, description: 'The damaged ledger that it was read from.' } } as const

/** The further fields of each type of event. */
export const ledgerEntrySchemas = {
  'cycle-started': objectOf({ cycle: integer }),
  'revision-submitted': objectOf({ revision: integer, plan_hash: text }),
  reviewed: objectOf({ revision: integer, plan_hash: text, verdict: text, backend: text, findings: integer }),
  'review-unavailable': objectOf({ plan_hash: text, failure: text, why: text }, { tokens: count, next_step: text }),
  'routes-effective': objectOf({ routes_hash: text }),
  'thread-started': objectOf({ thread: text }, { route: text }),
  'thread-replaced': objectOf({ thread: text, was: text, why: text }, { route: text }),
  approved: objectOf({ revision: integer, plan_hash: text, route: text, verification: textOrNull }),
  'approved-manually': objectOf({ plan_hash: text, reason: textOrNull }),
  'approval-carried': objectOf({ from: text, plan_hash: text }),
  'approval-revoked': objectOf({ why: text }),
  'approval-tampered': objectOf({ tool: text, plan_hash: textOrNull }),
  'gate-bypassed': objectOf({ tool: text, target: text, how: text }),
  'limit-reached': objectOf({ revision: integer }),
  continued: objectOf({ revision: integer }),
  'finding-waived': objectOf(
    { finding: text, revision: integer, severity: text, section: text, problem: text, reason: text },
    carried,
  ),
  'changes-requested': objectOf(
    {
      plan_hash: text,
      revision: integer,
      findings: listOf(
        objectOf({
          id: text,
          section: text,
          place: { ...text, description: 'docs/plan.md:12, or revision 2, line 12; empty for the plan as a whole.' },
          quote: text,
          text,
        }),
      ),
    },
    { ...carried, only_user: { ...bool, description: 'No reviewer can settle it.' } },
  ),
  /** `last_user`: ids of findings of the user's go on after this number. */
  'ledger-replaced': objectOf({ damaged: texts, last_user: integer }),
  'waiver-withdrawn': objectOf({ finding: text, revision: integer }),
  'cycle-archived': objectOf({ cycle: integer, revisions: integer, approved: bool, recovered: bool }),
  denied: objectOf({ tool: text, rule: text, reason: text }),
  'config-change-vetoed': objectOf({ source: text, path: textOrNull }),
  'control-plane-restored': objectOf({ paths: texts }),
  'drift-found': objectOf({ paths: texts }),
  'drift-accepted': objectOf({ paths: texts }),
  reflected: objectOf({
    session: text,
    kind: text,
    about: text,
    duration_ms: integer,
    verdict: text,
    tokens: integerOrNull,
  }),
  'reflection-unavailable': objectOf({
    session: text,
    kind: text,
    about: text,
    duration_ms: integer,
    failure: text,
    why: text,
  }),
  installed: objectOf({ version: text }),
  uninstalled: objectOf({ version: text }),
  /** Written by the ledger itself after a crash: `prev` covers the torn bytes, `after` the last whole line. */
  'torn-line': objectOf({ after: text, lines: integer, bytes: integer }),
} as const satisfies { [type: string]: Schema }

type Entries = typeof ledgerEntrySchemas
export type LedgerEntry = { [T in keyof Entries]: { readonly type: T } & FromSchema<Entries[T]> }[keyof Entries]

/** What `bootstrap` notes in the git directory of a worktree that it opened, for `finish`. */
export const openedWorktreeSchema = {
  $id: 'opened-worktree',
  ...objectOf(
    {
      version: formatVersion,
      opened_at: text,
      base: { ...textOrNull, description: 'The full name of the branch that it started from; null: it was none.' },
      base_commit: text,
      own_branch: { ...textOrNull, description: 'The branch that is removed with it; null: it is the user’s.' },
    },
    { request: { ...text, description: 'The document that says what is wanted, relative to the worktree.' } },
  ),
} as const satisfies Schema

export type OpenedWorktree = FromSchema<typeof openedWorktreeSchema>

/** `.claude/review/progress.json`: which pass of a review is running, for `plan-gate watch` and `status`. */
export const progressSchema = {
  $id: 'progress',
  ...objectOf(
    {
      pass: positive,
      passes: { ...positive, description: 'How many passes are expected; may shrink after the first.' },
      backend: text,
      started_at: text,
      deadline_at: text,
      revision: positive,
      pid: { ...positive, description: 'The process that reviews; if it is gone, so is the review.' },
    },
    {
      does: { ...text, description: 'What the pass is for: plan, review, verify or combined.' },
      pass_started_at: { ...text, description: '`started_at` and `deadline_at` are those of the whole review.' },
      pass_deadline_at: text,
      pass_expected_ms: { ...count, description: 'What such a pass took in earlier reviews.' },
      expected_ms: { ...count, description: 'What this pass and those after it took in earlier reviews.' },
      forecast: { ...text, description: 'The same in words: about 3 min, 30k tokens.' },
      sign: { ...text, description: 'The last sign of life of the backend, without secrets.' },
      signed_at: text,
    },
  ),
} as const satisfies Schema

export type Progress = FromSchema<typeof progressSchema>

/** `.claude/review/sessions/<id>/session.json`: a Claude Code session in this worktree, and when it was last active. */
export const sessionSchema = {
  $id: 'session',
  ...objectOf(
    {
      session_id: { ...text, description: 'As Claude Code gave it; the folder may be named for its hash.' },
      client_version: textOrNull,
      started_at: text,
      last_seen_at: text,
      source: { ...text, description: 'startup, resume, clear or compact.' },
      cwd: text,
    },
    {
      ended_at: {
        ...text,
        description:
          'Written when the session ends, or by the program that had started it; removed if it is active again.',
      },
      launched: { ...bool, description: 'Whether plan-gate started Claude Code, with the flags that hold the gate.' },
    },
  ),
} as const satisfies Schema

export type Session = FromSchema<typeof sessionSchema>

/** `.claude/review/codex_thread_use.json`: the thread's tokens so far; Codex reports totals, a turn is the difference. */
export const threadUseSchema = {
  $id: 'thread-use',
  ...objectOf({ thread: text, used: objectOf({ input: count, cached: count, output: count, reasoning: count }) }),
} as const satisfies Schema

export type ThreadUse = FromSchema<typeof threadUseSchema>

const textByPath = { type: 'object', additionalProperties: text } as const

/** The files that differ from the commit; what differs from this baseline is drift. */
export const treeBaselineSchema = {
  $id: 'tree-baseline',
  ...objectOf({
    head: text,
    paths: { type: 'object', additionalProperties: objectOf({ status: text, digest: textOrNull }) },
    reported: { ...textOrNull, description: 'The drift that is in the ledger already, so that it is recorded once.' },
  }),
} as const satisfies Schema

/** What could make git run a program, as the user had configured it when the worktree was opened. */
export const repositoryBaselineSchema = {
  $id: 'repository-baseline',
  ...objectOf({ configs: textByPath, hooks: textByPath }),
} as const satisfies Schema

/** The settings files when the gate's hooks were last complete; null for one that did not exist. */
export const settingsBaselineSchema = {
  $id: 'settings-baseline',
  ...objectOf({ files: { type: 'object', additionalProperties: textOrNull } }),
} as const satisfies Schema

/** What the user lets the repository bring into a session: digests of the items of the inventory, by their ids. */
export const consentSchema = {
  $id: 'consent',
  ...objectOf({ items: { type: 'object', additionalProperties: texts } }),
} as const satisfies Schema

export type Consent = FromSchema<typeof consentSchema>
export type TreeBaseline = FromSchema<typeof treeBaselineSchema>
export type RepositoryBaseline = FromSchema<typeof repositoryBaselineSchema>
export type SettingsBaseline = FromSchema<typeof settingsBaselineSchema>
