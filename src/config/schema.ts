import type { compiledConfigSchema } from '../schemas/records.ts'
import { type Filled, type FromSchema, fillDefaults, type Schema } from '../schemas/schema.ts'

/** With what was in the file, every default filled in. */
export type CompiledConfig = Omit<FromSchema<typeof compiledConfigSchema>, 'config'> & {
  readonly config: EffectiveConfig
}

/**
 * The kinds of text a config may hold, each with the words for it. Their patterns also bound the length, since ajv's
 * `maxLength` brings a run time into every bundle, and each is linear in its input, since the text is anyone's.
 */
export const textKinds = {
  line: { pattern: '^(?! *$)[^\\u0000-\\u001f\\u007f]{1,500}$', words: 'one line of text' },
  script: { pattern: '^(?!\\s*$)[^\\u0000]{1,4000}$', words: 'a command for the shell' },
  command: { pattern: '^[\\w.+]([\\w./:@+ -]{0,98}[\\w./:@+-])?$', words: 'a command, and at most its subcommand' },
  // With more wildcards, or with groups that repeat, a matcher may try for ever.
  tool: {
    pattern: '^(?!(?:[^*{]*(?:\\*+|\\{)){4})[\\w*?{},.:@/[\\]-]{1,200}$',
    words: 'the name of a tool, in which * and {a,b} may stand up to three times',
  },
  expression: { pattern: '^[^\\u0000]{1,200}$', words: 'a regular expression of 1 to 200 characters' },
  name: { pattern: '^[A-Za-z0-9][\\w.-]{0,39}$', words: 'a name of letters, digits, dots, - and _' },
  variable: { pattern: '^[A-Z_][A-Z0-9_]{0,99}$', words: 'the name of an environment variable' },
  sha256: { pattern: '^[0-9a-f]{64}$', words: 'a SHA-256 in 64 hexadecimal digits' },
  model: { pattern: '^[A-Za-z0-9][\\w.:/@+-]{0,99}$', words: 'the name of a model' },
  document: {
    pattern:
      '^(?!/|\\.git|\\.claude|docs/plan\\.md$)(?!.*\\.\\.)(?:[\\w/ .@+-]|\\{(?:date|name|branch)\\}){1,190}\\.md$',
    words: 'the path of an .md file in the repository, in which {date}, {name} and {branch} may stand',
  },
  ref: { pattern: '^[A-Za-z0-9_@][\\w./@~^{}+-]{0,199}$', words: 'a branch, a tag or a commit' },
} as const

type TextKind = keyof typeof textKinds

const pattern = (kind: TextKind): string => textKinds[kind].pattern

/** A block may be left empty, so that each of its keys can be commented out. */
const block = <const P extends { readonly [key: string]: Schema }>(description: string, properties: P) =>
  ({ description, type: ['object', 'null'], default: {}, additionalProperties: false, properties }) as const

const flag = (byDefault: boolean, description: string) =>
  ({ description, type: 'boolean', default: byDefault }) as const

/** Without a `type`, so that a wrong value is one problem and not two. */
const choice = <const E extends readonly string[]>(values: E, byDefault: E[number], description: string) =>
  ({ description, enum: values, default: byDefault }) as const

const whole = (byDefault: number, minimum: number, maximum: number, description: string) =>
  ({ description, type: 'integer', minimum, maximum, default: byDefault }) as const

const wholeOrNone = (minimum: number, maximum: number, description: string) =>
  ({ description, type: ['integer', 'null'], minimum, maximum, default: null }) as const

const text = (kind: TextKind, byDefault: string, description: string) =>
  ({ description, type: 'string', pattern: pattern(kind), default: byDefault }) as const

const textOrNone = (kind: TextKind, description: string) =>
  ({ description, type: ['string', 'null'], pattern: pattern(kind), default: null }) as const

const texts = (kind: TextKind, byDefault: readonly string[], description: string) =>
  ({ ...listOf(kind, description), default: byDefault }) as const

const reflectConfigSchema = block('The second reviewer, who follows the implementation after approval.', {
  enabled: flag(false, 'Review code changes, failed commands and the end of a session.'),
  model: textOrNone('model', 'For reviews. Unset: review.models.code.'),
  fast_model: textOrNone('model', 'For summaries and small changes. Unset: the same as for reviews.'),
  timeout_seconds: whole(100, 1, 3600, 'For one call.'),
  traceability: choice(
    ['advisory', 'blocking', 'off'],
    'advisory',
    'At the end, changes the plan does not name and steps without a change are mentioned, keep Claude from stopping, or are not looked for.',
  ),
  max_calls: { ...wholeOrNone(0, 100_000, 'Calls in one session; null: no limit.'), default: 100 },
  max_tokens: wholeOrNone(0, 1_000_000_000, 'Tokens in one session. Unset: no limit.'),
})

/** Of a row or an entry of a list: without a default. */
const plain = (kind: TextKind, description: string) =>
  ({ description, type: 'string', pattern: pattern(kind) }) as const

const listOf = (kind: TextKind, description: string) =>
  ({ description, type: 'array', items: { type: 'string', pattern: pattern(kind) } }) as const

const dollars = (description: string) => ({ description, type: 'number', minimum: 0, maximum: 100_000 }) as const

const route = {
  type: 'object',
  additionalProperties: false,
  required: ['backend', 'when'],
  properties: {
    backend: { enum: ['codex', 'claude', 'curl', 'hounfour', 'checklist'], description: 'Who reviews.' },
    name: plain('name', 'What the row is called, where several have the same backend. Unset: the name of the backend.'),
    model: plain('model', 'The model of this row, before review.models.'),
    base_url: {
      ...plain('line', 'curl: the server, as far as its /v1. Unset: OPENAI_BASE_URL, or OpenAI.'),
      examples: ['http://127.0.0.1:11434/v1'],
    },
    api_key_env: plain(
      'variable',
      'curl: the variable with the key. Unset: OPENAI_API_KEY, and no key where base_url is set: a key goes nowhere unasked.',
    ),
    api: {
      description:
        'curl: which of its interfaces. auto, or unset: what the model needs, and chat where the server has no other.',
      enum: ['auto', 'chat', 'responses'],
    },
    allow_http: {
      description: 'curl: true for http beyond this machine, where others on the way can read all of it.',
      type: 'boolean',
    },
    price: {
      description: 'Dollars for a million tokens, from which costs are told.',
      type: 'object',
      additionalProperties: false,
      required: ['input', 'output'],
      properties: {
        input: dollars('Of what is sent.'),
        cached: dollars('Of what is sent again. Unset: as input.'),
        output: dollars('Of what is answered.'),
      },
    },
    when: {
      ...listOf('line', 'Names of conditions that must all hold; always, codex_available and others.'),
      examples: [['always']],
      minItems: 1,
    },
    capabilities: {
      ...listOf('line', 'What the backend may be used for, such as multi_pass.'),
      examples: [['multi_pass']],
    },
    fail_mode: {
      ...text('line', 'fallthrough', 'After a failure: fallthrough tries the next row, hard_fail ends the review.'),
      examples: ['fallthrough', 'hard_fail'],
    },
    timeout: {
      description: 'Seconds for one pass on this row; without it, review.timeout_seconds.',
      type: 'integer',
      minimum: 1,
      maximum: 3600,
    },
    retries: whole(0, 0, 10, 'How often this row is tried again after a timeout or a failure in between.'),
  },
} as const

const effort = (description: string) =>
  ({ description, enum: ['auto', 'low', 'medium', 'high', 'xhigh'], default: 'auto' }) as const

const effortsOf = {
  understand: effort('The pass that finds out what the content touches.'),
  find: effort('The pass that looks for what is wrong.'),
  verify: effort('The pass that checks what was found.'),
} as const

const effortConfigSchema = block(
  'How hard a model thinks. auto: xhigh, high, xhigh for the passes of a complex review, otherwise high.',
  {
    ...effortsOf,
    plan: block('For plans, before the general values.', effortsOf),
    code: block('For code.', effortsOf),
    documents: block('For requirements, designs and sprint plans.', effortsOf),
  },
)

const guideline = {
  type: 'object',
  additionalProperties: false,
  required: ['file'],
  properties: {
    file: plain('line', 'The file with the rules.'),
    types: {
      description: 'The types of review that it is for. Unset: all.',
      type: 'array',
      items: { enum: ['plan', 'code', 'prd', 'sdd', 'sprint'] },
      default: ['plan', 'code', 'prd', 'sdd', 'sprint'],
    },
    paths: texts('line', [], 'Patterns of files; it is sent when one of them is touched. Unset: always.'),
  },
} as const

const tokens = (byDefault: number, description: string) => whole(byDefault, 100, 1_000_000, description)

const highComplexity = block('The two budgets that grow for a complex review.', {
  pass2_input: tokens(30_000, 'Tokens of content that pass 2 reads.'),
  pass2_output: tokens(10_000, 'Tokens of findings that pass 2 hands on.'),
})

const multipass = block('How deep a review goes.', {
  adaptive: flag(
    true,
    'Stop after pass 1 when the change and the reviewer both say it is simple; false: always three.',
  ),
  thresholds: block('What the first pass must report for a review to count as simple or as complex.', {
    low_risk_areas: whole(3, 0, 1000, 'Simple: at most this many risk areas.'),
    low_scope_tokens: whole(500, 0, 1_000_000, 'Simple: at most this many tokens of analysis.'),
    high_risk_areas: whole(6, 0, 1000, 'Complex: more risk areas than this.'),
    high_scope_tokens: whole(2000, 0, 1_000_000, 'Complex: more tokens of analysis than this.'),
  }),
  budgets: block('Tokens that go from pass to pass.', {
    pass1_output: tokens(4000, 'Tokens of context that pass 1 hands on.'),
    pass2_input: tokens(20_000, 'Tokens of content that pass 2 reads.'),
    pass2_output: tokens(6000, 'Tokens of findings that pass 2 hands on.'),
    pass3_input: tokens(6000, 'Tokens of findings that pass 3 verifies.'),
    high_complexity: highComplexity,
  }),
})

const reviewConfigSchema = block('How plans and code are reviewed, and by whom.', {
  enabled: flag(true, 'Off: each review answers SKIPPED, which approves nothing.'),
  route_schema: whole(1, 1, 1, 'The version in which routes are written; 1 is the only one.'),
  routes: {
    description: 'Your own route table, in the order of trying. It replaces the built-in one: hounfour, codex, curl.',
    type: 'array',
    minItems: 1,
    items: route,
  },
  readers: {
    description:
      'Who reads in the first round: the names of rows, or how many readers the row that serves has. Their findings are united, and each that answers must approve. Unset: two for a plan, otherwise one.',
    type: ['integer', 'array', 'null'],
    minimum: 1,
    maximum: 5,
    minItems: 1,
    maxItems: 5,
    items: { type: 'string', pattern: textKinds.name.pattern },
    default: null,
  },
  second_opinion: choice(
    ['never', 'on-disagreement', 'on-critical'],
    'never',
    'When another row verifies as well: what the verification has dropped (on-disagreement), or what is critical (on-critical).',
  ),
  execution_mode: choice(
    ['auto', 'codex', 'curl'],
    'auto',
    'Keep only these rows of the built-in table; auto keeps all.',
  ),
  reasoning_mode: choice(['multi-pass', 'single-pass'], 'multi-pass', 'Up to three passes, or a single one.'),
  timeout_seconds: whole(600, 1, 3600, 'For one pass.'),
  effort: effortConfigSchema,
  guidelines: {
    description: 'Rules of your own for the reviewer, read from the commit that the work starts from.',
    type: 'array',
    items: guideline,
    default: [],
  },
  max_iterations: whole(3, 1, 100, 'How often `plan-gate review` reviews one thing again.'),
  tool_access: flag(false, 'Let the reviewer of code and documents read the repository, not only what it is sent.'),
  fast: flag(false, 'One pass for everything, like --fast.'),
  models: block('Which model reviews what.', {
    documents: text('model', 'gpt-5.2', 'For requirements, designs and sprint plans.'),
    code: text('model', 'gpt-5.2-codex', 'For code.'),
    plan: textOrNone('model', 'For docs/plan.md. Unset: what Codex is configured for; elsewhere, as for documents.'),
  }),
  phases: block('What is reviewed at all; a phase that is off answers SKIPPED.', {
    plan: flag(true, 'docs/plan.md. Off: only you can approve a plan.'),
    prd: flag(true, 'Requirements.'),
    sdd: flag(true, 'Designs.'),
    sprint: flag(true, 'Sprint plans.'),
    implementation: flag(true, 'Code.'),
  }),
  multipass,
  policy: block('Limits that no route table can exceed.', {
    max_routes: whole(10, 1, 100, 'Rows in the table.'),
    max_attempts: whole(10, 1, 100, 'Attempts in one review, retries included.'),
    max_total_seconds: whole(1500, 1, 86_400, 'Time of one review; for a plan, plan.deadline_seconds if that is less.'),
    require_custom_routes_opt_in: flag(
      false,
      'Ignore routes of your own unless PLAN_GATE_CUSTOM_ROUTES=1; in CI that holds in any case.',
    ),
    ci_backends: {
      description: 'In CI only these backends, or rows of these names, review. Unset: all of the table.',
      examples: [['curl']],
      type: ['array', 'null'],
      minItems: 1,
      items: { type: 'string', pattern: textKinds.name.pattern },
      default: null,
    },
    routes_sha256: textOrNone(
      'sha256',
      'The hash of the one route table that may be used, as `plan-gate routes` prints it. Unset: any.',
    ),
  }),
  redaction: block('What is blanked before anything is sent, written or logged, besides the known forms of keys.', {
    patterns: texts('expression', [], 'Regular expressions of JavaScript, each at most 200 characters.'),
  }),
  sensitive_files: texts(
    'line',
    [],
    'Name patterns, besides the built-in .env, *.pem, id_rsa and the like, of files never to be quoted in a review.',
  ),
})

const runners = [
  ...[
    'npm test',
    'npm run',
    'npx',
    'pnpm test',
    'pnpm run',
    'pnpm exec',
    'yarn test',
    'yarn run',
    'bun test',
    'bun run',
  ],
  ...['vitest', 'tsc', 'node --test', 'cargo test', 'cargo build', 'cargo check', 'cargo clippy'],
  ...['go test', 'go build', 'go vet', 'pytest', 'python -m pytest', 'python3 -m pytest', 'mypy', 'make'],
]

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
      deadline_seconds: whole(1500, 1, 7200, 'For one whole review; the hook around it gets 60 seconds more.'),
      notify: choice(
        ['off', 'bell', 'command'],
        'off',
        'When a review has ended: nothing, the bell of Claude Code’s terminal, or the command in PLAN_GATE_NOTIFY of your environment.',
      ),
      exit_plan_mode: choice(['on', 'off'], 'on', 'Review the plan that Claude presents at the end of plan mode, too.'),
      required_sections: texts(
        'line',
        ['Goal', 'Context', 'Approach', 'Changes', 'Risks', 'Open Questions'],
        'Second-level headings that a plan must have before it is sent to review.',
      ),
      max_tokens: whole(40_000, 1000, 400_000, 'A longer plan is not sent to review: a plan is never shortened.'),
      request: textOrNone(
        'line',
        'The document that says what is wanted, or a pattern of several. Unset: the one that bootstrap was given.',
      ),
      cycle_tokens: wholeOrNone(
        1000,
        1_000_000_000,
        'Tokens of all reviews of one cycle after which the decision is yours. Unset: no limit.',
      ),
      archive: textOrNone(
        'document',
        'Where finish commits a copy of the approved plan, such as docs/plans/{date}-{name}.md. Unset: nowhere.',
      ),
    }),
    gate: block('What is possible before a plan is approved.', {
      bash: block('Shell commands.', {
        allow: texts('command', [], 'Commands that only read, besides the built-in ones.'),
        compound: flag(true, 'Judge a | b, a && b and a ; b by their parts; false: deny them.'),
        mode: choice(
          ['auto', 'list', 'sandbox'],
          'auto',
          'Before approval: any command, in the sandbox, or the list where there is none (auto); the list always; nothing without the sandbox, not even after approval.',
        ),
      }),
      sandbox: block('The sandbox that commands run in, on Linux.', {
        rehearse: texts(
          'command',
          runners,
          'Before approval, commands that begin with these may write, and what they write is thrown away.',
        ),
        approved: choice(
          ['protect', 'off'],
          'protect',
          'After approval: keep the control plane and everything outside of the worktree read-only, or not.',
        ),
      }),
      tools: block('Other tools.', {
        allow: { ...texts('tool', [], 'Patterns of tool names that only read, such as mcp__docs__*.'), maxItems: 100 },
      }),
      scope: choice(
        ['off', 'ask', 'deny'],
        'off',
        'After approval: what happens to a write to a file that the plan does not name under ## Changes.',
      ),
    }),
    review: reviewConfigSchema,
    codex: block('The codex backend.', {
      instructions: choice(
        ['replace', 'keep'],
        'replace',
        'The instructions of plan-gate take the place of those that Codex has for writing code, or follow them.',
      ),
    }),
    hounfour: block('The hounfour backend.', {
      flatline_routing: flag(false, 'Whether it serves at all: the condition flatline_routing_enabled.'),
      model_invoke: text('line', 'model-invoke', 'The program: a name on PATH, or a path.'),
      agent: text('model', 'gpt-reviewer', 'The agent it runs.'),
    }),
    reflect: reflectConfigSchema,
    worktree: block('The worktree that bootstrap opens.', {
      setup: texts('script', [], 'Commands to run in a new worktree, in this order.'),
      dir: text('line', '../{repo}-{name}', 'Where it goes, seen from the repository.'),
      base: textOrNone('ref', 'What it starts from. Unset: the current commit.'),
    }),
  },
} as const satisfies Schema

export type Config = FromSchema<typeof configSchema>
/** The same with each default filled in; absent is only what has none. */
export type EffectiveConfig = Filled<typeof configSchema>

export const defaultConfig: EffectiveConfig = fillDefaults(configSchema, {})
