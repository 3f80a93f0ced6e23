import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, onTestFinished } from 'vitest'
import { readWorkingTree, rebaseline } from '../../../src/gate/working-tree.ts'
import { parseSessionState, type SessionState } from '../../../src/reflect/session-state.ts'
import type { LedgerEvent } from '../../../src/schemas/records.ts'
import { readEvents } from '../../../src/state/ledger.ts'
import { reflectPath } from '../../../src/state/sessions.ts'
import { readGitDirs } from '../../../src/system/git-dirs.ts'
import { hookArgs } from '../../support/hook-args.ts'
import { planText } from '../../support/plan-texts.ts'
import { type ReviewedWorktree, reviewedWorktree } from '../../support/reviewed-worktree.ts'
import { runProgram } from '../../support/run-program.ts'
import type { ResponsesApi, Turn, Turns } from '../../support/servers/responses-api.ts'
import { saidBy } from '../../support/servers/responses-record.ts'

type Env = { readonly [name: string]: string }

/** The output of an event's hook: for the user, for Claude, and whether Claude may go on. */
export type HookResult = {
  readonly exitCode: number | null
  readonly user: string | null
  readonly model: string | null
  readonly blocks: boolean
  readonly stdout: string
  readonly stderr: string
}

export type ReflectWorktree = ReviewedWorktree & {
  /** The hook of the event, as the settings name it. */
  fire: (event: HookInput, env?: Env) => Promise<HookResult>
  /** The same with an input that is no event. */
  tell: (name: keyof typeof hooks, input: string, env?: Env) => Promise<HookResult>
  /** Writes the file, and fires the hook. */
  edit: (path: string, content: string, more?: object, env?: Env) => Promise<HookResult>
  /** Fires the hook for any tool that has run. */
  use: (tool_name: string, tool_input: object, more?: object) => Promise<HookResult>
  stop: (more?: object, env?: Env) => Promise<HookResult>
  fail: (command: string, error: string, more?: object, env?: Env) => Promise<HookResult>
  compact: (more?: object, env?: Env) => Promise<HookResult>
  state: (session?: string) => SessionState
  /** As if an earlier hook of the session had left it. */
  putState: (state: object | string, session?: string) => void
  statePath: string
  events: () => readonly LedgerEvent[]
}

type HookInput = { readonly hook_event_name: keyof typeof hooks; readonly [field: string]: unknown }

const hooks = {
  SessionStart: 'session-start',
  PostToolUse: 'post-tool-use',
  PostToolUseFailure: 'post-tool-use-failure reflect',
  Stop: 'stop',
  PreCompact: 'pre-compact',
} as const

export const says = (
  text: string,
  more: { afterMs?: number; usage?: { input?: number; output?: number } } = {},
): Turn => ({ kind: 'model', text, ...more })
export const pass = says('PASS')
export const fails = (what: string): Turn => says(`FAIL\n- src/app.ts:1: ${what}`)
export const unsure = (what: string): Turn => says(`UNCERTAIN\n- src/app.ts:1: ${what}`)

/** An error of the service. */
export const refuses = (status: number, error: object, headers = {}): Turn => ({
  kind: 'http',
  status,
  body: { error },
  headers,
})

type Setup = {
  /** plan-gate.yaml. */
  config?: string
  /** The list in the plan's section ## Changes. */
  changes?: string
  files?: { readonly [path: string]: string }
  /** What happens in the worktree before the plan is approved. */
  before?: (worktree: ReviewedWorktree) => void
  /** As the options of `install`. */
  reviewer?: 'codex' | null
  reflect?: boolean
}

/** A worktree with an approved plan, in which the second reviewer (the real Codex) is on. */
export async function reflectWorktree(
  turns: Turns,
  { config, changes, files = {}, before, reviewer = 'codex', reflect = true }: Setup = {},
  /** Who ends it; without this, the end of the test does. */
  atTheEnd: (remove: () => void) => void = onTestFinished,
): Promise<ReflectWorktree> {
  const all = { 'src/app.ts': 'export {}\n', ...files, ...(config === undefined ? {} : { 'plan-gate.yaml': config }) }
  const worktree = await reviewedWorktree(turns, all, reviewer, reflect)
  atTheEnd(() => worktree.remove())
  before?.(worktree)
  // As the user does who has changed something: plan-gate drift accept.
  const gitDirs = readGitDirs(worktree.root)
  if (gitDirs !== null) rebaseline(gitDirs.own, readWorkingTree(worktree.root, gitDirs))
  worktree.write('docs/plan.md', planText(undefined, changes))
  worktree.approve()
  const { root, at, home } = worktree
  const environment = { ...worktree.env, XDG_CACHE_HOME: cache() }
  const session = { session_id: 's1', cwd: root, transcript_path: join(home, 'transcript.jsonl') }
  const fire: ReflectWorktree['fire'] = (event, env = {}) =>
    runHookOf(root, event.hook_event_name, JSON.stringify({ ...session, ...event }), { ...environment, ...env })
  // It takes the approval down.
  await fire({ hook_event_name: 'SessionStart', source: 'startup' })
  // The first stop with nothing done is the question whether to start.
  await fire({ hook_event_name: 'Stop', stop_hook_active: false, last_assistant_message: 'Ready to execute?' })
  const pathOf = (name = 's1'): string => reflectPath(name)
  const use: ReflectWorktree['use'] = (tool_name, tool_input, more = {}) =>
    fire({ hook_event_name: 'PostToolUse', tool_name, tool_input, ...more })
  return {
    ...worktree,
    env: environment,
    fire,
    tell: (name, input, env = {}) => runHookOf(root, name, input, { ...environment, ...env }),
    edit: (path, content, more = {}, env = {}) => {
      worktree.write(path, content)
      const tool_input = { file_path: at(path), content }
      return fire({ hook_event_name: 'PostToolUse', tool_name: 'Write', tool_input, ...more }, env)
    },
    use,
    stop: (more = {}, env = {}) =>
      fire({ hook_event_name: 'Stop', stop_hook_active: false, last_assistant_message: 'It is done.', ...more }, env),
    fail: (command, error, more = {}, env = {}) =>
      fire({ hook_event_name: 'PostToolUseFailure', tool_name: 'Bash', tool_input: { command }, error, ...more }, env),
    compact: (more = {}, env = {}) => fire({ hook_event_name: 'PreCompact', trigger: 'auto', ...more }, env),
    state: (name) => {
      const path = at(pathOf(name))
      return parseSessionState(existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null)
    },
    putState: (state, name) => {
      mkdirSync(dirname(at(pathOf(name))), { recursive: true })
      writeFileSync(at(pathOf(name)), typeof state === 'string' ? state : JSON.stringify(state))
    },
    statePath: at(pathOf()),
    events: () => {
      const read = readEvents(root)
      return read.kind === 'read' ? read.events : []
    },
  }
}

let cacheDir: string | undefined

/** What is known of this Codex is found out once for all of a file's worktrees. */
function cache(): string {
  cacheDir ??= mkdtempSync(join(tmpdir(), 'reflect-cache-'))
  return cacheDir
}

afterAll(() => {
  if (cacheDir !== undefined) rmSync(cacheDir, { recursive: true, force: true })
  cacheDir = undefined
})

/** How the hook of an event is started. */
export function hookProgram(root: string, name: keyof typeof hooks): readonly string[] {
  return hookArgs(root, hooks[name])
}

async function runHookOf(root: string, name: keyof typeof hooks, input: string, env: Env): Promise<HookResult> {
  const { exitCode, stdout, stderr } = await runProgram(process.execPath, hookProgram(root, name), {
    cwd: root,
    env: { ...env, CLAUDE_PROJECT_DIR: root },
    timeoutMs: 60_000,
    converse: ({ stdin }) => void stdin.end(input),
  })
  const isPlain = name === 'PreCompact'
  const said = stdout === '' || isPlain ? {} : (JSON.parse(stdout) as Said)
  return {
    exitCode,
    user: said.systemMessage ?? null,
    model: said.reason ?? said.hookSpecificOutput?.additionalContext ?? (isPlain && stdout !== '' ? stdout : null),
    blocks: said.decision === 'block',
    stdout,
    stderr,
  }
}

type Said = {
  systemMessage?: string
  decision?: 'block'
  reason?: string
  hookSpecificOutput?: { hookEventName: string; additionalContext: string }
}

/** A transcript in which Claude has said this. */
export function writeTranscript({ home }: ReviewedWorktree, ...texts: readonly string[]): void {
  const lines = texts.map((text) =>
    JSON.stringify({ type: 'assistant', message: { role: 'assistant', content: [{ type: 'text', text }] } }),
  )
  writeFileSync(join(home, 'transcript.jsonl'), `${lines.join('\n')}\n`)
}

/** What the n-th question handed over, from 1. */
export const question = ({ requests }: ResponsesApi, n: number): string => {
  const request = requests[n - 1]
  if (request === undefined) throw new Error(`there is no request ${n}`)
  return saidBy(request, 'user').join('\n')
}

/** An open finding, as an earlier hook has recorded it. */
export const openFail = (
  path: string,
  verdict: 'FAIL' | 'UNCERTAIN' = 'FAIL',
): SessionState['fails']['fails'][number] => ({
  key: `file ${path}`,
  about: path,
  verdict,
  summary: `- ${path}:1: it was found wrong.`,
  at: 1,
})
