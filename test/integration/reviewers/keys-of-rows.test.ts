import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { defaultConfig } from '../../../src/config/schema.ts'
import { createReviewers } from '../../../src/reviewers/create.ts'
import type { BackendName, Question } from '../../../src/schemas/review.ts'
import { fakePrograms, runCli } from '../../support/run-cli.ts'
import { cleanEnvironment, temporaryFolder, temporaryRepo, write } from '../../support/temporary-repo.ts'
import { plainRoute } from '../../unit/reviewers/routes/run-with.ts'

const question: Question = {
  ...{ system: 's', user: 'u', model: 'm', effort: null, schema: null, root: null, timeoutMs: 20_000 },
  ...{ thread: { kind: 'none' }, subject: { type: 'plan', content: '' } },
}

const keys = ['SHOP_KEY', 'PROVIDER_KEY', 'OPENAI_API_KEY', 'ANTHROPIC_API_KEY']
const row = (api_key_env: string) =>
  ({ backend: 'curl', when: ['always'], fail_mode: 'hard_fail', retries: 0, api_key_env }) as const

/** The keys that a program was started with, where each of them is that of a row. */
async function keysOf(backend: BackendName, program: string): Promise<string[]> {
  const root = temporaryFolder()
  const seen = join(root, 'seen')
  const programs = fakePrograms(root, { [program]: `env >> '${seen}'\nexit 1` })
  write(root, { 'home/.codex/config.toml': '[model_providers.own]\nenv_key = "PROVIDER_KEY"\n' })
  const clean = cleanEnvironment()
  const env = {
    ...{ ...clean, PATH: `${programs}:${clean.PATH}`, HOME: join(root, 'home'), XDG_CACHE_HOME: join(root, 'cache') },
    ...Object.fromEntries(keys.map((name) => [name, 'a1b2'])),
  }
  const config = {
    ...defaultConfig,
    hounfour: { ...defaultConfig.hounfour, model_invoke: join(programs, program) },
    review: { ...defaultConfig.review, routes: keys.map(row) },
  }
  const context = { signal: new AbortController().signal, onProgress: () => {} }
  await createReviewers(config, root, env)({ ...plainRoute, name: backend, backend })(question, context)
  const variables = readFileSync(seen, 'utf8').split('\n')
  return keys.filter((name) => variables.includes(`${name}=a1b2`))
}

it.each<[BackendName, string, string[]]>([
  ['claude', 'claude', ['ANTHROPIC_API_KEY']],
  // One that its own configuration names for a provider is its own.
  ['codex', 'codex', ['PROVIDER_KEY', 'OPENAI_API_KEY']],
  ['hounfour', 'model-invoke', ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY']],
])('%s is started without the keys of other rows', async (backend, program, expected) => {
  expect(await keysOf(backend, program)).toEqual(expected)
})

it('nor do they have them where they are only looked at', async () => {
  const row = '{backend: curl, when: [always], api_key_env: SHOP_KEY}'
  const yaml = `review:\n  routes:\n    - {backend: claude, when: [always]}\n    - {backend: codex, when: [always]}\n    - ${row}\n`
  const cwd = temporaryRepo('shop', { 'README.md': '# Shop\n', 'plan-gate.yaml': yaml })
  write(cwd, { 'README.md': '# The shop\n' })
  const seen = join(temporaryFolder(), 'seen')
  const look = `env > "${seen}.$$"; [ "$*" = --version ] && echo 2.1.999`
  const programs = fakePrograms(temporaryFolder(), { codex: look, claude: look })
  const env = { SHOP_KEY: 'c3d4', OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' }
  await runCli(['review', '--diff', '--fast', '--timeout', '20'], { cwd, programs, env, exitCode: 1 })
  const folder = dirname(seen)
  const dumps = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
  expect(dumps.length).toBeGreaterThan(2)
  expect(dumps.filter((text) => text.includes('SHOP_KEY'))).toEqual([])
})
