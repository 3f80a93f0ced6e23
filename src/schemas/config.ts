import { block, choice, flag, text, textOrNone, texts, whole } from './config-fields.ts'
import { reflectConfigSchema } from './config-reflect.ts'
import { reviewConfigSchema } from './config-review.ts'
import type { Filled } from './fill-defaults.ts'
import type { FromSchema, Schema } from './schema.ts'

/** `plan-gate.yaml`, as a person may write it. Each default stands here and nowhere else. */
export const configSchema = {
  $id: 'config',
  title: 'plan-gate configuration',
  description: 'plan-gate.yaml at the root of a repository. Each key may be left out.',
  type: 'object',
  additionalProperties: false,
  properties: {
    plan: block('The plan and how long it may be revised.', {
      max_revisions: whole(5, 1, 100, 'Reviews without approval after which the decision is yours.'),
      deadline_seconds: whole(540, 1, 7200, 'For one whole review; the hook around it gets 60 seconds more.'),
      exit_plan_mode: choice(['on', 'off'], 'on', 'Review the plan that Claude presents at the end of plan mode, too.'),
      required_sections: texts(
        'line',
        ['Goal', 'Context', 'Approach', 'Changes', 'Risks', 'Open Questions'],
        'Second-level headings that a plan must have before it is sent to review.',
      ),
      max_bytes: whole(1_000_000, 1000, 1_000_000, 'A longer plan is not sent to review.'),
    }),
    gate: block('What is possible before a plan is approved.', {
      bash: block('Shell commands.', {
        allow: texts('command', [], 'Commands that only read, besides the built-in ones.'),
        compound: flag(true, 'Judge a | b, a && b and a ; b by their parts; false: deny them.'),
      }),
      tools: block('Other tools.', {
        allow: {
          ...texts('tool', [], 'Patterns of tool names that only read, such as mcp__docs__*.'),
          maxItems: 100,
        },
      }),
      scope: choice(
        ['off', 'ask', 'deny'],
        'off',
        'After approval: what happens to a write to a file that the plan does not name under ## Changes.',
      ),
    }),
    review: reviewConfigSchema,
    hounfour: block('The hounfour backend.', {
      flatline_routing: flag(false, 'Whether it serves at all: the condition flatline_routing_enabled.'),
      model_invoke: text('line', 'model-invoke', 'The program: a name on PATH, or a path.'),
      agent: text('model', 'gpt-reviewer', 'The agent it runs.'),
    }),
    reflect: reflectConfigSchema,
    worktree: block('The worktree that bootstrap opens.', {
      setup: texts('script', [], 'Commands to run in a new worktree, in this order.'),
      dir: text('line', '../{repo}-{name}', 'Where it goes, seen from the repository.'),
      branch_prefix: text('refPrefix', 'plan/', 'Its branch is this and its name.'),
      base: textOrNone('ref', 'What it starts from. Unset: the current commit.'),
    }),
  },
} as const satisfies Schema

/** What a person wrote, after older names were replaced. */
export type Config = FromSchema<typeof configSchema>
/** The same with each default filled in; absent is only what has none. */
export type EffectiveConfig = Filled<typeof configSchema>
