import { block, choice, flag, text, textKinds, textOrNone, texts, whole } from './config-fields.ts'

const route = {
  type: 'object',
  additionalProperties: false,
  required: ['backend', 'when'],
  properties: {
    backend: { enum: ['codex', 'curl', 'hounfour', 'checklist'], description: 'Who reviews.' },
    when: {
      description: 'Names of conditions that must all hold; always, codex_available and others.',
      examples: [['always']],
      type: 'array',
      minItems: 1,
      items: { type: 'string', pattern: textKinds.line.pattern },
    },
    capabilities: {
      description: 'What the backend may be used for, such as multi_pass.',
      examples: [['multi_pass']],
      type: 'array',
      items: { type: 'string', pattern: textKinds.line.pattern },
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

export const reviewConfigSchema = block('How plans and code are reviewed, and by whom.', {
  enabled: flag(true, 'Off: each review answers SKIPPED, which approves nothing.'),
  route_schema: whole(1, 1, 1, 'The version in which routes are written; 1 is the only one.'),
  routes: {
    description: 'Your own route table, in the order of trying. It replaces the built-in one: hounfour, codex, curl.',
    type: 'array',
    minItems: 1,
    items: route,
  },
  execution_mode: choice(
    ['auto', 'codex', 'curl'],
    'auto',
    'Keep only these rows of the built-in table; auto keeps all.',
  ),
  reasoning_mode: choice(['multi-pass', 'single-pass'], 'multi-pass', 'Up to three passes, or a single one.'),
  timeout_seconds: whole(300, 1, 3600, 'For one pass.'),
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
    max_total_seconds: whole(900, 1, 86_400, 'Time of one review; for a plan, plan.deadline_seconds if that is less.'),
    require_custom_routes_opt_in: flag(
      false,
      'Ignore routes of your own unless PLAN_GATE_CUSTOM_ROUTES=1; in CI that holds in any case.',
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
