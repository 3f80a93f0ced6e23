/** What the commands print with `--json`; `src/cli/schema.ts` has a row for each. */
import { calibrationSchema } from './calibration.ts'
import { approvalSchema, denialSchema, ledgerEntrySchemas, ledgerEventSchema } from './records.ts'
import { backendNames, keptPassSchema, reviewResultSchema } from './review.ts'
import {
  bool,
  count,
  embedded,
  type FromSchema,
  integer,
  integerOrNull,
  listOf,
  objectOf,
  type Properties,
  type Schema,
  text,
  textOrNull,
  texts,
} from './schema.ts'
import { planStateSchema, worktreeSchema } from './status.ts'

/** Of a command that prints one object. */
const printed = <const P extends Properties, const O extends Properties = Record<never, never>>(
  $id: string,
  required: P,
  optional?: O,
) => ({ $id, title: `What \`plan-gate ${$id} --json\` prints`, ...objectOf(required, optional) })

const nothing = { type: 'null' } as const
const branch = { ...textOrNull, description: 'null: on no branch.' } as const
const checks = listOf(
  objectOf(
    { name: text, holds: bool, detail: text },
    { next_step: { ...text, description: 'With --plan: what can be done where it does not hold.' } },
  ),
)
const status = { enum: ['ok', 'warning', 'failed'] } as const
const isResult = { const: 'result' } as const

export const errorSchema = {
  $id: 'error',
  title: 'What every command of plan-gate with --json prints where it fails',
  ...objectOf({
    event: { const: 'error' },
    message: text,
    next_step: { ...text, description: 'What can be done about it.' },
    exit_code: integer,
  }),
} as const satisfies Schema

const prerequisiteLine = objectOf({
  event: { const: 'prerequisite' },
  name: text,
  status,
  detail: text,
  remedy: { ...textOrNull, description: 'What to do about it.' },
}) satisfies Schema

/** Something that the repository brings into a session, in `trust`, `bootstrap` and `open`. */
const trustItem = {
  id: { ...text, description: 'What `plan-gate trust` calls it.' },
  path: text,
  what: text,
  runs: { ...texts, description: 'What it would run or set.' },
  state: { enum: ['trusted', 'new', 'changed'] },
} as const

/** The lines of the commands that report their progress; the last one has the event `result`, or `error`. */
const progressLines = [
  prerequisiteLine,
  objectOf({ event: { const: 'started' }, step: text, detail: text }),
  objectOf({ event: { const: 'done' }, step: text, detail: text, ms: integer }),
  objectOf({ event: { const: 'notice' }, detail: text }),
  objectOf({ event: { const: 'brings' }, ...trustItem }),
  objectOf({
    event: { const: 'would' },
    action: { enum: ['create', 'change', 'keep', 'run', 'remove'] },
    path: text,
    detail: text,
  }),
] as const satisfies readonly Schema[]

const bootstrapResult = {
  anyOf: [
    objectOf({ event: isResult, kind: { const: 'dry-run' }, worktree: text, branch }),
    objectOf({
      event: isResult,
      kind: { const: 'ready' },
      worktree: text,
      branch,
      plan: planStateSchema,
      prompt: { ...text, description: 'What Claude Code is to be started with.' },
      command: { ...text, description: 'Starts it, with the flags that hold the gate.' },
    }),
    objectOf({
      event: isResult,
      kind: { const: 'ended' },
      worktree: text,
      branch,
      plan: planStateSchema,
      exit_code: { ...integer, description: 'Claude Code’s.' },
      command: { ...text, description: 'Goes on where the session ended.' },
    }),
  ],
} as const satisfies Schema
export type BootstrapResult = FromSchema<typeof bootstrapResult>

export const trustSchema = {
  $id: 'trust',
  title: 'What `plan-gate trust --json` and `plan-gate untrust --json` print',
  ...objectOf({
    root: text,
    loads_repository: {
      ...bool,
      description: 'Whether a session that plan-gate starts loads what the repository brings.',
    },
    items: listOf(objectOf(trustItem)),
  }),
} as const satisfies Schema
export type TrustOutput = FromSchema<typeof trustSchema>

/** Of `open --list`. */
const worktreeLine = objectOf({ event: { const: 'worktree' }, ...worktreeSchema.properties }) satisfies Schema

export const bootstrapSchema = {
  $id: 'bootstrap',
  title: 'A line of `plan-gate bootstrap --json`, and of `plan-gate open --json`',
  anyOf: [...progressLines, worktreeLine, bootstrapResult],
} as const satisfies Schema

const installResult = objectOf({
  event: isResult,
  kind: { enum: ['dry-run', 'installed'] },
  root: text,
  settings: { ...text, description: 'The settings file that names the hooks.' },
  files: texts,
}) satisfies Schema
export type InstallResult = FromSchema<typeof installResult>

export const installSchema = {
  $id: 'install',
  title: 'A line of `plan-gate install --json`',
  anyOf: [...progressLines, installResult],
} as const satisfies Schema

export const uninstallSchema = printed(
  'uninstall',
  { root: text, removed: texts, restored: texts, notes: { ...texts, description: 'What a person has to check.' } },
  {
    kind: { enum: ['uninstalled', 'dry-run'], description: 'Of --all.' },
    worktrees: { ...texts, description: 'Of --all: where the gate was.' },
  },
)
export type UninstallOutput = FromSchema<typeof uninstallSchema>

const obstacleKinds = [
  'locked',
  'no-branch',
  'uncommitted',
  'unmerged',
  'submodule',
  'review',
  'session',
  'process',
  'ignored',
  'plan-copy',
] as const

const obstacle = objectOf({
  kind: { enum: obstacleKinds },
  what: { ...text, description: 'A sentence.' },
  items: { ...texts, description: 'The files, commits or processes.' },
  next_step: text,
}) satisfies Schema
export type Obstacle = FromSchema<typeof obstacle>

export const finishSchema = printed('finish', {
  kind: { enum: ['dry-run', 'finished'] },
  worktree: text,
  branch: textOrNull,
  branch_is_kept: bool,
  head: textOrNull,
  merged_into: textOrNull,
  archive: { ...textOrNull, description: 'null: an earlier, interrupted run had archived already.' },
  obstacles: { ...listOf(obstacle), description: 'What stands in the way, or was discarded.' },
  goes_with_it: { ...texts, description: 'What git ignores, and what is removed with the rest.' },
  in_main: { ...texts, description: 'What git ignores, and the main checkout has the same.' },
  kept: { ...texts, description: 'What git ignores and is nowhere else: copied to `kept_in`.' },
  kept_in: textOrNull,
  notes: texts,
  cd: { ...textOrNull, description: 'Where to go from a folder that is gone.' },
})
export type FinishOutput = FromSchema<typeof finishSchema>

const doctorResult = objectOf({ event: isResult, root: text, status, headline: text }) satisfies Schema
export type DoctorResult = FromSchema<typeof doctorResult>

export const doctorSchema = {
  $id: 'doctor',
  title: 'A line of `plan-gate doctor --json`',
  anyOf: [prerequisiteLine, doctorResult],
} as const satisfies Schema

export const watchSchema = {
  $id: 'watch',
  title: 'A line of `plan-gate watch --json`: something that happened, with the fields of its own kind',
  type: 'object',
  required: ['happening', 'at'],
  additionalProperties: true,
  properties: { happening: { enum: ['gate', 'pass', 'sign', 'finding', 'denial', 'event', 'worktree'] }, at: text },
} as const satisfies Schema

const loggedEvents = Object.entries(ledgerEntrySchemas).map(
  ([type, { properties, required }]): Schema => ({
    type: 'object',
    required: [...ledgerEventSchema.required, ...required],
    properties: { ...ledgerEventSchema.properties, type: { const: type }, ...properties },
  }),
)

const loggedDenial = objectOf({ type: { const: 'denial' }, session: text, ...denialSchema.properties }) satisfies Schema
export type LoggedDenial = FromSchema<typeof loggedDenial>

/** A later version may know more types, and of an event that is too long only the beginning is kept. */
export const logSchema = {
  $id: 'log',
  title: 'A line of `plan-gate log --json`: one of .claude/review/events.jsonl, or a call that was refused',
  anyOf: [...loggedEvents, objectOf({ ...ledgerEventSchema.properties, left_out_bytes: count }), loggedDenial],
} as const satisfies Schema

const revision = objectOf({
  revision: count,
  text: { ...textOrNull, description: 'Without secrets; null where it cannot be read.' },
  plan_hash: textOrNull,
  bytes: count,
  submitted_at: textOrNull,
  reviewed_at: textOrNull,
  result: { anyOf: [embedded(reviewResultSchema), nothing] },
  why_none: { ...textOrNull, description: 'Why there is no result.' },
  passes: listOf(embedded(keptPassSchema)),
}) satisfies Schema

export const reportSchema = {
  $id: 'report',
  title: 'What `plan-gate report --json` prints: everything that the page says',
  ...objectOf(
    {
      name: text,
      place: { ...text, description: 'The worktree, or the folder that the reviews were kept in.' },
      made_at: text,
      version: text,
      gate: objectOf({ kind: { enum: ['open', 'closed', 'no-plan', 'reviewing', 'kept'] }, words: text }),
      limit: { ...integerOrNull, description: 'How many revisions are reviewed before the user has to decide.' },
      cycles: listOf(
        objectOf({
          cycle: count,
          kind: { enum: ['current', 'archived', 'lost'] },
          revisions: listOf(revision),
          approval: { anyOf: [embedded(approvalSchema), nothing] },
          events: listOf({ ...embedded(ledgerEventSchema), additionalProperties: true }),
        }),
      ),
      sessions: listOf(
        objectOf({
          session: text,
          client_version: textOrNull,
          started_at: textOrNull,
          last_seen_at: textOrNull,
          denials: listOf(embedded(denialSchema)),
        }),
      ),
      checks,
      problems: texts,
    },
    {
      approved_plan: { ...text, description: 'docs/plan.md, where it is approved.' },
      calibration: { ...embedded(calibrationSchema), description: 'The newest result of `plan-gate calibrate`.' },
    },
  ),
} as const satisfies Schema

export const diffSchema = printed('diff', {
  from: text,
  to: text,
  diff: { ...text, description: 'A unified diff; empty where they are the same.' },
})
export type DiffOutput = FromSchema<typeof diffSchema>

export const approveSchema = printed('approve', { plan_hash: text, route: { const: 'manual' }, reason: text })
export type ApproveOutput = FromSchema<typeof approveSchema>

export const continueSchema = printed('continue', { revisions: count, limit: count })
export type ContinueOutput = FromSchema<typeof continueSchema>

export const verifySchema = printed(
  'verify',
  { holds: { ...bool, description: 'The exit code is 0 for true and 1 for false.' }, checks },
  {
    plan_hash: { ...text, description: 'With --plan: SHA-256 of its bytes.' },
    manual: { ...bool, description: 'With --plan: whether the approval was given by hand.' },
    approver: { ...text, description: 'With --plan: the reviewer that approved, or "manual".' },
    out_of_scope: {
      ...texts,
      description: 'With --base: the files that were changed and that the plan does not name.',
    },
    exported: { ...texts, description: 'With --export: the files that were written.' },
  },
)
export type VerifyOutput = FromSchema<typeof verifySchema>

export const driftSchema = printed('drift', {
  action: { enum: ['show', 'accept'] },
  drift: listOf(objectOf({ path: text, what: text })),
  git_configuration: { ...texts, description: 'What changed in git’s configuration and hooks.' },
})
export type DriftOutput = FromSchema<typeof driftSchema>

const explained = objectOf({ command: text, decision: { enum: ['allow', 'deny'] }, reason: text }) satisfies Schema
export type Explained = FromSchema<typeof explained>

export const explainSchema = {
  $id: 'explain',
  title: 'What `plan-gate explain --json` prints, and each line of `plan-gate explain --stdin`',
  anyOf: [
    explained,
    objectOf({
      scope: {
        ...listOf(
          objectOf({
            pattern: text,
            mark: { enum: ['new', 'changed', 'deleted', 'renamed', 'unstated'] },
            line: count,
          }),
        ),
        description: 'With --plan: what ## Changes of docs/plan.md names.',
      },
    }),
  ],
} as const satisfies Schema

export const routesSchema = printed('routes', {
  origin: { enum: ['default', 'config'] },
  sha256: text,
  routes: listOf(
    objectOf({
      name: { ...text, description: 'Of the row; the backend’s where it has none.' },
      backend: { enum: backendNames },
      model: { ...textOrNull, description: 'null: by review.models.' },
      about: { ...text, description: 'What it may see, and what it costs.' },
      when: texts,
      capabilities: texts,
      fail_mode: { enum: ['fallthrough', 'hard_fail'] },
      timeout_seconds: { type: ['number', 'null'] },
      retries: integer,
      serves: { ...bool, description: 'Whether it would answer now.' },
      why: { ...textOrNull, description: 'Why it would not.' },
    }),
  ),
  serves: { ...textOrNull, description: 'The row that would be asked first now.' },
  notices: texts,
})
export type RoutesOutput = FromSchema<typeof routesSchema>

export const schemaListSchema = {
  $id: 'schema',
  title: 'What `plan-gate schema --json` prints: the schemas that there are',
  ...listOf(objectOf({ name: text, title: text, path: text })),
} as const satisfies Schema
export type SchemaList = FromSchema<typeof schemaListSchema>

const value = objectOf({
  kind: { enum: ['file', 'folder', 'commit', 'choice', 'text'] },
  choices: texts,
}) satisfies Schema

export const completionSchema = {
  $id: 'completion',
  title: 'What `plan-gate completion --json` prints: the commands and what they take',
  ...objectOf({
    commands: listOf(
      objectOf({
        name: text,
        description: text,
        options: listOf(
          objectOf({
            names: texts,
            description: text,
            takes: { enum: ['nothing', 'a value', 'perhaps a value'] },
            is_repeated: bool,
            value,
          }),
        ),
        operands: listOf(objectOf({ name: text, is_repeated: bool, value })),
      }),
    ),
  }),
} as const satisfies Schema
export type CompletionOutput = FromSchema<typeof completionSchema>

const answer = { enum: ['denied', 'allowed'] } as const

export const demoSchema = {
  $id: 'demo',
  title: 'A line of `plan-gate demo --json`',
  anyOf: [
    objectOf({
      event: { const: 'act' },
      says: text,
      tool: text,
      target: text,
      answer,
      expected: answer,
      told: { ...texts, description: 'The messages that the agent receives.' },
      as_promised: bool,
    }),
    objectOf(
      { event: isResult, failures: integer, report: text },
      { worktree: { ...text, description: 'With --keep.' } },
    ),
  ],
} as const satisfies Schema
