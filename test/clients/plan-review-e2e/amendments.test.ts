import { writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Approval } from '../../../src/schemas/records.ts'
import { verifyLedger } from '../../../src/state/ledger.ts'
import { finding, planText, verdict } from '../../support/plan-texts.ts'
import type { ReviewedWorktree } from '../../support/reviewed-worktree.ts'
import { runCli } from '../../support/run-cli.ts'
import { saidBy } from '../../support/servers/responses-record.ts'
import { eventsOf, gateIsOpen, hashOf, openWorktree, useATool } from './open-worktree.ts'

const steps = (first: string, second = ' ') => planText(`- [${first}] Change the line.\n- [${second}] Run it.`)
const approvalOf = ({ read }: ReviewedWorktree): Approval =>
  JSON.parse(read('.claude/review/approval.json')) as Approval

describe('an approval', () => {
  it('goes on for the same plan with ticked boxes and other white space, without a call, as often as it is ticked', async () => {
    const worktree = await openWorktree([verdict({ verdict: 'APPROVED' })])
    await worktree.savePlan(steps(' '))
    const [reviewed, ticked] = [hashOf(steps(' ')), `${steps('x')}\r\n  \n`]
    expect(await worktree.savePlan(ticked)).toMatchObject({
      decision: 'context',
      text: expect.stringContaining('only ticks or white space'),
    })
    expect([gateIsOpen(worktree), worktree.api.requests.length]).toEqual([true, 1])
    // By a command; what it did under the approval is no drift.
    worktree.write('src/app.ts', 'print()\n')
    writeFileSync(worktree.at('docs/plan.md'), steps('x', 'X'))
    expect(useATool(worktree)).not.toMatch(/drift|without an approved plan/)
    expect([gateIsOpen(worktree), useATool(worktree)]).toEqual([true, ''])
    expect(approvalOf(worktree)).toMatchObject({ plan_hash: hashOf(steps('x', 'X')), carried_from: reviewed })
    expect(eventsOf(worktree.root).filter(({ type }) => type === 'approval-carried')).toMatchObject([
      { from: reviewed, plan_hash: hashOf(ticked) },
      { from: hashOf(ticked), plan_hash: hashOf(steps('x', 'X')) },
    ])
    expect(eventsOf(worktree.root).some(({ type }) => type === 'drift-found' || type === 'approval-revoked')).toBe(
      false,
    )
    expect(verifyLedger(worktree.root)).toMatchObject({ kind: 'intact', tornBytes: 0 })
    const verified = await runCli(['verify', '--export', 'approval.out.json', '--ledger', 'events.out'], {
      cwd: worktree.root,
    })
    expect([verified.exitCode, verified.stdout]).toEqual([0, expect.stringMatching(/approval {2}by codex, recorded/)])
    const files = ['--plan', 'docs/plan.md', '--approval', 'approval.out.json', '--ledger', 'events.out', '--no-manual']
    expect((await runCli(['verify', ...files], { cwd: worktree.root })).exitCode).toBe(0)
  })

  it.each([
    ['a word', planText('- [x] Change the word.\n- [ ] Run it.')],
    ['a box in a code block', `${steps(' ')}\n\`\`\`\n- [x] a\n\`\`\`\n`, `${steps(' ')}\n\`\`\`\n- [ ] a\n\`\`\`\n`],
  ])('ends with %s that changed', async (_, changed, before = steps(' ')) => {
    const worktree = await openWorktree([
      verdict({ verdict: 'APPROVED' }),
      verdict({ verdict: 'DECISION_NEEDED', question: 'Why?' }),
    ])
    await worktree.savePlan(before)
    expect(gateIsOpen(worktree)).toBe(true)
    expect((await worktree.savePlan(changed))?.text).toContain('Why?')
    expect(gateIsOpen(worktree)).toBe(false)
  })

  it('that nobody reviewed does not go on: its text is not known', async () => {
    const worktree = await openWorktree([verdict({ verdict: 'DECISION_NEEDED', question: 'Why?' })])
    worktree.write('docs/plan.md', steps(' '))
    worktree.approve()
    expect(gateIsOpen(worktree)).toBe(true)
    await worktree.savePlan(steps('x'))
    expect(gateIsOpen(worktree)).toBe(false)
  })
})

describe('an edit of an approved plan', () => {
  const minor = finding('The name is short.', { severity: 'minor', section: '## Risks', evidence: '' })
  const word = 'A wrong word would be printed'
  const late = finding('A major word.', { section: '## Risks', evidence: word })

  it('is reviewed as a difference to the approved text, with its findings and ids, on the same thread', async () => {
    const worktree = await openWorktree([
      verdict({ verdict: 'APPROVED', findings: [minor] }),
      verdict({ verdict: 'CHANGES_REQUIRED', findings: [late] }),
      // Asked whether that stands.
      verdict({ verdict: 'APPROVED' }),
    ])
    await worktree.savePlan(planText('Change the line.'))
    const told = await worktree.savePlan(planText('Change the line!'))
    // What came late, in text that was approved a minute before, does not hold it up.
    expect(told?.text).toMatch(/revision 1 of docs\/plan\.md is approved[\s\S]*F2 · advice \(was major\)/)
    expect(told?.text).toMatch(/what is still open \([^)]*F2, which came late/)
    const [, asked] = worktree.api.requests
    const question = asked === undefined ? '' : (saidBy(asked, 'user').at(-1) ?? '')
    expect(question).toContain('+Change the line!')
    expect(question).toMatch(/F1[\s\S]*The name is short/)
    const types = eventsOf(worktree.root).map(({ type }) => type)
    expect(types.filter((type) => type.startsWith('thread'))).toEqual(['thread-started'])
    expect(types.filter((type) => type === 'cycle-archived')).toHaveLength(1)
    expect([gateIsOpen(worktree), worktree.api.requests.length]).toEqual([true, 3])
  })

  it('is reviewed from the beginning where its approved text is not what the ledger says', async () => {
    const worktree = await openWorktree([verdict({ verdict: 'APPROVED' }), verdict({ verdict: 'APPROVED' })])
    await worktree.savePlan(planText('Change the line.'))
    worktree.write('.claude/review/plan_v1.snapshot.md', planText('Another text.'))
    await worktree.savePlan(planText('Change the line!'))
    const [, asked] = worktree.api.requests
    expect(asked === undefined ? '' : saidBy(asked, 'user').at(-1)).not.toContain('+Change the line!')
  })
})
