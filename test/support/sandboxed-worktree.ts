import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { openApproved } from '../../src/gate/sandbox/approved.ts'
import { findEngine } from '../../src/gate/sandbox/engine.ts'
import { removeSandbox } from '../../src/gate/sandbox/prepare.ts'
import { codexBinary } from './claude-clients.ts'
import { project } from './project.ts'

type User = { uid?: number; gid?: number }

/** Tests that try to get out of a sandbox never run as root. */
const ordinaryUser: User = process.getuid?.() === 0 ? { uid: 31_337, gid: 31_337 } : {}

type CommandRun = { code: number | null; output: string; ms: number }

export type SandboxedWorktree = {
  base: string
  root: string
  gitDir: string
  home: string
  env: NodeJS.ProcessEnv
  /** As Claude Code starts a command of the Bash tool. */
  run: (command: string, options?: { cwd?: string; env?: NodeJS.ProcessEnv; timeoutMs?: number }) => Promise<CommandRun>
  /** Outside of the sandbox. */
  plainly: (command: string) => Promise<CommandRun>
  write: (path: string, content: string) => void
  /** Makes what the hooks make when they find the plan approved. */
  approve: () => void
  remove: () => void
}

/** A linked worktree with the gate in it, in a repository of an ordinary user. */
export async function sandboxedWorktree(
  files: { readonly [path: string]: string } = {},
  user: User = ordinaryUser,
): Promise<SandboxedWorktree> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'sandboxed-')))
  chmodSync(base, 0o755)
  const [main, root, home, bin, program] = ['main', 'worktree', 'home', 'bin', 'program'].map((name) =>
    join(base, name),
  ) as [string, string, string, string, string]
  for (const folder of [main, home, bin, join(base, 'tmp'), join(home, '.npm'), join(home, '.cache')])
    mkdirSync(folder, { recursive: true })
  for (const part of ['dist', 'skills', 'package.json'])
    cpSync(join(project, part), join(program, part), { recursive: true })
  copyFileSync(await engineOfCodex(), join(bin, 'bwrap'))
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: home,
    TMPDIR: join(base, 'tmp'),
    CLAUDE_CODE_TMPDIR: join(base, 'tmp'),
    LANG: 'C.UTF-8',
    SHELL: '/bin/bash',
    CLAUDE_CODE_SESSION_ID: 'test-session',
    GIT_CONFIG_NOSYSTEM: '1',
  }
  const write = (path: string, content: string): void => {
    const file = join(root, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
    giveTo(user, root)
  }
  for (const [path, content] of Object.entries({
    'README.md': '# A repository\n',
    'src/a.ts': 'export {}\n',
    ...files,
  })) {
    mkdirSync(dirname(join(main, path)), { recursive: true })
    writeFileSync(join(main, path), content)
  }
  giveTo(user, base)
  const start = (
    file: string,
    args: readonly string[],
    cwd: string,
    more: NodeJS.ProcessEnv = {},
    timeoutMs = 20_000,
  ) => started(file, args, { cwd, env: { ...env, ...more }, ...user }, timeoutMs)
  const orThrow = async (command: string, cwd: string): Promise<void> => {
    const ran = await start('/bin/sh', ['-c', command], cwd)
    if (ran.code !== 0) throw new Error(`${command}: ${ran.output}`)
  }
  await orThrow(
    'git init -q -b main && git config user.name t && git config user.email t@localhost && git config gc.auto 0 && git add -A && git commit -qm first && git worktree add -q -b work ../worktree',
    main,
  )
  await orThrow(`"${process.execPath}" "${program}/dist/cli.mjs" install --reviewer checklist`, root)
  const gitDir = join(main, '.git/worktrees/worktree')
  let count = 0
  return {
    base,
    root,
    gitDir,
    home,
    env,
    write,
    run: (command, { cwd = root, env: more = {}, timeoutMs } = {}) => {
      count += 1
      const cwdFile = join(base, 'tmp', `claude-${count.toString(16).padStart(4, '0')}-cwd`)
      const quoted = `'${command.replaceAll("'", `'"'"'`)}'`
      const line = `source ${home}/.claude/shell-snapshots/snapshot-bash-1-x.sh 2>/dev/null || true && eval ${quoted} < /dev/null && pwd -P >| ${cwdFile}`
      return start(join(gitDir, 'plan-gate/sandbox/run'), [line], cwd, more, timeoutMs)
    },
    plainly: (command) => start('/bin/bash', ['-c', command], root),
    approve: () => {
      write('docs/plan.md', '# Plan\n')
      const plan_hash = createHash('sha256')
        .update(readFileSync(join(root, 'docs/plan.md')))
        .digest('hex')
      write('.claude/review/approval.json', JSON.stringify({ is_optimal: true, plan_hash }))
      openApproved(root, gitDir)
      giveTo(user, gitDir)
    },
    remove: () => {
      rmSync(base, { recursive: true, force: true, maxRetries: 3 })
      removeSandbox(gitDir, user.uid)
    },
  }
}

/** The pinned Codex brings along the engine. */
async function engineOfCodex(): Promise<string> {
  const codex = await codexBinary()
  const path = process.env.PATH
  process.env.PATH = `${join(dirname(dirname(dirname(codex))), '.bin')}:${path}`
  try {
    const engine = findEngine()
    if (engine === null) throw new Error('no bubblewrap beside the pinned Codex')
    return engine
  } finally {
    process.env.PATH = path
  }
}

function giveTo({ uid, gid }: User, path: string): void {
  if (uid === undefined || gid === undefined) return
  lchownSync(path, uid, gid)
  if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) giveTo({ uid, gid }, join(path, name))
}

function started(
  file: string,
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv; uid?: number; gid?: number },
  timeoutMs: number,
): Promise<CommandRun> {
  const startedAt = performance.now()
  return new Promise((resolve) => {
    const child = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    let output = ''
    const late = setTimeout(() => end(-(child.pid ?? 0)), timeoutMs)
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => (output += piece))
    child.once('error', (error) => resolve({ code: null, output: error.message, ms: 0 }))
    child.once('close', (code) => {
      clearTimeout(late)
      resolve({ code, output, ms: performance.now() - startedAt })
    })
  })
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

/** Kind, mode, owner, times, extended attributes and content of everything below these folders. */
export function wholeState(
  folders: readonly string[],
  leftOut: (path: string) => boolean = () => false,
): Map<string, string> {
  const state = new Map<string, string>()
  const visit = (path: string): void => {
    if (leftOut(path)) return
    const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false })
    if (stat === undefined) return
    const content = stat.isSymbolicLink()
      ? readlinkSync(path)
      : stat.isFile()
        ? createHash('sha256').update(readFileSync(path)).digest('hex')
        : ''
    state.set(path, [stat.mode, stat.uid, stat.ino, stat.nlink, stat.mtimeNs, stat.ctimeNs, content].join(' '))
    if (stat.isDirectory()) for (const name of readdirSync(path).sort()) visit(join(path, name))
  }
  for (const folder of folders) visit(folder)
  return state
}

/** What is new, gone or different; ctime covers extended attributes and links. */
export function differences(before: Map<string, string>, now: Map<string, string>): string[] {
  return [...new Set([...before.keys(), ...now.keys()])].filter((path) => before.get(path) !== now.get(path))
}
