import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { hooksDir } from '../../src/protocol/hook-entries.ts'

export type Usage = { ms: number; cpu_ms: number; peak_mb: number; read_kb: number }
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
const cli = join(import.meta.dirname, '..', '..', 'dist', 'cli.mjs')

/** Runs a node program to its end; what its own children use is not counted. */
export async function runMeasured({ cwd, args, input = '', env = {}, exitCodes = [0] }: Run): Promise<Ran> {
  const folder = mkdtempSync(join(tmpdir(), 'load-usage-'))
  const usageFile = join(folder, 'usage.json')
  const since = performance.now()
  const child = spawn(process.execPath, ['--require', preload, ...args], {
    cwd,
    env: { PATH: process.env.PATH, HOME: folder, TMPDIR: tmpdir(), NO_COLOR: '1', ...env, LOAD_USAGE_FILE: usageFile },
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
    return { ms, cpu_ms: cpu / 1000, peak_mb: maxRSS / 1024, read_kb: read / 1024, exitCode, stdout, stderr }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

export const runCommand = (cwd: string, args: readonly string[], more: Partial<Run> = {}): Promise<Ran> =>
  runMeasured({ cwd, args: [cli, ...args], ...more })

/** An installed hook, as its entry runs it. */
export const fireHook = (root: string, hook: string, event: object, more: Partial<Run> = {}): Promise<Ran> => {
  const [file = '', ...words] = hook.split(' ')
  return runMeasured({
    cwd: root,
    args: [join(root, hooksDir, `${file}.mjs`), ...words],
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
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? { ms: 0, cpu_ms: 0, peak_mb: 0, read_kb: 0 }
}
