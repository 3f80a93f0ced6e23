import { objectOf } from '../object-of.ts'
import type { FromSchema, Schema } from '../schema.ts'
import { planStateSchema } from './plan-state.ts'
import { prerequisiteLine, progressLines } from './progress-lines.ts'

const text = { type: 'string' } as const
const texts = { type: 'array', items: text } as const
const branch = { type: ['string', 'null'], description: 'null: on no branch.' } as const

const bootstrapResult = {
  anyOf: [
    objectOf({ event: { const: 'result' }, kind: { const: 'dry-run' }, worktree: text, branch }),
    objectOf({
      event: { const: 'result' },
      kind: { const: 'ready' },
      worktree: text,
      branch,
      plan: planStateSchema,
      prompt: { ...text, description: 'What Claude Code is to be started with.' },
    }),
    objectOf({
      event: { const: 'result' },
      kind: { const: 'ended' },
      worktree: text,
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

export const uninstallSchema = {
  $id: 'uninstall',
  title: 'What `plan-gate uninstall --json` prints',
  ...objectOf({
    root: text,
    removed: texts,
    restored: texts,
    notes: { ...texts, description: 'What a person has to look at.' },
  }),
} as const satisfies Schema

export type UninstallOutput = FromSchema<typeof uninstallSchema>

const doctorResult = objectOf({
  event: { const: 'result' },
  root: text,
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
      says: text,
      tool: text,
      target: text,
      answer: { enum: ['denied', 'allowed'] },
      expected: { enum: ['denied', 'allowed'] },
      told: { ...texts, description: 'What the agent hears.' },
      as_promised: { type: 'boolean' },
    }),
    objectOf(
      { event: { const: 'result' }, failures: { type: 'integer' }, report: text },
      { worktree: { ...text, description: 'With --keep.' } },
    ),
  ],
} as const satisfies Schema
