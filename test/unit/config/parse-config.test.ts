import { describe, expect, it } from 'vitest'
import { describeProblems } from '../../../src/config/errors.ts'
import { parseConfig } from '../../../src/config/load.ts'
import { defaultConfig, type EffectiveConfig } from '../../../src/config/schema.ts'

describe('a valid file', () => {
  const { plan, gate, review, worktree } = defaultConfig
  const { multipass } = review

  it.each<{ text: string; expected: Partial<EffectiveConfig> }>([
    { text: '', expected: {} },
    { text: '\n# only a comment\n', expected: {} },
    { text: '---\n...\n', expected: {} },
    { text: '~', expected: {} },
    { text: 'plan:\ngate:\n  bash:\n', expected: {} },
    { text: 'plan:\n  max_revisions: 7', expected: { plan: { ...plan, max_revisions: 7 } } },
    { text: '\ufeffplan: {max_revisions: 7}', expected: { plan: { ...plan, max_revisions: 7 } } },
    { text: 'plan:\r\n  max_revisions: 7\r\n', expected: { plan: { ...plan, max_revisions: 7 } } },
    { text: 'plan: {exit_plan_mode: off}', expected: { plan: { ...plan, exit_plan_mode: 'off' } } },
    { text: '%YAML 1.1\n---\nplan: {exit_plan_mode: off}', expected: { plan: { ...plan, exit_plan_mode: 'off' } } },
    { text: 'plan: {required_sections: []}', expected: { plan: { ...plan, required_sections: [] } } },
    { text: 'gate: {scope: ask}', expected: { gate: { ...gate, scope: 'ask' } } },
    {
      text: 'plan: {max_revisions: &few 2, deadline_seconds: *few}',
      expected: { plan: { ...plan, max_revisions: 2, deadline_seconds: 2 } },
    },
    {
      text: 'review:\n  routes:\n    - {backend: curl, when: [always]}\n    - {backend: codex, when: [x], timeout: 9, retries: 1}\n',
      expected: {
        review: {
          ...review,
          routes: [
            { backend: 'curl', when: ['always'], fail_mode: 'fallthrough', retries: 0 },
            { backend: 'codex', when: ['x'], fail_mode: 'fallthrough', timeout: 9, retries: 1 },
          ],
        },
      },
    },
    {
      text: 'review:\n  multipass:\n    budgets: {pass1_output: 5000}\n',
      expected: {
        review: { ...review, multipass: { ...multipass, budgets: { ...multipass.budgets, pass1_output: 5000 } } },
      },
    },
    {
      text: 'worktree:\n  setup:\n    - |\n      npm ci\n      npm run build\n',
      expected: { worktree: { ...worktree, setup: ['npm ci\nnpm run build\n'] } },
    },
  ])('$text', ({ text, expected }) => {
    expect(parseConfig(text)).toEqual({ kind: 'valid', config: { ...defaultConfig, ...expected }, notices: [] })
  })
})

describe('older names', () => {
  const { review } = defaultConfig
  const budgets = { ...review.multipass.budgets, pass1_output: 5000 }
  const withBudgets = { ...defaultConfig, review: { ...review, multipass: { ...review.multipass, budgets } } }

  it.each([
    {
      text: 'gpt_review: {fast: true}',
      config: { ...defaultConfig, review: { ...review, fast: true } },
      notices: ['plan-gate.yaml:1:1  gpt_review is an older name. Write review.'],
    },
    {
      text: 'gpt_review:',
      config: defaultConfig,
      notices: ['plan-gate.yaml:1:1  gpt_review is an older name. Write review.'],
    },
    {
      text: 'gpt_review:\n  pass_budgets: {pass1_output: 5000}',
      config: withBudgets,
      notices: [
        'plan-gate.yaml:1:1  gpt_review is an older name. Write review.',
        'plan-gate.yaml:2:3  review.pass_budgets is an older name. Write review.multipass.budgets.',
      ],
    },
    {
      text: 'review:\n  multipass:\n  pass_budgets: {pass1_output: 5000}',
      config: withBudgets,
      notices: ['plan-gate.yaml:3:3  review.pass_budgets is an older name. Write review.multipass.budgets.'],
    },
    {
      text: 'flatline_protocol:\n  secret_scanning:\n    patterns: [corp-\\d+]',
      config: { ...defaultConfig, review: { ...review, redaction: { patterns: ['corp-\\d+'] } } },
      notices: [
        'plan-gate.yaml:3:5  flatline_protocol.secret_scanning.patterns is an older name. Write ' +
          'review.redaction.patterns.',
      ],
    },
  ])('$text', ({ text, config, notices }) => {
    expect(withNotices(text)).toEqual({ kind: 'valid', config, notices })
  })
})

describe('keys of one’s own, and what is repeated', () => {
  const withPlan = (plan: Partial<typeof defaultConfig.plan>) => ({
    ...defaultConfig,
    plan: { ...defaultConfig.plan, ...plan },
  })

  it.each<[string, string, typeof defaultConfig]>([
    ['x- and _ at any level are left alone', 'x-a: [1, {b: c}]\n_b: 2\nplan: {x-c: {d: }, _e: }', defaultConfig],
    ['in a list, too', 'review: {guidelines: [{x-y: 1, file: a.md}]}', parsed('review: {guidelines: [{file: a.md}]}')],
    ['a block is merged', 'x-a: &a {max_revisions: 3}\nplan:\n  <<: *a', withPlan({ max_revisions: 3 })],
    [
      'what stands there itself counts, wherever it stands',
      'x-a: &a {max_revisions: 3, max_tokens: 9000}\nplan:\n  <<: *a\n  max_revisions: 4',
      withPlan({ max_revisions: 4, max_tokens: 9000 }),
    ],
    [
      'of several blocks the first counts',
      'x-a: &a {max_revisions: 3}\n_b: &b {max_revisions: 4, max_tokens: 9000}\nplan: {<<: [*a, *b]}',
      withPlan({ max_revisions: 3, max_tokens: 9000 }),
    ],
  ])('%s', (_, text, config) => {
    expect(parseConfig(text)).toEqual({ kind: 'valid', config, notices: [] })
  })
})

function parsed(text: string): typeof defaultConfig {
  const read = parseConfig(text)
  if (read.kind === 'invalid') throw new Error(JSON.stringify(read.problems))
  return read.config
}

describe('gate.bash.allow', () => {
  it.each([
    { entry: 'npm test', warns: false },
    { entry: 'environment', warns: false },
    { entry: 'cd', warns: true },
    { entry: 'env node', warns: true },
    { entry: 'xargs', warns: true },
    { entry: 'export', warns: true },
    { entry: 'source', warns: true },
    { entry: 'eval', warns: true },
    { entry: 'bash -c', warns: true },
  ])('$entry: warns $warns', ({ entry, warns }) => {
    const parsed = withNotices(`gate:\n  bash:\n    allow: [make lint, "${entry}"]\n`)
    const name = entry.trim().split(' ')[0]
    expect(parsed).toMatchObject({
      notices: warns
        ? [
            `plan-gate.yaml:3:24  gate.bash.allow[1]: ${name} changes or runs other commands, so it allows nearly everything before an approval. Name the commands that you want to allow.`,
          ]
        : [],
    })
  })
})

describe('keys of earlier versions', () => {
  it.each([
    {
      text: 'reflect:\n  dedup:\n    ttl_seconds: 60\n    max_entries: 2\n',
      notices: ['plan-gate.yaml:2:3  reflect.dedup is no longer used (300 s and 100 entries are fixed). Remove it.'],
    },
    {
      text: 'reflect: {dedup: }',
      notices: ['plan-gate.yaml:1:11  reflect.dedup is no longer used (300 s and 100 entries are fixed). Remove it.'],
    },
    {
      text: 'reflect:\n  condense_over_chars: many\n  max_content_chars: -1\n  quiet_seconds: [1]\n',
      notices: [
        'plan-gate.yaml:2:3  reflect.condense_over_chars is no longer used (1,500 characters are fixed). Remove it.',
        'plan-gate.yaml:3:3  reflect.max_content_chars is no longer used (400,000 characters are fixed). Remove it.',
        'plan-gate.yaml:4:3  reflect.quiet_seconds is no longer used (each change is reviewed at once). Remove it.',
      ],
    },
    {
      text: 'worktree:\n  branch_prefix: "!"',
      notices: [
        'plan-gate.yaml:2:3  worktree.branch_prefix is no longer used (plan/ is fixed; --branch names another branch). Remove it.',
      ],
    },
  ])('$text is ignored with a notice', ({ text, notices }) => {
    expect(withNotices(text)).toEqual({ kind: 'valid', config: defaultConfig, notices })
  })
})

function withNotices(text: string) {
  const parsed = parseConfig(text)
  return parsed.kind === 'valid' ? { ...parsed, notices: describeProblems(parsed.notices, 'plan-gate.yaml') } : parsed
}

const known = 'Known here: plan, gate, review, codex, hounfour, reflect, worktree.'
const twoKeys = `There is more than one "key:" on this line, or the next line is indented too far. Give each key a line of its own; put a text with a colon in quotes.`
const quoteIt = 'If it is meant as text, put it in quotes.'
const noColon = 'A colon is missing here. Write "key: value", with a space after the colon.'

describe('an invalid file', () => {
  it.each<{ text: string; problems: string[] }>([
    // Keys
    { text: 'gate:\n  bsah:\n', problems: ['2:3  gate.bsah is not a known key. Did you mean gate.bash?'] },
    {
      text: 'plan: {max-revisions: 1}',
      problems: ['1:8  plan.max-revisions is not a known key. Did you mean plan.max_revisions?'],
    },
    {
      text: 'max_revisions: 1',
      problems: ['1:1  max_revisions is not a known key. max_revisions belongs under plan:'],
    },
    {
      text: 'timeout_seconds: 1',
      problems: ['1:1  timeout_seconds is not a known key. timeout_seconds belongs under review: or reflect:'],
    },
    { text: 'review:\n  bash: {}', problems: ['2:3  review.bash is not a known key. bash belongs under gate:'] },
    {
      text: 'plan:\n  gate: {}',
      problems: ['2:3  plan.gate is not a known key. gate belongs at the left margin, under no other key.'],
    },
    { text: 'reviews: {}', problems: ['1:1  reviews is not a known key. Did you mean review?'] },
    { text: 'max_revision: 1', problems: ['1:1  max_revision is not a known key. Did you mean plan.max_revisions?'] },
    { text: 'zzzzzz: 1', problems: [`1:1  zzzzzz is not a known key. ${known}`] },
    { text: '__proto__: {a: 1}', problems: [`1:1  __proto__ is not a known key. ${known}`] },
    { text: 'constructor: {a: 1}', problems: [`1:1  constructor is not a known key. ${known}`] },
    { text: '"<<": {plan: {}}', problems: [`1:1  << is not a known key. ${known}`] },
    {
      text: '<<: 5',
      problems: ['1:5  << merges a block of keys, and nothing else. Write <<: *name, for a block with &name.'],
    },
    {
      text: 'x-a: &a {max_revision: 3}\nplan:\n  <<: *a',
      problems: ['2:1  plan.max_revision is not a known key. Did you mean plan.max_revisions?'],
    },
    { text: 'plan: &a\n  <<: *a', problems: ['2:7  This * is in what it repeats.'] },
    { text: 'x_plan: 1', problems: ['1:1  x_plan is not a known key. Did you mean plan?'] },
    {
      text: 'flatline_protocol: {secret_scanning: {patterns: [a], mode: strict}}',
      problems: [`1:1  flatline_protocol is not a known key. ${known}`],
    },
    { text: '"a\\e[31m\\u202eb": 1', problems: [`1:1  "a\\u001b[31m\ufffdb" is not a known key. ${known}`] },
    { text: 'plan: {}\ngate: {}\nplan: {}', problems: ['3:1  This key is written twice. Keep one of them.'] },
    { text: '5: 1', problems: [`1:1  5 is not a known key. ${known}`] },
    { text: '? [a]\n: 1', problems: [`1:1  "[ a ]" is not a known key. ${known}`] },
    { text: '? {a: 1}\n: 1', problems: [`1:1  "{ a: 1 }" is not a known key. ${known}`] },

    // Values
    {
      text: 'plan:\n  max_revisions: five',
      problems: ['2:18  plan.max_revisions: expected a whole number, found the text "five".'],
    },
    {
      text: 'plan: {max_revisions: "5"}',
      problems: ['1:23  plan.max_revisions: expected a whole number, found the text "5". Write 5, without quotes.'],
    },
    { text: 'plan: {max_revisions: 2.5}', problems: ['1:23  plan.max_revisions: expected a whole number, found 2.5.'] },
    {
      text: 'plan: {max_revisions: .nan}',
      problems: ['1:23  plan.max_revisions: expected a whole number, found NaN.'],
    },
    {
      text: 'plan: {max_revisions: .inf}',
      problems: ['1:23  plan.max_revisions: expected a whole number, found Infinity.'],
    },
    { text: 'plan: {max_revisions: 0}', problems: ['1:23  plan.max_revisions: expected at least 1, found 0.'] },
    { text: 'plan: {max_revisions: 1e30}', problems: ['1:23  plan.max_revisions: expected at most 100, found 1e+30.'] },
    {
      text: 'plan:\n  max_revisions:\n',
      problems: ['2:17  plan.max_revisions: expected a whole number, found nothing. Write a value, or remove the key.'],
    },
    { text: 'plan: [1]', problems: ['1:7  plan: expected a block of keys such as max_revisions:, found a list.'] },
    {
      text: 'plan: {required_sections: Goal}',
      problems: ['1:27  plan.required_sections: expected a list, found the text "Goal". Write ["Goal"].'],
    },
    {
      text: 'plan: {required_sections: [Goal, 2, ""]}',
      problems: [
        '1:34  plan.required_sections[1]: expected a text, found 2. Write "2", in quotes.',
        '1:37  plan.required_sections[2]: expected one line of text, found the text "".',
      ],
    },
    {
      text: 'review: {enabled: yes, fast: off}',
      problems: [
        '1:19  review.enabled: expected true or false, found the text "yes". Write true.',
        '1:30  review.fast: expected true or false, found the text "off". Write false.',
      ],
    },
    {
      text: 'review: {execution_mode: crul}',
      problems: [
        '1:26  review.execution_mode: expected auto, codex or curl, found the text "crul". Did you mean curl?',
      ],
    },
    {
      text: 'plan: {exit_plan_mode: false}',
      problems: ['1:24  plan.exit_plan_mode: expected on or off, found false. Did you mean off?'],
    },
    { text: 'gate: {scope: [ask]}', problems: ['1:15  gate.scope: expected off, ask or deny, found a list.'] },
    {
      text: 'review: {models: {code: -o/etc/passwd}}',
      problems: ['1:25  review.models.code: expected the name of a model, found the text "-o/etc/passwd".'],
    },
    {
      text: 'gate: {bash: {allow: ["ls; rm x"]}}',
      problems: [
        '1:23  gate.bash.allow[0]: expected a command, and at most its subcommand, found the text "ls; rm x".',
      ],
    },
    {
      text: `review:\n  redaction:\n    patterns:\n      - '('\n      - '${'x'.repeat(201)}'\n      - 'a+'\n`,
      problems: [
        '4:9  review.redaction.patterns[0]: "(" is not a regular expression of JavaScript.',
        `5:9  review.redaction.patterns[1]: expected a regular expression of 1 to 200 characters, found the text "${'x'.repeat(59)}…".`,
      ],
    },

    // Routes
    {
      text: 'review:\n  routes: []',
      problems: ['2:11  review.routes: expected at least one entry, found none. Without the key, the default holds.'],
    },
    {
      text: 'review:\n  routes:\n    - backend: gpt\n      when: always\n    - when: []\n      fail_mod: x\n    -\n',
      problems: [
        '3:16  review.routes[0].backend: expected codex, claude, curl, hounfour or checklist, found the text "gpt".',
        '4:13  review.routes[0].when: expected a list, found the text "always". Write ["always"].',
        '5:7  review.routes[1] needs the key backend. For example backend: codex',
        '5:13  review.routes[1].when: expected at least one entry, found none. For example [always].',
        '6:7  review.routes[1].fail_mod is not a known key. Did you mean review.routes[1].fail_mode?',
        '7:6  review.routes[2]: expected a block of keys such as backend:, found nothing. Write a value, or remove the entry.',
      ],
    },
    {
      text: 'review:\n  route_schema: 2\n  routes: {first: codex}',
      problems: [
        '2:17  review.route_schema: version 2 is newer than this plan-gate, which knows 1. Upgrade plan-gate: npm install --save-dev plan-gate@latest',
      ],
    },

    // Older names
    {
      text: 'gpt_review: {}\nreview: {}',
      problems: ['1:1  gpt_review is an older name of review, which is there as well. Keep one of them.'],
    },
    {
      text: 'review: {}\ngpt_review: {}',
      problems: ['2:1  gpt_review is an older name of review, which is there as well. Keep one of them.'],
    },
    {
      text: 'gpt_review:\n  pass_budgets: {pass1_output: much}',
      problems: ['2:32  review.multipass.budgets.pass1_output: expected a whole number, found the text "much".'],
    },
    {
      text: 'review:\n  pass_budgets: {pass1_output: 5000}\n  multipass: {budgets: {pass1_output: 5000}}',
      problems: [
        '2:3  review.pass_budgets is an older name of review.multipass.budgets, which is there as well. Keep one of them.',
      ],
    },

    // What is no YAML, or more than a configuration needs of it
    {
      text: 'plan',
      problems: [
        '1:1  The file: expected a block of keys such as plan:, found the text "plan". Write "key: value", with a space after the colon.',
      ],
    },
    { text: '- plan', problems: ['1:1  The file: expected a block of keys such as plan:, found a list.'] },
    {
      text: 'plan: {}\n---\ngate: {}\n',
      problems: ['3:1  A second document begins here. Keep everything in one, without a line --- in between.'],
    },
    {
      text: 'plan:\n\tmax_revisions: 5\n',
      problems: ['2:1  The indentation of this line has a tab in it. Use spaces.'],
    },
    { text: 'plan: max: 5', problems: [`1:7  ${twoKeys}`] },
    { text: 'plan:\n  max_revisions 5\n  max_bytes: 5000\n', problems: [`2:3  ${noColon}`] },
    {
      text: 'plan:\n  max_bytes: 5000\n max_revisions: 5\n',
      problems: ['3:1  The indentation of this line fits no line above. Align it with the keys of its block.'],
    },
    {
      text: 'plan:\n  required_sections: "Goal\ngate: {}\n',
      problems: ['2:22  The quote or bracket that opens here is never closed.'],
    },
    {
      text: 'plan:\n  required_sections: [Goal\ngate: {}\n',
      problems: ['2:22  The quote or bracket that opens here is never closed.'],
    },
    { text: 'plan: {', problems: ['1:7  The quote or bracket that opens here is never closed.'] },
    {
      text: 'gate:\n  tools:\n    allow: - x\n',
      problems: ['3:12  A list cannot begin on the line of its key. Begin it on the next line, or write [a, b].'],
    },
    {
      text: 'gate: {tools: {allow: ["(*a+)+"]}}',
      problems: [
        '1:24  gate.tools.allow[0]: expected the name of a tool, in which * and {a,b} may stand up to three times, found the text "(*a+)+".',
      ],
    },
    { text: 'gate: {tools: {allow: [*.x]}}', problems: [`1:24  There is nothing that this * repeats. ${quoteIt}`] },
    { text: 'plan: &a [*a]', problems: ['1:11  This * is in what it repeats.'] },
    {
      text: 'plan: !!set {max_revisions: 1}',
      problems: [`1:7  This sign has a meaning of its own in YAML. ${quoteIt}`],
    },
    {
      text: 'plan: {required_sections: [`a`]}',
      problems: [`1:28  This sign has a meaning of its own in YAML. ${quoteIt}`],
    },
    {
      text: 'review: {redaction: {patterns: ["\\d+"]}}',
      problems: [
        '1:34  This letter means nothing after a backslash. Use single quotes, in which a backslash is only a backslash.',
      ],
    },

    // As long as it is no YAML, nothing else is told; in the order of the file
    {
      text: 'gate:\n  scope: maybe\nplan:\n\tmax_revisions: 5\nreflect:\n  enbled: true\nreview: {}\nreview: {}\n',
      problems: [
        '4:1  The indentation of this line has a tab in it. Use spaces.',
        '8:1  This key is written twice. Keep one of them.',
      ],
    },
  ])('$text', ({ text, problems }) => {
    const parsed = parseConfig(text)
    const lines = parsed.kind === 'invalid' ? describeProblems(parsed.problems, 'plan-gate.yaml') : parsed
    expect(lines).toEqual(problems.map((problem) => `plan-gate.yaml:${problem}`))
  })

  it('tells place and path apart for programs', () => {
    expect(parseConfig('review:\n  routes:\n    - {backend: curl, when: [always], retries: 99}')).toEqual({
      kind: 'invalid',
      problems: [
        {
          line: 3,
          column: 48,
          path: 'review.routes[0].retries',
          message: 'review.routes[0].retries: expected at most 10, found 99.',
        },
      ],
    })
  })

  it('says no more than a person can read', () => {
    const parsed = parseConfig(`gate:\n${Array.from({ length: 200 }, (_, i) => `  key_${i}: 1\n`).join('')}`)
    const problems = parsed.kind === 'invalid' ? parsed.problems : []
    expect(problems.map(({ line }) => line)).toEqual(Array.from({ length: 51 }, (_, i) => i + 2))
    expect(problems.at(-1)?.message).toBe('There is more from here on; fix the above first.')
  })
})
