import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { withLock } from '../../../src/state/cycles.ts'
import { holdLock } from '../../../src/state/lock.ts'
import { reviewPaths } from '../../../src/state/own-paths.ts'
import { readCounter } from '../../../src/state/revisions.ts'
import { letAMinutePass, temporaryRoot } from '../../support/state/temporary-root.ts'
import { runFixture, startFixture } from './run-fixture.ts'

const lockOf = (root: string) => join(root, reviewPaths.lock)

async function startHolder(root: string, how = 'asleep') {
  const child = startFixture('hold-lock', root, how)
  const lines = createInterface({ input: child.stdout ?? process.stdin })[Symbol.asyncIterator]()
  expect((await lines.next()).value).toBe('held')
  return { child, closed: once(child, 'close'), nextLine: async () => (await lines.next()).value as string }
}

it('lets one in at a time, and gives the lock back after work that ends or throws', async () => {
  const root = temporaryRoot()
  const inside = await withLock(root, () => withLock(root, () => 'never', { waitMs: 50 }), { waitMs: 0 })
  expect(inside).toEqual({ kind: 'done', value: { kind: 'busy', waitedMs: expect.any(Number) } })
  await expect(withLock(root, () => Promise.reject(new Error('mine')), { waitMs: 0 })).rejects.toThrow('mine')
  expect(await withLock(root, () => 'free', { waitMs: 0 })).toEqual({ kind: 'done', value: 'free' })
  expect(readdirSync(join(root, '.claude/review'))).toEqual(['.gitignore'])
})

it('loses no update of 8 processes', async () => {
  const root = temporaryRoot()
  await Promise.all(Array.from({ length: 8 }, () => runFixture('count-up', root, '10')))
  expect(readCounter(root)).toEqual({ value: 80, why: null })
})

it('loses no update when the first thing 8 processes find is the lock of a dead one', async () => {
  const root = temporaryRoot()
  const { child, closed } = await startHolder(root)
  child.kill('SIGKILL')
  await closed
  letAMinutePass(root)
  await Promise.all(Array.from({ length: 8 }, () => runFixture('count-up', root, '5')))
  expect(readCounter(root)).toEqual({ value: 40, why: null })
})

it('is given back by a process that exits inside', async () => {
  const root = temporaryRoot()
  await runFixture('hold-lock', root, 'then-exit')
  expect(existsSync(lockOf(root))).toBe(false)
})

it('waits for a live holder, and at most 5 s for one that was killed', async () => {
  const root = temporaryRoot()
  const { child, closed } = await startHolder(root)
  expect(await withLock(root, () => 'in', { waitMs: 4_500 })).toMatchObject({ kind: 'busy' })
  child.kill('SIGKILL')
  await closed
  const start = performance.now()
  expect(await withLock(root, () => 'in', { waitMs: 20_000 })).toEqual({ kind: 'done', value: 'in' })
  expect(performance.now() - start).toBeLessThan(5_500)
})

it('tells a holder that slept that the lock is another one’s now, and does not take it from him', async () => {
  const root = temporaryRoot()
  const { child, closed, nextLine } = await startHolder(root)
  child.kill('SIGSTOP')
  letAMinutePass(root)
  // A lock is first set to the next whole second, which must not be the same one for both.
  await sleep(1_100)
  const work = async () => {
    child.kill('SIGCONT')
    expect(await nextLine()).toBe('lost')
    await closed
    return existsSync(lockOf(root))
  }
  expect(await withLock(root, work, { waitMs: 2_000 })).toEqual({ kind: 'done', value: true })
})

it('is not given back by one who lost it and did not notice', async () => {
  const root = temporaryRoot()
  const { closed } = await startHolder(root, 'blocked')
  letAMinutePass(root)
  await sleep(1_100)
  const held = await withLock(root, () => closed.then(() => existsSync(lockOf(root))), { waitMs: 1_000 })
  expect(held).toEqual({ kind: 'done', value: true })
})

it('does not wait for ever for a lock from the future', async () => {
  const root = temporaryRoot()
  mkdirSync(lockOf(root), { recursive: true })
  const tomorrow = new Date(Date.now() + 86_400_000)
  utimesSync(lockOf(root), tomorrow, tomorrow)
  expect(await withLock(root, () => 'in', { waitMs: 8_000 })).toEqual({ kind: 'done', value: 'in' })
})

it('says what to remove when something else has its name', async () => {
  const root = temporaryRoot()
  const path = join(root, 'some.lock')
  writeFileSync(path, '')
  await expect(holdLock(path, () => {}, { waitMs: 0 })).rejects.toThrow('is not a lock. Remove it')
})
