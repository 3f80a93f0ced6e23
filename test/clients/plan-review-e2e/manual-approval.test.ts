import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { verifyLedger } from '../../../src/state/ledger.ts'
import { planText, verdict } from '../../support/plan-texts.ts'
import type { ReviewedWorktree } from '../../support/reviewed-worktree.ts'
import { runCli } from '../../support/run-cli.ts'
import { runHook } from '../../support/run-hook.ts'
import { eventsOf, gateIsOpen, hashOf, openWorktree, unclear, useATool } from './open-worktree.ts'

const plan = planText()
const plan_hash = hashOf(plan)
const approval = '.claude/review/approval.json'

async function unapproved(): Promise<ReviewedWorktree> {
  const worktree = await openWorktree([unclear, verdict({ verdict: 'APPROVED' })])
  worktree.write('docs/plan.md', plan)
  // A hook has to have seen it unapproved.
  runHook(worktree.root, 'session-start', { hook_event_name: 'SessionStart', source: 'startup' })
  return worktree
}

const statusOf = async ({ root }: ReviewedWorktree): Promise<string> =>
  (await runCli(['status'], { cwd: root })).stdout.split('\n').find((line) => line.startsWith('plan ')) ?? ''

it.each([
  { name: 'the two fields', text: JSON.stringify({ is_optimal: true, plan_hash }) },
  {
    name: 'a byte order mark and Windows line ends',
    text: `\uFEFF{\r\n "is_optimal": true,\r\n "plan_hash": "${plan_hash}"\r\n}\r\n`,
  },
  {
    name: 'a field of their own',
    text: JSON.stringify({ is_optimal: true, plan_hash, by: 'Ada', reason: 'It is a prototype.' }),
  },
  {
    name: 'all that a review would have written',
    text: JSON.stringify({ is_optimal: true, plan_hash, review_version: 1, route: 'codex', verification: 'done' }),
  },
])('a person who writes $name approves the plan, which the next call puts on record', async ({ text }) => {
  const worktree = await unapproved()
  expect(gateIsOpen(worktree)).toBe(false)
  writeFileSync(worktree.at(approval), text)
  expect(gateIsOpen(worktree)).toBe(true)
  expect(await statusOf(worktree)).toMatch(/approved; the gate is open/)
  expect(useATool(worktree)).toMatch(/approval\.json was written by hand, for docs\/plan\.md as it is now/)
  expect(useATool(worktree)).toBe('')
  expect(eventsOf(worktree.root).filter(({ type }) => type === 'approved-manually')).toMatchObject([{ plan_hash }])
  expect([worktree.read(approval), worktree.api.requests.length]).toEqual([text, 0])
  expect(verifyLedger(worktree.root)).toMatchObject({ kind: 'intact', tornBytes: 0 })

  const told = await worktree.savePlan(planText('Something else.'))
  expect(told?.text).toMatch(/approval is revoked[\s\S]*revision 1 of docs\/plan\.md is not approved/)
  expect(gateIsOpen(worktree)).toBe(false)
})

type Wrong = { name: string; says: RegExp; place?: (path: string, home: string) => void; text?: string }

const wrong: readonly Wrong[] = [
  {
    name: 'another hash',
    text: JSON.stringify({ is_optimal: true, plan_hash: '0'.repeat(64) }),
    says: /changed since it was approved/,
  },
  {
    name: 'a short hash',
    text: JSON.stringify({ is_optimal: true, plan_hash: plan_hash.slice(0, 12) }),
    says: /plan_hash must match pattern/,
  },
  { name: 'no hash', text: '{"is_optimal":true}', says: /must have required property 'plan_hash'/ },
  {
    name: 'is_optimal as text',
    text: JSON.stringify({ is_optimal: 'true', plan_hash }),
    says: /is_optimal must be boolean/,
  },
  {
    name: 'is_optimal as a number',
    text: JSON.stringify({ is_optimal: 1, plan_hash }),
    says: /is_optimal must be boolean/,
  },
  { name: 'is_optimal: false', text: JSON.stringify({ is_optimal: false, plan_hash }), says: /is_optimal: false/ },
  {
    name: 'another verdict',
    text: JSON.stringify({ verdict: 'APPROVED', plan_hash }),
    says: /must have required property 'is_optimal'/,
  },
  { name: 'a list', text: JSON.stringify([{ is_optimal: true, plan_hash }]), says: /must be object/ },
  { name: 'broken JSON', text: `{"is_optimal":true,"plan_hash":"${plan_hash}"`, says: /not JSON/ },
  { name: 'two objects', text: `{}\n${JSON.stringify({ is_optimal: true, plan_hash })}`, says: /not JSON/ },
  { name: 'nothing', text: '', says: /approval\.json is empty/ },
  {
    name: 'a link to a right one',
    place: (path, home) => {
      writeFileSync(join(home, 'right.json'), JSON.stringify({ is_optimal: true, plan_hash }))
      symlinkSync(join(home, 'right.json'), path)
    },
    says: /approval\.json is a symbolic link/,
  },
  { name: 'a folder', place: (path) => void mkdirSync(path), says: /approval\.json is a directory/ },
]

it.each(wrong)(
  'what is no approval leaves the gate closed, and the status says why: $name',
  async ({ text, place, says }) => {
    const worktree = await unapproved()
    if (text !== undefined) writeFileSync(worktree.at(approval), text)
    place?.(worktree.at(approval), worktree.home)
    expect(gateIsOpen(worktree)).toBe(false)
    expect(await statusOf(worktree)).toMatch(says)
    expect(await statusOf(worktree)).toMatch(/the gate is closed/)
  },
)
