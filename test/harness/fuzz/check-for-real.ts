import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RealRuns } from './oracle/real-runs.ts'
import { sandboxed } from './oracle/sandbox.ts'
import type { Confirmed } from './target.ts'

/** Allowed lines in a real bash, in a sandbox where the system permits one, for as long as there is time. */
export function checkForReal(lines: readonly string[], seconds: number): Confirmed {
  const base = mkdtempSync(join(tmpdir(), 'plan-gate-real-'))
  const [file, folder] = [join(base, 'lines.json'), mkdtempSync(join(base, 'sandbox-'))]
  writeFileSync(file, JSON.stringify(lines))
  try {
    const script = fileURLToPath(new URL('./oracle/real-runs.ts', import.meta.url))
    const command = ['env', `TMPDIR=${folder}`, process.execPath, '--import', 'tsx', script, file, String(seconds)]
    const inside = sandboxed(folder, command)
    const [program = '', ...args] = inside ?? command
    const { status, stdout, stderr } = spawnSync(program, args, {
      maxBuffer: 256 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    if (status !== 0) throw new Error(`the lines could not be run: ${stderr.toString().slice(-2_000)}`)
    const { toolboxes, missing, watched, failures, ...counts } = JSON.parse(stdout.toString()) as RealRuns
    const how = [
      `${counts.runs.toLocaleString('en-US')} runs in bash with ${toolboxes.join(', ')}`,
      inside === null ? 'WITHOUT a sandbox' : 'in a sandbox, as an ordinary user',
      watched ? 'with strace' : 'strace is MISSING',
      ...missing.map((name) => `${name} is MISSING`),
    ]
    return { ran: counts.lines, how: how.join(', '), failures }
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}
