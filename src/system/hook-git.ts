import { existsSync } from 'node:fs'
import { withAbsolutePath } from './find-program.ts'

export type GitRun =
  | { kind: 'ended'; exitCode: number; stdout: Buffer; stderr: string }
  | { kind: 'not-found' }
  /** It took too long or said too much. */
  | { kind: 'stopped'; why: string }

export const maxOutputBytes = 256 * 1024 * 1024

/** The same while everything waits: for a hook, which has nothing else to do, it is 2 ms faster to set up. */
export function gitSync(cwd: string, args: readonly string[], timeoutMs: number): GitRun {
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const run = spawnSync('git', args, {
    cwd,
    env: gitEnvironment(),
    timeout: timeoutMs,
    maxBuffer: maxOutputBytes,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const code = (run.error as NodeJS.ErrnoException | undefined)?.code
  if (code === 'ENOENT' && existsSync(cwd)) return { kind: 'not-found' }
  if (code === 'ETIMEDOUT') return { kind: 'stopped', why: `git ${args[0]} did not end within ${timeoutMs / 1000} s` }
  if (code !== undefined) return { kind: 'stopped', why: `git ${args[0]} could not be run in ${cwd} (${code})` }
  if (run.status === null) return { kind: 'stopped', why: `git ${args[0]} was ended by ${run.signal}` }
  return {
    kind: 'ended',
    exitCode: run.status,
    stdout: run.stdout,
    stderr: run.stderr.toString('utf8').slice(0, 20_000).trim(),
  }
}

const inherited = /^GIT_(DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|COMMON_DIR|NAMESPACE|PREFIX)$/

export const gitEnvironment = (): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(withAbsolutePath(process.env)).filter(([name]) => !inherited.test(name))),
  LC_ALL: 'C',
  GIT_TERMINAL_PROMPT: '0',
  GIT_PAGER: 'cat',
  GIT_OPTIONAL_LOCKS: '0',
})
