import { expect, it } from 'vitest'
import { handle } from '../src/http.ts'
import { fakeDb } from './fake-db.ts'

const config = { databaseUrl: '', paymentUrl: '', paymentKey: '', mailUrl: '', port: 0 }
const customer = { 'x-user-id': 'c1', 'x-user-role': 'customer' }
const row = { id: 'o1', customer_id: 'c2', status: 'open', total_cents: 100 }

it('wants a login', async () => {
  const response = await handle({ config, db: fakeDb() }, { method: 'GET', path: '/orders', headers: {}, body: null })
  expect(response.status).toBe(401)
})

it('does not show the order of another customer', async () => {
  const request = { method: 'GET', path: '/orders/o1', headers: customer, body: null }
  expect((await handle({ config, db: fakeDb([row]) }, request)).status).toBe(404)
})
