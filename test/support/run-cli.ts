import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Readable } from 'node:stream'
import { cli } from './project.ts'
import { runProgram } from './run-program.ts'
import { cleanEnvironment, type Files } from './temporary-repo.ts'

export type CliRun = {
  cwd: string
  /** A folder of programs that come first on PATH: see `fakePrograms`. */
  programs?: string
  env?: { readonly [name: string]: string }
  /** What the run must end with; 0 when absent. */
  exitCode?: number
}
export type CliOutcome = { exitCode: number; stdout: string; stderr: string }

/** Runs the built plan-gate. Any other exit code than the expected one throws, so that a crash cannot pass for a refusal. */
export async function runCli(args: readonly string[], run: CliRun): Promise<CliOutcome> {
  const options = { cwd: run.cwd, env: environmentOf(run), timeoutMs: 60_000 }
  const { exitCode, stdout, stderr } = await runProgram(process.execPath, [cli, ...args], options)
  const expected = run.exitCode ?? 0
  if (exitCode === expected) return { exitCode, stdout, stderr }
  throw new Error(
    `plan-gate ${args.join(' ')} ended with ${exitCode} instead of ${expected} in ${run.cwd}\n${stderr}${stdout}`,
  )
}

/** Starts it in a process group of its own, for tests that send signals. */
export const startCli = (args: readonly string[], run: CliRun): ChildProcessByStdio<null, Readable, Readable> =>
  spawn(process.execPath, [cli, ...args], {
    cwd: run.cwd,
    env: environmentOf(run),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })

function environmentOf({ programs, env }: CliRun): { [name: string]: string } {
  const clean = cleanEnvironment()
  return { ...clean, ...(programs === undefined ? {} : { PATH: `${programs}${delimiter}${clean.PATH}` }), ...env }
}

/** Small shell scripts under these names, in a folder of their own. */
export function fakePrograms(folder: string, scripts: Files): string {
  const programs = join(folder, 'programs')
  mkdirSync(programs, { recursive: true })
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(programs, name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(programs, name), 0o755)
  }
  return programs
}
