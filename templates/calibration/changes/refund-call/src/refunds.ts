import type { Database } from './db.ts'
import { findOrder, setStatus } from './orders.ts'
import { type Refunded, refund } from './payments.ts'

/** The status is written only after the money was given back. */
export async function refundOrder(db: Database, url: string, key: string, id: string): Promise<Refunded> {
  const order = await findOrder(db, id)
  if (order === null) return { kind: 'unknown', why: 'there is no such order' }
  if (order.status !== 'paid') return { kind: 'not-charged' }
  const refunded = await refund(url, key, order)
  if (refunded.kind === 'refunded') await setStatus(db, id, 'paid', 'cancelled')
  return refunded
}
