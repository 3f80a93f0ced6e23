import {
  approvalSchema,
  denialSchema,
  ledgerEntrySchemas,
  ledgerEventSchema,
  progressSchema,
  sessionSchema,
} from './records.ts'
import { backendNames, findingSchema, keptPassSchema, reviewResultSchema, verdicts } from './review.ts'
import { type FromSchema, objectOf, type Schema } from './schema.ts'

const text = { type: 'string' } as const
const count = { type: 'integer', minimum: 0 } as const

const typed = Object.entries(ledgerEntrySchemas).map(
  ([type, { properties, required }]): Schema => ({
    type: 'object',
    required: [...ledgerEventSchema.required, ...required],
    properties: { ...ledgerEventSchema.properties, type: { const: type }, ...properties },
  }),
)

/** A later version may know more types, and of an event that is too long only the beginning is kept. */
export const logSchema = {
  $id: 'log',
  title: 'A line of `plan-gate log --json`, and of .claude/review/events.jsonl',
  anyOf: [...typed, objectOf({ ...ledgerEventSchema.properties, left_out_bytes: count })],
} as const satisfies Schema

export const diffSchema = {
  $id: 'diff',
  title: 'What `plan-gate diff --json` prints',
  ...objectOf({
    from: text,
    to: text,
    diff: { ...text, description: 'A unified diff; empty where they are the same.' },
  }),
} as const satisfies Schema

export type DiffOutput = FromSchema<typeof diffSchema>

export const approveSchema = {
  $id: 'approve',
  title: 'What `plan-gate approve --json` prints',
  ...objectOf({ plan_hash: text, route: { const: 'manual' }, reason: text }),
} as const satisfies Schema

export type ApproveOutput = FromSchema<typeof approveSchema>

export const continueSchema = {
  $id: 'continue',
  title: 'What `plan-gate continue --json` prints',
  ...objectOf({ revisions: count, limit: count }),
} as const satisfies Schema

export type ContinueOutput = FromSchema<typeof continueSchema>

export const driftSchema = {
  $id: 'drift',
  title: 'What `plan-gate drift --json` prints',
  ...objectOf({
    action: { enum: ['show', 'accept'] },
    drift: { type: 'array', items: objectOf({ path: text, what: text }) },
    git_configuration: { type: 'array', items: text, description: 'What changed in git’s configuration and hooks.' },
  }),
} as const satisfies Schema

export type DriftOutput = FromSchema<typeof driftSchema>

const explained = objectOf({
  command: text,
  decision: { enum: ['allow', 'deny'] },
  reason: text,
}) satisfies Schema

export type Explained = FromSchema<typeof explained>

export const explainSchema = {
  $id: 'explain',
  title: 'What `plan-gate explain --json` prints, and each line of `plan-gate explain --stdin`',
  anyOf: [
    explained,
    objectOf({
      scope: {
        type: 'array',
        items: objectOf({
          pattern: text,
          mark: { enum: ['new', 'changed', 'deleted', 'renamed', 'unstated'] },
          line: count,
        }),
        description: 'With --plan: what ## Changes of docs/plan.md names.',
      },
    }),
  ],
} as const satisfies Schema

const textCompletion = { type: 'string' } as const
const texts = { type: 'array', items: textCompletion } as const
const yesOrNo = { type: 'boolean' } as const

const value = objectOf({
  kind: { enum: ['file', 'folder', 'commit', 'choice', 'text'] },
  choices: texts,
}) satisfies Schema

export const completionSchema = {
  $id: 'completion',
  title: 'What `plan-gate completion --json` prints: the commands and what they take',
  ...objectOf({
    commands: {
      type: 'array',
      items: objectOf({
        name: textCompletion,
        description: textCompletion,
        options: {
          type: 'array',
          items: objectOf({
            names: texts,
            description: textCompletion,
            takes: { enum: ['nothing', 'a value', 'perhaps a value'] },
            is_repeated: yesOrNo,
            value,
          }),
        },
        operands: { type: 'array', items: objectOf({ name: textCompletion, is_repeated: yesOrNo, value }) },
      }),
    },
  }),
} as const satisfies Schema

export type CompletionOutput = FromSchema<typeof completionSchema>

export const schemaListSchema = {
  $id: 'schema',
  title: 'What `plan-gate schema --json` prints: the schemas that there are',
  type: 'array',
  items: objectOf({ name: textCompletion, title: textCompletion, path: textCompletion }),
} as const satisfies Schema

export type SchemaList = FromSchema<typeof schemaListSchema>

const textFinish = { type: 'string' } as const
const textOrNull = { type: ['string', 'null'] } as const
const textsFinish = { type: 'array', items: textFinish } as const

const obstacleKinds = [
  'locked',
  'no-branch',
  'uncommitted',
  'unmerged',
  'submodule',
  'review',
  'session',
  'process',
] as const

const obstacle = objectOf({
  kind: { enum: obstacleKinds },
  what: { ...textFinish, description: 'A sentence.' },
  items: { ...textsFinish, description: 'The files, commits or processes.' },
  next_step: textFinish,
}) satisfies Schema

export type Obstacle = FromSchema<typeof obstacle>

export const finishSchema = {
  $id: 'finish',
  title: 'What `plan-gate finish --json` prints',
  ...objectOf({
    kind: { enum: ['dry-run', 'finished'] },
    worktree: textFinish,
    branch: textOrNull,
    branch_is_kept: { type: 'boolean' },
    head: textOrNull,
    merged_into: textOrNull,
    archive: { ...textOrNull, description: 'null: an earlier run had got as far as that.' },
    obstacles: { type: 'array', items: obstacle, description: 'What stands in the way, or was discarded.' },
    goes_with_it: {
      ...textsFinish,
      description: 'With --dry-run: what git ignores, and what is removed with the rest.',
    },
    notes: textsFinish,
    cd: { ...textOrNull, description: 'Where to go from a folder that is gone.' },
  }),
} as const satisfies Schema

export type FinishOutput = FromSchema<typeof finishSchema>

const textReport = { type: 'string' } as const
const textOrNullReport = { type: ['string', 'null'] } as const
const countReport = { type: 'integer', minimum: 0 } as const
const none = { type: 'null' } as const

const { $id: _approval, ...approval } = approvalSchema
const { $id: _denial, ...denial } = denialSchema
const { $id: _pass, ...keptPass } = keptPassSchema
const { $id: _event, ...event } = ledgerEventSchema
const { $id: _result, ...result } = reviewResultSchema

const revision = objectOf({
  revision: countReport,
  text: { ...textOrNullReport, description: 'Without secrets; null where it cannot be read.' },
  plan_hash: textOrNullReport,
  bytes: countReport,
  submitted_at: textOrNullReport,
  reviewed_at: textOrNullReport,
  result: { anyOf: [result, none] },
  why_none: { ...textOrNullReport, description: 'Why there is no result.' },
  passes: { type: 'array', items: keptPass },
}) satisfies Schema

export const reportSchema = {
  $id: 'report',
  title: 'What `plan-gate report --json` prints: everything that the page says',
  ...objectOf({
    name: textReport,
    place: { ...textReport, description: 'The worktree, or the folder that the reviews were kept in.' },
    made_at: textReport,
    version: textReport,
    gate: objectOf({ kind: { enum: ['open', 'closed', 'no-plan', 'reviewing', 'kept'] }, words: textReport }),
    limit: { type: ['integer', 'null'], description: 'How many revisions are reviewed before the user has to decide.' },
    cycles: {
      type: 'array',
      items: objectOf({
        cycle: countReport,
        kind: { enum: ['current', 'archived', 'lost'] },
        revisions: { type: 'array', items: revision },
        approval: { anyOf: [approval, none] },
        events: { type: 'array', items: { ...event, additionalProperties: true } },
      }),
    },
    sessions: {
      type: 'array',
      items: objectOf({
        session: textReport,
        client_version: textOrNullReport,
        started_at: textOrNullReport,
        last_seen_at: textOrNullReport,
        denials: { type: 'array', items: denial },
      }),
    },
    checks: { type: 'array', items: objectOf({ name: textReport, holds: { type: 'boolean' }, detail: textReport }) },
    problems: { type: 'array', items: textReport },
  }),
} as const satisfies Schema

const textRoutes = { type: 'string' } as const
const textOrNullRoutes = { type: ['string', 'null'] } as const
const textsRoutes = { type: 'array', items: textRoutes } as const

export const routesSchema = {
  $id: 'routes',
  title: 'What `plan-gate routes --json` prints',
  ...objectOf({
    origin: { enum: ['default', 'config'] },
    sha256: textRoutes,
    routes: {
      type: 'array',
      items: objectOf({
        backend: { enum: backendNames },
        when: textsRoutes,
        capabilities: textsRoutes,
        fail_mode: { enum: ['fallthrough', 'hard_fail'] },
        timeout_seconds: { type: ['number', 'null'] },
        retries: { type: 'integer' },
        serves: { type: 'boolean', description: 'Whether it would answer now.' },
        why: { ...textOrNullRoutes, description: 'Why it would not.' },
      }),
    },
    serves: { ...textOrNullRoutes, description: 'The backend that would be asked first now.' },
    notices: textsRoutes,
  }),
} as const satisfies Schema

export type RoutesOutput = FromSchema<typeof routesSchema>

/** Where the plan stands, as `status` and `bootstrap` say it. */
const planStateSchema = {
  anyOf: [
    objectOf({ kind: { const: 'missing' } }),
    objectOf({ kind: { const: 'open' }, because: { type: 'string' } }),
    objectOf({ kind: { const: 'approved' }, hash: { type: 'string', description: 'SHA-256 of docs/plan.md.' } }),
  ],
} as const satisfies Schema

const textProgressLines = { type: 'string' } as const

/** The lines of the commands that tell how they get on; the last one has the event `result`, or `error`. */
const prerequisiteLine = objectOf({
  event: { const: 'prerequisite' },
  name: textProgressLines,
  status: { enum: ['ok', 'warning', 'failed'] },
  detail: textProgressLines,
  remedy: { type: ['string', 'null'], description: 'What to do about it.' },
}) satisfies Schema

const progressLines = [
  prerequisiteLine,
  objectOf({ event: { const: 'started' }, step: textProgressLines, detail: textProgressLines }),
  objectOf({ event: { const: 'done' }, step: textProgressLines, detail: textProgressLines, ms: { type: 'integer' } }),
  objectOf({ event: { const: 'notice' }, detail: textProgressLines }),
  objectOf({
    event: { const: 'would' },
    action: { enum: ['create', 'change', 'keep', 'run', 'remove'] },
    path: textProgressLines,
    detail: textProgressLines,
  }),
] as const satisfies readonly Schema[]

export const errorSchema = {
  $id: 'error',
  title: 'What every command of plan-gate with --json prints where it fails',
  ...objectOf({
    event: { const: 'error' },
    message: textProgressLines,
    next_step: { ...textProgressLines, description: 'What can be done about it.' },
    exit_code: { type: 'integer' },
  }),
} as const satisfies Schema

const textSettingUp = { type: 'string' } as const
const textsSettingUp = { type: 'array', items: textSettingUp } as const
const branch = { type: ['string', 'null'], description: 'null: on no branch.' } as const

const bootstrapResult = {
  anyOf: [
    objectOf({ event: { const: 'result' }, kind: { const: 'dry-run' }, worktree: textSettingUp, branch }),
    objectOf({
      event: { const: 'result' },
      kind: { const: 'ready' },
      worktree: textSettingUp,
      branch,
      plan: planStateSchema,
      prompt: { ...textSettingUp, description: 'What Claude Code is to be started with.' },
    }),
    objectOf({
      event: { const: 'result' },
      kind: { const: 'ended' },
      worktree: textSettingUp,
      branch,
      plan: planStateSchema,
      exit_code: { type: 'integer', description: 'Claude Code’s.' },
    }),
  ],
} as const satisfies Schema

export type BootstrapResult = FromSchema<typeof bootstrapResult>

export const bootstrapSchema = {
  $id: 'bootstrap',
  title: 'A line of `plan-gate bootstrap --json`',
  anyOf: [...progressLines, bootstrapResult],
} as const satisfies Schema

const installResult = objectOf({
  event: { const: 'result' },
  kind: { enum: ['dry-run', 'installed'] },
  root: textSettingUp,
  settings: { ...textSettingUp, description: 'The settings file that names the hooks.' },
  files: textsSettingUp,
}) satisfies Schema

export type InstallResult = FromSchema<typeof installResult>

export const installSchema = {
  $id: 'install',
  title: 'A line of `plan-gate install --json`',
  anyOf: [...progressLines, installResult],
} as const satisfies Schema

export const uninstallSchema = {
  $id: 'uninstall',
  title: 'What `plan-gate uninstall --json` prints',
  ...objectOf({
    root: textSettingUp,
    removed: textsSettingUp,
    restored: textsSettingUp,
    notes: { ...textsSettingUp, description: 'What a person has to look at.' },
  }),
} as const satisfies Schema

export type UninstallOutput = FromSchema<typeof uninstallSchema>

const doctorResult = objectOf({
  event: { const: 'result' },
  root: textSettingUp,
  status: { enum: ['ok', 'warning', 'failed'] },
}) satisfies Schema

export type DoctorResult = FromSchema<typeof doctorResult>

export const doctorSchema = {
  $id: 'doctor',
  title: 'A line of `plan-gate doctor --json`',
  anyOf: [prerequisiteLine, doctorResult],
} as const satisfies Schema

export const demoSchema = {
  $id: 'demo',
  title: 'A line of `plan-gate demo --json`',
  anyOf: [
    objectOf({
      event: { const: 'act' },
      says: textSettingUp,
      tool: textSettingUp,
      target: textSettingUp,
      answer: { enum: ['denied', 'allowed'] },
      expected: { enum: ['denied', 'allowed'] },
      told: { ...textsSettingUp, description: 'What the agent hears.' },
      as_promised: { type: 'boolean' },
    }),
    objectOf(
      { event: { const: 'result' }, failures: { type: 'integer' }, report: textSettingUp },
      { worktree: { ...textSettingUp, description: 'With --keep.' } },
    ),
  ],
} as const satisfies Schema

const textStatus = { type: 'string' } as const
const textOrNullStatus = { type: ['string', 'null'] } as const
const countStatus = { type: 'integer', minimum: 0 } as const

const { $id: _progress, ...progress } = progressSchema
const { $id: _session, ...session } = sessionSchema

export const statusSchema = {
  $id: 'status',
  title: 'What `plan-gate status --json` prints',
  ...objectOf({
    root: textStatus,
    installed: { ...textOrNullStatus, description: 'The version of the plan-gate that was installed here.' },
    plan: planStateSchema,
    revisions: { ...countStatus, description: 'How many were reviewed in this cycle.' },
    limit: { ...countStatus, description: 'How many are reviewed before the decision is the user’s.' },
    deadline_seconds: { type: 'number', description: 'How long the review of a plan may take.' },
    cycles: { ...countStatus, description: 'How many there were before.' },
    verdicts: {
      type: 'array',
      items: objectOf({ revision: countStatus, verdict: { enum: verdicts }, findings: countStatus }),
      description: 'Of this cycle, in their order.',
    },
    findings: { type: 'array', items: findingSchema, description: 'What the last review left open.' },
    review: {
      anyOf: [progress, { type: 'null' }],
      description: 'The review that is running now.',
    },
    unavailable: {
      ...textOrNullStatus,
      description: 'Why the last review came to no verdict, where that is the last that was heard of it.',
    },
    routes_hash: {
      ...textOrNullStatus,
      description: 'SHA-256 of the route table that counts here, as `plan-gate routes` has it; null: it is not valid.',
    },
    thread: { ...textOrNullStatus, description: 'The id of the reviewer’s thread.' },
    sessions: { type: 'array', items: session, description: 'The one that was last heard of first.' },
    denials: { ...countStatus, description: 'In the last session.' },
    last_denial: textOrNullStatus,
    problems: { type: 'array', items: textStatus, description: 'What is wrong with plan-gate.yaml.' },
  }),
} as const satisfies Schema

export type Status = FromSchema<typeof statusSchema>

const textVerify = { type: 'string' } as const

export const verifySchema = {
  $id: 'verify',
  title: 'What `plan-gate verify --json` prints',
  ...objectOf(
    {
      holds: { type: 'boolean', description: 'The exit code is 0 for true and 1 for false.' },
      checks: {
        type: 'array',
        items: objectOf({ name: textVerify, holds: { type: 'boolean' }, detail: textVerify }),
      },
    },
    {
      plan_hash: { ...textVerify, description: 'With --plan: SHA-256 of its bytes.' },
      manual: { type: 'boolean', description: 'With --plan: whether the approval was given by hand.' },
      out_of_scope: {
        type: 'array',
        items: textVerify,
        description: 'With --base: the files that were changed and that the plan does not name.',
      },
      exported: { type: 'array', items: textVerify, description: 'With --export: the files that were written.' },
    },
  ),
} as const satisfies Schema

export type VerifyOutput = FromSchema<typeof verifySchema>

const textWatch = { type: 'string' } as const

export const watchSchema = {
  $id: 'watch',
  title: 'A line of `plan-gate watch --json`: something that happened, with the fields of its own kind',
  type: 'object',
  required: ['happening', 'at'],
  additionalProperties: true,
  properties: {
    happening: { enum: ['gate', 'pass', 'sign', 'finding', 'denial', 'event', 'worktree'] },
    at: textWatch,
  },
} as const satisfies Schema
