import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { closeGate } from '../../../src/gate/closed-mark.ts'
import { parseSettings } from '../../../src/install/settings.ts'
import type { LedgerEntry } from '../../../src/schemas/records.ts'
import { appendEvent } from '../../../src/state/ledger.ts'
import { writeProgress } from '../../../src/state/revisions.ts'
import { isRecord } from '../../../src/text/json.ts'
import { type GatedWorktree, gatedWorktree } from '../../support/gated-worktree.ts'

let worktree: GatedWorktree
let userDir: string
beforeEach(async () => {
  userDir = realpathSync(mkdtempSync(join(tmpdir(), 'user-')))
  vi.stubEnv('CLAUDE_CONFIG_DIR', userDir)
  worktree = await gatedWorktree()
})
afterEach(() => {
  worktree.remove()
  rmSync(userDir, { recursive: true, force: true })
  vi.unstubAllEnvs()
})

/** The very command of the settings, as Claude Code runs it. */
function statusLine(env: { readonly [name: string]: string } = {}): string {
  const parsed = parseSettings(worktree.read('.claude/settings.json'))
  const entry = parsed.kind === 'settings' ? parsed.settings.statusLine : null
  if (!isRecord(entry)) throw new Error('no status line is installed')
  return lineOf(String(entry.command), env)
}

function lineOf(command: string, env: { readonly [name: string]: string } = {}): string {
  const run = spawnSync('/bin/sh', ['-c', command], {
    cwd: '/',
    input: '{"session_id":"s-1","workspace":{"project_dir":"/x"}}',
    env: {
      PATH: process.env.PATH,
      HOME: userDir,
      CLAUDE_CONFIG_DIR: userDir,
      CLAUDE_PROJECT_DIR: worktree.root,
      NO_COLOR: '1',
      ...env,
    },
    encoding: 'utf8',
    timeout: 20_000,
  })
  // Whatever happens: Claude Code shows no error of ours.
  expect([run.status, run.stderr]).toEqual([0, ''])
  return run.stdout
}

const happened = async (...entries: LedgerEntry[]): Promise<void> => {
  for (const entry of entries) await appendEvent(worktree.root, entry)
}
const plan = (): void => void worktree.write('docs/plan.md', '# Plan\n')
const hash = 'a'.repeat(64)
const reviewed = (revision: number, verdict: string, findings: number): LedgerEntry => ({
  type: 'reviewed',
  revision,
  plan_hash: hash,
  verdict,
  backend: 'codex',
  findings,
})
const progress = (more: object = {}) => ({
  pass: 2,
  passes: 3,
  backend: 'codex',
  started_at: new Date(Date.now() - 100_500).toISOString(),
  deadline_at: '',
  revision: 3,
  pid: process.pid,
  ...more,
})

describe('a session in which the gate stays closed', () => {
  it('is shown as that, and no other', () => {
    closeGate(worktree.gitDirs.own, 's-1', 'a hook skips plan-gate (plan-gate doctor)')
    expect(statusLine({ CLAUDE_CODE_SESSION_ID: 's-1' })).toMatch(/gate closed in this session: a hook skips plan-gate/)
    expect(statusLine({ CLAUDE_CODE_SESSION_ID: 's-2' })).toMatch(/gate closed, no plan yet/)
  })
})

describe('the status line', () => {
  it.each<[line: string, prepare: () => unknown]>([
    ['gate closed, no plan yet', () => {}],
    ['gate closed, the plan is not reviewed yet', plan],
    [
      'gate closed, v2 CHANGES_REQUIRED (3 findings)',
      () => {
        plan()
        return happened(reviewed(1, 'CHANGES_REQUIRED', 1), reviewed(2, 'CHANGES_REQUIRED', 3))
      },
    ],
    [
      'gate closed, v1 CHANGES_REQUIRED (1 finding)',
      () => {
        plan()
        return happened(reviewed(1, 'CHANGES_REQUIRED', 1), { type: 'drift-found', paths: ['a'] })
      },
    ],
    [
      'gate closed, v1 DECISION_NEEDED',
      () => {
        plan()
        return happened(reviewed(1, 'DECISION_NEEDED', 0))
      },
    ],
    [
      'gate closed, no verdict: auth (plan-gate status)',
      () => {
        plan()
        return happened({ type: 'review-unavailable', plan_hash: hash, failure: 'auth', why: 'x' })
      },
    ],
    [
      'gate closed, v5 was the last one: your decision (plan-gate status)',
      () => {
        plan()
        return happened(reviewed(5, 'CHANGES_REQUIRED', 1), { type: 'limit-reached', revision: 5 })
      },
    ],
    [
      'gate closed, the plan is not reviewed yet',
      () => {
        plan()
        return happened(
          { type: 'approved', revision: 1, plan_hash: hash, route: 'codex', verification: null },
          { type: 'cycle-archived', cycle: 1, revisions: 1, approved: true, recovered: false },
        )
      },
    ],
    [
      'gate open, v4 is approved',
      () => {
        plan()
        worktree.approve()
        return happened({ type: 'approved', revision: 4, plan_hash: hash, route: 'codex', verification: null })
      },
    ],
    [
      'gate open, approved by hand',
      () => {
        plan()
        worktree.approve()
        return happened({ type: 'approved-manually', plan_hash: hash, reason: null })
      },
    ],
    [
      'gate open, the plan is approved',
      () => {
        plan()
        worktree.approve()
      },
    ],
    ['reviewing v3 (codex): pass 2 of 3, 1:41', () => writeProgress(worktree.root, progress())],
    [
      'reviewing v3 (codex): pass 2 of 3, 0:41 · codex is reading a.ts',
      () =>
        writeProgress(
          worktree.root,
          progress({
            pass_started_at: new Date(Date.now() - 40_500).toISOString(),
            does: 'review',
            sign: 'codex is reading a.ts',
          }),
        ),
    ],
    [
      'reviewing v3 (codex): pass 2 of 3, 1:41 of about 3 min',
      () => writeProgress(worktree.root, progress({ expected_ms: 180_000, forecast: 'about 3 min, 30k tokens' })),
    ],
    ['reviewing v3 (codex): pass 2 of 3', () => writeProgress(worktree.root, progress({ started_at: 'x' }))],
    ['gate closed, no plan yet', () => writeProgress(worktree.root, progress({ pid: 2 ** 22 + 1 }))],
    ['gate closed, no plan yet', () => worktree.write('.claude/review/progress.json', '{"pid":"x')],
    [
      'gate closed, plan-gate.yaml is invalid (plan-gate config)',
      () => {
        const config = JSON.parse(worktree.read('.claude/hooks/plan-gate/config.json')) as object
        worktree.write(
          '.claude/hooks/plan-gate/config.json',
          JSON.stringify({ ...config, problems: ['plan-gate.yaml:2: no'] }),
        )
      },
    ],
    [
      'gate not intact: pre-tool-use.mjs is missing (plan-gate doctor)',
      () => rmSync(worktree.at('.claude/hooks/plan-gate/pre-tool-use.mjs')),
    ],
    [
      'gate not intact: .claude/settings.local.json: disableAllHooks is true (plan-gate doctor)',
      () => worktree.write('.claude/settings.local.json', '{"disableAllHooks": true}'),
    ],
    [
      'gate not intact: its install record is missing (plan-gate doctor)',
      () => rmSync(worktree.at('.git/plan-gate'), { recursive: true }),
    ],
    [
      'gate closed, v\\u{1b}[2J \\u{202e}x (2 findings)',
      () => {
        plan()
        return happened({ ...reviewed(1, '\u202ex', 2), revision: '\u001b[2J' } as unknown as LedgerEntry)
      },
    ],
  ])('%s', async (line, prepare) => {
    await prepare()
    const shown = statusLine()
    // A slow machine comes a moment later.
    const time = /\d+:\d\d/
    expect(shown.replace(time, 'm:ss')).toBe(`▣ plan-gate: ${line}\n`.replace(time, 'm:ss'))
    if (time.test(line)) expect(secondsIn(shown)).toBeGreaterThanOrEqual(secondsIn(line))
  })

  it('has a colour, unless nobody wants one', () => {
    expect([statusLine({ NO_COLOR: '' }), statusLine()]).toEqual([
      '\u001b[33m▣ plan-gate: gate closed, no plan yet\u001b[0m\n',
      '▣ plan-gate: gate closed, no plan yet\n',
    ])
  })

  it('waits for nothing: not for stdin, not for a pipe in the place of a file', () => {
    const pipes = ['docs/plan.md', '.claude/review/progress.json', '.claude/review/approval.json']
    mkdirSync(worktree.at('docs'))
    rmSync(worktree.at('.claude/review/events.jsonl'))
    for (const path of [...pipes, '.claude/review/events.jsonl']) spawnSync('mkfifo', [worktree.at(path)])
    expect(statusLine()).toMatch(/^▣ plan-gate: gate closed/)
    spawnSync('mkfifo', [worktree.at('.claude/settings.local.json')])
    expect(statusLine()).toMatch(/^▣ plan-gate: gate not intact: \.claude\/settings\.local\.json: .*a named pipe/)
  })

  const unknown = '▣ plan-gate: gate not intact: its install record is missing (plan-gate doctor)\n'
  it.each<[string, () => void, string]>([
    ['the worktree is not there', () => {}, unknown],
    ['a file is where a folder should be', () => writeFileSync(join(userDir, 'gone'), ''), ''],
    ['it is no repository', () => mkdirSync(join(userDir, 'gone')), unknown],
  ])('disturbs nobody when %s', (_, prepare, line) => {
    prepare()
    const bundle = worktree.at('.claude/hooks/plan-gate/status-line.mjs')
    const shown = lineOf(`'${process.execPath}' '${bundle}'`, { CLAUDE_PROJECT_DIR: join(userDir, 'gone') })
    expect(shown).toBe(line)
  })

  it('gives way to a line that the user has set up since', () => {
    const own = { type: 'command', command: 'read -r line; printf "\\033[35mmine %s\\nsecond" "$line"; exit 3' }
    writeFileSync(join(userDir, 'settings.json'), JSON.stringify({ statusLine: own }))
    expect(statusLine()).toBe('\u001b[35mmine {"session_id":"s-1","workspace":{"project_dir":"/x"}}\nsecond')
    writeFileSync(join(userDir, 'settings.json'), '{')
    expect(statusLine()).toMatch(/^▣ plan-gate: gate not intact: /)
  })
})

it('the status line is small, and needs nothing that costs milliseconds to load', () => {
  const bundle = worktree.at('.claude/hooks/plan-gate/status-line.mjs')
  expect(readFileSync(bundle).length).toBeLessThan(26_500)
  const preload = worktree.at('.git/preload.cjs')
  writeFileSync(preload, 'process.on("exit", () => require("fs").writeSync(2, process.moduleLoadList.join()))')
  const { stderr } = spawnSync(process.execPath, ['--require', preload, bundle], {
    env: { HOME: userDir, CLAUDE_CONFIG_DIR: userDir, CLAUDE_PROJECT_DIR: worktree.root },
    encoding: 'utf8',
  })
  const loaded = stderr.split(',')
  expect(loaded).toContain('NativeModule fs')
  const costly = ['stream', 'crypto', 'child_process', 'http', 'net', 'os', 'readline', 'zlib']
  expect(loaded.filter((name) => costly.includes(name.replace('NativeModule ', '')))).toEqual([])
})

function secondsIn(line: string): number {
  const [, minutes, seconds] = /(\d+):(\d\d)/.exec(line) ?? []
  return 60 * Number(minutes) + Number(seconds)
}
