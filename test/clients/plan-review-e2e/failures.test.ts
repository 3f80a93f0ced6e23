import {
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readApproval } from '../../../src/state/approval.ts'
import { withLock } from '../../../src/state/cycles.ts'
import { verifyLedger } from '../../../src/state/ledger.ts'
import { readCounter } from '../../../src/state/revisions.ts'
import { codexBinary } from '../../support/claude-clients.ts'
import { planText, verdict } from '../../support/plan-texts.ts'
import type { ReviewedWorktree } from '../../support/reviewed-worktree.ts'
import type { Turn } from '../../support/servers/responses-api.ts'
import { cleanEnvironment } from '../../support/temporary-repo.ts'
import { codexProcesses } from './codex-processes.ts'
import { fullDiskBy, ownDisk } from './full-disk.ts'
import { approves, changingModel, eventsOf, gateIsOpen, openWorktree, unclear } from './open-worktree.ts'
import { startHook } from './start-hook.ts'

const review = (name: string): string => `.claude/review/${name}`

type Failure = {
  name: string
  /** What the model does while things are as they should not be. */
  turn?: Turn | ((worktree: ReviewedWorktree) => Turn)
  /** plan-gate.yaml for as long. */
  config?: string
  breakIt?: (worktree: ReviewedWorktree) => void
  repair?: (worktree: ReviewedWorktree) => void | Promise<void>
  env?: (worktree: ReviewedWorktree) => { [name: string]: string }
  /** The table of plan-gate.yaml, and not the one of `--reviewer codex`. */
  byTable?: true
  /** What Claude is told: the cause, and what the user can do. */
  says: readonly RegExp[]
  /** How it stands in the ledger; null: nothing was asked, so nothing stands there. */
  recorded: string | null
}

const first = planText('Change the line.')
const second = planText('Change the line so that it prints hello.')
const short = 'plan:\n  deadline_seconds: 2\n'

/**
 * One row for each way that the hook treats a failure. Which failure is of which class is held by
 * test/clients/reviewers/codex/codex-failures.test.ts (the real Codex), what is said of each class by
 * test/unit/plan/messages.test.ts.
 */
const failures: readonly Failure[] = [
  {
    name: 'Codex missing',
    breakIt: ({ home }) => unlinkSync(join(home, 'bin', 'codex')),
    repair: async ({ home }) => symlinkSync(await codexBinary(), join(home, 'bin', 'codex')),
    env: ({ home }) => ({ PATH: `${join(home, 'bin')}:${cleanEnvironment().PATH}` }),
    says: [/not installed/, /Codex was not found/, /npm i -g @openai\/codex/],
    recorded: 'not-installed',
  },
  {
    name: 'hanging before its first word',
    config: short,
    turn: { kind: 'hang', when: 'before-headers' },
    says: [/did not answer in time/, /deadline_seconds|timeout_seconds/],
    recorded: 'timeout',
  },
  {
    name: 'hanging in each pass',
    config: 'review:\n  timeout_seconds: 1\n',
    turn: { kind: 'hang', when: 'after-created' },
    says: [/did not answer in time/, /timeout_seconds/],
    recorded: 'timeout',
  },
  {
    name: 'answering prose',
    turn: { kind: 'model', text: 'This looks good to me, you can go ahead with it!' },
    says: [/not a review/, /another model/],
    recorded: 'malformed',
  },
  {
    name: 'answering an approval that contradicts itself',
    turn: { kind: 'model', text: JSON.stringify({ ...saidIn(approves), is_optimal: false }) },
    says: [/not a review/, /another model/],
    recorded: 'malformed',
  },
  {
    name: 'answering a verdict that there is not',
    turn: { kind: 'model', text: JSON.stringify({ ...saidIn(approves), verdict: 'LGTM' }) },
    says: [/not a review/, /another model/],
    recorded: 'malformed',
  },
  {
    name: 'approving other bytes, because the plan changed meanwhile',
    turn: (worktree) => {
      writeFileSync(worktree.at('docs/plan.md'), planText('Something else altogether.'))
      return approves
    },
    says: [/changed during its review/, /Nothing is approved/, /save docs\/plan\.md once more/],
    recorded: 'outdated',
  },
  {
    name: 'approving a plan that is gone meanwhile',
    turn: (worktree) => {
      rmSync(worktree.at('docs/plan.md'))
      return approves
    },
    says: [/changed during its review/, /Nothing is approved/],
    recorded: 'outdated',
  },
  {
    name: 'Codex killed',
    turn: (worktree) => {
      for (const pid of codexProcesses(worktree)) process.kill(pid, 'SIGKILL')
      return { kind: 'hang', when: 'before-headers' }
    },
    says: [/ended unexpectedly/, /from outside \(SIGKILL\)/, /Try again/],
    recorded: 'crashed',
  },
  {
    name: 'a route table that is too long',
    byTable: true,
    config:
      'review:\n  policy: {max_routes: 1}\n  routes:\n    - {backend: codex, when: [always]}\n    - {backend: curl, when: [always]}\n',
    says: [/2 rows are more than review\.policy\.max_routes/, /plan-gate routes/],
    recorded: 'no-route',
  },
  {
    name: 'a configuration with a mistake',
    config: 'review:\n  enabled: flase\n',
    says: [/plan-gate\.yaml/, /line 2|:2:/, /Fix/],
    recorded: 'no-route',
  },
]

function saidIn(turn: Turn): object {
  if (turn.kind !== 'model' || typeof turn.text !== 'string') throw new Error('it says nothing')
  return JSON.parse(turn.text) as object
}

describe('a review that could not be had', () => {
  it.each(failures)('leaves all as it was and says what to do: $name', async (failure) => {
    const model = changingModel(unclear)
    const worktree = await openWorktree(model.turns, {}, failure.byTable ? null : 'codex')
    await worktree.savePlan(first)
    const { turn } = failure
    if (turn !== undefined) model.says(typeof turn === 'function' ? () => turn(worktree) : turn)
    if (failure.config !== undefined) worktree.configure(failure.config)
    failure.breakIt?.(worktree)
    await expectUnreviewed(worktree, { env: failure.env?.(worktree) ?? {}, says: failure.says })
    expect(
      eventsOf(worktree.root).flatMap(({ type, failure }) => (type === 'review-unavailable' ? [failure] : [])),
    ).toEqual(failure.recorded === null ? [] : [failure.recorded])

    await failure.repair?.(worktree)
    if (existsSync(worktree.at('plan-gate.yaml'))) worktree.configure(null)
    model.says(approves)
    await expectReviewed(worktree)
  })
})

describe('reviews that are switched off', () => {
  it.each(['review:\n  enabled: false\n', 'review:\n  phases: {plan: false}\n'])(
    'leave the approval to the user: %j',
    async (config) => {
      const model = changingModel(unclear)
      const worktree = await openWorktree(model.turns)
      await worktree.savePlan(first)
      worktree.configure(config)
      model.says(approves)
      const told = await worktree.savePlan(second)
      for (const part of [/was not reviewed: .*switched off/, /only the user can approve/, /plan-gate approve --force/])
        expect(told?.text).toMatch(part)
      expect([gateIsOpen(worktree), readCounter(worktree.root).value, worktree.api.requests.length]).toEqual([
        false,
        1,
        1,
      ])
      worktree.configure(null)
      await expectReviewed(worktree)
    },
  )
})

it('follows a table of plan-gate.yaml in CI only where it is asked to', async () => {
  const model = changingModel(unclear)
  const lenient = 'review:\n  routes:\n    - {backend: checklist, when: [always], fail_mode: hard_fail}\n'
  const worktree = await openWorktree(model.turns, { 'plan-gate.yaml': lenient }, null)
  const told = await worktree.savePlan(first, { env: { CI: 'true' } })
  expect(told?.text).toMatch(/revision 1 of docs\/plan\.md is not approved/)
  expect(worktree.read('.claude/review/plan_v1.annotated.md')).toMatch(/Using the default routes because in CI/)
  expect([gateIsOpen(worktree), worktree.api.requests.length]).toEqual([false, 1])
  await worktree.savePlan(second, { env: { CI: 'true', PLAN_GATE_CUSTOM_ROUTES: '1' } })
  expect(worktree.api.requests).toHaveLength(1)
  // The checklist cannot say what became of the other reviewer's finding.
  expect(JSON.parse(worktree.read('.claude/review/plan_v2.codex.json'))).toMatchObject({
    verdict: 'CHANGES_REQUIRED',
    findings: [{ id: 'F1' }],
    pass_metadata: { route: 'checklist' },
  })
})

describe('the lock', () => {
  it.each([
    { name: 'a minute ago', ageMs: 60_000 },
    { name: 'just now', ageMs: 0 },
  ])('of a process that died $name holds up nobody for long', async ({ ageMs }) => {
    const model = changingModel(unclear)
    const worktree = await openWorktree(model.turns)
    await worktree.savePlan(first)
    const then = new Date(Date.now() - ageMs)
    for (const name of ['.lock', '.ledger.lock']) {
      mkdirSync(worktree.at(review(name)))
      utimesSync(worktree.at(review(name)), then, then)
    }
    model.says(approves)
    await expectReviewed(worktree)
  })

  it('of a review that is still running makes the next one say so, and wait no longer than it has time', async () => {
    const model = changingModel(unclear)
    const worktree = await openWorktree(model.turns)
    await worktree.savePlan(first)
    worktree.configure(short)
    const held = await withLock(
      worktree.root,
      () => expectUnreviewed(worktree, { says: [/Another review of the plan was running/, /plan-gate status/] }),
      { waitMs: 0 },
    )
    expect(held.kind).toBe('done')
    worktree.configure(null)
    model.says(approves)
    await expectReviewed(worktree)
  })
})

/** The second text is saved, nobody judges it, and nothing that was there before is lost. */
async function expectUnreviewed(
  worktree: ReviewedWorktree,
  { env, says }: { env?: { [name: string]: string }; says: readonly RegExp[] },
): Promise<void> {
  const before = keptOf(worktree)
  const told = await worktree.savePlan(second, { env: env ?? {} })
  expect(told?.decision).toBe('block')
  for (const part of [...says, doNotRevise]) expect(told?.text).toMatch(part)
  expect(gateIsOpen(worktree)).toBe(false)
  expect(readCounter(worktree.root).value).toBe(1)
  expect(readApproval(worktree.root).kind).not.toBe('recorded')
  expect(keptOf(worktree)).toEqual(before)
  expect(verifyLedger(worktree.root)).toMatchObject({ kind: 'intact', tornBytes: 0 })
  expect(codexProcesses(worktree)).toEqual([])
}

const doNotRevise = /do not revise it because of this|Do not change it before the verdict/

async function expectReviewed(worktree: ReviewedWorktree): Promise<string> {
  const told = await worktree.savePlan(second)
  expect(told).toMatchObject({ decision: 'context' })
  expect(told?.text).toMatch(/revision 2 of docs\/plan\.md is approved/)
  expect([gateIsOpen(worktree), readCounter(worktree.root).value]).toEqual([true, 2])
  expect(worktree.read('.claude/review/plan_v2.snapshot.md')).toBe(second)
  expect(verifyLedger(worktree.root)).toMatchObject({ kind: 'intact', tornBytes: 0 })
  return told?.text ?? ''
}

/** What the first review left behind. */
const keptOf = ({ at }: ReviewedWorktree): { [path: string]: string } =>
  Object.fromEntries(
    ['snapshot.md', 'codex.json', 'annotated.md'].map((part) => {
      const path = `.claude/review/plan_v1.${part}`
      return [path, readFileSync(at(path), 'utf8')]
    }),
  )

type Corruption = {
  name: string
  corrupt: (worktree: ReviewedWorktree) => void
  /** What Claude is told, where somebody has to put it right first; without it the review goes on as if nothing had been. */
  refused?: RegExp
  repair?: (worktree: ReviewedWorktree) => void
  /** What Claude is told beside the verdict. */
  says?: RegExp
  also?: (worktree: ReviewedWorktree) => void
}

const garbage = 'no such thing \u0000\u001b[31m'
const holds =
  (name: string, text: string | Uint8Array) =>
  ({ at }: ReviewedWorktree): void =>
    writeFileSync(at(review(name)), text)
const isFolder =
  (name: string) =>
  ({ at }: ReviewedWorktree): void => {
    rmSync(at(review(name)), { recursive: true, force: true })
    mkdirSync(join(at(review(name)), 'inner'), { recursive: true })
  }
const isLink =
  (name: string) =>
  ({ at, home }: ReviewedWorktree): void => {
    rmSync(at(review(name)), { recursive: true, force: true })
    writeFileSync(join(home, 'elsewhere'), `${'0'.repeat(64)}\n`)
    symlinkSync(join(home, 'elsewhere'), at(review(name)))
  }
const isGone =
  (name: string) =>
  ({ at }: ReviewedWorktree): void =>
    rmSync(at(review(name)), { recursive: true, force: true })
const linkUntouched = ({ home }: ReviewedWorktree): void =>
  expect(readFileSync(join(home, 'elsewhere'), 'utf8')).toBe(`${'0'.repeat(64)}\n`)
const threadReplaced = ({ root }: ReviewedWorktree): void =>
  expect(eventsOf(root).filter(({ type }) => type === 'thread-replaced')).toHaveLength(1)

const corruptions: readonly Corruption[] = [
  { name: 'version_counter is garbage', corrupt: holds('version_counter', garbage) },
  { name: 'version_counter was set back', corrupt: holds('version_counter', '0\n') },
  {
    name: 'version_counter was set back, and the result is gone',
    corrupt: (worktree) => {
      for (const part of ['snapshot.md', 'codex.json', 'annotated.md']) isGone(`plan_v1.${part}`)(worktree)
      holds('version_counter', '0\n')(worktree)
    },
    says: /version_counter says 0, and the ledger says 1, which counts/,
  },
  { name: 'version_counter is empty', corrupt: holds('version_counter', '') },
  { name: 'version_counter is gone', corrupt: isGone('version_counter') },
  {
    name: 'version_counter is a folder',
    corrupt: isFolder('version_counter'),
    refused: /version_counter is a directory/,
    repair: isGone('version_counter'),
  },
  { name: 'codex_thread_id is garbage', corrupt: holds('codex_thread_id', garbage), also: threadReplaced },
  { name: 'codex_thread_id is no UUID', corrupt: holds('codex_thread_id', 'last\n'), also: threadReplaced },
  {
    name: 'codex_thread_id names another thread',
    corrupt: holds('codex_thread_id', '0199a213-81c0-7800-8aa1-bbab2a035a53\n'),
    says: /codex_thread_id names 0199a213-[-0-9a-f]+, and the ledger names [-0-9a-f]{36}, which counts/,
    also: threadReplaced,
  },
  {
    name: 'the second text has a verdict that nobody gave',
    corrupt: (worktree) => {
      const approved = { verdict: 'APPROVED', is_optimal: true, summary: 'It is a very good plan.', findings: [] }
      holds('plan_v1.snapshot.md', second)(worktree)
      holds(
        'plan_v1.codex.json',
        JSON.stringify({ ...JSON.parse(worktree.read(review('plan_v1.codex.json'))), ...approved }),
      )(worktree)
    },
    also: ({ api }) => expect(api.requests).toHaveLength(2),
  },
  { name: 'codex_thread_id is empty', corrupt: holds('codex_thread_id', ''), also: threadReplaced },
  { name: 'codex_thread_id is gone', corrupt: isGone('codex_thread_id') },
  {
    name: 'codex_thread_id names a thread that there is not',
    corrupt: holds('codex_thread_id', '01a1ed39-1483-7430-bc57-36916eb75627\n'),
    also: threadReplaced,
  },
  {
    name: 'codex_thread_id is a link',
    corrupt: isLink('codex_thread_id'),
    refused: /codex_thread_id is a symbolic link/,
    repair: isGone('codex_thread_id'),
    also: linkUntouched,
  },
  { name: 'codex_thread_use.json is garbage', corrupt: holds('codex_thread_use.json', garbage) },
  { name: 'handled.json is garbage', corrupt: holds('handled.json', garbage) },
  { name: 'handled.json is of another form', corrupt: holds('handled.json', '{"plan_hash":1}') },
  {
    name: 'handled.json is a folder',
    corrupt: isFolder('handled.json'),
    refused: /handled\.json is a directory/,
    repair: isGone('handled.json'),
  },
  {
    name: 'the result of revision 1 is garbage',
    corrupt: holds('plan_v1.codex.json', '{"verdict":"APPROVED","is_optimal":true}'),
    also: ({ read }) => expect(read(review('plan_v2.annotated.md'))).toMatch(/result of revision 1 cannot be read/),
  },
  { name: 'progress.json is garbage', corrupt: holds('progress.json', garbage) },
  { name: 'approval.json is garbage', corrupt: holds('approval.json', garbage) },
  { name: 'approval.json is empty', corrupt: holds('approval.json', '') },
  {
    name: 'approval.json is a folder',
    corrupt: isFolder('approval.json'),
    refused: /approval\.json is a directory/,
    repair: isGone('approval.json'),
  },
  {
    name: 'approval.json is a link',
    corrupt: isLink('approval.json'),
    refused: /approval\.json is a symbolic link/,
    repair: isGone('approval.json'),
    also: linkUntouched,
  },
  {
    name: 'passes is a file',
    corrupt: (worktree) => {
      isGone('passes')(worktree)
      holds('passes', garbage)(worktree)
    },
    refused: /passes is a file/,
    repair: isGone('passes'),
  },
]

describe('state that was corrupted by hand', () => {
  it.each(corruptions)('opens nothing and loses nothing: $name', async ({ corrupt, refused, repair, says, also }) => {
    const model = changingModel(unclear)
    const worktree = await openWorktree(model.turns)
    await worktree.savePlan(first)
    corrupt(worktree)
    expect(gateIsOpen(worktree)).toBe(false)
    model.says(approves)
    if (refused !== undefined) {
      const asked = worktree.api.requests.length
      const told = await worktree.savePlan(second)
      expect(told?.decision).toBe('block')
      for (const part of [/could not be read or written/, refused, /Remove it|Fix that/, doNotRevise])
        expect(told?.text).toMatch(part)
      expect([gateIsOpen(worktree), worktree.api.requests.length]).toEqual([false, asked])
      repair?.(worktree)
    }
    const told = await expectReviewed(worktree)
    if (says !== undefined) expect(told).toMatch(says)
    also?.(worktree)
  })

  it('takes up a ledger whose last line is torn', async () => {
    const model = changingModel(unclear)
    const worktree = await openWorktree(model.turns)
    await worktree.savePlan(first)
    const ledger = worktree.read(review('events.jsonl'))
    holds('events.jsonl', ledger.slice(0, -40))(worktree)
    model.says(approves)
    await expectReviewed(worktree)
    expect(eventsOf(worktree.root).filter(({ type }) => type === 'torn-line')).toHaveLength(1)
  })

  it('reviews nothing without a ledger to write to', async () => {
    const model = changingModel(unclear)
    const worktree = await openWorktree(model.turns)
    await worktree.savePlan(first)
    const ledger = worktree.read(review('events.jsonl'))
    isFolder('events.jsonl')(worktree)
    const told = await worktree.savePlan(second)
    expect(told?.text).toMatch(/events\.jsonl is a directory/)
    expect([gateIsOpen(worktree), worktree.api.requests.length]).toEqual([false, 1])
    isGone('events.jsonl')(worktree)
    holds('events.jsonl', ledger)(worktree)
    model.says(approves)
    await expectReviewed(worktree)
  })
})

describe.runIf(fullDiskBy !== 'nothing that works here')(`a full disk, by ${fullDiskBy}`, () => {
  it.each([
    { name: 'before the review', when: 'before' },
    { name: 'while it is under way', when: 'meanwhile' },
  ])('$name costs nothing but the review', async ({ when }) => {
    const model = changingModel(unclear)
    const worktree = await openWorktree(model.turns)
    const disk = ownDisk(worktree)
    await worktree.savePlan(first)
    model.says(() => {
      disk.fill()
      return approves
    })
    if (when === 'before') disk.fill()
    const before = keptOf(worktree)
    const told = await worktree.savePlan(second)
    expect(told?.decision).toBe('block')
    for (const part of [/could not be read or written/, noSpace, /Fix that/, doNotRevise])
      expect(told?.text).toMatch(part)
    expect([gateIsOpen(worktree), readCounter(worktree.root).value]).toEqual([false, 1])
    expect([keptOf(worktree), worktree.read('docs/plan.md')]).toEqual([before, second])
    expect(verifyLedger(worktree.root).kind).toBe('intact')
    disk.free()
    model.says(approves)
    await expectReviewed(worktree)
  })

  it('under an approval that ends keeps the gate closed all the same', async () => {
    const model = changingModel(verdict({ verdict: 'APPROVED' }))
    const worktree = await openWorktree(model.turns)
    const disk = ownDisk(worktree)
    await worktree.savePlan(first)
    expect(gateIsOpen(worktree)).toBe(true)
    disk.fill()
    writeFileSync(worktree.at('docs/plan.md'), second)
    const { stdout } = await startHook(worktree).ended
    expect(JSON.parse(stdout)).toMatchObject({ decision: 'block', reason: expect.stringMatching(noSpace) })
    expect(gateIsOpen(worktree)).toBe(false)
    disk.free()
    await worktree.savePlan(second)
    expect([gateIsOpen(worktree), readCounter(worktree.root).value]).toEqual([true, 1])
    expect(verifyLedger(worktree.root)).toMatchObject({ kind: 'intact', tornBytes: 0 })
  })
})

const noSpace = /ENOSPC|EACCES/
