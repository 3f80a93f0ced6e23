import { expect, it } from 'vitest'
import { expireOrders, runOnce } from '../src/jobs.ts'
import { fakeDb } from './fake-db.ts'

it.each([0, 501, 1.5])('refuses the limit %d', async (limit) => {
  await expect(expireOrders(fakeDb(), limit)).rejects.toThrow(RangeError)
})

it('does nothing without the lock', async () => {
  const db = fakeDb([{ taken: false }])
  expect(await runOnce(db, async () => true, 10)).toBe(0)
  expect(db.asked).toHaveLength(1)
})

it('counts the mails that were not sent, and gives the lock back', async () => {
  const db = fakeDb([{ taken: true }], [{ id: 'o1', customer_id: 'c1' }], [])
  expect(await runOnce(db, async () => false, 10)).toBe(1)
  expect(db.asked.at(-1)).toContain('pg_advisory_unlock')
})
