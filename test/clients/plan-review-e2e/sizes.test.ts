import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readApproval } from '../../../src/state/approval.ts'
import { readCounter } from '../../../src/state/revisions.ts'
import { planText, verdict } from '../../support/plan-texts.ts'
import type { ReviewedWorktree } from '../../support/reviewed-worktree.ts'
import { askGate } from '../../support/run-hook.ts'
import { saidBy } from '../../support/servers/responses-record.ts'
import { changingModel, eventsOf, gateIsOpen, hashOf, openWorktree, unclear } from './open-worktree.ts'
import { startHook } from './start-hook.ts'

const content = verdict({ verdict: 'APPROVED' })

/** As many bytes as this, in sentences that differ. */
function longText(bytes: number): string {
  const lines: string[] = []
  for (let length = 0, n = 1; length < bytes; n += 1) {
    const line = `Step ${n}: the function at line ${n * 7} of module ${n % 97} takes argument number ${n % 13} by value.`
    lines.push(line)
    length += line.length + 1
  }
  return lines.join('\n')
}

describe('a long plan', () => {
  it('is sent whole: an approval is of a text that the reviewer has seen', async () => {
    const worktree = await openWorktree([content])
    const text = planText(longText(130_000))
    expect((await worktree.savePlan(text))?.text).toMatch(/revision 1 of docs\/plan\.md is approved/)
    const [asked] = worktree.api.requests.map((request) => saidBy(request, 'user').at(-1) ?? '')
    expect(asked).toContain(text.trim())
  })

  it.each([147_000, 3_000_000])('of %i bytes is refused before anybody is asked', async (length) => {
    const worktree = await openWorktree([content])
    const told = await worktree.savePlan(planText(longText(length)))
    expect(told?.decision).toBe('block')
    expect(told?.text).toMatch(/has \d+ tokens, more than 40000 \(plan\.max_tokens in plan-gate\.yaml\)/)
    expect(told?.text).toMatch(/The largest sections: Approach \(about \d+\), /)
    expectUnasked(worktree)
  })
})

describe('bytes', () => {
  it.each([
    { name: 'CRLF', text: planText().replaceAll('\n', '\r\n') },
    { name: 'a byte order mark', text: `\uFEFF${planText()}` },
    { name: 'both', text: `\uFEFF${planText().replaceAll('\n', '\r\n')}` },
    { name: 'no newline at the end', text: planText().trimEnd() },
    { name: 'letters of all kinds', text: planText('Prints "Grüße, 世界 👩‍🚀" \u202e and \u2028 a line.') },
    { name: 'control characters', text: planText('A NUL \u0000, an escape \u001b[31m, a bell \u0007.') },
  ])('are reviewed and hashed as they are: $name', async ({ text }) => {
    const worktree = await openWorktree([content])
    const told = await worktree.savePlan(text)
    expect(told?.text).toMatch(/revision 1 of docs\/plan\.md is approved/)
    expect(gateIsOpen(worktree)).toBe(true)
    const approval = readApproval(worktree.root)
    expect(approval.kind === 'recorded' ? approval.approval.plan_hash : approval).toBe(hashOf(text))
    expect(readFileSync(worktree.at('.claude/review/plan_v1.snapshot.md')).equals(Buffer.from(text))).toBe(true)
    const asked = saidBy(worktree.api.requests[0] ?? fail(), 'user').join('\n')
    for (const part of ['## Goal', '## Changes', 'src/app.ts']) expect(asked).toContain(part)
  })

  it('that differ only in their line ends are another revision', async () => {
    const model = changingModel(unclear)
    const worktree = await openWorktree(model.turns)
    await worktree.savePlan(planText())
    await worktree.savePlan(planText().replaceAll('\n', '\r\n'))
    expect([readCounter(worktree.root).value, worktree.api.requests.length]).toEqual([2, 2])
  })

  it.each([
    { name: 'Latin-1', bytes: Buffer.from(planText('Grüße'), 'latin1') },
    { name: 'UTF-16', bytes: Buffer.from(`\uFEFF${planText()}`, 'utf16le') },
    { name: 'a character cut in two', bytes: Buffer.from(planText('世').replace('None.', '世')).subarray(0, -3) },
  ])('that are no UTF-8 are refused before anybody is asked: $name', async ({ bytes }) => {
    const worktree = await openWorktree([content])
    const told = await worktree.savePlan(bytes)
    expect(told?.decision).toBe('block')
    expect(told?.text).toMatch(/not UTF-8[\s\S]*as UTF-8\. No revision was counted/)
    expectUnasked(worktree)
    expect((await worktree.savePlan(planText()))?.text).toMatch(/revision 1 of docs\/plan\.md is approved/)
  })
})

describe('a plan that is none', () => {
  it.each(['', '\n \n', '\uFEFF'])('has nothing in it: %j', async (text) => {
    const worktree = await openWorktree([content])
    const told = await worktree.savePlan(text)
    expect(told?.decision).toBe('block')
    expect(told?.text).toMatch(/not ready for review[\s\S]*Goal/)
    expectUnasked(worktree)
  })

  it('is a link, to a file that would do', async () => {
    const worktree = await openWorktree([content])
    worktree.write('docs/real.md', planText())
    symlinkSync(worktree.at('docs/real.md'), worktree.at('docs/plan.md'))
    expect(askGate(worktree.root, 'Write', { file_path: worktree.at('docs/plan.md'), content: 'x' })).toMatch(/link/)
    expect((await startHook(worktree).ended).code).toBe(0)
    expectUnasked(worktree)
    expect(askGate(worktree.root, 'Write', { file_path: worktree.at('src/app.ts'), content: 'x' })).toMatch(
      /docs\/plan\.md is a symbolic link/,
    )
  })

  it('is a folder', async () => {
    const worktree = await openWorktree([content])
    mkdirSync(worktree.at('docs/plan.md'), { recursive: true })
    expect((await startHook(worktree).ended).code).toBe(0)
    expectUnasked(worktree)
    expect(askGate(worktree.root, 'Write', { file_path: worktree.at('src/app.ts'), content: 'x' })).toMatch(
      /docs\/plan\.md is a directory/,
    )
  })

  it.each(['gone', 'a link now', 'a folder now'])(
    'is %s after its approval, and takes the approval with it',
    async (how) => {
      const worktree = await openWorktree([content])
      await worktree.savePlan(planText())
      expect(gateIsOpen(worktree)).toBe(true)
      rmSync(worktree.at('docs/plan.md'))
      if (how === 'a folder now') mkdirSync(worktree.at('docs/plan.md'))
      if (how === 'a link now') {
        writeFileSync(worktree.at('same.md'), planText())
        symlinkSync(worktree.at('same.md'), worktree.at('docs/plan.md'))
      }
      expect(gateIsOpen(worktree)).toBe(false)
      const { code, stdout } = await startHook(worktree).ended
      expect([code, stdout]).toEqual([0, expect.stringMatching(/the approval is revoked/)])
      expect(eventsOf(worktree.root).map(({ type }) => type)).toContain('approval-revoked')
      rmSync(worktree.at('docs/plan.md'), { recursive: true, force: true })
      expect((await worktree.savePlan(planText()))?.text).toMatch(/revision 1 of docs\/plan\.md is approved/)
      expect(worktree.api.requests).toHaveLength(2)
    },
  )
})

function expectUnasked(worktree: ReviewedWorktree): void {
  expect([worktree.api.requests.length, readCounter(worktree.root).value, gateIsOpen(worktree)]).toEqual([0, 0, false])
}

function fail(): never {
  throw new Error('nobody was asked')
}
