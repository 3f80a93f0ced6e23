import { appendFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readApproval } from '../../../src/state/approval.ts'
import { withLock } from '../../../src/state/cycles.ts'
import { readEvents } from '../../../src/state/ledger.ts'
import { finding, planText, verdict } from '../../support/plan-texts.ts'
import type { ReviewedWorktree } from '../../support/reviewed-worktree.ts'
import { runCli } from '../../support/run-cli.ts'
import { temporaryRepo } from '../../support/temporary-repo.ts'
import { hashOf, gateIsOpen as isOpen, openWorktree, unclear } from '../plan-review-e2e/open-worktree.ts'

const again = verdict({
  verdict: 'CHANGES_REQUIRED',
  findings: [finding('It is unclear.', { id: 'F1' })],
  previous: [{ id: 'F1', status: 'not_fixed', reason: 'It says the same.' }],
})
const [first, second, third] = [planText('One.'), planText('Two.'), planText('Three.')]
const twoRevisions = { 'plan-gate.yaml': 'plan:\n  max_revisions: 2\n' }

const run = async ({ root }: ReviewedWorktree, ...args: string[]): Promise<string> =>
  (await runCli(args, { cwd: root })).stdout

/** What it says on stderr when it refuses. */
const refused = async ({ root }: ReviewedWorktree, exitCode: number, ...args: string[]): Promise<string> =>
  (await runCli(args, { cwd: root, exitCode })).stderr

describe('after the last revision', () => {
  it('the user goes on with plan-gate continue, which is there for nothing else', async () => {
    const worktree = await openWorktree([unclear, again, again, again], twoRevisions)
    await worktree.savePlan(first)
    expect(await refused(worktree, 2, 'continue')).toMatch(/limit is not reached: 1 of 2[\s\S]*→ Let Claude revise/)
    expect((await worktree.savePlan(second))?.text).toMatch(/Stop revising/)
    expect((await worktree.savePlan(third))?.text).toMatch(/was not sent to review: 2 revisions/)
    expect(await run(worktree, 'continue')).toMatch(/The plan is reviewed again, up to revision 4/)
    expect(worktree.api.requests).toHaveLength(2)
    expect((await worktree.savePlan(third))?.text).toMatch(
      /revision 3 of docs\/plan\.md is not approved[\s\S]*1 more revision is/,
    )
    expect((await worktree.savePlan(first))?.text).toMatch(/same text as revision 1/)
    await worktree.savePlan(planText('Four.'))
    expect((await worktree.savePlan(planText('Five.')))?.text).toMatch(/was not sent to review: 4 revisions/)
    expect(JSON.parse(await run(worktree, 'continue', '--json'))).toEqual({ revisions: 4, limit: 6 })
  })

  it('says the same text as before to the same bytes, and something else once it may go on', async () => {
    const worktree = await openWorktree([unclear, again], twoRevisions)
    await worktree.savePlan(first)
    const last = await worktree.savePlan(second)
    expect(await worktree.savePlan(second)).toEqual(last)
    await run(worktree, 'continue')
    const told = await worktree.savePlan(second)
    expect(told?.text).not.toMatch(/Stop revising/)
    expect(told?.text).toMatch(/revision 2 of docs\/plan\.md is not approved[\s\S]*2 more revisions are/)
    expect(worktree.api.requests).toHaveLength(2)
  })

  it('the user approves with a reason, which opens the gate for these bytes and stands in the record', async () => {
    const worktree = await openWorktree([unclear, again, unclear], twoRevisions)
    await worktree.savePlan(first)
    await worktree.savePlan(second)
    const wanting = /needs --force and a reason[\s\S]*--force --reason/
    expect(await refused(worktree, 2, 'approve')).toMatch(wanting)
    expect(await refused(worktree, 2, 'approve', '--force')).toMatch(wanting)
    expect(await refused(worktree, 2, 'approve', '--reason', 'It will do.')).toMatch(wanting)
    expect(await refused(worktree, 2, 'approve', '--force', '--reason', ' ')).toMatch(wanting)
    expect(isOpen(worktree)).toBe(false)

    expect(await run(worktree, 'approve', '--force', '--reason', 'F1 is accepted for now.')).toMatch(/approved by you/)
    expect(isOpen(worktree)).toBe(true)
    expect(readApproval(worktree.root)).toMatchObject({
      approval: { is_optimal: true, route: 'manual', reason: 'F1 is accepted for now.', review_version: 2 },
    })
    expect(await refused(worktree, 2, 'approve', '--force', '--reason', 'Once more.')).toMatch(/approved already/)
    expect(await run(worktree, 'verify')).toMatch(/approval {2}by hand, recorded/)
    expect(await run(worktree, 'log')).toMatch(/by hand +F1 is accepted for now\./)
    // Claude is told once.
    expect((await worktree.savePlan(second))?.text).toMatch(
      /the user approved docs\/plan\.md as it is \(F1 is accepted/,
    )
    expect(await worktree.savePlan(second)).toBe(null)

    expect((await worktree.savePlan(third))?.text).toMatch(
      /approval is revoked[\s\S]*revision 1 of docs\/plan\.md is not approved/,
    )
    expect(isOpen(worktree)).toBe(false)
    const read = readEvents(worktree.root)
    const manual = read.kind === 'read' ? read.events.filter(({ type }) => type === 'approved-manually') : []
    expect(manual).toHaveLength(1)
  })
})

describe('plan-gate approve', () => {
  it('ends the cycle of other bytes first', async () => {
    const worktree = await openWorktree([verdict({ verdict: 'APPROVED' })])
    await worktree.savePlan(first)
    writeFileSync(worktree.at('docs/plan.md'), second)
    await run(worktree, 'approve', '--force', '--reason', 'I wrote it.')
    expect(isOpen(worktree)).toBe(true)
    expect(await run(worktree, 'status')).toMatch(/0 of 5 reviewed in this cycle; 1 cycle before/)
    expect(await run(worktree, 'verify')).toMatch(/cycle 1, revision 1 {2}APPROVED/)
  })

  it('approves no plan that is not there, and none that is under review', async () => {
    const worktree = await openWorktree([unclear])
    const words = ['approve', '--force', '--reason', 'Because.']
    expect(await refused(worktree, 2, ...words)).toMatch(/There is no docs\/plan\.md/)
    await worktree.savePlan(first)
    await withLock(
      worktree.root,
      async () => expect(await refused(worktree, 1, ...words)).toMatch(/review of the plan is running[\s\S]*→ Wait/),
      { waitMs: 0 },
    )
    expect(isOpen(worktree)).toBe(false)
  }, 40_000)
})

it('shows where the plan stands, what happened, and what changed', async () => {
  const worktree = await openWorktree([unclear, again])
  expect(await refused(worktree, 2, 'diff')).toMatch(/No revision of the plan has been sent to review/)
  expect(await run(worktree, 'status')).toMatch(/there is no plan yet/)
  await worktree.savePlan(first)
  await worktree.savePlan(second)

  const status = await run(worktree, 'status')
  expect(status).toMatch(/2 of 5 reviewed in this cycle \(v1 CHANGES_REQUIRED, v2 CHANGES_REQUIRED\)/)
  expect(status).toMatch(/F1 .*It is unclear\./)
  expect(await run(worktree, 'status', '--verbose')).toMatch(/thread +[0-9a-f-]{36}/)

  const log = await run(worktree, 'log')
  expect(log.match(/^\S+ \S+ {2}verdict/gm)).toHaveLength(2)
  expect(log).toMatch(/verdict +v1 CHANGES_REQUIRED by codex, 1 finding/)
  expect((await run(worktree, 'log', '-n', '2')).trimEnd().split('\n')).toHaveLength(2)
  const lines = (await run(worktree, 'log', '--json'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string })
  expect(lines.map(({ type }) => type)).toContain('thread-started')
  for (const count of ['0', '-1', 'all'])
    expect(await refused(worktree, 2, 'log', `--last=${count}`)).toMatch(/whole number/)

  expect(await run(worktree, 'diff')).toBe('No changes.\n')
  const changed = ['--- v1', '+++ v2', '-One.', '+Two.']
  for (const args of [
    ['v1', 'v2'],
    ['1', '2'],
  ])
    for (const part of changed) expect(await run(worktree, 'diff', ...args)).toContain(part)
  writeFileSync(worktree.at('docs/plan.md'), `${third}\u001b[31mred\n`)
  const now = await run(worktree, 'diff', 'v1')
  for (const part of ['+++ docs/plan.md', '-One.', '+Three.']) expect(now).toContain(part)
  expect(now).not.toContain('\u001b')
  expect(JSON.parse(await run(worktree, 'diff', 'v1', 'v2', '--json'))).toMatchObject({ from: 'v1', to: 'v2' })
  expect(await refused(worktree, 2, 'diff', 'v7')).toMatch(/no revision v7[\s\S]*There are: v1, v2/)
  expect(await refused(worktree, 2, 'diff', 'last')).toMatch(/no revision last/)
})

describe('plan-gate verify', () => {
  type Checks = { holds: boolean; checks: { name: string; holds: boolean; detail: string }[] }
  const checked = async ({ root }: ReviewedWorktree, exitCode: number): Promise<Checks> =>
    JSON.parse((await runCli(['verify', '--json'], { cwd: root, exitCode })).stdout) as Checks

  it('holds for what the reviews left, archived cycles as well', async () => {
    const previous = [{ id: 'F1', status: 'fixed', reason: 'It says what is printed.' }]
    const worktree = await openWorktree([unclear, verdict({ verdict: 'APPROVED', previous })])
    expect((await checked(worktree, 1)).checks.find(({ name }) => name === 'approval')?.detail).toMatch(/no plan yet/)
    for (const text of [first, second, third]) await worktree.savePlan(text)
    const { holds, checks } = await checked(worktree, 0)
    expect([holds, checks.map((check) => `${check.name}: ${check.detail}`)]).toEqual([
      true,
      [
        expect.stringMatching(/^ledger: \d+ events, head [0-9a-f]{12}$/),
        'cycle 1, revision 1: CHANGES_REQUIRED',
        'cycle 1, revision 2: APPROVED',
        'revision 1: APPROVED',
        'approval: by codex, recorded',
      ],
    ])
    expect((await runCli(['verify'], { cwd: worktree.root })).stdout.split('\n')[0]).toMatch(/✓ ledger/)
  })

  it.each([
    {
      name: 'a line of the ledger',
      forge: ({ at, read }: ReviewedWorktree) =>
        writeFileSync(
          at('.claude/review/events.jsonl'),
          read('.claude/review/events.jsonl').replace('"verdict":"APPROVED"', '"verdict":"CHANGES_REQUIRED"'),
        ),
      check: 'ledger',
      says: /line \d+ of events\.jsonl: it does not follow/,
    },
    {
      name: 'a snapshot',
      forge: ({ at }: ReviewedWorktree) => appendFileSync(at('.claude/review/plan_v1.snapshot.md'), 'And more.\n'),
      check: 'revision 1',
      says: /not the reviewed text/,
    },
    {
      name: 'an archived snapshot',
      forge: ({ at }: ReviewedWorktree) =>
        appendFileSync(at('.claude/review/history/cycle-0001/plan_v1.snapshot.md'), 'And more.\n'),
      check: 'cycle 1, revision 1',
      says: /not the reviewed text/,
    },
    {
      name: 'an approval in the name of a reviewer',
      forge: ({ at }: ReviewedWorktree) => {
        const plan_hash = hashOf(second)
        writeFileSync(
          at('.claude/review/approval.json'),
          JSON.stringify({ is_optimal: true, plan_hash, route: 'codex' }),
        )
      },
      check: 'approval',
      says: /names codex, but the ledger has no such approval/,
    },
    {
      name: 'a plan with its approval',
      forge: ({ at }: ReviewedWorktree) => {
        writeFileSync(at('docs/plan.md'), third)
        writeFileSync(
          at('.claude/review/approval.json'),
          JSON.stringify({ is_optimal: true, plan_hash: hashOf(third) }),
        )
      },
      check: 'approval',
      says: /written by hand before plan-gate had seen this text/,
    },
    {
      name: 'the counter',
      forge: ({ at }: ReviewedWorktree) => writeFileSync(at('.claude/review/version_counter'), '0\n'),
      check: 'counter',
      says: /version_counter says 0, and the ledger says 1/,
    },
    {
      name: 'the thread',
      forge: ({ at }: ReviewedWorktree) =>
        writeFileSync(at('.claude/review/codex_thread_id'), '0199a213-81c0-7800-8aa1-bbab2a035a53\n'),
      check: 'thread',
      says: /codex_thread_id names 0199a213.*, and the ledger/,
    },
  ])('finds out who forged $name', async ({ forge, check, says }) => {
    const worktree = await openWorktree([verdict({ verdict: 'APPROVED' }), unclear])
    await worktree.savePlan(first)
    await worktree.savePlan(second)
    forge(worktree)
    const { holds, checks } = await checked(worktree, 1)
    expect(holds).toBe(false)
    expect(checks.find(({ name }) => name === check)).toMatchObject({
      holds: false,
      detail: expect.stringMatching(says),
    })
  })
})

it('is told apart from a repository without a gate', async () => {
  const cwd = temporaryRepo()
  expect((await runCli(['status'], { cwd })).stdout).toMatch(/^gate +there is none in/)
  for (const args of [
    ['log'],
    ['diff'],
    ['findings'],
    ['continue'],
    ['waive', 'F1', '--reason', 'x'],
    ['drift', 'accept'],
  ])
    expect((await runCli(args, { cwd, exitCode: 2 })).stderr).toMatch(/There is no gate in .*\n.*bootstrap --name/)
  expect((await runCli(['verify'], { cwd, exitCode: 1 })).stdout).toMatch(/✗ ledger {2}there is none/)
})
