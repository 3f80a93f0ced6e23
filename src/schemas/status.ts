import { progressSchema, sessionSchema } from './records.ts'
import { findingSchema, verdicts } from './review.ts'
import { count, embedded, type FromSchema, listOf, objectOf, type Schema, text, textOrNull, texts } from './schema.ts'

const nothing = { type: 'null' } as const

export const planStateSchema = {
  anyOf: [
    objectOf({ kind: { const: 'missing' } }),
    objectOf({ kind: { const: 'open' }, because: text }),
    objectOf({ kind: { const: 'approved' }, hash: { ...text, description: 'SHA-256 of docs/plan.md.' } }),
  ],
} as const satisfies Schema

/** What can stand between a user and an approved plan; the first that applies counts. */
export const nextStates = [
  'not-installed',
  'damaged',
  'invalid-config',
  'tampered',
  'gate-closed',
  'reviewing',
  'drift',
  'approved',
  'no-plan',
  'limit-reached',
  'decision-needed',
  'changes-required',
  'skipped',
  'not-named',
  'cancelled',
  'unavailable',
  'checklist',
  'not-reviewed',
] as const

export type NextState = (typeof nextStates)[number]

const nextStepSchema = {
  ...objectOf({
    state: { enum: nextStates },
    text: { ...text, description: 'What the user does next, and why.' },
    command: { ...textOrNull, description: 'A command that helps; it runs where this was printed.' },
  }),
} as const satisfies Schema

export const worktreeSchema = objectOf({
  root: text,
  branch: textOrNull,
  next_step: nextStepSchema,
  last_used: textOrNull,
  open: { ...text, description: 'The command that starts Claude Code there.' },
}) satisfies Schema

export type WorktreeOutput = FromSchema<typeof worktreeSchema>

export const statusSchema = {
  $id: 'status',
  title: 'What `plan-gate status --json` prints',
  ...objectOf({
    root: text,
    installed: { ...textOrNull, description: 'The version of the plan-gate that was installed here.' },
    plan: planStateSchema,
    approved_by: { ...textOrNull, description: 'Who looked at the approved plan, and what the user waived.' },
    closed: {
      ...listOf(objectOf({ session: text, why: text })),
      description: 'Sessions in which the gate stays closed, whatever is approved.',
    },
    revisions: { ...count, description: 'How many were reviewed in this cycle.' },
    limit: { ...count, description: 'How many are reviewed before the decision is the user’s.' },
    deadline_seconds: { type: 'number', description: 'How long the review of a plan may take.' },
    cycles: { ...count, description: 'How many there were before.' },
    verdicts: {
      ...listOf(objectOf({ revision: count, verdict: { enum: verdicts }, findings: count })),
      description: 'Of this cycle, in their order.',
    },
    findings: { ...listOf(findingSchema), description: 'What the last review left open.' },
    review: { anyOf: [embedded(progressSchema), nothing], description: 'The review that is running now.' },
    unavailable: { ...textOrNull, description: 'Why the last review reached no verdict; null where it reached one.' },
    reviewer: {
      ...text,
      description: 'Who would review now, what it may see, what it costs, and who reads beside it.',
    },
    routes_hash: {
      ...textOrNull,
      description: 'SHA-256 of the route table that counts here, as `plan-gate routes` has it; null: it is not valid.',
    },
    thread: { ...textOrNull, description: 'The id of the reviewer’s thread.' },
    commands: {
      enum: ['sandbox', 'list'],
      description: 'What decides about commands before an approval: the sandbox they run in, or the list.',
    },
    sessions: { ...listOf(embedded(sessionSchema)), description: 'The most recently active first.' },
    denials: { ...count, description: 'In the last session.' },
    last_denial: textOrNull,
    problems: { ...texts, description: 'What is wrong with plan-gate.yaml, or with what status reads.' },
    next_step: nextStepSchema,
    worktrees: {
      ...listOf(worktreeSchema),
      description: 'Where there is no gate here: the worktrees of this repository that have one.',
    },
  }),
} as const satisfies Schema

export type Status = FromSchema<typeof statusSchema>
