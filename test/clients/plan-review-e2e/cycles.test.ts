import { appendFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ReviewResult } from '../../../src/schemas/review.ts'
import { verifyLedger } from '../../../src/state/ledger.ts'
import { hooksDir } from '../../../src/state/own-paths.ts'
import { readCounter } from '../../../src/state/revisions.ts'
import { finding, planText, verdict } from '../../support/plan-texts.ts'
import type { ReviewedWorktree } from '../../support/reviewed-worktree.ts'
import { runHook } from '../../support/run-hook.ts'
import { approves, eventsOf, gateIsOpen, openWorktree, unclear } from './open-worktree.ts'
import { startHook } from './start-hook.ts'

const [first, second, third] = [planText('One.'), planText('Two.'), planText('Three.')]
const changes = (findings: readonly object[], previous: readonly object[] = []) =>
  verdict({ verdict: 'CHANGES_REQUIRED', findings, previous })
const openF1 = { id: 'F1', status: 'not_fixed', reason: 'It says the same as before.' }

const resultOf = ({ read }: ReviewedWorktree, revision: number): ReviewResult =>
  JSON.parse(read(`.claude/review/plan_v${revision}.codex.json`)) as ReviewResult

const findingsOf = (worktree: ReviewedWorktree, revision: number): string[] =>
  resultOf(worktree, revision).findings.map(({ id, severity, problem }) => `${id} ${severity}: ${problem}`)

describe('a cycle', () => {
  it('that is over lies in the history whole, and the next one counts from 1', async () => {
    const worktree = await openWorktree([unclear, approves, unclear])
    await worktree.savePlan(first)
    await worktree.savePlan(second)
    const review = worktree.at('.claude/review')
    const reviewed = readdirSync(review).filter((name) => /^(plan_v|approval|passes)/.test(name))
    await worktree.savePlan(third)
    const archived = join(review, 'history', 'cycle-0001')
    expect(readdirSync(archived).sort()).toEqual(reviewed.sort())
    expect(reviewed).toHaveLength(8)
    expect(readdirSync(join(archived, 'passes')).sort()).toEqual(['plan_v1.pass-1.json', 'plan_v2.pass-1.json'])
    expect(
      readdirSync(review)
        .filter((name) => /^(plan_v|approval)/.test(name))
        .sort(),
    ).toEqual(['plan_v1.annotated.md', 'plan_v1.codex.json', 'plan_v1.snapshot.md'])
    expect(readCounter(worktree.root).value).toBe(1)
    const archivings = eventsOf(worktree.root).filter(({ type }) => type === 'cycle-archived')
    expect(archivings).toMatchObject([{ cycle: 1, revisions: 2, approved: true, recovered: false }])
    // The ids go on: the reviewer's thread knows another F1.
    expect(findingsOf(worktree, 1)).toEqual(['F2 major: It is unclear.'])
  })

  it('that goes back to what was approved in another one is reviewed anew', async () => {
    const worktree = await openWorktree([approves, unclear, approves])
    await worktree.savePlan(first)
    await worktree.savePlan(second)
    expect((await worktree.savePlan(first))?.text).toMatch(/revision 2 of docs\/plan\.md is approved/)
    expect([worktree.api.requests.length, gateIsOpen(worktree)]).toEqual([3, true])
    expect(verifyLedger(worktree.root)).toMatchObject({ kind: 'intact', tornBytes: 0 })
  })

  it('that ended because the gate was meddled with starts with a review, also of the same bytes', async () => {
    const worktree = await openWorktree([approves])
    await worktree.savePlan(first)
    appendFileSync(worktree.at(`${hooksDir}/parse-command.mjs`), '\n// meddled')
    const told = await worktree.savePlan(first)
    expect(told).toMatchObject({ decision: 'block', text: expect.stringMatching(/parse-command\.mjs: restored/) })
    expect(told?.text).toMatch(/docs\/plan\.md was not reviewed after this call\. Save it again to have it reviewed\./)
    expect([worktree.api.requests.length, gateIsOpen(worktree)]).toEqual([1, false])
    expect((await worktree.savePlan(first))?.text).toMatch(/revision 1 of docs\/plan\.md is approved/)
    expect([worktree.api.requests.length, gateIsOpen(worktree)]).toEqual([2, true])
  })

  it('whose approval a person ended starts with a review of the same bytes, and not with an old answer', async () => {
    const worktree = await openWorktree([unclear, approves])
    await worktree.savePlan(first)
    worktree.approve()
    expect((await worktree.savePlan(first))?.text).toMatch(/approval\.json was written by hand/)
    appendFileSync(worktree.at(`${hooksDir}/parse-command.mjs`), '\n// meddled')
    await worktree.savePlan(first)
    expect((await worktree.savePlan(first))?.text).toMatch(/revision 1 of docs\/plan\.md is approved/)
  })

  it('gets its approval and its number back from its own record, as after a crash before they were written', async () => {
    const worktree = await openWorktree([approves])
    await worktree.savePlan(first)
    rmSync(worktree.at('.claude/review/approval.json'))
    worktree.write('.claude/review/version_counter', '0\n')
    expect(gateIsOpen(worktree)).toBe(false)
    expect((await worktree.savePlan(first))?.text).toMatch(/revision 1 of docs\/plan\.md is approved/)
    expect([worktree.api.requests.length, gateIsOpen(worktree)]).toEqual([1, true])
    expect(readCounter(worktree.root).value).toBe(1)
  })
})

describe('findings', () => {
  it('keep their ids, and no id is given out twice', async () => {
    const worktree = await openWorktree([
      changes([
        finding('It is unclear.'),
        finding('Nobody tests it.', { section: '## Risks', evidence: 'A wrong word' }),
      ]),
      changes(
        [finding('It is unclear.', { id: 'F1' }), finding('Two is not a way.', { evidence: 'Two.' })],
        [openF1, { id: 'F2', status: 'fixed', reason: 'There is a test.' }],
      ),
      changes(
        [finding('Three is none either.', { evidence: 'Three.' })],
        [
          { id: 'F1', status: 'fixed', reason: 'It is clear.' },
          { id: 'F3', status: 'fixed', reason: 'Two is gone.' },
        ],
      ),
    ])
    for (const text of [first, second, third]) await worktree.savePlan(text)
    expect([1, 2, 3].map((revision) => findingsOf(worktree, revision))).toEqual([
      ['F1 major: It is unclear.', 'F2 major: Nobody tests it.'],
      ['F1 major: It is unclear.', 'F3 major: Two is not a way.'],
      // From the third round on, what is new and not critical is late.
      ['F4 advice: Three is none either.'],
    ])
  })

  it('that come back unfixed are named as stuck', async () => {
    const again = changes([finding('It is unclear.', { id: 'F1' })], [openF1])
    const worktree = await openWorktree([unclear, again, again])
    await worktree.savePlan(first)
    expect((await worktree.savePlan(second))?.text).not.toMatch(/Stuck/)
    const told = await worktree.savePlan(third)
    expect(told?.text).toMatch(/Stuck[\s\S]*F1 \(.*\) came back unfixed 2 times/)
    expect(told?.user).toMatch(/Stuck: F1/)
    expect(worktree.read('.claude/review/plan_v3.annotated.md')).toMatch(/came back unfixed/)
  })

  it('that the reviewer calls not fixed keep its own approval from counting', async () => {
    const worktree = await openWorktree([unclear, verdict({ verdict: 'APPROVED', previous: [openF1] })])
    await worktree.savePlan(first)
    const told = await worktree.savePlan(second)
    expect(told).toMatchObject({
      decision: 'block',
      text: expect.stringMatching(/F1 · major[\s\S]*It says the same as before/),
    })
    expect([gateIsOpen(worktree), resultOf(worktree, 2).verdict]).toEqual([false, 'CHANGES_REQUIRED'])
    expect(eventsOf(worktree.root).map(({ type }) => type)).not.toContain('approved')
  })

  it('are dropped with a reason, and not without one', async () => {
    const rejected = (reason: string) =>
      verdict({ verdict: 'APPROVED', previous: [{ id: 'F1', status: 'rejected', reason }] })
    const worktree = await openWorktree([
      unclear,
      rejected('ok'),
      // Asked once more for the status alone.
      rejected('ok'),
      rejected('The line is said in the issue that it names.'),
    ])
    await worktree.savePlan(first)
    expect((await worktree.savePlan(second))?.decision).toBe('block')
    expect((await worktree.savePlan(third))?.text).toMatch(/is approved/)
  })

  it('that are new in text that has not changed are advice, unless they are critical', async () => {
    const late = (severity: string) =>
      finding(`A ${severity} word.`, { severity, section: '## Risks', evidence: 'A wrong word would be printed' })
    const fixed = [{ id: 'F1', status: 'fixed', reason: 'It is clear now.' }]
    const worktree = await openWorktree([unclear, changes([late('major'), late('critical')], fixed)])
    await worktree.savePlan(first)
    const told = await worktree.savePlan(second)
    expect(findingsOf(worktree, 2)).toEqual(['F2 advice: A major word.', 'F3 critical: A critical word.'])
    expect(told?.text).toMatch(/F2 · advice \(was major\)[\s\S]*came late/)
    expect(resultOf(worktree, 2).late).toEqual(['F2'])
  })
})

it('a decision of the user, written into the plan, is reviewed like any revision', async () => {
  const worktree = await openWorktree([
    verdict({ verdict: 'DECISION_NEEDED', question: 'Hello or good day?' }),
    verdict({ verdict: 'APPROVED' }),
  ])
  const told = await worktree.savePlan(first)
  for (const part of [/Hello or good day\?/, /Do not answer it yourself/]) expect(told?.text).toMatch(part)
  expect([gateIsOpen(worktree), readCounter(worktree.root).value]).toEqual([false, 1])
  expect((await worktree.savePlan(first))?.text).toBe(told?.text)
  expect(worktree.api.requests).toHaveLength(1)
  await worktree.savePlan(planText('The user decided: hello.'))
  expect([gateIsOpen(worktree), readCounter(worktree.root).value]).toEqual([true, 2])
})

describe('a plan that another tool changed', () => {
  const tool = { tool_name: 'Bash', tool_input: { command: 'cp plan.txt docs/plan.md' } }

  it('is reviewed, once', async () => {
    const worktree = await openWorktree([unclear])
    worktree.write('docs/plan.md', first)
    const { stdout } = await startHook(worktree, { tool }).ended
    expect(stdout).toMatch(/revision 1 of docs\/plan\.md is not approved/)
    expect((await startHook(worktree, { tool }).ended).stdout).toBe('')
    expect(worktree.api.requests).toHaveLength(1)
  })

  it('and failed at it is reviewed with the next call, which has the time for it', async () => {
    const worktree = await openWorktree([unclear])
    worktree.write('docs/plan.md', first)
    const event = { hook_event_name: 'PostToolUseFailure', cwd: worktree.root, ...tool, error: 'exit code 1' }
    expect(runHook(worktree.root, 'post-tool-use-failure', event, worktree.env).stdout).toBe('')
    expect(worktree.api.requests).toHaveLength(0)
    const { stdout } = await startHook(worktree, { tool }).ended
    expect(stdout).toMatch(/revision 1 of docs\/plan\.md is not approved/)
  })
})
