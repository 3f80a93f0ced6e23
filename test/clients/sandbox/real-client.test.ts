import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { launchSettings } from '../../../bootstrap/launch.ts'
import { listSessions, readDenials } from '../../../src/state/sessions.ts'
import { codexBinary } from '../../support/claude-clients.ts'
import { type GatedWorktree, gatedWorktree } from '../../support/gated-worktree.ts'
import { type ClaudeRun, runClaude } from '../../support/run-claude.ts'
import type { ToolUse } from '../../support/servers/messages-api.ts'
import { snapshotTree } from '../../support/snapshot-tree.ts'

const bash = (command: string, more: object = {}): ToolUse => ({
  name: 'Bash',
  input: { command, description: 'x', ...more },
})

/** The client itself denies a redirection into .claude, so the attempts go through a program. */
const script = (code: string): ToolUse =>
  bash(`node -e "
const fs = require('fs'), tries = (act) => { try { act() } catch (error) { console.log(error.code) } }
const write = (path) => tries(() => fs.writeFileSync(path, 'x')), rename = (from, to) => tries(() => fs.renameSync(from, to))
const remove = (path) => tries(() => fs.rmSync(path, { recursive: true }))
${code}"`)

describe.each(['newest', 'oldest'] as const)('in a session of the %s client', (client) => {
  let worktree: GatedWorktree
  const path = process.env.PATH
  beforeEach(async () => {
    process.env.PATH = `${join(dirname(await codexBinary()), '../../.bin')}:${path}`
    worktree = await gatedWorktree({
      'src/a.ts': '[/ s/]\n',
      'plan-gate.yaml': 'gate:\n',
      'package.json': '{"scripts":{"test":"echo > tested.txt"}}\n',
    })
    expect(worktree.installed.sandbox.kind).toBe('holds')
  })
  afterEach(() => {
    process.env.PATH = path
    worktree.remove()
  })

  const session = (calls: readonly ToolUse[], more: Partial<ClaudeRun> = {}) =>
    runClaude({
      client,
      cwd: worktree.root,
      settings: launchSettings(worktree.root, worktree.gitDirs),
      env: { PATH: process.env.PATH ?? '' },
      turns: calls.map((call) => ({ tools: [call] })),
      ...more,
    })
  const files = () =>
    snapshotTree(
      worktree.root,
      (name) =>
        name === '.claude/review' || name.startsWith('.git/plan-gate') || name.endsWith('plan-gate/config.json'),
    )

  it('any command runs before an approval, and nothing changes', async () => {
    const before = files()
    const { toolResults: results } = await session([
      bash("sed -n '/[/ s/]/w src/1' src/a.ts; echo ran"),
      bash('git for-each-ref --sort=signature; echo ran'),
      bash("python3 -c \"open('x', 'w')\"; touch y; echo ran"),
      bash('echo kept > /tmp/kept.txt'),
      bash('cat /tmp/kept.txt'),
      bash('npm test && ls'),
    ])
    expect(files()).toEqual(before)
    expect(results.map(({ text }) => text)).toEqual([
      expect.stringMatching(/Read-only file system[\s\S]*ran/),
      expect.stringContaining('ran'),
      expect.stringMatching(/Read-only file system[\s\S]*ran/),
      expect.anything(),
      expect.stringContaining('kept'),
      expect.stringMatching(/a rehearsal[\s\S]*tested\.txt/),
    ])
  })

  it('what was refused is explained at once, and recorded', async () => {
    const outcome = await session([bash('touch x')])
    expect(JSON.stringify(outcome.requests.at(-1))).toContain('the sandbox seems to have refused a write')
    const id = listSessions(worktree.root)[0]?.session?.session_id ?? ''
    expect(readDenials(worktree.root, id)).toMatchObject([{ rule: 'sandbox', target: 'touch x' }])
  })

  it('under an approval a command works, and decides nothing about the gate', async () => {
    worktree.write('docs/plan.md', '# Plan\n')
    worktree.approve()
    const kept = () =>
      snapshotTree(worktree.at('.claude'), (name) => name.startsWith('review/') || name.endsWith('/config.json'))
    const before = [kept(), worktree.read('plan-gate.yaml'), worktree.read('.git/config')]
    const { toolResults: results } = await session([
      bash('touch made.txt && ls'),
      script(`write('.claude/hooks/plan-gate/pre-tool-use.mjs'); rename('.claude', '.c'); remove('.claude')`),
      bash('echo "gate: {bash: {allow: [touch]}}" > plan-gate.yaml'),
      bash('git config core.fsmonitor "touch x"'),
      script(`write('docs/plan.md'); write('.claude/review/approval.json')`),
      bash('touch late.txt'),
    ])
    expect(results[0]?.text).toContain('made.txt')
    expect([kept(), worktree.read('plan-gate.yaml'), worktree.read('.git/config')]).toEqual(before)
    expect(existsSync(worktree.at('late.txt'))).toBe(false)
  })

  it('what runs in the background ends with the approval', { timeout: 60_000 }, async () => {
    worktree.write('docs/plan.md', '# Plan\n')
    worktree.approve()
    await session([
      bash('while sleep 0.05; do echo x >> beat.txt; done', { run_in_background: true }),
      bash('sleep 0.5; ls beat.txt'),
      bash('echo "# Other" > docs/plan.md'),
      bash('wc -l beat.txt > /tmp/first; sleep 0.5; wc -l beat.txt | diff - /tmp/first && echo still'),
    ]).then(({ toolResults: results }) => expect(results.at(-1)?.text).toContain('still'))
  })
})
