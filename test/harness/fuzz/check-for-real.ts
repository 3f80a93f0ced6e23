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
    const inside = sandboxed(folder, [...command, 'sandboxed'])
    const [program = '', ...args] = inside ?? command
    const { status, stdout, stderr } = spawnSync(program, args, {
      maxBuffer: 256 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    if (status !== 0) throw new Error(`the lines could not be run: ${stderr.toString().slice(-2_000)}`)
    const { lines: ran, boxes, missing, watched, failures } = JSON.parse(stdout.toString()) as RealRuns
    const counted = (count: number): string => count.toLocaleString('en-US')
    const how = [
      ...boxes
        .filter((box) => box.ran > 0)
        .map((box) => `${counted(box.ran)} by ${box.name} (${counted(box.succeeded)} with success)`),
      inside === null ? 'WITHOUT a sandbox' : 'in a sandbox, as an ordinary user',
      watched === null ? 'strace is MISSING' : `${counted(watched)} watched by strace`,
      ...missing.map((name) => `${name} is MISSING`),
    ]
    return { ran, how: how.join(', '), failures }
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}
