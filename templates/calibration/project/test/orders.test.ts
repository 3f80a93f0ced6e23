import { expect, it } from 'vitest'
import { findOrder, placeOrder, setStatus } from '../src/orders.ts'
import { fakeDb } from './fake-db.ts'

it('places an order with all of its lines', async () => {
  const db = fakeDb()
  const lines = [
    { sku: 'green', quantity: 2, unitCents: 450 },
    { sku: 'black', quantity: 1, unitCents: 300 },
  ]
  expect(await placeOrder(db.begin, 'c1', lines)).toMatchObject({ status: 'open', totalCents: 1200 })
  expect(db.asked).toHaveLength(3)
})

it('finds no order that is not there', async () => {
  expect(await findOrder(fakeDb(), 'x')).toBeNull()
})

it('changes a status once', async () => {
  expect(await setStatus(fakeDb([]), 'o1', 'open', 'paid')).toBe(false)
})
