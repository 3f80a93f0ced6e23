import { closeSync, existsSync, openSync } from 'node:fs'
import { gitEnvironment, maxOutputBytes, notOnPath } from './environment.ts'

export type GitRun =
  | { kind: 'ended'; exitCode: number; stdout: Buffer; stderr: string }
  | { kind: 'not-found' }
  /** It took too long or said too much. */
  | { kind: 'stopped'; why: string }

/** Programs that a repository makes git run can change nothing there. `files` are its descriptors from 3 on. */
export type GitSandbox = {
  readonly engine: string
  readonly args: readonly string[]
  readonly files: readonly string[]
}

/**
 * git for the hooks, where loading simple-git would cost more than git itself. Bytes come out, because names of files are
 * bytes. Synchronous: a hook has nothing else to do meanwhile, and it is 2 ms faster to set up.
 */
export function gitSync(
  cwd: string,
  args: readonly string[],
  timeoutMs: number,
  env: { readonly [name: string]: string } = {},
  sandbox: GitSandbox | null = null,
): GitRun {
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const files = sandbox?.files.map((path) => openSync(path, 'r')) ?? []
  const [file, words] =
    sandbox === null ? ['git', args] : [sandbox.engine, [...sandbox.args, '--chdir', cwd, '--', 'git', ...args]]
  const run = spawnSync(file, words, {
    cwd,
    env: { ...gitEnvironment(), ...env },
    timeout: timeoutMs,
    maxBuffer: maxOutputBytes,
    stdio: ['ignore', 'pipe', 'pipe', ...files],
  })
  for (const fd of files) closeSync(fd)
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

/** What git wrote to stdout, as text. Throws where it fails. */
export function gitSyncOrThrow(...call: Parameters<typeof gitSync>): string {
  const run = gitSync(...call)
  if (run.kind === 'ended' && run.exitCode === 0) return run.stdout.toString('utf8')
  throw new Error(
    run.kind === 'ended' ? run.stderr || `exit code ${run.exitCode}` : run.kind === 'stopped' ? run.why : notOnPath,
  )
}

/** Set by git for its hooks, one of which may have started us: they would point every git at that repository. */
export const isGitLocation = (name: string): boolean =>
  /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|COMMON_DIR|NAMESPACE|PREFIX)$/.test(name)
