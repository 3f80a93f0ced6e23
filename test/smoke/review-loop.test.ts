import { expect, it } from 'vitest'
import { type FakeReviewedWorktree, fakeReviewedWorktree } from '../support/fake-reviewed-worktree.ts'
import { finding, planText, verdict } from '../support/plan-texts.ts'
import { runCli } from '../support/run-cli.ts'
import { askGate } from '../support/run-hook.ts'

const requiresChanges = verdict({ verdict: 'CHANGES_REQUIRED', findings: [finding('It is unclear.')] }).text
const approves = verdict({
  verdict: 'APPROVED',
  previous: [{ id: 'F1', status: 'fixed', reason: 'It is clear now.' }],
}).text

const gateIsOpen = ({ root, at }: FakeReviewedWorktree): boolean =>
  askGate(root, 'Write', { file_path: at('src/app.ts'), content: 'x' }) === null

const statusOf = async (root: string): Promise<{ plan: { kind: string } }> =>
  JSON.parse((await runCli(['status', '--json'], { cwd: root })).stdout) as { plan: { kind: string } }

it('a plan is found wanting, fixed, approved, and an edit closes the gate again', async () => {
  const worktree = await fakeReviewedWorktree([requiresChanges, approves, requiresChanges])
  const first = await worktree.savePlan(planText())
  expect(first).toMatchObject({ decision: 'block', text: expect.stringMatching(/F1[\s\S]*It is unclear\./) })
  expect(gateIsOpen(worktree)).toBe(false)

  const second = await worktree.savePlan(planText('Change the line so that it prints hello.'))
  expect(second).toMatchObject({ decision: 'context', text: expect.stringContaining('Ready to execute?') })
  expect(gateIsOpen(worktree)).toBe(true)
  expect(await statusOf(worktree.root)).toMatchObject({ plan: { kind: 'approved' } })

  await worktree.savePlan(planText('Something else.'))
  expect(gateIsOpen(worktree)).toBe(false)
})

it('a reviewer that fails is no verdict: nothing is counted, and the next step is named', async () => {
  const worktree = await fakeReviewedWorktree([{ error: 'unexpected status 401 Unauthorized: no key' }])
  const told = await worktree.savePlan(planText())
  expect(told).toMatchObject({ decision: 'block', text: expect.stringMatching(/codex login/) })
  expect(gateIsOpen(worktree)).toBe(false)
})

it('the same bytes get the same verdict without another call', async () => {
  const worktree = await fakeReviewedWorktree([requiresChanges])
  const first = await worktree.savePlan(planText())
  expect(await worktree.savePlan(planText())).toEqual(first)
})

it('what the checklist can see costs no review', async () => {
  const worktree = await fakeReviewedWorktree([])
  const told = await worktree.savePlan('# Greet\n\n## Goal\n\nTODO\n')
  expect(told).toMatchObject({ decision: 'block', text: expect.stringContaining('## Context') })
})

it('the user can approve past the reviewer, and the record holds', async () => {
  const worktree = await fakeReviewedWorktree([requiresChanges])
  await worktree.savePlan(planText())
  await runCli(['approve', '--force', '--reason', 'It is fine.'], { cwd: worktree.root })
  expect(gateIsOpen(worktree)).toBe(true)
  await runCli(['verify'], { cwd: worktree.root })
})
