import { describe, expect, it } from 'vitest'
import type { Approval } from '../../../src/schemas/records.ts'
import type { ReviewResult } from '../../../src/schemas/review.ts'
import { verifyLedger } from '../../../src/state/ledger.ts'
import { readCounter } from '../../../src/state/revisions.ts'
import { finding, planText, verdict } from '../../support/plan-texts.ts'
import type { ReviewedWorktree } from '../../support/reviewed-worktree.ts'
import { runCli } from '../../support/run-cli.ts'
import { runHook } from '../../support/run-hook.ts'
import { chatReply, startOpenAiHttp } from '../../support/servers/openai-http.ts'
import { saidBy } from '../../support/servers/responses-record.ts'
import { approves, eventsOf, gateIsOpen, hashOf, openWorktree, unclear, useATool } from './open-worktree.ts'

const [first, second] = [planText('One.'), planText('Two.')]
const approvalOf = ({ read }: ReviewedWorktree): Approval =>
  JSON.parse(read('.claude/review/approval.json')) as Approval
const resultOf = ({ read }: ReviewedWorktree, revision: number): ReviewResult =>
  JSON.parse(read(`.claude/review/plan_v${revision}.codex.json`)) as ReviewResult
const questionIn = ({ api }: ReviewedWorktree, number: number): string => {
  const request = api.requests[number]
  return request === undefined ? 'not asked' : (saidBy(request, 'user').at(-1) ?? '')
}

const unclearAndSlow = verdict({
  verdict: 'CHANGES_REQUIRED',
  findings: [finding('It is unclear.'), finding('It scans the table twice for each user.', { section: '## Risks' })],
})

describe('plan-gate waive', () => {
  it('decides one finding, and approves the reviewed text with the last one that held it', async () => {
    const worktree = await openWorktree([unclearAndSlow])
    await worktree.savePlan(first)
    const cli = (...args: string[]) => runCli(args, { cwd: worktree.root })
    expect((await cli('findings', '--open')).stdout).toMatch(/F1 {2}open, major[\s\S]*F2 {2}open, major/)
    expect((await cli('waive', 'F1', '--reason', 'It is a prototype.')).stdout).toMatch(/Still open: F2\./)
    expect(gateIsOpen(worktree)).toBe(false)
    expect(useATool(worktree)).toMatch(/the user decided that F1 need not be fixed: It is a prototype/)
    expect(useATool(worktree)).toBe('')

    expect(JSON.parse((await cli('waive', 'f2', '--reason', 'One user.', '--json')).stdout)).toEqual({
      finding: 'F2',
      waived: true,
      open: [],
      approved: true,
    })
    expect(gateIsOpen(worktree)).toBe(true)
    expect(approvalOf(worktree)).toMatchObject({
      plan_hash: hashOf(first),
      route: 'manual',
      waived: [
        { id: 'F1', severity: 'major', reason: 'It is a prototype.' },
        { id: 'F2', severity: 'major', reason: 'One user.' },
      ],
    })
    expect(useATool(worktree)).toMatch(/approved, by the user[\s\S]*Ready to execute/)
    expect((await cli('status')).stdout).toMatch(/approved {2}by hand: waived F1: It is a prototype\.; F2: One user\./)
    expect((await cli('verify')).stdout).toMatch(/✓ approval/)
    const { findings } = JSON.parse((await cli('findings', '--json')).stdout) as { findings: { state: string }[] }
    expect(findings.map(({ state }) => state)).toEqual(['waived', 'waived'])
    expect((await cli('log')).stdout).toMatch(/waived +F1 by you: It is a prototype/)
    expect(worktree.api.requests).toHaveLength(1)

    expect((await cli('waive', 'F2', '--undo')).stdout).toMatch(/the gate is closed/)
    expect(gateIsOpen(worktree)).toBe(false)
    expect(verifyLedger(worktree.root)).toMatchObject({ kind: 'intact', tornBytes: 0 })
  })

  it('keeps a waived finding from holding the plan, also under another id', async () => {
    const worktree = await openWorktree([
      unclearAndSlow,
      verdict({
        verdict: 'APPROVED',
        findings: [finding('For each user it scans the table twice.', { section: '## Risks' })],
        previous: [
          { id: 'F1', status: 'fixed', reason: 'It says what is printed.' },
          { id: 'F2', status: 'fixed', reason: 'The index is named now.' },
        ],
      }),
    ])
    await worktree.savePlan(first)
    await runCli(['waive', 'F2', '--reason', 'One user.'], { cwd: worktree.root })
    expect((await worktree.savePlan(second))?.text).toMatch(/revision 2 of docs\/plan\.md is approved/)
    expect(questionIn(worktree, 1)).toMatch(/they need not be fixed[\s\S]*F2 \(## Risks\): It scans[\s\S]*One user\./)
    expect(approvalOf(worktree)).toMatchObject({ route: 'codex', waived: [{ id: 'F2', reason: 'One user.' }] })
    expect(resultOf(worktree, 2).findings).toMatchObject([{ severity: 'advice', raised_as: 'major' }])
  })

  it.each<[string, string[], RegExp]>([
    ['no reason', ['F1'], /needs a reason/],
    ['an id that nobody gave', ['F7', '--reason', 'x'], /There is no finding F7\. Open: F1\./],
    ['one that is not waived', ['F1', '--undo'], /F1 is not waived/],
  ])('%s is an error that says what to do', async (_, args, said) => {
    const worktree = await openWorktree([unclear])
    await worktree.savePlan(first)
    expect((await runCli(['waive', ...args], { cwd: worktree.root, exitCode: 2 })).stderr).toMatch(said)
  })

  it('is for what was reviewed, and for the user', async () => {
    const worktree = await openWorktree([unclear, approves])
    const waive = (exitCode: number, env = {}) =>
      runCli(['waive', 'F1', '--reason', 'x'], { cwd: worktree.root, exitCode, env })
    expect((await waive(2)).stderr).toMatch(/No revision of the plan has been reviewed/)
    await worktree.savePlan(first)
    runHook(worktree.root, 'pre-tool-use', {
      hook_event_name: 'PreToolUse',
      cwd: worktree.root,
      tool_name: 'Bash',
      tool_input: { command: 'cat README.md' },
      tool_use_id: 'toolu_1',
    })
    expect((await waive(1, { CLAUDECODE: '1' })).stderr).toMatch(/a decision of the user/)
    await worktree.savePlan(second)
    expect((await waive(2)).stderr).toMatch(/F1 is not open: it is fixed/)
  })
})

describe('what the author answers under ## Review replies', () => {
  const contests = (plan: string) => `${plan}\n## Review replies\n\n- F1: contest: src/app.ts:1 exports it.\n`
  const stays = verdict({
    verdict: 'CHANGES_REQUIRED',
    previous: [{ id: 'F1', status: 'not_fixed', reason: 'It does not say so.' }],
  })

  it('is handed over, and is no part of the plan', async () => {
    const worktree = await openWorktree([
      unclear,
      verdict({ verdict: 'APPROVED', previous: [{ id: 'F1', status: 'withdrawn', reason: 'It is exported there.' }] }),
    ])
    expect((await worktree.savePlan(first))?.text).toMatch(/answer under `## Review replies`/)
    expect((await worktree.savePlan(contests(first)))?.text).toMatch(/revision 2 of docs\/plan\.md is approved/)
    const asked = questionIn(worktree, 1)
    expect(asked.match(/src\/app\.ts:1 exports it/g)).toHaveLength(1)
    expect(asked).not.toMatch(/^## Review replies$/m)
    expect(gateIsOpen(worktree)).toBe(true)
    expect(resultOf(worktree, 2).previous_findings).toMatchObject([{ id: 'F1', status: 'withdrawn' }])
  })

  it('goes to a fresh reader when it is contested twice, and to the user with both sides when that one keeps it', async () => {
    const worktree = await openWorktree([unclear, stays, stays])
    await worktree.savePlan(first)
    await worktree.savePlan(contests(first))
    expect(worktree.api.requests).toHaveLength(2)
    const told = await worktree.savePlan(contests(second))
    expect(worktree.api.requests).toHaveLength(4)
    expect(told?.text).toMatch(
      /F1 was contested twice and is kept open\. The reviewer: It is unclear\. The author: .*src\/app\.ts:1 exports it/,
    )
    expect(gateIsOpen(worktree)).toBe(false)
  })
})

describe('the tokens of a cycle', () => {
  it('end it as the revisions do; the user continues', async () => {
    const costly = { ...unclear, usage: { input: 900, output: 150 } }
    const worktree = await openWorktree([costly], { 'plan-gate.yaml': 'plan:\n  cycle_tokens: 1000\n' })
    expect((await worktree.savePlan(first))?.text).toMatch(
      /have used 1050 tokens, and the limit is 1000 \(plan\.cycle_tokens\)/,
    )
    expect((await worktree.savePlan(second))?.text).toMatch(/was not sent to review: its reviews have used/)
    expect([worktree.api.requests.length, readCounter(worktree.root).value, gateIsOpen(worktree)]).toEqual([
      1,
      1,
      false,
    ])
    expect((await runCli(['continue'], { cwd: worktree.root })).stdout).toMatch(/and 2000 tokens/)
  })
})

describe('an approval', () => {
  it('says who looked, in how many passes, verified or not, and with what', async () => {
    const worktree = await openWorktree([verdict({ verdict: 'APPROVED' })], {
      'plan-gate.yaml': 'plan:\n  request: no.md\n',
    })
    const told = await worktree.savePlan(first)
    const who = /codex(?: \([^)]*\))?, a single pass, not verified, with the repository/
    expect(told?.text).toMatch(who)
    expect(told?.user).toMatch(who)
    // A notice is told with an approval, too.
    expect(told?.text).toContain('The reviewer did not get what was asked for (no.md): it does not exist.')
    expect(approvalOf(worktree)).toMatchObject({ passes: 1, repository: true, verification: null })
    expect((await runCli(['status'], { cwd: worktree.root })).stdout).toMatch(who)
    expect((await runCli(['report', '--json'], { cwd: worktree.root })).stdout).toMatch(who)
  })

  it('by a reviewer that was reached only because another failed is the user’s to give', async () => {
    const text = verdict({ verdict: 'APPROVED' }).text
    const api = await startOpenAiHttp(chatReply(text))
    const worktree = await openWorktree(
      [{ kind: 'http', status: 402, body: { error: { message: 'Pay first' } } }],
      {},
      null,
    )
    const env = { OPENAI_API_KEY: 'sk-test-of-the-fallback', OPENAI_BASE_URL: `${api.url}/v1` }
    const told = await worktree.savePlan(first, { env })
    expect(told?.text).toMatch(/is not approved\. Only curl \(.*without the repository.*does not name that reviewer/)
    expect(told?.user).toMatch(/You decide/)
    expect([gateIsOpen(worktree), readCounter(worktree.root).value]).toEqual([false, 0])
    expect(eventsOf(worktree.root).map(({ type }) => type)).not.toContain('approved')
    expect((await runCli(['status'], { cwd: worktree.root })).stdout).toMatch(/next +You decide: codex: .*no quota/)
    const asked = worktree.api.requests.length
    await worktree.savePlan(first, { env })
    expect(worktree.api.requests.length).toBeGreaterThan(asked)
  })
})
