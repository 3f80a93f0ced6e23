import { expect, it } from 'vitest'
import { refund } from '../src/payments.ts'
import { refundOrder } from '../src/refunds.ts'
import { fakeDb } from './fake-db.ts'

it('refuses an amount that is not positive', async () => {
  await expect(refund('http://127.0.0.1:9', 'k', { id: 'o1', totalCents: 0 })).rejects.toThrow(RangeError)
})

it('asks for nothing while an order is open', async () => {
  const db = fakeDb([{ id: 'o1', customer_id: 'c1', status: 'open', total_cents: 100 }])
  expect(await refundOrder(db, 'http://127.0.0.1:9', 'k', 'o1')).toEqual({ kind: 'not-charged' })
  expect(db.asked).toHaveLength(1)
})
