import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pendingConfig } from '../../../src/config/compiled-config.ts'
import { installWorktree } from '../../../src/install/apply.ts'
import { compileConfig, recompileConfig, restoreConfig } from '../../../src/install/compile-config.ts'
import { readGitDirs } from '../../../src/system/git-dirs.ts'
import { runCli } from '../../support/run-cli.ts'
import { temporaryRepo, write } from '../../support/temporary-repo.ts'

const key = { OPENAI_API_KEY: 'not-a-key' }
const repoWith = (yaml: string): string => temporaryRepo('shop', { 'README.md': '# Shop\n', 'plan-gate.yaml': yaml })
const curl = '{backend: curl, when: [always], fail_mode: hard_fail'

type Result = { name: string; status: string; detail: string; remedy: string | null }

const doctorIn = async (cwd: string, env: { [name: string]: string }, exitCode: number): Promise<Result[]> =>
  (await runCli(['doctor', '--json'], { cwd, env, exitCode })).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Result)
    .filter(({ name }) => name !== undefined)

const installed = async (repo: string, reviewer: 'curl'): Promise<string> => {
  const gitDirs = readGitDirs(repo) ?? expect.unreachable()
  await installWorktree(repo, gitDirs, { reviewer, reflect: false })
  return repo
}

describe('a table by which nobody can be asked', () => {
  it.each([
    ['another hash than the pinned one', `review:\n  policy: {routes_sha256: '${'0'.repeat(64)}'}\n`],
    ['a reader that is no row', `review:\n  readers: [nobody]\n  routes:\n    - ${curl}}\n`],
    [
      'http to another host',
      `review:\n  routes:\n    - ${curl}, name: a, model: m, base_url: 'http://example.com/v1'}\n`,
    ],
    ['a server without a model', `review:\n  routes:\n    - ${curl}, name: a, base_url: 'http://127.0.0.1:9/v1'}\n`],
  ])('%s: nothing is created, and the words are those of `routes`', async (_, yaml) => {
    const cwd = repoWith(yaml)
    const run = { cwd, env: key, exitCode: 2 }
    const { message, next_step } = JSON.parse((await runCli(['routes', '--json'], run)).stdout.split('\n').at(-2) ?? '')
    const problem = String(message).split('\n')[1]?.trim().replace(/\.$/, '') ?? expect.unreachable()
    for (const args of [['install'], ['bootstrap', '--no-launch', '--name', 'x']]) {
      const { stderr } = await runCli(args, run)
      expect(stderr).toContain(problem)
      expect(stderr).toContain(next_step)
    }
    expect([join(cwd, '.claude'), join(cwd, '.git/plan-gate'), `${cwd}-x`].filter(existsSync)).toEqual([])
    const found = await doctorIn(cwd, key, 1)
    expect(found.find(({ name }) => name === 'route table')).toMatchObject({
      status: 'failed',
      detail: expect.stringContaining(problem),
      remedy: expect.stringContaining(next_step),
    })
    expect(JSON.stringify(found.filter(({ status }) => status === 'ok'))).not.toMatch(/example\.com|127\.0\.0\.1/)
  })

  it('is one for --reviewer as well, where another table is pinned', async () => {
    const cwd = repoWith(`review:\n  policy: {routes_sha256: '${'0'.repeat(64)}'}\n`)
    const { stderr } = await runCli(['install', '--reviewer', 'checklist'], { cwd, exitCode: 2 })
    expect(stderr).toContain('route table: review.policy.routes_sha256: the route table is not the pinned one')
  })
})

it('readers and second opinions that --reviewer leaves out are named', async () => {
  const yaml = `review:\n  readers: [codex, curl]\n  second_opinion: on-critical\n  routes:\n    - {backend: codex, when: [always]}\n    - ${curl}}\n`
  const cwd = await installed(repoWith(yaml), 'curl')
  const reader = 'review.readers names codex, which --reviewer curl of the install leaves out'
  const second =
    'review.second_opinion does not count, because --reviewer curl of the install leaves out every other row'
  const { stderr } = await runCli(['routes'], { cwd, env: key })
  expect(stderr).toBe(`note: ${reader}.\nnote: ${second}.\n`)
  const { stdout } = await runCli(['status', '--json'], { cwd, env: key })
  expect(JSON.parse(stdout).reviewer).toMatch(
    /; without the reader codex, which --reviewer leaves out; no second opinion, because there is no other row$/,
  )
  const warnings = (await doctorIn(cwd, key, 0)).filter(({ name }) => name === 'reviews')
  expect(warnings.map(({ detail }) => detail)).toEqual(expect.arrayContaining([reader, second]))
})

describe('a key that is pasted where the name of its variable belongs', () => {
  const pasted = ['sk', 'proj', 'a1B2c3D4e5F6g7H8'].join('-')

  it.each([
    ['a text', `'${pasted}'`],
    ['a text without quotes', pasted],
    ['a text on its own line', `>-\n        ${pasted}`],
    ['a number', '8675309123456'],
  ])('%s is shown and kept nowhere', async (_, written) => {
    const yaml = `review:\n  routes:\n    - backend: curl\n      when: [always]\n      api_key_env: ${written}\n      model: m\n`
    const key = /8675309123456/.exec(written)?.[0] ?? pasted
    const cwd = repoWith('{}\n')
    const root = await installed(cwd, 'curl')
    write(root, { 'plan-gate.yaml': yaml })
    const said = await Promise.all(
      [['routes'], ['routes', '--json'], ['config'], ['review', 'docs/x.md', '--type', 'prd'], ['install']].map(
        async (args) => Object.values(await runCli(args, { cwd, exitCode: 2 })).join('\n'),
      ),
    )
    said.push(JSON.stringify(await doctorIn(cwd, {}, 1)), (await runCli(['status'], { cwd })).stdout)
    for (const text of said.slice(0, 3))
      expect(text).toMatch(
        /api_key_env: expected (?:the name of an environment variable, found a text|a text, found something) that may be a key, so it is not shown\./,
      )
    recompileConfig(root)
    expect(pendingConfig(root, join(root, '.git'))).toBeNull()
    restoreConfig(root)
    const { problems } = compileConfig(root)
    const kept = ['.claude/hooks/plan-gate/config.json', '.git/plan-gate/config.json'].map((path) =>
      readFileSync(join(root, path), 'utf8'),
    )
    expect(problems).toHaveLength(1)
    for (const text of kept) expect(JSON.parse(text).problems).toEqual(problems)
    expect([...said, ...kept].filter((text) => text.includes(key))).toEqual([])
    expect(kept.join('')).toContain('model: m')
  })
})

it.each(['?api_key=abcd', '?api-version=preview&key=abcd', '?api-version=abcd', '#abcd'])(
  'an address that ends with %s is refused, and this end is not shown',
  async (end) => {
    const cwd = repoWith(
      `review:\n  routes:\n    - ${curl}, name: a, model: m, base_url: 'https://127.0.0.1:9/v1${end}'}\n`,
    )
    const { stderr } = await runCli(['routes'], { cwd, exitCode: 2 })
    expect(stderr).toContain('base_url: the address has a query that is not api-version=…, and could hold a key.')
    const found = [stderr, JSON.stringify(await doctorIn(cwd, {}, 1)), (await runCli(['status'], { cwd })).stdout]
    expect(found.join('\n')).not.toContain('abcd')
  },
)

it('where OPENAI_BASE_URL leads is named, and not OpenAI', async () => {
  const cwd = await installed(repoWith('{}\n'), 'curl')
  const env = { ...key, OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' }
  const details = (await doctorIn(cwd, env, 0)).map(({ detail }) => detail)
  expect(details).toContain('curl: 127.0.0.1:9, with OPENAI_API_KEY')
  const shown = [
    ...details,
    ...(await Promise.all(['routes', 'status'].map(async (name) => (await runCli([name], { cwd, env })).stdout))),
  ]
  expect(shown.filter((text) => text.includes('sees only what it is sent at 127.0.0.1:9'))).toHaveLength(3)
  expect(shown.join('\n')).not.toContain('OpenAI API')
})
