import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { codexBinary } from './claude-clients.ts'
import { codexConfig } from './codex-config.ts'
import { type GatedWorktree, gatedWorktree } from './gated-worktree.ts'
import { hookArgs } from './hook-args.ts'
import { runProgram } from './run-program.ts'
import { type ResponsesApi, startResponsesApi, type Turns } from './servers/responses-api.ts'

/** What the hook answered: null where it was silent. */
export type PlanTold = { decision: 'block' | 'context'; text: string; user: string | null } | null

/** A gated worktree whose reviewer is the real Codex, with a home of its own and a model that follows a script. */
export type ReviewedWorktree = GatedWorktree & {
  api: ResponsesApi
  env: { readonly [name: string]: string }
  /** docs/plan.md gets this text, and the installed PostToolUse hook hears of it. */
  savePlan: (text: string | Uint8Array, more?: { env?: NodeJS.ProcessEnv }) => Promise<PlanTold>
  /** Where the clients keep what they know, and nothing of the user's. */
  home: string
}

export async function reviewedWorktree(
  turns: Turns,
  files: { readonly [path: string]: string } = { 'src/app.ts': 'export {}\n' },
  /** As `--reviewer` of the install; null: the route table of plan-gate.yaml, or the built-in one. */
  reviewer: 'codex' | null = 'codex',
  reflect = false,
): Promise<ReviewedWorktree> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'reviewed-')))
  const api = await startResponsesApi({ turns, lifetimeMs: 120_000 })
  mkdirSync(join(home, 'bin'))
  mkdirSync(join(home, '.codex'))
  symlinkSync(await codexBinary(), join(home, 'bin', 'codex'))
  writeFileSync(join(home, '.codex', 'config.toml'), codexConfig(api.url))
  const env = {
    PATH: [join(home, 'bin'), process.env.PATH ?? '/usr/bin:/bin'].join(delimiter),
    HOME: home,
    CODEX_HOME: join(home, '.codex'),
    XDG_CACHE_HOME: join(home, 'cache'),
    FAKE_KEY: ['fake', 'key', 'of', 'the', 'tests'].join('-'),
    LANG: 'C.UTF-8',
  }
  const worktree = await gatedWorktree(files, { reviewer, reflect })
  return {
    ...worktree,
    api,
    env,
    home,
    savePlan: async (text, more = {}) => {
      const file_path = worktree.write('docs/plan.md', '')
      writeFileSync(file_path, text)
      const event = { hook_event_name: 'PostToolUse', tool_name: 'Write', tool_input: { file_path, content: '' } }
      return fireAfterWrite(worktree.root, event, { ...env, ...more.env })
    },
    remove: () => {
      void api.close()
      worktree.remove()
      rmSync(home, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

/** Runs the installed PostToolUse hook. An exit code that it may not have throws. */
export async function fireAfterWrite(root: string, event: object, env: NodeJS.ProcessEnv): Promise<PlanTold> {
  const { exitCode, stdout, stderr } = await runProgram(process.execPath, hookArgs(root, 'post-tool-use'), {
    cwd: root,
    env: { ...env, CLAUDE_PROJECT_DIR: root },
    timeoutMs: 60_000,
    converse: ({ stdin }) => void stdin.end(JSON.stringify({ ...event, cwd: root, tool_response: {} })),
  })
  if (exitCode !== 0) throw new Error(`post-tool-use ended with ${exitCode}: ${stderr}`)
  if (stdout === '') return null
  const answer = JSON.parse(stdout) as {
    decision?: 'block'
    reason?: string
    systemMessage?: string
    hookSpecificOutput?: { additionalContext: string }
  }
  return {
    decision: answer.decision ?? 'context',
    text: answer.reason ?? answer.hookSpecificOutput?.additionalContext ?? '',
    user: answer.systemMessage ?? null,
  }
}
