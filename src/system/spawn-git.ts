import { existsSync } from 'node:fs'
import { hearOwnSignal } from './end-on-signals.ts'
import { withAbsolutePath } from './search-path.ts'

export type GitRun =
  | { kind: 'ended'; exitCode: number; stdout: Buffer; stderr: string }
  | { kind: 'not-found' }
  /** It took too long or said too much. */
  | { kind: 'stopped'; why: string }

const maxBytes = 256 * 1024 * 1024

/**
 * The one door to git: English messages, no pager, no prompt, no lock for its own convenience, and none of the
 * variables that a git hook inherits. Bytes come out, because names of files are bytes. In our own process group, so
 * that whatever ends us ends git too.
 */
export function spawnGit(
  cwd: string,
  args: readonly string[],
  timeoutMs: number,
  env: NodeJS.ProcessEnv = {},
): Promise<GitRun> {
  return new Promise((resolve) => {
    const notStarted = ({ code }: NodeJS.ErrnoException): void =>
      // A folder that is gone ends here as well.
      resolve(
        code === 'ENOENT' && existsSync(cwd)
          ? { kind: 'not-found' }
          : { kind: 'stopped', why: `git ${args[0]} could not be started in ${cwd} (${code})` },
      )
    const child = start(cwd, args, env)
    if (child instanceof Error) return notStarted(child)
    const pieces: Buffer[] = []
    let [bytes, said] = [0, '']
    const stop = (why: string): void => {
      // git passes SIGTERM on to what it has started; only a git that does not listen is killed.
      child.kill('SIGTERM')
      setTimeout(() => child.kill('SIGKILL'), 2_000).unref()
      resolve({ kind: 'stopped', why })
    }
    const letGo = (): void => {
      child.stdout.destroy()
      child.stderr.destroy()
    }
    const late = setTimeout(() => stop(`git ${args[0]} did not end within ${timeoutMs / 1000} s`), timeoutMs)
    child.once('error', (error) => {
      clearTimeout(late)
      notStarted(error)
    })
    // With no descriptor left there are no pipes either, whatever the types say; the error is on its way.
    if (child.stdout === undefined) return
    child.stdout.on('data', (piece: Buffer) => {
      bytes += piece.length
      if (bytes > maxBytes) stop('git said more than 256 MB')
      else pieces.push(piece)
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(0, 20_000)
    })
    // A hook may leave a daemon behind that holds our pipes: what git itself said has arrived shortly after its end.
    child.once('exit', () => setTimeout(letGo, 2_000).unref())
    child.once('close', async (code, signal) => {
      clearTimeout(late)
      await hearOwnSignal(code, signal)
      if (code === null) resolve({ kind: 'stopped', why: `git ${args[0]} was ended by ${signal}` })
      else resolve({ kind: 'ended', exitCode: code, stdout: Buffer.concat(pieces), stderr: said.trim() })
    })
  })
}

/** What `spawn` cannot tell by an event, such as a command line that is too long, it throws. */
function start(cwd: string, args: readonly string[], env: NodeJS.ProcessEnv) {
  const { spawn } = process.getBuiltinModule('node:child_process')
  try {
    return spawn('git', args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], env: { ...environment(), ...env } })
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** The same while everything waits: for a hook, which has nothing else to do, it is 2 ms faster to set up. */
export function runGitNow(cwd: string, args: readonly string[], timeoutMs: number): GitRun {
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const run = spawnSync('git', args, {
    cwd,
    env: environment(),
    timeout: timeoutMs,
    maxBuffer: maxBytes,
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

const environment = (): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(withAbsolutePath(process.env)).filter(([name]) => !inherited.test(name))),
  LC_ALL: 'C',
  GIT_TERMINAL_PROMPT: '0',
  GIT_PAGER: 'cat',
  GIT_OPTIONAL_LOCKS: '0',
})
