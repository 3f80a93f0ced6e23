import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Measured, measure, type Program, round } from './measure.ts'

/** Other gates for Claude Code on the npm registry, each as its entry in the settings starts it. */
const peers = [
  {
    spec: 'cc-safety-net@2.4.5',
    args: (folder: string) => [
      join(folder, 'node_modules/cc-safety-net/dist/bin/cc-safety-net.js'),
      'hook',
      '--claude-code',
    ],
  },
] as const

/** What they cost a harmless command. */
export function benchPeers(runs: number): (Measured & { against: string; ratio: number; limit: null })[] {
  const folder = mkdtempSync(join(tmpdir(), 'bench-peers-'))
  try {
    writeFileSync(join(folder, 'empty.mjs'), '')
    writeFileSync(join(folder, 'package.json'), '{}')
    execFileSync('npm', ['install', '--no-audit', '--no-fund', ...peers.map(({ spec }) => spec)], {
      cwd: folder,
      stdio: 'ignore',
    })
    const event = {
      hook_event_name: 'PreToolUse',
      session_id: 'bench',
      cwd: folder,
      tool_name: 'Bash',
      tool_input: { command: 'git log --oneline -5' },
    }
    const programs = peers.map(
      ({ spec, args }): Program => ({
        name: `${spec}: allowed command`,
        file: process.execPath,
        args: args(folder),
        input: `${JSON.stringify(event)}\n`,
        env: { HOME: folder },
        cwd: folder,
        exitCode: 0,
      }),
    )
    const [node, ...measured] = measure(
      [{ name: 'bare node', file: process.execPath, args: [join(folder, 'empty.mjs')], exitCode: 0 }, ...programs],
      runs,
    )
    return measured.map((row) => ({
      ...row,
      against: 'bare node',
      ratio: round(row.median_ms / (node?.median_ms ?? Number.NaN)),
      limit: null,
    }))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
