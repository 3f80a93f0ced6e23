import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { codexBinary } from '../../support/claude-clients.ts'
import { codexConfig } from '../../support/codex-config.ts'
import { cli } from '../../support/project.ts'
import { runProgram } from '../../support/run-program.ts'
import { type Act, type OpenAiHttp, responsesReply, startOpenAiHttp } from '../../support/servers/openai-http.ts'
import { type ResponsesApi, startResponsesApi, type Turn, type Turns } from '../../support/servers/responses-api.ts'
import { cleanEnvironment, type Files, makeRepo, temporaryFolder, write } from '../../support/temporary-repo.ts'

type Env = { readonly [name: string]: string }
type ReviewRun = { exitCode?: number; stdin?: string | Buffer; cwd?: string; env?: Env }

export type ReviewPlace = {
  /** Everything is below it. */
  folder: string
  repo: string
  env: Env
  /** `plan-gate review` with these arguments; throws where it ends with another exit code than 0 or the expected one. */
  review: (args: readonly string[], run?: ReviewRun) => Promise<{ stdout: string; stderr: string }>
  /** The same with `--json`, and its result. */
  result: (args: readonly string[], run?: ReviewRun) => Promise<Shown>
  /** In a process group of its own, for tests that send signals. */
  start: (args: readonly string[]) => ReturnType<typeof spawn>
  write: (files: Files) => void
}

/** What the tests look at in a result. */
type Shown = {
  verdict: string
  is_optimal: boolean
  summary: string
  question: string | null
  iteration: number
  verification: string | null
  findings: { id: string; severity: string; problem: string }[]
  previous_findings: { id: string; status: string; reason: string }[]
  notices: string[]
  pass_metadata?: {
    passes_completed: number
    reasoning_mode: string
    route: string
    model: string | null
    complexity: string | null
    pass1_tokens: number | null
  }
}

/** A repository with one commit, and nobody to ask. */
export function reviewPlace(files: Files = {}, env: Env = {}): ReviewPlace {
  const folder = temporaryFolder()
  const repo = makeRepo(join(folder, 'shop'), { 'src/app.ts': 'export const one = 1\n', ...files })
  const all = { ...cleanEnvironment(), XDG_CACHE_HOME: join(folder, 'cache'), ...env }
  const review: ReviewPlace['review'] = async (args, run = {}) => {
    const { exitCode: expected = 0, stdin, cwd = repo } = run
    const { exitCode, stdout, stderr } = await runProgram(process.execPath, [cli, 'review', ...args], {
      cwd,
      env: { ...all, ...run.env },
      timeoutMs: 25_000,
      ...(stdin === undefined ? {} : { converse: (program) => void program.stdin.end(stdin) }),
    })
    if (exitCode === expected) return { stdout, stderr }
    throw new Error(`review ${args.join(' ')} ended with ${exitCode} instead of ${expected}\n${stderr}${stdout}`)
  }
  return {
    folder,
    repo,
    env: all,
    review,
    result: async (args, run) => JSON.parse((await review([...args, '--json'], run)).stdout) as Shown,
    start: (args) => spawn(process.execPath, [cli, 'review', ...args], { cwd: repo, env: all, detached: true }),
    write: (more) => write(repo, more),
  }
}

/** Not a key of anybody. */
export const fakeKey = ['fake', 'key', 'of', 'the', 'tests'].join('-')

/** With OpenAI's API, as a local server that does what the test says; without Codex. */
export async function httpPlace(
  acts: readonly [Act, ...Act[]],
  files: Files = {},
): Promise<ReviewPlace & { http: OpenAiHttp; prompts: () => string[] }> {
  const http = await startOpenAiHttp(...acts)
  const routes = 'review:\n  routes:\n    - {backend: curl, when: [always], fail_mode: hard_fail}\n'
  const place = reviewPlace(
    { 'plan-gate.yaml': routes, ...files },
    { OPENAI_API_KEY: fakeKey, OPENAI_BASE_URL: `${http.url}/v1` },
  )
  return { ...place, http, prompts: () => http.received.map(({ body }) => JSON.stringify(body)) }
}

/** With the real Codex, a home of its own and a model that follows a script; without an API key. */
export async function codexPlace(
  turns: Turns,
  files: Files = {},
): Promise<ReviewPlace & { api: ResponsesApi; home: string }> {
  const api = await startResponsesApi({ turns })
  onTestFinished(api.close)
  const home = temporaryFolder()
  for (const name of ['bin', 'tmp']) mkdirSync(join(home, name))
  symlinkSync(await codexBinary(), join(home, 'bin', 'codex'))
  mkdirSync(join(home, '.codex'))
  writeFileSync(join(home, '.codex', 'config.toml'), codexConfig(api.url))
  const place = reviewPlace(files, {
    PATH: [join(home, 'bin'), cleanEnvironment().PATH].join(delimiter),
    CODEX_HOME: join(home, '.codex'),
    // So that the command line of each Codex names this folder.
    TMPDIR: join(home, 'tmp'),
    FAKE_KEY: fakeKey,
  })
  return { ...place, api, home }
}

/** The processes whose command line names this folder; what has ended counts as gone. */
export function processesIn(folder: string): string[] {
  const rows = execFileSync('ps', ['-A', '-ww', '-o', 'stat=,args='], { encoding: 'utf8', maxBuffer: 64 << 20 })
  return rows.split('\n').filter((row) => row.includes(folder) && !row.startsWith('Z'))
}

type Says = {
  verdict?: string
  summary?: string
  findings?: readonly object[]
  previous?: readonly object[]
  question?: string
  risks?: number
}

/** What a reviewer answers who finds the matter simple, unless `risks` says otherwise. */
export const answerOf = ({ verdict = 'APPROVED', risks = 0, ...said }: Says = {}): string =>
  JSON.stringify({
    context_summary: 'One file.',
    complexity: { risk_area_count: risks, files_affected: 1, scope_category: 'low' },
    verdict,
    is_optimal: verdict === 'APPROVED',
    summary: said.summary ?? `The reviewer says ${verdict}.`,
    question: said.question ?? null,
    findings: said.findings ?? [],
    previous_findings: said.previous ?? [],
  })

export const says = (said: Says = {}): Turn => ({ kind: 'model', text: answerOf(said) })
export const replies = (said: Says = {}): Act => responsesReply(answerOf(said))

export const finding = (problem: string, more: object = {}): object => ({
  id: null,
  severity: 'major',
  section: 'src/app.ts:1',
  problem,
  evidence: 'export const one = 1',
  fix: 'Fix it.',
  ...more,
})
