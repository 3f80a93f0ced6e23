import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { findEngine } from '../../src/gate/sandbox/engine.ts'
import { claudeReviewer } from '../../src/reviewers/claude/claude.ts'
import type { ClaudeLimits } from '../../src/reviewers/claude/program.ts'
import type { Answer, Question } from '../../src/schemas/review.ts'
import { type ClaudeClient, claudeBinary, codexBinary } from './claude-clients.ts'
import { fakeKey, plainQuestion, processesNaming, scriptWriterIn, writerIn } from './reviewer-fixture.ts'
import { type MessagesApi, startMessagesApi, type Turns } from './servers/messages-api.ts'

export type ClaudeScript = {
  turns: Turns
  client?: ClaudeClient
  env?: { readonly [name: string]: string }
  /** Instead of the server's: an address without a server. */
  baseUrl?: string
}

type AskMore = {
  signal?: AbortSignal
  limits?: Partial<ClaudeLimits>
  program?: string
  cacheDir?: string | null
  /** false: by its tools alone. */
  sandbox?: boolean
  sensitiveFiles?: readonly string[]
  findEngine?: () => string
}

export type ClaudeFixture = {
  api: MessagesApi
  /** Everything is below it: HOME, the repository, the cache. */
  folder: string
  repo: string
  home: string
  sessions: string
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

/** The bubblewrap that the tests' Codex brings along, for machines without one. */
export async function testEngine(): Promise<string | null> {
  const before = process.env.PATH
  process.env.PATH = `${join(dirname(await codexBinary()), '..', '..', '.bin')}:${before ?? ''}`
  try {
    return findEngine()
  } finally {
    process.env.PATH = before
  }
}

/** The real Claude Code with a home of its own and a model that follows a script. */
export async function withClaude(script: ClaudeScript, act: (claude: ClaudeFixture) => Promise<void>): Promise<void> {
  const api = await startMessagesApi({ turns: script.turns, isOnlyCaller: true })
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'with-claude-')))
  try {
    await act(await build(script, api, folder))
  } finally {
    await api.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function build(script: ClaudeScript, api: MessagesApi, folder: string): Promise<ClaudeFixture> {
  const [home, repo, cache] = [join(folder, 'home'), join(folder, 'repo'), join(folder, 'cache')]
  for (const path of [home, repo, join(folder, 'scratch')]) mkdirSync(path, { recursive: true })
  const write = writerIn(folder)
  const env = {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME: home,
    // Without these it leaves a directory for each project in /tmp.
    TMPDIR: join(folder, 'scratch'),
    LANG: 'C.UTF-8',
    ANTHROPIC_BASE_URL: script.baseUrl ?? api.url,
    ANTHROPIC_API_KEY: fakeKey,
    ...script.env,
  }
  const program = await claudeBinary(script.client ?? 'newest')
  const engine = await testEngine()
  const signs: string[] = []
  return {
    api,
    folder,
    repo,
    home,
    sessions: join(cache, 'claude-sessions'),
    env,
    program,
    write,
    script: scriptWriterIn(folder),
    signs,
    ask: (question = {}, { signal = new AbortController().signal, sandbox = true, ...more } = {}) => {
      const setup = {
        program,
        env,
        cacheDir: cache,
        scratch: join(folder, 'scratch'),
        sensitiveFiles: [],
        findEngine: () => (sandbox ? engine : null),
        ...more,
      }
      const asked = { ...plainQuestion, root: repo, ...question }
      return claudeReviewer(setup)(asked, { signal, onProgress: (sign) => signs.push(sign) })
    },
    processes: () => processesNaming(folder),
  }
}
