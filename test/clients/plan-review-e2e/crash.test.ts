import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { readApproval } from '../../../src/state/approval.ts'
import { verifyLedger } from '../../../src/state/ledger.ts'
import { readCounter } from '../../../src/state/revisions.ts'
import { planText, verdict } from '../../support/plan-texts.ts'
import type { ReviewedWorktree } from '../../support/reviewed-worktree.ts'
import { saidBy } from '../../support/servers/responses-record.ts'
import { letAMinutePass } from '../../support/state/temporary-root.ts'
import { codexProcesses } from './codex-processes.ts'
import { approves, changingModel, eventsOf, gateIsOpen, hashOf, openWorktree, unclear } from './open-worktree.ts'
import { startHook } from './start-hook.ts'

const second = planText('Change the line so that it prints hello.')

it.each([
  { name: 'Esc', signal: 'SIGTERM', whom: 'group' },
  { name: 'The end of the session', signal: 'SIGHUP', whom: 'group' },
  { name: 'Ctrl-C', signal: 'SIGINT', whom: 'group' },
  { name: 'An end of the hook alone', signal: 'SIGTERM', whom: 'process' },
] as const)('$name during a review leaves no Codex, and the next save is reviewed', async ({ signal, whom }) => {
  const model = changingModel(unclear)
  const worktree = await openWorktree(model.turns)
  await worktree.savePlan(planText())
  model.says({ kind: 'hang', when: 'after-created' })
  writeFileSync(worktree.at('docs/plan.md'), second)
  const hook = startHook(worktree)
  await worktree.api.asked(2)
  expect(codexProcesses(worktree)).not.toEqual([])
  hook.kill(signal, whom)
  await hook.ended
  expect(codexProcesses(worktree)).toEqual([])
  expect([gateIsOpen(worktree), readCounter(worktree.root).value]).toEqual([false, 1])
  expectOrder(worktree)
  model.says(approves)
  expect((await worktree.savePlan(second))?.text).toMatch(/revision 2 of docs\/plan\.md is approved/)
  expect(gateIsOpen(worktree)).toBe(true)
})

it('Esc ends a hook that only waits for the review of another one', async () => {
  const worktree = await openWorktree([{ kind: 'hang', when: 'after-created' }])
  worktree.write('docs/plan.md', second)
  const reviewing = startHook(worktree)
  await worktree.api.asked(1)
  const waiting = startHook(worktree)
  await wait(700)
  waiting.kill('SIGTERM', 'group')
  await waiting.ended
  expect(codexProcesses(worktree)).not.toEqual([])
  reviewing.kill('SIGTERM', 'group')
  await reviewing.ended
  expectOrder(worktree)
})

const kills = 50
const seed = Number(process.env.PLAN_GATE_TEST_SEED ?? Math.floor(Math.random() * 1e9))

it(`goes on after each of ${kills} kills at random points of a review (PLAN_GATE_TEST_SEED=${seed})`, async () => {
  const random = randomFrom(seed)
  const texts: string[] = []
  const approvedByModel = new Set<string>()
  const worktree = await openWorktree((request) => {
    // By what was asked, and not by when: a Codex whose hook was killed may ask late.
    const asked = saidBy(request, 'user').at(-1) ?? ''
    const text = texts.findLast((each) => asked.includes(each)) ?? ''
    if (text.includes('not good enough')) return { ...unclear, afterMs: 20 }
    approvedByModel.add(hashOf(text))
    // The ids go on from one cycle to the next.
    const ids = [...new Set(asked.match(/\bF\d+\b/g) ?? [])]
    const previous = ids.map((id) => ({ id, status: 'fixed', reason: 'It is clear now.' }))
    return { ...verdict({ verdict: 'APPROVED', previous }), afterMs: 20 }
  })
  const { root, at } = worktree
  const env = { ...worktree.env, TMPDIR: join(worktree.home, 'tmp') }
  mkdirSync(env.TMPDIR)
  const save = (text: string): ReturnType<typeof startHook> => {
    texts.push(text)
    worktree.write('docs/plan.md', text)
    return startHook({ ...worktree, env })
  }
  const durations: number[] = []
  for (const way of ['Way one.', 'Way two.', 'Way three.']) {
    const since = performance.now()
    await save(planText(way)).ended
    durations.push(performance.now() - since)
  }
  const longest = Math.max(...durations.slice(1))

  let killed = 0
  for (let n = 1; n <= kills; n += 1) {
    const [whom, isGood, afterMs] = [random() < 0.5 ? 'process' : 'group', random() < 0.6, random() * longest] as const
    const message = `kill ${n}, after ${Math.round(afterMs)} of ${Math.round(longest)} ms, of the ${whom}`
    const text = planText(`Way number ${n}${isGood ? '' : ', which is not good enough'}.`)
    const hook = save(text)
    await wait(afterMs)
    hook.kill('SIGKILL', whom)
    if ((await hook.ended).signal === 'SIGKILL') killed += 1
    expectNothingMadeUp(worktree, approvedByModel, message)
    letAMinutePass(root)

    // A text that was found wanting, as the first half of the loop may have told before it died, is answered by another.
    const next = isGood ? text : planText(`Way number ${n}, better.`)
    const { code, stdout, stderr } = await save(next).ended
    expect(code, `${message}: ${stderr}`).toBe(0)
    expect(gateIsOpen(worktree), `${message}: ${stdout}`).toBe(true)
    expect(worktree.read(`.claude/review/plan_v${readCounter(root).value}.snapshot.md`), message).toBe(next)
    expectNothingMadeUp(worktree, approvedByModel, message)
    // Where the approval had been written before the kill, there was nothing to do, and so nothing to put in order.
    if (stdout !== '') expectOrder(worktree, message)
  }
  expect(killed).toBeGreaterThan(kills / 2)
  const cycles = readdirSync(at('.claude/review/history'))
  expect(cycles.filter((name) => name.endsWith('.partial'))).toEqual([])
  await expect.poll(() => codexProcesses(worktree), { timeout: 10_000 }).toEqual([])
}, 300_000)

function expectNothingMadeUp({ root }: ReviewedWorktree, byModel: ReadonlySet<string>, message: string): void {
  expect(verifyLedger(root).kind, message).toBe('intact')
  const approval = readApproval(root)
  expect(approval.kind, message).not.toBe('refused')
  if (approval.kind !== 'recorded') return
  expect([...byModel], message).toContain(approval.approval.plan_hash)
  const given = eventsOf(root).flatMap(({ type, plan_hash }) => (type === 'approved' ? [plan_hash] : []))
  expect(given, message).toContain(approval.approval.plan_hash)
}

function expectOrder({ root, at }: ReviewedWorktree, message?: string): void {
  expect(verifyLedger(root), message).toMatchObject({ kind: 'intact', tornBytes: 0 })
  const left = readdirSync(at('.claude/review')).filter((name) => /\.lock$|\.tmp$|progress/.test(name))
  expect(left, message).toEqual([])
}

/** mulberry32 */
function randomFrom(start: number): () => number {
  let state = start >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
