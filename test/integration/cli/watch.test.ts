import { once } from 'node:events'
import { renameSync, rmSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { appendEvent } from '../../../src/state/ledger.ts'
import { writeProgress } from '../../../src/state/revisions.ts'
import { type GatedWorktree, gatedWorktree } from '../../support/gated-worktree.ts'
import { runCli, startCli } from '../../support/run-cli.ts'
import { askGate } from '../../support/run-hook.ts'
import { temporaryRepo } from '../../support/temporary-repo.ts'
import { offline } from '../bootstrap/worktree/bootstrap-in.ts'

let worktree: GatedWorktree
const started: ReturnType<typeof startCli>[] = []
beforeEach(async () => {
  worktree = await gatedWorktree()
})
afterEach(() => {
  // Also after a failed test.
  for (const watch of started.splice(0)) watch.kill('SIGKILL')
  worktree.remove()
})

/** A running `plan-gate watch`, line by line. */
function startWatch(...args: string[]) {
  const watch = startCli(['watch', ...args], { cwd: worktree.root })
  started.push(watch)
  const lines: string[] = []
  createInterface({ input: watch.stdout }).on('line', (line) => lines.push(line))
  const exited = once(watch, 'exit') as Promise<[number | null]>
  return {
    lines,
    watch,
    told: async (pattern: RegExp): Promise<string> => {
      const giveUpAt = Date.now() + 20_000
      for (;;) {
        const found = lines.find((line) => pattern.test(line))
        if (found !== undefined) return found
        if (Date.now() > giveUpAt || watch.exitCode !== null) throw new Error(`no ${pattern} in\n${lines.join('\n')}`)
        await sleep(20)
      }
    },
    end: async (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> => {
      watch.kill(signal)
      const [code] = await exited
      return code
    },
    exited,
  }
}

const time = String.raw`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}`

describe('plan-gate watch without a terminal', () => {
  it('prints a plain line per event, and ends with 0', async () => {
    const { told, lines, end } = startWatch()
    await told(/gate +there is no plan yet; the gate is closed$/)
    worktree.write('docs/plan.md', '# Plan\n')
    await told(/gate +the gate is closed: docs\/plan\.md is not approved yet$/)
    askGate(worktree.root, 'Bash', { command: 'rm -rf src \u001b[2J' }, { session_id: 's-1' })
    await told(/denied +Bash rm -rf src \\u\{1b\}\[2J \(bash-\S+\)$/u)
    await appendEvent(worktree.root, { type: 'approval-revoked', why: 'a\nb \u202e\u001b[31mc' })
    await told(/revoked +the approval has ended: a b .\[31mc$/u)
    worktree.approve()
    await told(/gate +the plan is approved; the gate is open$/)
    expect(lines.filter((line) => !new RegExp(time).test(line) || /[\p{Cc}\p{Cf}]/u.test(line))).toEqual([])
    expect(await end()).toBe(0)
  })

  it('follows a review by its files, also one of an older version', async () => {
    const { told, end } = startWatch('--no-tty')
    await told(/gate/)
    const running = {
      pass: 1,
      passes: 3,
      backend: 'codex',
      started_at: new Date().toISOString(),
      deadline_at: new Date(Date.now() + 540_000).toISOString(),
      revision: 1,
      pid: process.pid,
    }
    writeProgress(worktree.root, running)
    await told(/pass +v1, pass 1 of 3 with codex, up to 5\d\d s$/)
    const next = { ...running, pass: 2, does: 'review', pass_started_at: new Date().toISOString() }
    writeProgress(worktree.root, { ...next, sign: 'codex is reading src/app.ts' })
    await told(/pass +v1, pass 2 of 3: find with codex/)
    await told(/ codex is reading src\/app\.ts$/)
    writeProgress(worktree.root, { ...next, pid: 2 ** 22 + 1 })
    await told(/pass +the review of v1 ended without a verdict: its process is gone$/)
    expect(await end('SIGINT')).toBe(0)
  })

  it('reports a removed worktree and ledger', async () => {
    const { told, end } = startWatch()
    await told(/gate/)
    rmSync(worktree.at('.claude/review'), { recursive: true })
    await appendEvent(worktree.root, { type: 'continued', revision: 5 })
    await told(/record +the ledger was replaced$/)
    await told(/continued +more revisions are reviewed after v5$/)
    const aside = `${worktree.root}-aside`
    renameSync(worktree.root, aside)
    await told(/worktree +.* was removed/)
    renameSync(aside, worktree.root)
    await told(/worktree +.* exists again$/)
    expect(await end('SIGHUP')).toBe(0)
  })

  it('ends quietly when its reader does', async () => {
    const { told, watch, exited } = startWatch()
    let stderr = ''
    watch.stderr.on('data', (text) => {
      stderr += String(text)
    })
    await told(/gate/)
    watch.stdout.destroy()
    worktree.write('docs/plan.md', '# Plan\n')
    expect([await exited, stderr]).toEqual([[0, null], ''])
  })

  it('prints a JSON object per event with --json', async () => {
    const { told, lines, end } = startWatch('--json')
    await told(/"happening":"gate"/)
    askGate(worktree.root, 'Write', { file_path: worktree.at('src/a.ts'), content: 'x' }, { session_id: 's-1' })
    await told(/"happening":"denial"/)
    await appendEvent(worktree.root, { type: 'continued', revision: 5 })
    await told(/"happening":"event"/)
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      {
        happening: 'gate',
        at: expect.any(String),
        installed: expect.any(String),
        open: false,
        plan: { kind: 'missing' },
      },
      {
        happening: 'denial',
        at: expect.any(String),
        tool: 'Write',
        target: worktree.at('src/a.ts'),
        rule: 'write',
        reason: expect.stringContaining('is not allowed before there is an approved plan'),
      },
      { happening: 'event', at: expect.any(String), seq: 2, type: 'continued', revision: 5 },
    ])
    expect(await end()).toBe(0)
  })
})

it('prints where the gates are if there is none here', async () => {
  const repo = temporaryRepo()
  const none = await runCli(['watch'], { cwd: repo, exitCode: 2 })
  expect(none.stderr).toMatch(/^plan-gate: There is no gate in .*\n {2}→ Open a worktree that has one/)
  await runCli([...offline, '--name', 'x'], { cwd: repo })
  const { stderr } = await runCli(['watch'], { cwd: repo, exitCode: 2 })
  expect(stderr).toContain(`There is one in:\n  ${repo}-x\n`)
})

it('prints the next step if there is no repository', async () => {
  const { stderr } = await runCli(['watch'], { cwd: '/', exitCode: 2 })
  expect(stderr).toMatch(/is not in a git repository\.\n {2}→ /)
})
