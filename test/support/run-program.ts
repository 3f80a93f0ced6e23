import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

export type ProgramRun = {
  cwd: string
  env: Readonly<Record<string, string>>
  timeoutMs: number
  /** Talks to the program; without it stdin is empty. */
  converse?: (program: ChildProcessWithoutNullStreams) => void
}
export type ProgramOutcome = { exitCode: number | null; stdout: string; stderr: string }

/** Runs a program in exactly this environment; at the deadline it ends, with everything it started. */
export async function runProgram(path: string, args: readonly string[], run: ProgramRun): Promise<ProgramOutcome> {
  const program = spawn(path, args, { cwd: run.cwd, env: run.env, detached: true })
  let started: number[] = []
  // SIGTERM first, so that it can end what runs in sessions of its own. Claude Code 2.1.200 leaves a Bash call behind.
  const ask = setTimeout(() => {
    started = descendantsOf(program.pid)
    end(-(program.pid ?? 0), 'SIGTERM')
  }, run.timeoutMs)
  const force = setTimeout(() => {
    for (const pid of [-(program.pid ?? 0), ...started]) end(pid, 'SIGKILL')
  }, run.timeoutMs + 3_000)

  // A program that has ended or reads nothing is no failure of the test's own.
  program.stdin.on('error', () => {})
  if (run.converse) run.converse(program)
  else program.stdin.end()
  try {
    const exited = once(program, 'exit') as Promise<[number | null]>
    const [stdout, stderr, [exitCode]] = await Promise.all([text(program.stdout), text(program.stderr), exited])
    return { exitCode, stdout, stderr }
  } finally {
    clearTimeout(ask)
    clearTimeout(force)
    for (const pid of [-(program.pid ?? 0), ...started]) end(pid, 'SIGKILL')
  }
}

function descendantsOf(root: number | undefined): number[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n')
  const processes = rows.map((row) => row.trim().split(/\s+/).map(Number))
  const found: number[] = []
  for (let parents = root === undefined ? [] : [root]; parents.length > 0; ) {
    parents = processes.flatMap(([pid = 0, parent = 0]) => (parents.includes(parent) ? [pid] : []))
    found.push(...parents)
  }
  return found
}

function end(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  // 0 and -0 would be this very process group.
  if (pid === 0) return
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended.
  }
}
