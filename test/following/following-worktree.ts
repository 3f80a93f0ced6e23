import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { hooksDir } from '../../src/protocol/hook-entries.ts'
import { type ReflectState, readReflectState } from '../../src/reflect/follow-session.ts'
import type { LedgerEvent } from '../../src/schemas/ledger-event.ts'
import { readEvents } from '../../src/store/read-events.ts'
import type { Turn, Turns } from '../servers/responses-api.ts'
import { planText, type ReviewedWorktree, reviewedWorktree } from '../support/reviewed-worktree.ts'
import { runProgram } from '../support/run-program.ts'

type Env = { readonly [name: string]: string }

/** What an event's hook said: to the person, to Claude, and whether Claude may go on. */
export type Heard = {
  readonly exitCode: number | null
  readonly user: string | null
  readonly model: string | null
  readonly blocks: boolean
  readonly stderr: string
}

export type FollowingWorktree = ReviewedWorktree & {
  /** The hook of the event, as the settings name it. */
  fire: (event: HookInput | string, env?: Env) => Promise<Heard>
  /** Writes the file, and lets the hook hear of it. */
  edit: (path: string, content: string, env?: Env) => Promise<Heard>
  stop: (more?: object, env?: Env) => Promise<Heard>
  fail: (command: string, error: string, env?: Env) => Promise<Heard>
  state: () => ReflectState
  statePath: string
  events: () => readonly LedgerEvent[]
}

export type HookInput = { readonly hook_event_name: keyof typeof hooks; readonly [field: string]: unknown }

const hooks = {
  PostToolUse: 'post-tool-use',
  PostToolUseFailure: 'post-tool-use-failure reflect',
  Stop: 'stop',
  PreCompact: 'pre-compact',
} as const

export const says = (text: string, more: { afterMs?: number } = {}): Turn => ({ kind: 'model', text, ...more })
export const pass = says('PASS')
export const fails = (what: string): Turn => says(`FAIL\n- src/app.ts:1: ${what}`)
export const unsure = (what: string): Turn => says(`UNCERTAIN\n- src/app.ts:1: ${what}`)

/** A worktree with an approved plan, in which the second reviewer (the real Codex) follows what is done. */
export async function followingWorktree(
  turns: Turns,
  config = '',
  changes = '- `src/app.ts` (changed): print hello.',
): Promise<FollowingWorktree> {
  const files = { 'src/app.ts': 'export {}\n', ...(config === '' ? {} : { 'plan-gate.yaml': config }) }
  const worktree = await reviewedWorktree(turns, files, 'codex', true)
  onTestFinished(() => worktree.remove())
  worktree.write('docs/plan.md', planText(undefined, changes))
  worktree.approve()
  const { root, at } = worktree
  const session = { session_id: 's1', cwd: root, transcript_path: join(worktree.home, 'transcript.jsonl') }
  const fire: FollowingWorktree['fire'] = (event, env = {}) =>
    hear(root, typeof event === 'string' ? event : { ...session, ...event }, { ...worktree.env, ...env })
  // What was approved by hand is put on record by the first hook that comes by.
  await fire({ hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_input: { command: 'true' } })
  // The first stop with nothing done is the question whether to start.
  await fire({ hook_event_name: 'Stop', stop_hook_active: false, last_assistant_message: 'Ready to execute?' })
  const statePath = '.claude/review/sessions/s1/reflect.json'
  return {
    ...worktree,
    fire,
    edit: (path, content, env) => {
      worktree.write(path, content)
      return fire(
        { hook_event_name: 'PostToolUse', tool_name: 'Write', tool_input: { file_path: at(path), content } },
        env,
      )
    },
    stop: (more = {}, env = {}) =>
      fire({ hook_event_name: 'Stop', stop_hook_active: false, last_assistant_message: 'It is done.', ...more }, env),
    fail: (command, error, env) =>
      fire({ hook_event_name: 'PostToolUseFailure', tool_name: 'Bash', tool_input: { command }, error }, env),
    state: () => readReflectState(existsSync(at(statePath)) ? JSON.parse(readFileSync(at(statePath), 'utf8')) : null),
    statePath,
    events: () => {
      const read = readEvents(root)
      return read.kind === 'read' ? read.events : []
    },
  }
}

async function hear(root: string, event: HookInput | string, env: Env): Promise<Heard> {
  const [file = '', ...words] = (typeof event === 'string' ? hooks.PostToolUse : hooks[event.hook_event_name]).split(
    ' ',
  )
  const { exitCode, stdout, stderr } = await runProgram(
    process.execPath,
    [join(root, hooksDir, `${file}.mjs`), ...words],
    {
      cwd: root,
      env: { ...env, CLAUDE_PROJECT_DIR: root },
      timeoutMs: 60_000,
      converse: ({ stdin }) => void stdin.end(typeof event === 'string' ? event : JSON.stringify(event)),
    },
  )
  const isPlain = typeof event !== 'string' && event.hook_event_name === 'PreCompact'
  const said = stdout === '' || isPlain ? {} : (JSON.parse(stdout) as Said)
  return {
    exitCode,
    user: said.systemMessage ?? null,
    model: said.reason ?? said.hookSpecificOutput?.additionalContext ?? (isPlain && stdout !== '' ? stdout : null),
    blocks: said.decision === 'block',
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
