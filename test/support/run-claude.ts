import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type ClaudeClient, claudeBinary } from './claude-clients.ts'
import { type ProgramOutcome, runProgram } from './run-program.ts'
import { type Script, startMessagesApi } from './servers/messages-api.ts'
import type { MessagesRecord, MessagesRequest } from './servers/messages-record.ts'

export type ClaudeRun = Pick<Script, 'turns' | 'subagents'> & {
  client: ClaudeClient
  cwd: string
  /** HOME; a fresh one, removed afterwards, when absent. */
  home?: string
  prompt?: string
  args?: readonly string[]
  env?: Readonly<Record<string, string>>
  /** Passed by `--settings`; the project's settings are files that the test writes. */
  settings?: object
  /** "bypassPermissions" when absent: nothing but a hook refuses a tool. */
  permissionMode?: 'default' | 'acceptEdits' | 'plan' | 'bypassPermissions'
  /** A person sits there and says yes to everything: the plan-mode tools and AskUserQuestion are offered. */
  interactive?: boolean
  /** Offers the tool `mcp__note__write_note`. */
  noteServer?: boolean
  timeoutMs?: number
}

/** `exitCode` is null where a signal ended the run. */
export type ClaudeOutcome = ProgramOutcome & MessagesRecord & { requests: readonly MessagesRequest[] }

const noteServer = join(import.meta.dirname, 'servers', 'mcp-note-server.mjs')

/** Runs the real Claude Code, offline, with a scripted model. */
export async function runClaude(run: ClaudeRun): Promise<ClaudeOutcome> {
  const binary = await claudeBinary(run.client)
  const timeoutMs = run.timeoutMs ?? 60_000
  const scratch = await mkdtemp(join(tmpdir(), 'run-claude-'))
  const home = run.home ?? join(scratch, 'home')
  await mkdir(join(home, 'tmp'), { recursive: true })
  const { turns, subagents = [] } = run
  const api = await startMessagesApi({ turns, subagents, lifetimeMs: timeoutMs + 10_000 })
  try {
    const outcome = await runProgram(binary, claudeArgs(run), {
      cwd: run.cwd,
      env: { ...claudeEnv(home, api.url), ...run.env },
      timeoutMs,
      ...(run.interactive ? { converse: (claude) => sayYes(claude, promptOf(run)) } : {}),
    })
    return { ...outcome, requests: api.requests, ...api.record() }
  } finally {
    await api.close()
    await rm(scratch, { recursive: true, force: true, maxRetries: 3 })
  }
}

function claudeArgs(run: ClaudeRun): string[] {
  const host = ['-p', '--input-format', 'stream-json', '--permission-prompt-tool', 'stdio']
  const mcp = { mcpServers: { note: { command: process.execPath, args: [noteServer] } } }
  return [
    ...(run.interactive ? host : ['-p', promptOf(run)]),
    ...['--output-format', 'stream-json', '--verbose'],
    ...['--permission-mode', run.permissionMode ?? 'bypassPermissions'],
    ...(run.settings ? ['--settings', JSON.stringify(run.settings)] : []),
    ...(run.noteServer ? ['--mcp-config', JSON.stringify(mcp), '--strict-mcp-config'] : []),
    ...(run.args ?? []),
  ]
}

export function claudeEnv(home: string, apiUrl: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME: home,
    // Without these it leaves a directory for each project in /tmp.
    TMPDIR: join(home, 'tmp'),
    CLAUDE_CODE_TMPDIR: join(home, 'tmp'),
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    ANTHROPIC_BASE_URL: apiUrl,
    ANTHROPIC_API_KEY: 'fake',
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    // All tools are in the list from the start instead of behind a search.
    ENABLE_TOOL_SEARCH: 'false',
    // As root, bypassPermissions is refused without it.
    IS_SANDBOX: '1',
  }
}

const promptOf = ({ prompt }: ClaudeRun): string => prompt ?? 'Go on.'

type HostMessage = { type: string; request_id?: string; request?: { input?: object } }

/** What a program that embeds Claude Code says on its stdin. */
function sayYes(claude: ChildProcessWithoutNullStreams, prompt: string): void {
  const say = (message: object) => claude.stdin.write(`${JSON.stringify(message)}\n`)
  say({ type: 'user', message: { role: 'user', content: prompt } })
  createInterface({ input: claude.stdout }).on('line', (line) => {
    const { type, request_id, request } = JSON.parse(line) as HostMessage
    const yes = { behavior: 'allow', updatedInput: request?.input ?? {} }
    if (type === 'control_request') {
      say({ type: 'control_response', response: { subtype: 'success', request_id, response: yes } })
    }
    if (type === 'result') claude.stdin.end()
  })
}
