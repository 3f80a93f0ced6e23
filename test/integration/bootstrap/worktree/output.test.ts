import { expect, it } from 'vitest'
import { runCli } from '../../../support/run-cli.ts'
import { temporaryRepo } from '../../../support/temporary-repo.ts'
import { jsonLines, offline } from './bootstrap-in.ts'

it('writes for people to stderr only', async () => {
  const repo = temporaryRepo()
  const { stdout, stderr } = await runCli([...offline, '--name', 'x'], { cwd: repo })
  expect(stdout).toBe('')
  expect(stderr).toContain(`\nReady: ${repo}-x\n\nStart with:\n  plan-gate open ${repo}-x\n`)
  expect(stderr).not.toContain('\u001b')
})

it('writes JSON to stdout only, with the result last', async () => {
  const repo = temporaryRepo()
  const { stdout, stderr } = await runCli([...offline, '--name', 'x', '--json'], { cwd: repo })
  expect(stderr).toBe('')
  const lines = jsonLines(stdout)
  expect(lines.map(({ event, name, step }) => [event, name ?? step].join(' ').trim())).toEqual([
    'prerequisite node',
    'prerequisite git',
    'prerequisite Claude Code',
    'prerequisite reviewer',
    'started worktree',
    'done worktree',
    'started install',
    'done install',
    'notice',
    'started self-test',
    'done self-test',
    'result',
  ])
  expect(lines.at(-1)).toEqual({
    event: 'result',
    kind: 'ready',
    worktree: `${repo}-x`,
    branch: 'plan/x',
    plan: { kind: 'missing' },
    prompt: '/plan-with-review',
    command: `plan-gate open ${repo}-x`,
  })
})

it('reports an unknown flag as JSON', async () => {
  const { stdout } = await runCli([...offline, '--frobnicate', '--json'], { cwd: temporaryRepo(), exitCode: 2 })
  expect(jsonLines(stdout)).toEqual([
    { event: 'error', message: "unknown option '--frobnicate'.", next_step: expect.any(String), exit_code: 2 },
  ])
})

it('reports an error to both', async () => {
  const repo = temporaryRepo('shop', { 'plan-gate.yaml': 'worktree:\n  setup: [exit 3]\n' })
  const { stdout, stderr } = await runCli([...offline, '--name', 'x', '--json'], { cwd: repo, exitCode: 1 })
  expect(jsonLines(stdout).at(-1)).toEqual({
    event: 'error',
    message: `The setup command \`exit 3\` failed (exit code 3) in ${repo}-x.`,
    next_step: expect.stringContaining('run the same bootstrap again'),
    exit_code: 1,
  })
  expect(stderr).toContain('plan-gate: The setup command `exit 3` failed')
})
