import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { trackProgress } from '../../../src/plan/ask-reviewer.ts'
import { reviewPaths } from '../../../src/state/own-paths.ts'
import { readProgress } from '../../../src/state/revisions.ts'
import { temporaryRoot } from '../../support/state/temporary-root.ts'

const inMs = (ms: number): number => performance.now() + ms
const firstPass = () =>
  ({ kind: 'pass', pass: 1, passes: 3, does: 'plan', backend: 'codex', deadlineAt: inMs(300_000) }) as const

/** What is on disk, once it is as wanted; whatever there is after ten seconds. */
async function noted(root: string, isWanted: (sign: string | undefined) => boolean) {
  const giveUpAt = Date.now() + 10_000
  for (;;) {
    const read = readProgress(root)
    if ((read.kind === 'running' && isWanted(read.progress.sign)) || Date.now() > giveUpAt) return read
    await sleep(20)
  }
}

it('keeps what the pass is for, its own times and those of the review', () => {
  const root = temporaryRoot()
  const { onEvent, end } = trackProgress({ root, revision: 4, deadlineAt: inMs(540_000) })
  onEvent({ kind: 'sign', text: 'before there is a pass' })
  onEvent({ kind: 'notice', text: 'not enough time' })
  expect(readProgress(root)).toEqual({ kind: 'absent' })
  onEvent({ ...firstPass(), forecast: { ms: 180_000, tokens: 30_000 } })
  const read = readProgress(root)
  expect(read).toMatchObject({
    kind: 'running',
    progress: {
      pass: 1,
      passes: 3,
      does: 'plan',
      backend: 'codex',
      revision: 4,
      pid: process.pid,
      forecast: 'about 3 min, 30k tokens',
    },
  })
  if (read.kind !== 'running') return expect.unreachable()
  const { started_at, deadline_at, pass_started_at = '', pass_deadline_at = '' } = read.progress
  const spans = [started_at, pass_started_at].map((from, index) =>
    Math.round((Date.parse([deadline_at, pass_deadline_at][index] ?? '') - Date.parse(from)) / 10_000),
  )
  expect(spans).toEqual([54, 30])
  end()
  expect(readProgress(root)).toEqual({ kind: 'absent' })
})

it('keeps the last sign of life, however many there are, and forgets it with the pass', async () => {
  const root = temporaryRoot()
  const { onEvent, end } = trackProgress({ root, revision: 1, deadlineAt: inMs(540_000) })
  onEvent(firstPass())
  for (let n = 1; n <= 500; n += 1) onEvent({ kind: 'sign', text: `sign ${n}` })
  // Nothing but the pass has been written so far: signs wait for each other.
  expect(readProgress(root)).toMatchObject({ progress: expect.not.objectContaining({ sign: expect.anything() }) })
  const read = await noted(root, (sign) => sign !== undefined)
  expect(read).toMatchObject({ progress: { pass: 1, sign: 'sign 500', signed_at: expect.any(String) } })
  onEvent({ ...firstPass(), pass: 2, does: 'review' })
  expect(readProgress(root)).toMatchObject({ progress: expect.not.objectContaining({ sign: expect.anything() }) })
  onEvent({ kind: 'sign', text: 'x'.repeat(5_000) })
  end()
  await sleep(1_300)
  expect(readProgress(root)).toEqual({ kind: 'absent' })
})

it('goes on where a sign cannot be written', async () => {
  const root = temporaryRoot()
  const { onEvent, end } = trackProgress({ root, revision: 1, deadlineAt: inMs(540_000) })
  onEvent(firstPass())
  rmSync(join(root, reviewPaths.progress))
  mkdirSync(join(root, reviewPaths.progress))
  onEvent({ kind: 'sign', text: 'codex is thinking' })
  await sleep(1_300)
  end()
})
