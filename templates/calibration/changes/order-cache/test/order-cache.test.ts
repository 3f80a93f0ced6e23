import { expect, it } from 'vitest'
import { createOrderCache } from '../src/order-cache.ts'
import { fakeDb } from './fake-db.ts'

const row = (id: string) => [{ id, customer_id: 'c1', status: 'open', total_cents: 100 }]

it('asks again after five seconds', async () => {
  let time = 0
  const cache = createOrderCache({ now: () => time, maxAgeMs: 5_000, maxEntries: 2 })
  const db = fakeDb(row('o1'), row('o1'))
  await cache.find(db, 'o1')
  time = 4_999
  await cache.find(db, 'o1')
  expect(db.asked).toHaveLength(1)
  time = 5_000
  await cache.find(db, 'o1')
  expect(db.asked).toHaveLength(2)
})

it('keeps no more than it may', async () => {
  const cache = createOrderCache({ now: () => 0, maxAgeMs: 5_000, maxEntries: 1 })
  const db = fakeDb(row('o1'), row('o2'))
  await cache.find(db, 'o1')
  await cache.find(db, 'o2')
  expect(cache.size()).toBe(1)
})
