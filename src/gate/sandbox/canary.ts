import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { errnoOf } from '../../state/files.ts'
import { sandboxDir } from '../../state/own-paths.ts'
import { unlessAbsent } from '../../system/errors.ts'
import type { GitDirs } from '../../system/git-dirs.ts'
import type { SandboxSettings } from './prepare.ts'
import { innerArgs, type Profile, seatbelt } from './profiles.ts'

/** What the sandbox can do here. `why`: the first thing that went through, or did not work. */
export type SandboxProof =
  | { readonly kind: 'holds'; readonly rehearsal: boolean; readonly ms: number }
  | { readonly kind: 'fails'; readonly why: string }

const timeoutMs = 10_000

/** An intruder in each profile, seen from outside: half an engine is found by its effects. Takes 0.2 s. */
export async function proveSandbox(
  root: string,
  gitDirs: GitDirs,
  { approved: protection }: Pick<SandboxSettings, 'approved'>,
): Promise<SandboxProof> {
  const folder = join(gitDirs.own, sandboxDir)
  const startedAt = performance.now()
  try {
    const whyNot = await tryWrapper(root, folder)
    if (whyNot !== null) return { kind: 'fails', why: whyNot }
    const [readOnly, rehearsal, approved] = await Promise.all(
      (['read-only', 'rehearsal', 'approved'] as const).map((profile) => intrude(profile, root, gitDirs)),
    )
    const why = readOnly ?? (protection === 'protect' ? approved : null) ?? null
    return why === null
      ? { kind: 'holds', rehearsal: rehearsal === null, ms: Math.round(performance.now() - startedAt) }
      : { kind: 'fails', why }
  } catch (error) {
    return { kind: 'fails', why: `it could not be tried (${errnoOf(error)})` }
  }
}

/** A command as Claude Code would start it: its exit code and its folder must come back. */
async function tryWrapper(root: string, folder: string): Promise<string | null> {
  const scratch = mkdtempSync(join(realpathSync(tmpdir()), 'plan-gate-canary-'))
  try {
    const cwd = join(scratch, 'claude-0000-cwd')
    const line = `source /nowhere/snapshot-bash-0.sh 2>/dev/null || true && eval '(exit 7)' < /dev/null && pwd -P >| ${cwd}`
    const env = { ...withoutSession(process.env), TMPDIR: scratch, CLAUDE_CODE_TMPDIR: scratch }
    const { code, output } = await run(join(folder, 'run'), [line], root, env)
    return code === 7 ? null : `the wrapper does not work (exit code ${code}: ${output.trim().slice(0, 300)})`
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

const withoutSession = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^(CLAUDE_CODE_SESSION_ID|SANDBOX_RUNTIME|CLAUDE_PROJECT_DIR)$/.test(name)),
  )

/** Null where the profile keeps its promise. */
async function intrude(profile: Profile, root: string, { own, common }: GitDirs): Promise<string | null> {
  const folder = join(own, sandboxDir)
  const isMac = process.platform === 'darwin'
  const args = join(folder, `${profile}.${isMac ? 'sb' : 'args'}`)
  if (lstatSync(args, { throwIfNoEntry: false }) === undefined) return `there is no profile ${profile} for this machine`
  const mark = randomBytes(6).toString('hex')
  const victim = join(folder, `canary-${mark}`)
  const socket = join(folder, `s-${mark}`)
  writeFileSync(victim, mark, { mode: 0o600 })
  const before = stateOf(victim)
  // Where this is killed it is left for a minute, in which `finish` must not take it for a program of the worktree.
  const sleeper = spawn('sleep', [`60.${parseInt(mark.slice(0, 6), 16)}`], { stdio: 'ignore', cwd: '/' })
  const servers = [await listen('127.0.0.1'), await listen(socket)]
  const survivor = `61.${parseInt(mark.slice(0, 6), 16)}`
  const closedFolders = [folder, homedir(), common, join(root, '.claude')].map((path) => join(path, `.canary-${mark}`))
  const inRoot = join(root, `.plan-gate-canary-${mark}`)
  const target = {
    victim,
    writes: [
      ...closedFolders.filter((path) => profile !== 'approved' || !path.startsWith(join(common, '.canary'))),
      inRoot,
    ],
    pid: sleeper.pid,
    port: servers[0]?.port,
    socket,
    survivor,
  }
  try {
    const inside = [process.execPath, '-e', intruder, JSON.stringify(target)]
    const bwrap = [
      ...['--args', '3', '--setenv', 'PLAN_GATE_SANDBOX', profile],
      ...(profile === 'read-only' ? [] : ['--ro-bind', '/dev/null', socket]),
      ...(profile === 'approved' ? ['--', join(folder, 'bwrap'), ...innerArgs] : []),
      ...['--seccomp', '4', '--chdir', realpathSync(root), '--'],
    ]
    const env = { ...process.env, NODE_OPTIONS: '' }
    const ran = isMac
      ? await run(seatbelt, ['-D', 'CWD_FILE=/dev/null', '-f', args, ...inside], root, env)
      : await run(join(folder, 'bwrap'), [...bwrap, ...inside], root, env, [args, join(folder, `${profile}.bpf`)])
    if (ran.code !== 0)
      return `${profile}: it cannot be started (exit code ${ran.code}: ${ran.output.trim().slice(0, 300)})`
    const wroteInRoot = ran.output.includes(JSON.stringify(inRoot))
    if (profile !== 'read-only' && !wroteInRoot) return `${profile}: a command cannot write in ${root}`
    const left = closedFolders
      .concat(profile === 'approved' ? [] : [inRoot])
      .find((path) => lstatSync(path, { throwIfNoEntry: false }))
    if (left !== undefined) return `${profile}: a command wrote ${left}`
    if (stateOf(victim) !== before) return `${profile}: a command changed ${victim}`
    if (hasEnded(sleeper)) return `${profile}: a command ended a process outside`
    if (servers[1]?.wasReached()) return `${profile}: a command reached a socket outside`
    if (profile !== 'approved' && servers[0]?.wasReached()) return `${profile}: a command reached the network`
    // There it stays in the sandbox, in which it can change nothing.
    return isMac || (await ends(survivor)) ? null : `${profile}: a process outlived its command`
  } finally {
    sleeper.kill('SIGKILL')
    for (const { server } of servers) server.close()
    for (const path of [...closedFolders, inRoot, victim, `${victim}.moved`, socket]) rmSync(path, { force: true })
  }
}

/** Runs inside. Tries everything, and prints what it believes to have written. */
const intruder = `
const fs = require('fs'), net = require('net')
const { victim, writes, pid, port, socket, survivor } = JSON.parse(process.argv[1])
const did = []
const attempt = (name, act) => { try { act(); did.push(name) } catch {} }
for (const path of writes) attempt(path, () => fs.writeFileSync(path, 'canary'))
attempt('append', () => fs.appendFileSync(victim, 'x'))
attempt('mode', () => fs.chmodSync(victim, 0o777))
attempt('time', () => fs.utimesSync(victim, 1, 1))
attempt('rename', () => fs.renameSync(victim, victim + '.moved'))
attempt('unlink', () => fs.unlinkSync(victim))
attempt('kill', () => process.kill(pid, 'SIGKILL'))
attempt('survive', () => require('child_process').spawn('sleep', [survivor], { detached: true, stdio: 'ignore' }).unref())
for (const target of [{ port, host: '127.0.0.1' }, { path: socket }]) {
  try {
    const client = net.connect(target)
    client.on('connect', () => client.destroy())
    client.on('error', () => {})
    client.setTimeout(500, () => client.destroy())
  } catch {}
}
console.log(JSON.stringify(did))
`

const stateOf = (path: string): string => {
  const stat = lstatSync(path, { throwIfNoEntry: false, bigint: true })
  return stat === undefined ? 'absent' : [stat.mode, stat.mtimeNs, stat.ctimeNs, readFileSync(path, 'utf8')].join(' ')
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null

/** The kernel ends the processes of a sandbox a moment after its first one. */
async function ends(argument: string): Promise<boolean> {
  for (const giveUpAt = Date.now() + 1_000; Date.now() < giveUpAt; ) {
    if (!isRunning(argument)) return true
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return false
}

/** By its argument, which nothing else has. */
const isRunning = (argument: string): boolean =>
  readdirSync('/proc').some(
    (pid) =>
      /^\d+$/.test(pid) && unlessAbsent(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'), '').includes(argument),
  )

type Listener = { server: Server; port: number | undefined; wasReached: () => boolean }

function listen(where: string): Promise<Listener> {
  let reached = false
  const server = createServer((socket) => {
    reached = true
    socket.destroy()
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    const ready = (): void => {
      const address = server.address()
      resolve({ server, port: typeof address === 'object' ? address?.port : undefined, wasReached: () => reached })
    }
    if (where.startsWith('/')) server.listen(where, ready)
    else server.listen(0, where, ready)
  })
}

function run(
  file: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
  files: readonly string[] = [],
): Promise<{ code: number | null; output: string }> {
  const fds = files.map((path) => openSync(path, 'r'))
  return new Promise((resolve) => {
    const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe', ...fds] })
    for (const fd of fds) closeSync(fd)
    let output = ''
    const late = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (piece: Buffer) => (output += piece))
    child.once('error', (error) => resolve({ code: null, output: error.message }))
    child.once('close', (code) => {
      clearTimeout(late)
      resolve({ code, output })
    })
  })
}
