import { describe, expect, it } from 'vitest'
import { fakeReviewedWorktree } from '../support/fake-reviewed-worktree.ts'
import { planText } from '../support/plan-texts.ts'
import { askGate, runHook } from '../support/run-hook.ts'

/** Each event once, through the installed bundle. */
describe('pre-tool-use', () => {
  it.each<[answer: 'denied' | 'allowed', tool: string, input: { [key: string]: string }]>([
    ['denied', 'Write', { file_path: 'src/app.ts', content: '' }],
    ['allowed', 'Write', { file_path: 'docs/plan.md', content: '' }],
    ['denied', 'Write', { file_path: '.claude/review/approval.json', content: '{}' }],
    ['denied', 'Bash', { command: 'touch src/new.ts' }],
    ['allowed', 'Bash', { command: 'git log --oneline | head -3' }],
    ['denied', 'mcp__files__write', { path: 'src/app.ts' }],
  ])('before an approval: %s: %s %j', async (answer, tool, input) => {
    const { root, at } = await fakeReviewedWorktree([])
    const file = input.file_path === undefined ? {} : { file_path: at(input.file_path) }
    expect(askGate(root, tool, { ...input, ...file }) === null ? 'allowed' : 'denied').toBe(answer)
  })

  it('refuses input that is no event', async () => {
    const { root } = await fakeReviewedWorktree([])
    expect(runHook(root, 'pre-tool-use', 'no JSON').exitCode).toBe(2)
  })
})

it('post-tool-use and post-tool-use-failure report a change that a command made', async () => {
  const { root, write } = await fakeReviewedWorktree([])
  // The first event after the install takes the baseline.
  runHook(root, 'session-start', { hook_event_name: 'SessionStart', session_id: 's', source: 'startup', cwd: root })
  for (const [hook, event] of [
    ['post-tool-use', 'PostToolUse'],
    ['post-tool-use-failure', 'PostToolUseFailure'],
  ] as const) {
    write(`${hook}.txt`, 'x')
    const input = {
      hook_event_name: event,
      tool_name: 'Bash',
      tool_input: { command: 'x' },
      session_id: 's',
      cwd: root,
    }
    expect(runHook(root, hook, input).stdout).toContain(`${hook}.txt`)
  }
})

it('session-start says where the plan stands', async () => {
  const { root } = await fakeReviewedWorktree([])
  const event = { hook_event_name: 'SessionStart', session_id: 's', source: 'startup', cwd: root }
  expect(runHook(root, 'session-start', event).stdout).toContain('There is no plan yet')
})

it('config-change refuses a setting that switches the hooks off', async () => {
  const { root, write } = await fakeReviewedWorktree([])
  const path = write('.claude/settings.local.json', '{"disableAllHooks":true}')
  const event = { hook_event_name: 'ConfigChange', source: 'local_settings', file_path: path, cwd: root }
  expect(runHook(root, 'config-change', event).exitCode).toBe(2)
})

it('status-line shows that the gate is closed', async () => {
  const { root } = await fakeReviewedWorktree([])
  const event = { session_id: 's', cwd: root, workspace: { project_dir: root } }
  expect(runHook(root, 'status-line', event).stdout).toMatch(/closed/)
})

it('stop and pre-compact speak up while a finding about the implementation is open', async () => {
  const { root, env, write, approve } = await fakeReviewedWorktree(
    ['FAIL\n- src/app.ts:1: it prints nothing'],
    {},
    true,
  )
  write('docs/plan.md', planText())
  approve()
  const session = { session_id: 's', cwd: root }
  const file_path = write('src/app.ts', 'console.log(1)\n')
  const edit = { tool_name: 'Write', tool_input: { file_path, content: 'console.log(1)\n' }, tool_response: {} }
  const told = runHook(root, 'post-tool-use', { hook_event_name: 'PostToolUse', ...session, ...edit }, env)
  expect(told.stdout).toContain('it prints nothing')
  const stop = runHook(root, 'stop', { hook_event_name: 'Stop', ...session, stop_hook_active: false }, env)
  expect([stop.exitCode, stop.stderr]).toEqual([2, expect.stringContaining('it prints nothing')])
  const compact = runHook(root, 'pre-compact', { hook_event_name: 'PreCompact', ...session, trigger: 'auto' }, env)
  expect(compact.exitCode).toBe(0)
})
