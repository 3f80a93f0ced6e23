import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../../../src/config/load.ts'
import {
  applyExecutionMode,
  buildRouteTable,
  canonicalTable,
  conditionNames,
  defaultRoutes,
  type Route,
} from '../../../../src/reviewers/route-table.ts'
import { backendNames } from '../../../../src/schemas/review.ts'
import { sha256 } from '../../../../src/system/sha256.ts'
import { plainRoute, review, tableOf } from './run-with.ts'

type Rows = NonNullable<(typeof review)['routes']>
type Row = Rows[number]
type Built = ReturnType<typeof buildRouteTable>

const usual = ['sandbox', 'ephemeral', 'multi_pass', 'tool_access']
const codexRow: Row = { backend: 'codex', when: ['codex_available'], fail_mode: 'hard_fail', retries: 0 }
const codexRoute: Route = { ...plainRoute, when: ['codex_available'], capabilities: usual }
const checklistRow: Row = { backend: 'checklist', when: ['always'], fail_mode: 'hard_fail', retries: 0 }
const serverRow: Row = {
  backend: 'curl',
  name: 'local',
  model: 'qwen3',
  base_url: 'http://127.0.0.1:11434/v1',
  when: ['always'],
  fail_mode: 'hard_fail',
  retries: 0,
}
const own = (routes: Rows, more: Partial<typeof review> = {}): Built =>
  buildRouteTable({ ...review, routes, ...more }, {})
const noticesOf = (built: Built): readonly string[] => (built.kind === 'table' ? built.table.notices : [])
const problemsOf = (built: Built): readonly string[] => (built.kind === 'invalid' ? built.problems : [])
const shapeOf = (built: Built): string =>
  built.kind === 'invalid'
    ? 'invalid'
    : built.table.routes.map(({ backend, failMode }) => `${backend}:${failMode}`).join(' → ')

describe('without routes', () => {
  it('the built-in table counts', () => {
    expect(buildRouteTable(review, {})).toEqual({
      kind: 'table',
      table: {
        origin: 'default',
        notices: [],
        routes: [
          {
            ...plainRoute,
            name: 'hounfour',
            backend: 'hounfour',
            when: ['flatline_routing_enabled', 'model_invoke_available'],
            capabilities: ['agent_binding', 'metering', 'trust_scopes'],
            failMode: 'fallthrough',
            timeoutMs: null,
            retries: 0,
          },
          { ...codexRoute, failMode: 'fallthrough' },
          {
            ...plainRoute,
            name: 'curl',
            backend: 'curl',
            when: ['always'],
            capabilities: ['basic'],
            failMode: 'hard_fail',
            timeoutMs: null,
            retries: 3,
          },
        ],
      },
    })
  })

  it.each([
    ['auto', 'hounfour:fallthrough → codex:fallthrough → curl:hard_fail'],
    ['codex', 'codex:hard_fail → curl:hard_fail'],
    ['curl', 'curl:hard_fail'],
  ] as const)('execution_mode %s keeps %s', (execution_mode, expected) => {
    const built = buildRouteTable({ ...review, execution_mode }, {})
    expect([shapeOf(built), noticesOf(built)]).toEqual([expected, []])
  })

  it('who insists on Codex is not passed over in silence: its row has no condition any more', () => {
    expect(applyExecutionMode(defaultRoutes, 'codex').map(({ backend, when }) => [backend, when])).toEqual([
      ['codex', ['always']],
      ['curl', ['always']],
    ])
  })

  it('a mode may leave nothing of a table', () => {
    expect(applyExecutionMode([{ ...codexRoute, backend: 'hounfour' }], 'curl')).toEqual([])
    expect(applyExecutionMode([{ ...codexRoute, backend: 'checklist' }], 'codex')).toEqual([])
  })

  it('the built-in table is never too long, but says so', () => {
    const built = buildRouteTable({ ...review, policy: { ...review.policy, max_routes: 2 } }, {})
    expect(shapeOf(built)).toBe('hounfour:fallthrough → codex:fallthrough → curl:hard_fail')
    expect(noticesOf(built)).toEqual([
      'review.policy.max_routes (2) is for routes of your own; the 3 built-in ones stay.',
    ])
  })
})

describe('routes of one’s own', () => {
  it('are taken as they are', () => {
    const rows: Rows = [
      { ...codexRow, fail_mode: 'fallthrough', capabilities: ['multi_pass'], timeout: 120, retries: 2 },
      checklistRow,
    ]
    expect(own(rows)).toEqual({
      kind: 'table',
      table: {
        origin: 'config',
        notices: [],
        routes: [
          { ...codexRoute, capabilities: ['multi_pass'], failMode: 'fallthrough', timeoutMs: 120_000, retries: 2 },
          { ...plainRoute, name: 'checklist', backend: 'checklist', capabilities: ['basic'] },
        ],
      },
    })
  })

  it('a row that names no capabilities has the usual ones, and one that names none has none', () => {
    const capabilitiesOf = (row: Row) => {
      const built = own([row])
      return built.kind === 'table' ? built.table.routes[0]?.capabilities : null
    }
    expect(capabilitiesOf(codexRow)).toEqual(usual)
    expect(capabilitiesOf({ ...codexRow, capabilities: [] })).toEqual([])
  })

  it.each<{ name: string; rows: Rows; more?: Partial<typeof review>; shape: string; notices: readonly string[] }>([
    {
      name: 'an unknown condition that is nearly one',
      rows: [{ ...codexRow, when: ['codex_availible'] }],
      shape: 'codex:hard_fail',
      notices: [
        'review.routes[0].when: "codex_availible" is not a known condition, so it never holds and the row is never ' +
          'used. Did you mean codex_available?',
      ],
    },
    {
      name: 'an unknown condition',
      rows: [{ ...codexRow, when: ['always', '$(rm -rf /)'] }],
      shape: 'codex:hard_fail',
      notices: [
        'review.routes[0].when: "$(rm -rf /)" is not a known condition, so it never holds and the row is never used. ' +
          'There are always, claude_available, codex_available, flatline_routing_enabled, model_invoke_available, openai_key_set.',
      ],
    },
    {
      name: 'a name of every object is no condition',
      rows: [{ ...codexRow, when: ['constructor'] }],
      shape: 'codex:hard_fail',
      notices: [expect.stringContaining('"constructor" is not a known condition')],
    },
    {
      name: 'an unknown fail_mode',
      rows: [{ ...codexRow, fail_mode: 'retry' }, checklistRow],
      shape: 'codex:fallthrough → checklist:hard_fail',
      notices: ['review.routes[0].fail_mode: "retry" is not known; taken as fallthrough.'],
    },
    {
      name: 'an unknown fail_mode in the last row is two things to say',
      rows: [{ ...codexRow, fail_mode: 'HARD_FAIL' }],
      shape: 'codex:fallthrough',
      notices: [
        'review.routes[0].fail_mode: "HARD_FAIL" is not known; taken as fallthrough.',
        'review.routes: after the last row, codex, there is nothing to fall through to; give it fail_mode: hard_fail.',
      ],
    },
    {
      name: 'a last row that falls through',
      rows: [codexRow, { ...checklistRow, fail_mode: 'fallthrough' }],
      shape: 'codex:hard_fail → checklist:fallthrough',
      notices: [
        'review.routes: after the last row, checklist, there is nothing to fall through to; give it fail_mode: ' +
          'hard_fail.',
      ],
    },
    {
      name: 'a backend twice: the first one counts',
      rows: [codexRow, { ...codexRow, fail_mode: 'fallthrough' }, checklistRow, codexRow],
      shape: 'codex:hard_fail → checklist:hard_fail',
      notices: [
        'review.routes[1]: codex has a row already, and the first one counts. This one is left out; give it a name: of its own.',
        'review.routes[3]: codex has a row already, and the first one counts. This one is left out; give it a name: of its own.',
      ],
    },
    {
      name: 'a named row twice, exactly the same',
      rows: [serverRow, { ...serverRow }, checklistRow],
      shape: 'curl:hard_fail → checklist:hard_fail',
      notices: ['review.routes[1]: local has a row already, and the first one counts. This one is left out.'],
    },
    {
      name: 'an execution_mode beside it',
      rows: [checklistRow],
      more: { execution_mode: 'codex' },
      shape: 'checklist:hard_fail',
      notices: ['review.execution_mode (codex) is ignored: review.routes takes its place.'],
    },
  ])('$name is said, and the table is used', ({ rows, more, shape, notices }) => {
    const built = own(rows, more)
    expect([shapeOf(built), noticesOf(built)]).toEqual([shape, notices])
  })

  it.each<{ name: string; rows: Rows; more?: Partial<typeof review>; problems: readonly string[] }>([
    {
      name: 'no row',
      rows: [],
      problems: ['review.routes: there is no row in the route table, so no reviewer is available.'],
    },
    {
      name: 'everything at once',
      rows: [
        { ...serverRow, name: 'codex' },
        { ...checklistRow, name: 'form' },
      ],
      more: { policy: { ...review.policy, max_routes: 1 } },
      problems: [
        'review.routes: 2 rows are more than review.policy.max_routes allows (1).',
        'review.routes[0].name: codex is another backend, and would stand for it in every record. Choose another.',
        'review.routes[1].name: there is one checklist, and it is called checklist.',
      ],
    },
    {
      name: 'a server in a row of a reviewer that has none',
      rows: [{ ...codexRow, base_url: 'https://a.example/v1', api_key_env: 'KEY', api: 'chat', allow_http: false }],
      problems: ['base_url', 'api_key_env', 'api', 'allow_http'].map(
        (key) => `review.routes[0].${key}: only a row with backend: curl has a server; this one has backend: codex.`,
      ),
    },
    ...(
      [
        ['vllm:8000', 'does not begin with https://'],
        ['my server', 'is not an address'],
        ['https://ada:secret@a.example/v1', 'holds a user name or a password'],
        ['https://a.example/v1?key=abc', 'has a query that is not api-version=…, and could hold a key'],
        [
          'http://10.0.0.7:8000/v1',
          'is not encrypted (http://10.0.0.7:8000), so the text and the key could be read on the way',
        ],
      ] as const
    ).map(([base_url, flaw]) => ({
      name: `the server ${base_url}`,
      rows: [{ ...serverRow, base_url }],
      problems: [
        `review.routes[0].base_url: the address ${flaw}. Expected one such as https://gateway.example/v1; http beyond ` +
          'this machine needs allow_http: true.',
      ],
    })),
    {
      name: 'a server without a model, which would be asked for one of OpenAI',
      rows: [{ backend: 'curl', when: ['always'], fail_mode: 'hard_fail', retries: 0, base_url: 'http://[::1]:11434' }],
      problems: [
        "review.routes[0].model: expected the model that [::1]:11434 is to use, because the default ones are OpenAI's; " +
          'found none.',
      ],
    },
    {
      name: 'the name of another backend',
      rows: [{ ...serverRow, name: 'codex' }],
      problems: [
        'review.routes[0].name: codex is another backend, and would stand for it in every record. Choose another.',
      ],
    },
    {
      name: 'a checklist with a name of its own',
      rows: [{ ...checklistRow, name: 'form' }],
      problems: ['review.routes[0].name: there is one checklist, and it is called checklist.'],
    },
    {
      name: 'one name for two servers',
      rows: [serverRow, { ...serverRow, base_url: 'http://127.0.0.1:8000/v1' }, serverRow],
      problems: [
        'review.routes[1].name: "local" is the name of review.routes[0] as well, with other settings. Give each row a name of its own.',
      ],
    },
    {
      name: 'a row that is called as an unnamed one is, with another price',
      rows: [
        { ...checklistRow, backend: 'curl' },
        { ...checklistRow, backend: 'curl', name: 'curl', price: { input: 1, output: 2 } },
      ],
      problems: [
        'review.routes[1].name: "curl" is the name of review.routes[0] as well, with other settings. Give each row a name of its own.',
      ],
    },
    {
      name: 'a reader that is named twice',
      rows: [serverRow, checklistRow],
      more: { readers: ['local', 'checklist', 'local', 'local'] },
      problems: ['review.readers: "local" is named twice. A number asks one row several times.'],
    },
    {
      name: 'eleven rows, even where they are one backend',
      rows: Array.from({ length: 11 }, () => codexRow),
      problems: ['review.routes: 11 rows are more than review.policy.max_routes allows (10).'],
    },
    {
      name: 'a newer version',
      rows: [codexRow],
      more: { route_schema: 2 },
      problems: [
        'review.route_schema: version 2 is newer than this plan-gate, which knows 1. Upgrade plan-gate: npm install ' +
          '--save-dev plan-gate@latest',
      ],
    },
  ])('$name makes it invalid, and nothing takes its place', ({ rows, more, problems }) => {
    expect(own(rows, more)).toEqual({ kind: 'invalid', problems })
  })

  it('several servers stand in one table, each with its name', () => {
    const built = own([
      { ...serverRow, fail_mode: 'fallthrough' },
      { ...serverRow, name: 'vllm', base_url: 'http://10.0.0.7/v1', allow_http: true, api_key_env: 'VLLM_KEY' },
      { backend: 'curl', when: ['always'], fail_mode: 'hard_fail', retries: 0, base_url: 'https://eu.api.openai.com' },
    ])
    const keyless = { apiKeyEnv: null, api: 'auto', allowHttp: false }
    expect(built.kind === 'table' && built.table.routes.map(({ name, endpoint }) => [name, endpoint])).toEqual([
      ['local', { ...keyless, baseUrl: 'http://127.0.0.1:11434/v1' }],
      ['vllm', { ...keyless, baseUrl: 'http://10.0.0.7/v1', apiKeyEnv: 'VLLM_KEY', allowHttp: true }],
      ['curl', { ...keyless, baseUrl: 'https://eu.api.openai.com' }],
    ])
    expect(noticesOf(built)).toEqual([
      'review.routes[1]: the key in VLLM_KEY goes unencrypted, and others on the way can read it.',
    ])
  })

  it('ten rows are allowed', () => {
    expect(own(Array.from({ length: 10 }, () => codexRow)).kind).toBe('table')
  })

  it('a newer version is refused without routes, too', () => {
    expect(problemsOf(buildRouteTable({ ...review, route_schema: 7 }, {}))).toHaveLength(1)
  })
})

describe('the opt-in', () => {
  const optIn = { policy: { ...review.policy, require_custom_routes_opt_in: true } }
  const inCi = 'Using the default routes because in CI review.routes counts only with PLAN_GATE_CUSTOM_ROUTES=1.'
  const asked =
    'Using the default routes because review.policy.require_custom_routes_opt_in requires PLAN_GATE_CUSTOM_ROUTES=1 for ' +
    'review.routes.'

  it.each<[env: Parameters<typeof buildRouteTable>[1], more: Partial<typeof review>, notice: string | null]>([
    [{}, {}, null],
    [{ CI: '' }, {}, null],
    [{ CI: 'false' }, {}, null],
    [{ CI: 'False' }, {}, null],
    [{ CI: '0' }, {}, null],
    [{ CI: 'true' }, {}, inCi],
    [{ CI: '1' }, {}, inCi],
    [{ CI: 'woodpecker' }, {}, inCi],
    [{ CI: 'true', PLAN_GATE_CUSTOM_ROUTES: 'true' }, {}, inCi],
    [{ CI: 'true', PLAN_GATE_CUSTOM_ROUTES: '' }, {}, inCi],
    [{ CI: 'true', PLAN_GATE_CUSTOM_ROUTES: '1' }, {}, null],
    [{}, optIn, asked],
    [{ CI: 'true' }, optIn, asked],
    [{ PLAN_GATE_CUSTOM_ROUTES: '1' }, optIn, null],
  ])('%j, %j → %s', (env, more, notice) => {
    const built = buildRouteTable({ ...review, ...more, routes: [checklistRow] }, env)
    expect([shapeOf(built), noticesOf(built)]).toEqual(
      notice === null
        ? ['checklist:hard_fail', []]
        : ['hounfour:fallthrough → codex:fallthrough → curl:hard_fail', [notice]],
    )
  })

  it('what does not count cannot be wrong either', () => {
    const built = buildRouteTable({ ...review, routes: [] }, { CI: 'true' })
    expect([built.kind, noticesOf(built)]).toEqual(['table', [inCi]])
  })

  it('the execution_mode counts again where routes do not', () => {
    const built = buildRouteTable({ ...review, routes: [codexRow], execution_mode: 'curl' }, { CI: 'true' })
    expect([shapeOf(built), noticesOf(built)]).toEqual(['curl:hard_fail', [inCi]])
  })

  it('who named a reviewer at the keyboard is believed everywhere', () => {
    const chosen = (more: Partial<typeof review>) =>
      buildRouteTable({ ...review, ...optIn, routes: [checklistRow], ...more }, { CI: 'true' }, { chosenByUser: true })
    expect([shapeOf(chosen({})), noticesOf(chosen({}))]).toEqual(['checklist:hard_fail', []])
    expect(noticesOf(chosen({ execution_mode: 'curl' }))).toEqual([
      'review.execution_mode (curl) is ignored: the reviewer was chosen with --reviewer.',
    ])
  })
})

describe('the policy', () => {
  const policy = (more: Partial<typeof review.policy>) => ({ ...review, policy: { ...review.policy, ...more } })
  const env = { CI: 'true', PLAN_GATE_CUSTOM_ROUTES: '1' }
  const rows = [codexRow, { ...serverRow, fail_mode: 'fallthrough' }, checklistRow]

  it.each<[string, readonly string[] | null, Parameters<typeof buildRouteTable>[1], string, readonly string[]]>([
    ['none', null, env, 'codex:hard_fail → curl:fallthrough → checklist:hard_fail', []],
    ['not in CI', ['curl'], {}, 'codex:hard_fail → curl:fallthrough → checklist:hard_fail', []],
    ['a backend', ['curl'], env, 'curl:fallthrough', ['review.policy.ci_backends leaves out in CI: codex, checklist.']],
    ['a row', ['local', 'codex'], env, 'codex:hard_fail → curl:fallthrough', [expect.stringMatching(/: checklist\.$/)]],
    [
      'all of them',
      ['codex', 'curl', 'checklist'],
      env,
      'codex:hard_fail → curl:fallthrough → checklist:hard_fail',
      [],
    ],
  ])('ci_backends: %s', (_, ci_backends, env, shape, notices) => {
    const built = buildRouteTable({ ...policy({ ci_backends }), routes: rows }, env)
    expect([shapeOf(built), noticesOf(built)]).toEqual([shape, notices])
  })

  it('ci_backends holds for the built-in table and for a reviewer named at the keyboard', () => {
    const only = policy({ ci_backends: ['codex'] })
    expect(shapeOf(buildRouteTable(only, { CI: '1' }))).toBe('codex:fallthrough')
    expect(
      problemsOf(buildRouteTable({ ...only, routes: [checklistRow] }, { CI: '1' }, { chosenByUser: true })),
    ).toEqual(['review.policy.ci_backends: in CI only codex may review, and the table has checklist.'])
  })

  it('a pinned table is used, whatever CI leaves out of it, and no other', () => {
    const table = buildRouteTable({ ...review, routes: rows }, {})
    const hash = table.kind === 'table' ? sha256(canonicalTable(table.table)) : ''
    const pinned = policy({ routes_sha256: hash, ci_backends: ['codex'] })
    expect(shapeOf(buildRouteTable({ ...pinned, routes: rows }, {}))).toMatch(/^codex.*checklist:hard_fail$/)
    expect(shapeOf(buildRouteTable({ ...pinned, routes: rows }, env))).toBe('codex:hard_fail')
    for (const other of [{ ...pinned, routes: rows.slice(1) }, pinned])
      expect(problemsOf(buildRouteTable(other, {}))).toEqual([
        expect.stringMatching(
          new RegExp(
            `^review\\.policy\\.routes_sha256: .* pinned ${hash}, and this one has [0-9a-f]{64}\\. .*\`plan-gate routes\``,
          ),
        ),
      ])
  })
})

describe('from a file', () => {
  const row = (lines: string) => `review:\n  routes:\n${lines}`
  const all = `gpt_review:
  route_schema: 1
  routes:
    - backend: hounfour
      when: [flatline_routing_enabled, model_invoke_available]
      capabilities: [agent_binding, metering, trust_scopes]
      fail_mode: fallthrough
    - backend: codex
      when: [codex_available]
      capabilities: [sandbox, ephemeral, multi_pass, tool_access]
      fail_mode: fallthrough
    - backend: curl
      when: [always]
      capabilities: [basic]
      fail_mode: hard_fail
      retries: 3
`

  it('the default, written out, is the default', () => {
    expect(tableOf(all)).toEqual({ origin: 'config', notices: [], routes: defaultRoutes })
    expect(canonicalTable(tableOf(all))).toBe(canonicalTable(tableOf('')))
  })

  it.each<{ name: string; yaml: string; expected: string | readonly string[] }>([
    { name: 'three routes', yaml: all, expected: 'hounfour:fallthrough → codex:fallthrough → curl:hard_fail' },
    {
      name: 'no routes',
      yaml: 'review:\n  enabled: true\n',
      expected: 'hounfour:fallthrough → codex:fallthrough → curl:hard_fail',
    },
    { name: 'an empty list', yaml: 'review:\n  routes: []\n', expected: ['2:11'] },
    { name: 'a key without a value', yaml: 'review:\n  routes:\n', expected: ['2:10'] },
    { name: 'an unknown backend', yaml: row('    - {backend: nonexistent, when: [always]}\n'), expected: ['3:17'] },
    { name: 'an unknown condition', yaml: row('    - {backend: curl, when: [fake]}\n'), expected: 'curl:fallthrough' },
    { name: 'a newer version', yaml: `${all.replace('schema: 1', 'schema: 2')}`, expected: ['2:17'] },
    { name: 'eleven rows', yaml: row('    - {backend: curl, when: [always]}\n'.repeat(11)), expected: 'invalid' },
    { name: 'when: []', yaml: row('    - {backend: curl, when: []}\n'), expected: ['3:29'] },
    { name: 'no when', yaml: row('    - {backend: curl}\n'), expected: ['3:7'] },
    { name: 'when as a text', yaml: row('    - {backend: curl, when: always}\n'), expected: ['3:29'] },
    { name: 'when holds nothing', yaml: row('    - {backend: curl, when: [null]}\n'), expected: ['3:30'] },
    {
      name: 'an unknown fail_mode',
      yaml: row('    - {backend: curl, when: [always], fail_mode: retry}\n'),
      expected: 'curl:fallthrough',
    },
    {
      name: 'a backend twice',
      yaml: row('    - {backend: hounfour, when: [always]}\n'.repeat(2)),
      expected: 'hounfour:fallthrough',
    },
    {
      name: 'a text over two lines',
      yaml: row('    - backend: >-\n        curl\n      when: [always]\n      fail_mode: hard_fail\n'),
      expected: 'curl:hard_fail',
    },
    {
      name: 'a negative timeout',
      yaml: row('    - {backend: curl, when: [always], timeout: -1}\n'),
      expected: ['3:48'],
    },
    { name: 'too many retries', yaml: row('    - {backend: curl, when: [always], retries: 11}\n'), expected: ['3:48'] },
    { name: 'an unknown key', yaml: row('    - {backend: curl, when: [always], eval: x}\n'), expected: ['3:39'] },
  ])('$name → $expected', ({ yaml, expected }) => {
    const parsed = parseConfig(yaml)
    if (parsed.kind === 'invalid')
      expect(parsed.problems.map(({ line, column }) => `${line}:${column}`)).toEqual(expected)
    else expect(shapeOf(buildRouteTable(parsed.config.review, {}))).toBe(expected)
  })
})

describe('any rows', () => {
  const anyRow: fc.Arbitrary<Row> = fc.record(
    {
      backend: fc.constantFrom(...backendNames),
      when: fc.array(fc.oneof(fc.constantFrom(...conditionNames), fc.string()), { minLength: 1, maxLength: 3 }),
      capabilities: fc.array(fc.constantFrom('multi_pass', 'basic', 'other'), { maxLength: 2 }),
      fail_mode: fc.oneof(fc.constantFrom('fallthrough', 'hard_fail'), fc.string()),
      timeout: fc.integer({ min: 1, max: 3600 }),
      retries: fc.integer({ min: 0, max: 10 }),
      name: fc.constantFrom('a', 'b', 'codex'),
    },
    { requiredKeys: ['backend', 'when', 'fail_mode', 'retries'] },
  )

  it('a table has rows, each name once, and only what is known; building it again changes nothing', () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(fc.array(anyRow, { maxLength: 12 }), (rows) => {
        const built = own(rows)
        seen.add(built.kind)
        if (built.kind === 'invalid') {
          expect(built.problems.length).toBeGreaterThan(0)
          return
        }
        const { routes } = built.table
        const names = routes.map(({ name }) => name)
        const backends = routes.map(({ backend }) => backend)
        expect(routes.length).toBeGreaterThan(0)
        expect(rows.length).toBeLessThanOrEqual(review.policy.max_routes)
        expect(new Set(names).size).toBe(names.length)
        expect(backends.every((name) => backendNames.includes(name))).toBe(true)
        expect(routes.every(({ when }) => when.length > 0)).toBe(true)
        const again = own(
          routes.map(({ failMode, timeoutMs, name, backend, when, capabilities, retries }) => ({
            name,
            backend,
            when,
            capabilities,
            retries,
            fail_mode: failMode,
            ...(timeoutMs === null ? {} : { timeout: timeoutMs / 1000 }),
          })),
        )
        expect(again.kind === 'table' && canonicalTable(again.table)).toBe(canonicalTable(built.table))
      }),
    )
    expect(seen).toEqual(new Set(['table', 'invalid']))
  })
})
