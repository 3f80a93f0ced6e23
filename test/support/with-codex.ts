import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { codexReviewer } from '../../src/reviewers/codex/codex.ts'
import type { CodexLimits } from '../../src/reviewers/codex/program.ts'
import type { Answer, Question } from '../../src/schemas/review.ts'
import { codexBinary } from './claude-clients.ts'
import { fakeKey, plainQuestion, processesNaming, scriptWriterIn, writerIn } from './reviewer-fixture.ts'
import { type ResponsesApi, startResponsesApi, type Turns } from './servers/responses-api.ts'

export type CodexScript = {
  turns: Turns
  /** Of config.toml, before its tables. */
  config?: string
  /** More tables of config.toml. */
  tables?: string
  /** The one that Codex knows, or one that config.toml brings along with a key of its own. */
  provider?: 'own' | 'built-in'
  /** How often a provider of its own tries again; Codex's defaults take half a minute for some failures. */
  retries?: number
  env?: { readonly [name: string]: string }
  /** Instead of the server's: an address without a server. */
  baseUrl?: string
  program?: string
}

export type AskMore = {
  signal?: AbortSignal
  limits?: Partial<CodexLimits>
  program?: string
  cacheDir?: string | null
  instructions?: 'replace' | 'keep'
}

export type CodexFixture = {
  api: ResponsesApi
  /** Everything is below it: HOME, CODEX_HOME, the repository, the cache. */
  folder: string
  codexHome: string
  repo: string
  env: { readonly [name: string]: string }
  program: string
  write: (path: string, text: string) => string
  /** The same for a shell script that can be run. */
  script: (path: string, text: string) => string
  ask: (question?: Partial<Question>, more?: AskMore) => Promise<Answer>
  signs: string[]
  /** The processes whose command line names this folder. */
  processes: () => string[]
}

/** The real Codex with a home of its own and a model that follows a script. */
export async function withCodex(script: CodexScript, act: (codex: CodexFixture) => Promise<void>): Promise<void> {
  const api = await startResponsesApi({ turns: script.turns })
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'with-codex-')))
  try {
    await act(await build(script, api, folder))
  } finally {
    await api.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function build(script: CodexScript, api: ResponsesApi, folder: string): Promise<CodexFixture> {
  const [codexHome, repo] = [join(folder, 'home', '.codex'), join(folder, 'repo')]
  for (const path of [codexHome, repo, join(folder, 'scratch')]) mkdirSync(path, { recursive: true })
  const write = writerIn(folder)
  write('home/.codex/config.toml', configOf(script, script.baseUrl ?? api.url))
  const env = {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME: join(folder, 'home'),
    CODEX_HOME: codexHome,
    LANG: 'C.UTF-8',
    ...(script.provider === 'built-in' ? {} : { FAKE_KEY: fakeKey }),
    ...script.env,
  }
  const program = script.program ?? (await codexBinary())
  const signs: string[] = []
  return {
    api,
    folder,
    codexHome,
    repo,
    env,
    program,
    write,
    script: scriptWriterIn(folder),
    signs,
    ask: (question = {}, { signal = new AbortController().signal, ...more } = {}) => {
      const setup = { program, env, cacheDir: join(folder, 'cache'), scratch: join(folder, 'scratch'), ...more }
      const asked = { ...plainQuestion, root: repo, ...question }
      return codexReviewer(setup)(asked, { signal, onProgress: (sign) => signs.push(sign) })
    },
    processes: () => processesNaming(folder),
  }
}

function configOf({ config = '', tables = '', provider = 'own', retries }: CodexScript, url: string): string {
  const tries = retries === undefined ? '' : `request_max_retries = ${retries}\nstream_max_retries = ${retries}\n`
  return provider === 'built-in'
    ? `model = "fake-model"\nopenai_base_url = "${url}"\n${config}\n${tables}`
    : `model = "fake-model"
model_provider = "fake"
${config}
[model_providers.fake]
name = "fake"
base_url = "${url}"
wire_api = "responses"
env_key = "FAKE_KEY"
${tries}
${tables}`
}
