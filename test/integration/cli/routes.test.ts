import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { installWorktree } from '../../../src/install/apply.ts'
import { readGitDirs } from '../../../src/system/git-dirs.ts'
import { fakePrograms, runCli } from '../../support/run-cli.ts'
import { type Files, temporaryFolder, temporaryRepo, write } from '../../support/temporary-repo.ts'

const defaultHash = 'af3c54008433877940dba6a273a035a23e33d96f81ce96d68924c2b8fc0f09f8'
const key = { OPENAI_API_KEY: 'not-a-key' }
const ownRoutes = 'review:\n  routes:\n    - {backend: checklist, when: [always], fail_mode: hard_fail}\n'

type Shown = {
  origin: string
  sha256: string
  routes: readonly { backend: string; serves: boolean; why: string | null }[]
  serves: string | null
  notices: readonly string[]
}

const repoWith = (files: Files = {}): string => temporaryRepo('shop', { 'README.md': '# Shop\n', ...files })

async function shownIn(
  cwd: string,
  env: { [name: string]: string } = {},
  args: readonly string[] = [],
): Promise<Shown> {
  return JSON.parse((await runCli(['routes', '--json', ...args], { cwd, env })).stdout) as Shown
}

describe('plan-gate routes', () => {
  it('prints the table, its hash, and the route that would be used', async () => {
    const { stdout, stderr } = await runCli(['routes'], { cwd: repoWith(), env: key })
    const flatline = 'flatline_routing_enabled, model_invoke_available'
    const then = 'fallthrough         '
    expect(stdout.split('\n')).toEqual([
      'the built-in route table',
      `1  hounfour  ${flatline}  ${then}  not now: hounfour.flatline_routing is not true`,
      '   sees only what it is sent; its price is not known',
      `2  codex     ${'codex_available'.padEnd(flatline.length)}  ${then}  not now: \`codex\` is not on PATH`,
      '   may read the repository; its price is not known',
      `3  curl      ${'always'.padEnd(flatline.length)}  hard_fail, retries 3  usable now`,
      '   sees only what it is sent; its price is not known',
      `sha256 ${defaultHash}`,
      'curl would be used now.',
      '',
    ])
    expect(stderr).toBe('')
  })

  it('prints it as JSON', async () => {
    const cwd = repoWith()
    const programs = fakePrograms(temporaryFolder(), { codex: 'exit 1' })
    const { stdout, stderr } = await runCli(['routes', '--json'], { cwd, programs })
    expect(JSON.parse(stdout)).toEqual({
      origin: 'default',
      sha256: defaultHash,
      routes: [
        {
          name: 'hounfour',
          backend: 'hounfour',
          model: null,
          about: 'sees only what it is sent; its price is not known',
          when: ['flatline_routing_enabled', 'model_invoke_available'],
          capabilities: ['agent_binding', 'metering', 'trust_scopes'],
          fail_mode: 'fallthrough',
          timeout_seconds: null,
          retries: 0,
          serves: false,
          why: 'hounfour.flatline_routing is not true',
        },
        {
          name: 'codex',
          backend: 'codex',
          model: null,
          about: 'may read the repository; its price is not known',
          when: ['codex_available'],
          capabilities: ['sandbox', 'ephemeral', 'multi_pass', 'tool_access'],
          fail_mode: 'fallthrough',
          timeout_seconds: null,
          retries: 0,
          serves: true,
          why: null,
        },
        {
          name: 'curl',
          backend: 'curl',
          model: null,
          about: 'sees only what it is sent; its price is not known',
          when: ['always'],
          capabilities: ['basic'],
          fail_mode: 'hard_fail',
          timeout_seconds: null,
          retries: 3,
          serves: false,
          why: 'it would fail: OPENAI_API_KEY is not set',
        },
      ],
      serves: 'codex',
      notices: [],
    })
    expect(stderr).toBe('')
  })

  it('a table without a usable route is valid, and the next step is printed', async () => {
    const { stdout } = await runCli(['routes'], { cwd: repoWith() })
    expect(stdout).toContain('\nNo route can be used now. Provide what one of them lacks')
  })

  it.each<{ name: string; yaml: string; env?: { [name: string]: string }; expected: Partial<Shown> }>([
    { name: 'own routes', yaml: ownRoutes, expected: { origin: 'config', serves: 'checklist', notices: [] } },
    {
      name: 'own routes in CI',
      yaml: ownRoutes,
      env: { CI: 'true' },
      expected: {
        origin: 'default',
        sha256: defaultHash,
        serves: null,
        notices: ['Using the default routes because in CI review.routes counts only with PLAN_GATE_CUSTOM_ROUTES=1.'],
      },
    },
    {
      name: 'own routes in CI, opted in',
      yaml: ownRoutes,
      env: { CI: 'true', PLAN_GATE_CUSTOM_ROUTES: '1' },
      expected: { origin: 'config', serves: 'checklist', notices: [] },
    },
    {
      name: 'execution_mode: curl',
      yaml: 'review: {execution_mode: curl}\n',
      env: key,
      expected: {
        origin: 'default',
        serves: 'curl',
        routes: [expect.objectContaining({ backend: 'curl', why: null })],
      },
    },
    {
      name: 'an older name of the block',
      yaml: ownRoutes.replace('review:', 'gpt_review:'),
      expected: { origin: 'config', serves: 'checklist' },
    },
  ])('$name', async ({ yaml, env = {}, expected }) => {
    expect(await shownIn(repoWith({ 'plan-gate.yaml': yaml }), env)).toMatchObject(expected)
  })

  it('uses the file at the root of the checkout, also in a subfolder', async () => {
    const repo = repoWith({ 'plan-gate.yaml': ownRoutes, 'src/deep/a.js': '' })
    expect((await shownIn(join(repo, 'src', 'deep'))).serves).toBe('checklist')
  })

  it('a relative model_invoke is relative to it, too', async () => {
    const yaml = 'hounfour: {flatline_routing: true, model_invoke: programs/invoke}\n'
    const repo = repoWith({ 'plan-gate.yaml': yaml })
    fakePrograms(repo, { invoke: 'exit 1' })
    mkdirSync(join(repo, 'src'))
    expect((await shownIn(join(repo, 'src'))).serves).toBe('hounfour')
  })

  it('outside of a checkout the defaults apply', async () => {
    expect(await shownIn(temporaryFolder(), key)).toMatchObject({ origin: 'default', serves: 'curl' })
  })

  it('--config looks at another file', async () => {
    const folder = temporaryFolder()
    write(folder, { 'other.yaml': ownRoutes })
    expect((await shownIn(folder, {}, ['--config', 'other.yaml'])).serves).toBe('checklist')
    expect((await shownIn(repoWith(), {}, ['--config', join(folder, 'other.yaml')])).serves).toBe('checklist')
  })

  it('a reviewer chosen at the install overrides the file, also in CI', async () => {
    const repo = repoWith({ 'plan-gate.yaml': ownRoutes })
    const gitDirs = readGitDirs(repo)
    if (gitDirs === null) throw new Error('no git directory')
    await installWorktree(repo, gitDirs, { reviewer: 'curl', reflect: false })
    expect(await shownIn(repo, { ...key, CI: 'true' })).toMatchObject({ origin: 'config', serves: 'curl', notices: [] })
  })

  it('notices go to stderr', async () => {
    const cwd = repoWith({ 'plan-gate.yaml': ownRoutes.replace(', fail_mode: hard_fail', '') })
    const { stdout, stderr } = await runCli(['routes'], { cwd })
    expect(stdout).toContain('checklist would be used now.\n')
    expect(stderr).toBe(
      'note: review.routes: after the last row, checklist, there is nothing to fall through to; give it fail_mode: ' +
        'hard_fail.\n',
    )
  })
})

describe('plan-gate routes refuses', () => {
  const eleven = `review:\n  routes:\n${'    - {backend: checklist, when: [always]}\n'.repeat(11)}`

  it.each<{ name: string; yaml: string; says: readonly string[] }>([
    {
      name: 'an unknown backend, with its line',
      yaml: 'review:\n  routes:\n    - {backend: nonexistent, when: [always]}\n',
      says: ['plan-gate.yaml:3:17  review.routes[0].backend: expected codex, claude, curl, hounfour or checklist'],
    },
    {
      name: 'a row without a condition',
      yaml: 'review:\n  routes:\n    - {backend: curl, when: []}\n',
      says: ['plan-gate.yaml:3:29  review.routes[0].when: expected at least one entry, found none.'],
    },
    {
      name: 'a newer version',
      yaml: 'review:\n  route_schema: 2\n',
      says: ['plan-gate.yaml:2:17  review.route_schema: version 2 is newer than this plan-gate', 'Upgrade plan-gate'],
    },
    { name: 'an empty list', yaml: 'review:\n  routes: []\n', says: ['plan-gate.yaml:2:11  review.routes: expected'] },
    {
      name: 'too many rows',
      yaml: eleven,
      says: ['review.routes: 11 rows are more than review.policy.max_routes allows (10).'],
    },
    { name: 'invalid YAML', yaml: 'review: [\n', says: ['plan-gate.yaml:'] },
  ])('$name', async ({ yaml, says }) => {
    const cwd = repoWith({ 'plan-gate.yaml': yaml })
    const here = await runCli(['routes'], { cwd, exitCode: 2 })
    const json = await runCli(['routes', '--json', '--config', 'plan-gate.yaml'], { cwd, exitCode: 2 })
    const error = JSON.parse(json.stdout) as { message: string; exit_code: number }
    for (const part of says) {
      expect(here.stderr).toContain(part)
      expect(error.message).toContain(part)
    }
    expect([here.stdout, error.exit_code]).toEqual(['', 2])
  })

  it('a missing file', async () => {
    const { stderr } = await runCli(['routes', '--config', 'nix.yaml'], { cwd: temporaryFolder(), exitCode: 2 })
    expect(stderr).toBe('plan-gate: nix.yaml cannot be read (ENOENT).\n  → Give the path of a plan-gate.yaml.\n')
  })
})
