import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readApproval } from '../../../src/state/approval.ts'
import { listCycles, withLock } from '../../../src/state/cycles.ts'
import { appendEvent, readEvents, verifyLedger } from '../../../src/state/ledger.ts'
import { listRevisions, readCounter, readRevision } from '../../../src/state/revisions.ts'
import { filesUnder, letAMinutePass, temporaryRoot } from '../../support/state/temporary-root.ts'
import { approveCycle, endIt, planHash } from './fixtures/operations.ts'
import { inPairs, runFixture, startFixture } from './run-fixture.ts'

const firstHash = planHash('the first plan, revision 2\n')
const secondHash = planHash('the second plan, revision 2\n')
const revocation = 'renameSync .claude/review/approval.json'

/** Some forty and seventy processes, one for each kill. */
const killsTimeoutMs = 120_000

it('ends a cycle, wherever it was killed', { timeout: killsTimeoutMs }, async () => {
  const { roots, steps } = await killAtEachStep('end', (root) => approveCycle(root, 'the first plan', 2))
  expect(roots.length).toBeGreaterThan(30)
  const revoked = steps.indexOf(revocation)
  expect(steps.findIndex((step) => /^(?:rename|write)/.test(step))).toBe(revoked)
  for (const { root, step, index } of roots) {
    const approval = approvedHash(root)
    expect.soft(approval, step).toBe(index <= revoked ? firstHash : null)
    await endIt(root)
    expect.soft(approvedHash(root), step).toBe(null)
    expect.soft(cyclesOf(root), step).toEqual([{ cycle: 1, kind: 'archived', revisions: [1, 2], approved: firstHash }])
    expect.soft(readCounter(root), step).toEqual({ value: 0, why: null })
    expect.soft(listRevisions(root), step).toEqual([])
    await approveCycle(root, 'the second plan', 2)
    expect.soft(approvedHash(root), step).toBe(secondHash)
    expectOrder(root, step)
  }
})

it('approves a plan only when all that belongs to it is there, wherever it was killed', {
  timeout: killsTimeoutMs,
}, async () => {
  const { roots } = await killAtEachStep('approve', (root) =>
    approveCycle(root, 'an abandoned plan', 1).then(() => endIt(root)),
  )
  expect(roots.length).toBeGreaterThan(70)
  for (const { root, step } of roots) {
    expect.soft([null, secondHash], step).toContain(approvedHash(root))
    if (approvedHash(root)) expect.soft(readRevision(root, 2).result.kind, step).toBe('read')
    for (const { revision, parts } of listRevisions(root)) {
      const { snapshot, result } = readRevision(root, revision)
      expect.soft(snapshot.kind, step).toBe(parts.includes('snapshot.md') ? 'read' : 'absent')
      expect.soft(result.kind, step).toBe(parts.includes('codex.json') ? 'read' : 'absent')
    }
    await approveCycle(root, 'the second plan', 2)
    expect.soft(approvedHash(root), step).toBe(secondHash)
    expectOrder(root, step)
  }
})

it('goes on after each of many kills at random times', async () => {
  const root = temporaryRoot()
  // The first kill may come before the churn has written anything, and then nothing would be there to be intact.
  await appendEvent(root, { type: 'installed', version: '0.0.0' })
  for (let run = 1; run <= 25; run += 1) {
    const child = startFixture('churn', root)
    await once(child.stdout ?? child, 'data')
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 150))
    child.kill('SIGKILL')
    await once(child, 'close')
    letAMinutePass(root)

    expect(['absent', 'recorded']).toContain(readApproval(root).kind)
    expect(readCounter(root).value).toBeLessThanOrEqual(2)
    expect(verifyLedger(root).kind).not.toBe('broken')
    await endIt(root)
    expectOrder(root, `run ${run}`)
    for (const { folder } of listCycles(root)) expectOneCycle(root, folder)
  }
})

it('leaves alone what a person approved between a crash and the next call', async () => {
  const root = temporaryRoot()
  await approveCycle(root, 'the first plan', 2)
  const steps = await stepsOf('end', (whole) => approveCycle(whole, 'the first plan', 2))
  await runFixture('die-at-step', root, 'end', String(steps.indexOf(revocation) + 2))
  expect(approvedHash(root)).toBe(null)
  letAMinutePass(root)
  await approveByHand(root)
  await withLock(root, () => {}, { waitMs: 10_000 })
  expect(cyclesOf(root)).toEqual([{ cycle: 1, kind: 'archived', revisions: [1, 2], approved: firstHash }])
  expect(approvedHash(root)).toBe(secondHash)
})

/** Runs the operation once per step it takes, each time in a new root, killed before that step. */
async function killAtEachStep(operation: string, prepare: (root: string) => Promise<void>) {
  const steps = await stepsOf(operation, prepare)
  const roots = steps.map((step, index) => ({
    root: temporaryRoot(),
    step: `killed before step ${index + 1}, ${step}`,
    index,
  }))
  await inPairs(roots, async ({ root, index }) => {
    await prepare(root)
    const ended = await runFixture('die-at-step', root, operation, String(index + 1))
    expect(ended.signal).toBe('SIGKILL')
    expect(verifyLedger(root).kind).toBe('intact')
    expect(Number.isInteger(readCounter(root).value)).toBe(true)
    letAMinutePass(root)
  })
  return { roots, steps }
}

/** Each change that the operation makes to the disk. */
async function stepsOf(operation: string, prepare: (root: string) => Promise<void>): Promise<string[]> {
  const whole = temporaryRoot()
  await prepare(whole)
  return (await runFixture('die-at-step', whole, operation)).stdout.trim().split('\n')
}

function approvedHash(root: string): string | null {
  const read = readApproval(root)
  if (read.kind === 'refused') throw new Error(read.why)
  return read.kind === 'recorded' ? read.approval.plan_hash : null
}

const cyclesOf = (root: string) =>
  listCycles(root)
    .filter(({ cycle }) => cycle === 1)
    .map(({ cycle, kind, folder }) => {
      const approval = readApproval(root, `${folder}/approval.json`)
      const approved = approval.kind === 'recorded' ? approval.approval.plan_hash : approval
      return { cycle, kind, revisions: listRevisions(root, folder).map(({ revision }) => revision), approved }
    })

async function approveByHand(root: string): Promise<void> {
  const { writeApproval } = await import('../../../src/state/approval.ts')
  writeApproval(root, { is_optimal: true, plan_hash: secondHash })
}

function expectOrder(root: string, step: string): void {
  expect.soft(verifyLedger(root), step).toMatchObject({ kind: 'intact', tornBytes: 0 })
  expect
    .soft(
      listCycles(root).filter(({ kind }) => kind === 'partial'),
      step,
    )
    .toEqual([])
  expect
    .soft(
      filesUnder(join(root, '.claude/review')).filter((path) => /\.tmp$|\.lock|\.2$/.test(path)),
      step,
    )
    .toEqual([])
}

/** Nothing of two cycles is mixed: the snapshots of one are of one plan. */
function expectOneCycle(root: string, folder: string): void {
  const names = readdirSync(join(root, folder)).filter((name) => name.endsWith('.snapshot.md'))
  const plans = names.map((name) => readFileSync(join(root, folder, name), 'utf8').replace(/, revision.*/s, ''))
  expect(new Set(plans).size).toBeLessThanOrEqual(1)
  expect(existsSync(join(root, folder, 'plan_v3.snapshot.md'))).toBe(false)
  const read = readEvents(root)
  const archived = read.kind === 'read' ? read.events.filter(({ type }) => type === 'cycle-archived') : []
  expect(archived.length).toBeGreaterThanOrEqual(listCycles(root).length)
}
