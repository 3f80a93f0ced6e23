import { accessSync, constants, existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { putFile } from '../../state/files.ts'
import { sandboxDir } from '../../state/own-paths.ts'
import { isNotFound, systemErrorCode, unlessAbsent } from '../../system/errors.ts'
import type { GitSandbox } from '../../system/hook-git.ts'

/** Who decides about a command while the plan is not approved: the sandbox lets any run, the list only some. */
export type CommandRule = { readonly kind: 'sandbox' } | { readonly kind: 'list'; readonly why: string }

/** What `CLAUDE_CODE_SHELL_PREFIX` has to be; null where there is no POSIX shell to run it. */
export const wrapperPath = (gitDir: string): string | null =>
  process.platform === 'win32' ? null : join(gitDir, sandboxDir, 'run')

/** Where commands are seen to come through the wrapper, once this session's canary has found that it holds. */
export function commandRule(gitDir: string, session: string | undefined, env: NodeJS.ProcessEnv): CommandRule {
  const mode = readMode(gitDir)
  if (mode !== 'sandbox') return list(mode === null ? 'it is not set up here' : whyNoSandbox(gitDir))
  if (env.CLAUDE_CODE_SHELL_PREFIX !== wrapperPath(gitDir))
    return list('Claude Code was not started with CLAUDE_CODE_SHELL_PREFIX for this worktree')
  const has = (mark: Mark): boolean => hasMark(gitDir, session, mark)
  if (!has('proven')) return list('it was not proven at the start of this session')
  if (has('nested')) return list('Claude Code’s own sandbox is on, and a second one cannot be made inside it')
  if (has('command') || (has('hook') && has('tested'))) return { kind: 'sandbox' }
  return list('no command of this session has come through it yet; from the first one on, any command may run')
}

/** Whether a command of this session ran in the sandbox. */
export const ranInSandbox = (gitDir: string, session: string | undefined): boolean =>
  readMode(gitDir) === 'sandbox' && hasMark(gitDir, session, 'command') && !hasMark(gitDir, session, 'nested')

const hasMark = (gitDir: string, session: string | undefined, mark: Mark): boolean =>
  session !== undefined &&
  /^[\w-]+$/.test(session) &&
  existsSync(join(gitDir, sandboxDir, 'started', `${session}.${mark}`))

const list = (why: string): CommandRule => ({ kind: 'list', why })

/** `command`, `hook` and `nested` are made by the wrapper, the others at the start of a session. */
type Mark = 'command' | 'hook' | 'nested' | 'proven' | 'tested'

export const markSession = (gitDir: string, session: string, mark: Mark): void =>
  putFile(gitDir, `${sandboxDir}/started/${session}.${mark}`, '', 0o600)

const keptMs = 30 * 24 * 3_600_000

/** Of sessions long ago, and what an earlier start of this one had proven. */
export function pruneMarks(gitDir: string, session: string | undefined): void {
  const [folder, now] = [join(gitDir, sandboxDir, 'started'), Date.now()]
  const stale = ['proven', 'tested', 'nested'].map((mark) => `${session}.${mark}`)
  for (const name of unlessAbsent(() => readdirSync(folder), []))
    if (
      stale.includes(name) ||
      now - (statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? now) > keptMs
    )
      rmSync(join(folder, name), { force: true })
}

/**
 * A command of Claude's, or one that a slash command has started. Inside of the sandbox no second one can be made. A
 * disk can be read-only where there is no sandbox, too.
 */
export function isInSandbox(gitDir: string): boolean {
  if (process.env.PLAN_GATE_SANDBOX === undefined || readMode(gitDir) !== 'sandbox') return false
  try {
    accessSync(gitDir, constants.W_OK)
    return false
  } catch (error) {
    return systemErrorCode(error) === 'EROFS'
  }
}

/** For the git of our hooks: a nested repository or a submodule may name programs of its own. */
export function gitSandbox(gitDir: string): GitSandbox | null {
  if (process.platform !== 'linux' || readMode(gitDir) !== 'sandbox' || isInSandbox(gitDir)) return null
  const folder = join(gitDir, sandboxDir)
  return {
    engine: join(folder, 'bwrap'),
    args: ['--args', '3', '--seccomp', '4'],
    files: ['args', 'bpf'].map((ending) => join(folder, `read-only.${ending}`)),
  }
}

/** Whether commands run in the sandbox, or as they are after the list has let them through. */
export type SandboxMode = 'sandbox' | 'list'

/** The wrapper reads the first line. */
export const writeMode = (gitDir: string, mode: SandboxMode, why = ''): void =>
  putFile(gitDir, `${sandboxDir}/mode`, `${mode}\n${why}\n`, 0o600)

export const readMode = (gitDir: string): string | null => modeLines(gitDir)[0] ?? null

/** Why the install has found that there is no sandbox, or why what it found cannot be read. */
export const whyNoSandbox = (gitDir: string): string => modeLines(gitDir)[1] || 'it does not hold here'

function modeLines(gitDir: string): string[] {
  try {
    return readFileSync(join(gitDir, sandboxDir, 'mode'), 'utf8').split('\n')
  } catch (error) {
    const errno = systemErrorCode(error)
    return isNotFound(errno) ? [] : ['unknown', `its mode cannot be read (${errno ?? error})`]
  }
}

/** What a program prints when the sandbox has refused it something. */
const signs: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/Read-only file system|\bEROFS\b/i, 'a write'],
  [
    /Network is unreachable|Could not resolve host|name resolution|\bENETUNREACH\b|\bEAI_AGAIN\b|\bENOTFOUND\b/i,
    'the network',
  ],
  [/Address family not supported|\bEAFNOSUPPORT\b/i, 'a socket'],
  [/Device or resource busy|\bEBUSY\b/i, 'a write'],
  [/Operation not permitted|\bEPERM\b/i, 'an operation'],
]

/** For display, not for a decision: programs say it in their own words, and may say it for other reasons. */
export function findRefusals(output: string): readonly string[] {
  const text = output.length > 200_000 ? output.slice(0, 100_000) + output.slice(-100_000) : output
  return [...new Set(signs.filter(([pattern]) => pattern.test(text)).map(([, what]) => what))]
}

/** For Claude, with the result of the command. */
export function explainRefusals(refused: readonly string[], isApproved: boolean): string {
  const what = refused.join(' and ')
  return isApproved
    ? `plan-gate: the sandbox seems to have refused ${what}. While the plan is carried out, commands write in this worktree, in /tmp and in the caches of package managers. Read-only are everything else and what decides about the gate: .claude, plan-gate.yaml, .mcp.json, .git/config and the git hooks. Tell the user if the plan needs more.`
    : `plan-gate: the sandbox seems to have refused ${what}: until docs/plan.md is approved, a command sees everything and changes nothing, without a network. /tmp is writable. Test, build, lint and type-check runners may write, and what they write is thrown away. Do not look for a way round; go on with the plan.`
}
