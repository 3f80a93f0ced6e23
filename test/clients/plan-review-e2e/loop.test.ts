import { existsSync } from 'node:fs'
import { afterEach, expect, it } from 'vitest'
import { readEvents, verifyLedger } from '../../../src/state/ledger.ts'
import { readCounter } from '../../../src/state/revisions.ts'
import { finding, planText, verdict } from '../../support/plan-texts.ts'
import { type ReviewedWorktree, reviewedWorktree } from '../../support/reviewed-worktree.ts'
import { askGate } from '../../support/run-hook.ts'
import type { Turns } from '../../support/servers/responses-api.ts'
import { saidBy } from '../../support/servers/responses-record.ts'

let opened: ReviewedWorktree[] = []
afterEach(() => {
  for (const worktree of opened) worktree.remove()
  opened = []
})

async function open(turns: Turns, files?: { readonly [path: string]: string }): Promise<ReviewedWorktree> {
  const worktree = await reviewedWorktree(turns, files)
  opened.push(worktree)
  return worktree
}

const isOpen = ({ root, at }: ReviewedWorktree): boolean =>
  askGate(root, 'Write', { file_path: at('src/app.ts'), content: 'x' }) === null

const typesIn = (root: string): string[] => {
  const read = readEvents(root)
  return read.kind === 'read' ? read.events.map(({ type }) => type) : []
}

it('goes from a plan that is found wanting to one that is approved, on one thread, and starts anew after it', async () => {
  const worktree = await open([
    verdict({ verdict: 'CHANGES_REQUIRED', findings: [finding('What is printed is not said.')] }),
    verdict({ verdict: 'APPROVED', previous: [{ id: 'F1', status: 'fixed', reason: 'It says hello now.' }] }),
    verdict({ verdict: 'CHANGES_REQUIRED', findings: [finding('Why it changed again is not said.')] }),
  ])
  const { root, api, savePlan } = worktree

  const first = await savePlan(planText())
  expect(first).toMatchObject({ decision: 'block', user: expect.stringContaining('not approved') })
  expect(first?.text).toMatch(/F1.*major[\s\S]*What is printed is not said[\s\S]*Say what is printed/)
  expect(first?.text).toMatch(/before the user has to decide, each in about \d+ s, \d+ tokens\./)
  expect([isOpen(worktree), readCounter(root).value]).toEqual([false, 1])

  const second = await savePlan(planText('Change the line so that it prints hello.'))
  expect(second).toMatchObject({ decision: 'context', text: expect.stringContaining('Ready to execute?') })
  expect([isOpen(worktree), readCounter(root).value]).toEqual([true, 2])
  const [, asked] = api.requests
  if (asked === undefined) throw new Error('not asked')
  // The earlier turn is in the history, and the question holds the plan, the diff and the finding.
  expect(saidBy(asked, 'assistant').join()).toContain('What is printed is not said.')
  const question = saidBy(asked, 'user').at(-1)
  for (const part of ['# Greet', '+Change the line so that it prints hello.', 'F1']) expect(question).toContain(part)

  const third = await savePlan(planText('Change the line so that it prints hello, twice.'))
  expect(third?.text).toContain('docs/plan.md was changed after its approval')
  expect(third?.text).toMatch(/revision 1 of docs\/plan.md is not approved/)
  expect([isOpen(worktree), readCounter(root).value]).toEqual([false, 1])
  for (const path of ['plan_v1.snapshot.md', 'plan_v2.codex.json', 'approval.json'])
    expect(existsSync(worktree.at(`.claude/review/history/cycle-0001/${path}`))).toBe(true)
  expect(verifyLedger(root)).toMatchObject({ kind: 'intact', tornBytes: 0 })
  expect(typesIn(root).filter((type) => type === 'thread-started')).toHaveLength(1)
  expect(typesIn(root).filter((type) => type === 'thread-replaced')).toHaveLength(0)
})

it('says the same again to the same bytes, without asking anybody', async () => {
  const worktree = await open([verdict({ verdict: 'CHANGES_REQUIRED', findings: [finding('It is unclear.')] })])
  const first = await worktree.savePlan(planText())
  expect(await worktree.savePlan(planText())).toEqual(first)
  expect([worktree.api.requests.length, readCounter(worktree.root).value]).toEqual([1, 1])
})

it('gives back at once what a checklist can see, and asks nobody for it', async () => {
  const worktree = await open([verdict({ verdict: 'APPROVED' })])
  const told = await worktree.savePlan('# Greet\n\n## Goal\n\nTODO\n')
  expect(told).toMatchObject({ decision: 'block', text: expect.stringContaining('Changes') })
  expect([worktree.api.requests.length, readCounter(worktree.root).value, isOpen(worktree)]).toEqual([0, 0, false])
})

it('stops at the limit and lays the open points before the user; continue allows more', async () => {
  const findings = [finding('It is unclear.')]
  const worktree = await open([verdict({ verdict: 'CHANGES_REQUIRED', findings })], {
    'src/app.ts': '',
    'plan-gate.yaml': 'plan:\n  max_revisions: 2\n',
  })
  await worktree.savePlan(planText('One.'))
  const last = await worktree.savePlan(planText('Two.'))
  expect(last?.text).toMatch(/Stop revising[\s\S]*plan-gate continue/)
  const beyond = await worktree.savePlan(planText('Three.'))
  expect(beyond?.text).toMatch(/was not sent to review/)
  expect([worktree.api.requests.length, readCounter(worktree.root).value, isOpen(worktree)]).toEqual([2, 2, false])
})

it('hands a question to the user', async () => {
  const worktree = await open([verdict({ verdict: 'DECISION_NEEDED', question: 'Hello or good day?' })])
  const told = await worktree.savePlan(planText())
  expect(told?.text).toContain('Hello or good day?')
  expect(isOpen(worktree)).toBe(false)
})

it('judges the last of ten edits at the same time, one review after the other', async () => {
  let [running, most] = [0, 0]
  const worktree = await open(() => {
    running += 1
    most = Math.max(most, running)
    setTimeout(() => (running -= 1), 150)
    return { ...verdict({ verdict: 'CHANGES_REQUIRED', findings: [finding('It is unclear.')] }), afterMs: 150 }
  })
  const texts = Array.from({ length: 10 }, (_, n) => planText(`Way number ${n}.`))
  await Promise.all(texts.map((text) => worktree.savePlan(text)))
  const { value } = readCounter(worktree.root)
  expect(most).toBe(1)
  expect(value).toBeGreaterThan(0)
  const read = readEvents(worktree.root)
  const revisions = read.kind === 'read' ? read.events.flatMap((e) => (e.type === 'reviewed' ? [e.revision] : [])) : []
  expect(revisions).toEqual(Array.from({ length: value }, (_, n) => n + 1))
  const last = worktree.read(`.claude/review/plan_v${value}.snapshot.md`)
  expect(value === 5 || last === worktree.read('docs/plan.md')).toBe(true)
})

it('gives a review no more than review.policy.max_total_seconds, where that is less than the deadline of a plan', async () => {
  const worktree = await open([{ kind: 'hang', when: 'after-created' }], {
    'src/app.ts': '',
    'plan-gate.yaml': 'review:\n  policy:\n    max_total_seconds: 3\n',
  })
  const told = await worktree.savePlan(planText())
  expect(told).toMatchObject({ decision: 'block', text: expect.stringContaining('could not be reviewed') })
  expect([readCounter(worktree.root).value, isOpen(worktree)]).toEqual([0, false])
})
