import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { hookArgs } from '../../support/hook-args.ts'
import { cli } from '../../support/project.ts'

/** `cpu_ms`: of the program and of what it ran. The rest but `ms` is its own. `git_runs`: how many gits it started. */
export type Usage = { ms: number; cpu_ms: number; peak_mb: number; read_kb: number; git_runs: number }
export type Ran = Usage & { exitCode: number | null; stdout: string; stderr: string }

export type Run = {
  cwd: string
  args: readonly string[]
  input?: string | Uint8Array
  env?: NodeJS.ProcessEnv
  /** Any other end throws: what did not do its work is no measurement. */
  exitCodes?: readonly number[]
}

const preload = join(import.meta.dirname, 'report-usage.cjs')

/** Runs a node program to its end. */
export async function runMeasured({ cwd, args, input = '', env = {}, exitCodes = [0] }: Run): Promise<Ran> {
  const folder = mkdtempSync(join(tmpdir(), 'load-usage-'))
  const usageFile = join(folder, 'usage.json')
  const since = performance.now()
  const child = spawn(process.execPath, ['--require', preload, ...args], {
    cwd,
    env: {
      PATH: withCountedGit(folder),
      HOME: folder,
      TMPDIR: tmpdir(),
      NO_COLOR: '1',
      ...env,
      LOAD_USAGE_FILE: usageFile,
    },
  })
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  try {
    const ends = once(child, 'exit') as Promise<[number | null]>
    const [stdout, stderr, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), ends])
    const ms = performance.now() - since
    if (exitCode === null || !exitCodes.includes(exitCode))
      throw new Error(`${args.join(' ').slice(0, 300)} ended with ${exitCode}: ${stderr.slice(0, 2_000)}`)
    const used = existsSync(usageFile) ? readFileSync(usageFile, 'utf8') : '{"maxRSS":0,"cpu":0,"read":0}'
    const { maxRSS, cpu, read } = JSON.parse(used) as { maxRSS: number; cpu: number; read: number }
    const git_runs = readFileSync(gitRunsIn(folder), 'utf8').length
    return { ms, cpu_ms: cpu / 1000, peak_mb: maxRSS / 1024, read_kb: read / 1024, git_runs, exitCode, stdout, stderr }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

const gitRunsIn = (folder: string): string => join(folder, 'git-runs')

/** A `git` first on the path that leaves a mark and becomes the real one. */
function withCountedGit(folder: string): string {
  mkdirSync(join(folder, 'bin'))
  writeFileSync(gitRunsIn(folder), '')
  const script = `#!/bin/sh\nprintf . >> '${gitRunsIn(folder)}'\nPATH=\${PATH#*${delimiter}}\nexec git "$@"\n`
  writeFileSync(join(folder, 'bin', 'git'), script, { mode: 0o755 })
  return `${join(folder, 'bin')}${delimiter}${process.env.PATH ?? ''}`
}

export const runCommand = (cwd: string, args: readonly string[], more: Partial<Run> = {}): Promise<Ran> =>
  runMeasured({ cwd, args: [cli, ...args], ...more })

/** An installed hook, as its entry runs it. */
export const fireHook = (root: string, hook: string, event: object, more: Partial<Run> = {}): Promise<Ran> => {
  return runMeasured({
    cwd: root,
    args: hookArgs(root, hook),
    input: `${JSON.stringify({ session_id: 'load', cwd: root, permission_mode: 'default', ...event })}\n`,
    ...more,
    env: { CLAUDE_PROJECT_DIR: root, ...more.env },
  })
}

/** The median of some runs, by the time that the processor took. */
export async function medianOf(runs: number, run: () => Promise<Usage>): Promise<Usage> {
  const all: Usage[] = []
  for (let i = 0; i < runs; i += 1) all.push(await run())
  const sorted = all.sort((a, b) => a.cpu_ms - b.cpu_ms)
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? none
}

const none: Usage = { ms: 0, cpu_ms: 0, peak_mb: 0, read_kb: 0, git_runs: 0 }

/** What many used that ran at once: the memory is that of the largest, and `ms` is for the caller to say. */
export const sumOf = (all: readonly Usage[], ms: number): Usage => ({
  ms,
  cpu_ms: all.reduce((sum, { cpu_ms }) => sum + cpu_ms, 0),
  peak_mb: Math.max(...all.map(({ peak_mb }) => peak_mb)),
  read_kb: all.reduce((sum, { read_kb }) => sum + read_kb, 0),
  git_runs: all.reduce((sum, { git_runs }) => sum + git_runs, 0),
})
