import { describe, expect, it } from 'vitest'
import type { ResponsesApi } from '../../support/servers/responses-api.ts'
import { toolNames } from '../../support/servers/responses-record.ts'
import { fails, pass, reflectWorktree, says, unsure, writeTranscript } from './reflect-worktree.ts'

const silent = { exitCode: 0, user: null, model: null, blocks: false, stdout: '', stderr: '' }
const enabled = 'reflect:\n  enabled: true\n'

const switches: readonly {
  name: string
  config?: string
  reflect: boolean
  reviewer?: 'codex' | null
  env?: { [name: string]: string }
  follows: boolean
}[] = [
  { name: 'nothing says so', reflect: false, follows: false },
  { name: 'the install was told to', reflect: true, follows: true },
  { name: 'the configuration says so', config: enabled, reflect: false, follows: true },
  { name: 'the configuration says no', config: 'reflect:\n  enabled: false\n', reflect: false, follows: false },
  { name: 'the environment says so', reflect: false, env: { PLAN_GATE_REFLECT: '1' }, follows: true },
  { name: 'the environment says no', reflect: true, env: { PLAN_GATE_REFLECT: '0' }, follows: false },
  {
    name: 'the environment says no, and the configuration yes',
    config: enabled,
    reflect: true,
    env: { PLAN_GATE_REFLECT: '0' },
    follows: false,
  },
  { name: 'the environment says neither', reflect: true, env: { PLAN_GATE_REFLECT: 'maybe' }, follows: true },
  {
    name: 'only the checklist reviews',
    config: `${enabled}review:\n  routes:\n    - {backend: checklist, when: [always]}\n`,
    reflect: true,
    reviewer: null,
    env: { PLAN_GATE_REFLECT: '1' },
    follows: false,
  },
]

describe('the implementation is followed', () => {
  it.each(switches)('$follows where $name', async ({ config, reflect, reviewer = 'codex', env, follows }) => {
    const worktree = await reflectWorktree([fails('it is wrong.')], {
      reflect,
      reviewer,
      ...(config === undefined ? {} : { config }),
    })
    const { edit, fail, stop, compact, api, state } = worktree
    writeTranscript(worktree, 'I did it.')
    const results = [
      await edit('src/app.ts', 'one\n', {}, env),
      await fail('npm test', 'Exit code 1', {}, env),
      await compact({}, env),
      await stop({ session_id: 's2' }, env),
    ]
    if (follows) {
      expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 2])
      expect([api.requests.length, state().spending.calls]).toEqual([4, 3])
    } else {
      expect(results).toEqual([silent, silent, silent, silent])
      expect([api.requests.length, state().spending.calls]).toEqual([0, 0])
    }
  })

  it.each(['before a plan is approved', 'by hand-written words that approve nothing'])('not %s', async (when) => {
    const worktree = await reflectWorktree([fails('it is wrong.')])
    const path = '.claude/review/approval.json'
    worktree.write(path, when.startsWith('before') ? '{"is_optimal":false}' : '{"is_optimal":true,"plan_hash":"0"}')
    writeTranscript(worktree, 'I did it.')
    for (const result of [
      await worktree.fail('npm test', 'Exit code 1'),
      await worktree.compact(),
      await worktree.stop(),
    ])
      expect(result).toEqual(silent)
    await worktree.edit('src/app.ts', 'one\n')
    expect(worktree.events().filter(({ type }) => type === 'reflected')).toEqual([])
    expect(worktree.state().spending.calls).toBe(0)
  })
})

/** The gate is closed then, and says which line it is. */
it('nobody is asked by a configuration with a mistake', async () => {
  const worktree = await reflectWorktree([fails('it is wrong.')])
  worktree.configure('reflect:\n  max_calls: many\n')
  writeTranscript(worktree, 'I did it.')
  expect(await worktree.edit('src/app.ts', 'one\n')).toEqual(silent)
  expect(await worktree.fail('npm test', 'Exit code 1')).toEqual(silent)
  expect(await worktree.compact()).toEqual(silent)
  expect(await worktree.stop()).toEqual(silent)
  expect(worktree.api.requests).toHaveLength(0)
})

const asked = ({ requests }: ResponsesApi) =>
  requests.map(({ body }) => `${body.model} ${body.reasoning?.effort ?? 'no effort'}`)

const small = 'one\n'
const middle = 'one\n'.repeat(50)
const large = 'one\n'.repeat(400)

describe('who looks, and how hard', () => {
  const config = 'reflect:\n  model: gpt-5.2-codex\n  fast_model: gpt-5.2\n'
  it('on a change of a file', async () => {
    const rows = [
      ['src/app.ts', small, 'gpt-5.2 high'],
      ['src/app.ts', middle, 'gpt-5.2-codex high'],
      ['src/app.ts', large, 'gpt-5.2-codex xhigh'],
      ['src/auth/login.ts', small, 'gpt-5.2-codex xhigh'],
      ['migrations/0001.sql', small, 'gpt-5.2-codex xhigh'],
      ['settings.yaml', small, 'gpt-5.2-codex high'],
      ['test/app.test.ts', small, 'gpt-5.2 high'],
      ['test/app.test.ts', middle, 'gpt-5.2-codex medium'],
      ['src/view.tsx', middle, 'gpt-5.2-codex medium'],
      ['README.md', middle, 'gpt-5.2 high'],
      ['README.md', large, 'gpt-5.2-codex medium'],
    ] as const
    const { edit, api } = await reflectWorktree([pass], { config })
    for (const [path, content] of rows) await edit(path, content)
    const found = asked(api).map((expected, n) => [rows[n]?.[0], rows[n]?.[1], expected])
    expect(found).toEqual(rows)
  })

  it('on the other subjects', async () => {
    const worktree = await reflectWorktree([says(`PASS\n${'- a long story.\n'.repeat(200)}`)], { config })
    const { use, fail, stop, compact, api } = worktree
    writeTranscript(worktree, 'I did it.')
    await use('mcp__mind__think', { thought: 'So it is done.' })
    await fail('npm test', 'Exit code 1')
    await stop()
    await compact()
    // Each answer but the last, which only a model reads, is condensed by the fast one.
    expect(asked(api)).toEqual([
      'gpt-5.2 high',
      'gpt-5.2 high',
      'gpt-5.2-codex high',
      'gpt-5.2 high',
      'gpt-5.2-codex high',
      'gpt-5.2 high',
      'gpt-5.2-codex medium',
    ])
  })

  it('without a word on it: the model for code', async () => {
    const { edit, api } = await reflectWorktree([pass])
    await edit('src/app.ts', small)
    expect(asked(api)).toEqual(['gpt-5.2-codex high'])
  })

  it('is one model for all of it where PLAN_GATE_REFLECT_MODEL names one', async () => {
    const long = says(`PASS\n${'- a long story.\n'.repeat(200)}`)
    const { edit, stop, api } = await reflectWorktree([long, unsure('x'), pass], { config })
    const env = { PLAN_GATE_REFLECT_MODEL: 'gpt-5.1-codex' }
    await edit('README.md', small, {}, env)
    await stop({}, env)
    expect(asked(api)).toEqual(['gpt-5.1-codex low', 'gpt-5.1-codex low', 'gpt-5.1-codex high'])
    await edit('README.md', middle, {}, { PLAN_GATE_REFLECT_MODEL: ' ' })
    expect(asked(api).at(-1)).toBe('gpt-5.2 high')
  })
})

describe('what the reviewer may open', () => {
  it.each([
    { allowed: false, config: '{}\n' },
    { allowed: true, config: 'review:\n  tool_access: true\n' },
  ])('is nothing unless review.tool_access allows it: $allowed', async ({ allowed, config }) => {
    const { edit, stop, api, root } = await reflectWorktree([pass], { config })
    await edit('src/app.ts', small)
    await stop()
    for (const request of api.requests) {
      const all = JSON.stringify(request.body)
      expect(all.includes(`<cwd>${root}</cwd>`)).toBe(allowed)
      expect(all.includes('Only what is handed to you here.')).toBe(!allowed)
      expect(toolNames(request).some((name) => /shell|exec_command/.test(name))).toBe(allowed)
    }
  })
})

describe('PLAN_GATE_DEBUG=1', () => {
  const env = { PLAN_GATE_DEBUG: '1' }
  it('writes to stderr what was done, and changes nothing of what is said', async () => {
    const worktree = await reflectWorktree([fails('it is wrong.'), pass, pass, says('- keep this.')])
    const { edit, fail, compact, stop } = worktree
    writeTranscript(worktree, 'I did it.')
    const edited = await edit('src/app.ts', small, {}, env)
    expect(edited.stderr).toMatch(
      /^plan-gate debug: change src\/app\.ts: asks\n(?:.*\n)*plan-gate debug: asks gpt-5\.2-codex at effort high\n(?:.*\n)*.*\[route-table\] trying backend=codex, conditions=\[.*\], result=success\n(?:.*\n)*plan-gate debug: change src\/app\.ts: FAIL\n$/,
    )
    expect(edited).toMatchObject({ exitCode: 0, model: expect.stringContaining('it is wrong.') })
    expect((await edit('src/app.ts', small, {}, env)).model).toMatch(/This verdict is cached/)
    expect((await fail('npm test', 'Exit code 1', {}, env)).stderr).toMatch(/failure npm test: PASS/)
    expect((await stop({ session_id: 's2' }, env)).stderr).toMatch(/stop: ask[\s\S]*stop the work as a whole: PASS/)
    const compacted = await compact({}, env)
    expect(compacted.stdout).toMatch(/^plan-gate: a reviewer looked back[\s\S]*keep this\.$/)
    expect(compacted.stdout).not.toContain('debug')
  })

  it('says why a reflection failed', async () => {
    const worktree = await reflectWorktree([{ kind: 'hang', when: 'before-headers' }], {
      config: 'reflect:\n  timeout_seconds: 1\n',
    })
    writeTranscript(worktree, 'I did it.')
    expect((await worktree.compact({}, env)).stderr).toMatch(/no reflection before the compaction: .+/)
    expect((await worktree.compact()).stderr).toBe('')
  })
})
