import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { HookEntries } from '../src/protocol/hook-entries.ts'
import { takeSignals } from '../src/system/end-on-signals.ts'
import { lookForProgram } from '../src/system/find-program.ts'
import { withAbsolutePath } from '../src/system/search-path.ts'
import { UserError } from '../src/system/user-error.ts'
import { deniedRules } from './install/plan-install.ts'

/**
 * Passed by `--settings`, which is read once and wins over what any settings file says later: hooks that are switched
 * off during the session stay on. Rules with a single slash mean nothing there, so the paths are absolute.
 */
export const claudeSettings = (root: string, entries: HookEntries): object => ({
  disableAllHooks: false,
  env: { NODE_OPTIONS: '' },
  hooks: entries,
  permissions: { deny: deniedRules.map((rule) => rule.replace('(/', `(/${escapePattern(root)}/`)) },
})

const escapePattern = (path: string): string => path.replace(/[[\]*?{}()!]/g, '\\$&')

/** The prompt first, because flags such as --allowedTools swallow what follows them. */
export const claudeArgs = (prompt: string, settings: object, flags: readonly string[]): string[] => [
  prompt,
  '--settings',
  JSON.stringify(settings),
  ...flags,
]

/** Hands the terminal over and returns Claude Code's exit code; a signal that ends it becomes 128 and its number. */
export function launchClaude(cwd: string, args: readonly string[]): Promise<number> {
  const look = lookForProgram('claude')
  if (look.path === null) throw new UserError(`${look.why}.`, 'Install it: npm i -g @anthropic-ai/claude-code')
  return new Promise((resolve, reject) => {
    const child = spawn(look.path, args, { cwd, stdio: 'inherit', env: cleanEnvironment() })
    // Ctrl-C belongs to the program in the foreground; the others are passed on.
    const giveBack = takeSignals((signal) => signal === 'SIGINT' || child.kill(signal))
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      giveBack()
      resolve(code ?? 128 + constants.signals[signal ?? 'SIGTERM'])
    })
  })
}

/** A session inside a session (plan-gate started from Claude Code's own shell) must not take itself for a child. */
const cleanEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(withAbsolutePath(process.env)).filter(
      ([name]) =>
        !/^(GIT_DIR|GIT_WORK_TREE|GIT_INDEX_FILE|GIT_COMMON_DIR|GIT_OBJECT_DIRECTORY|GIT_NAMESPACE|GIT_PREFIX|CLAUDECODE|CLAUDE_PROJECT_DIR|CLAUDE_CODE_(SESSION_ID|CHILD_SESSION|SIMPLE|SAFE_MODE)|NODE_OPTIONS)$/.test(
          name,
        ),
    ),
  )
