import type { Database } from './db.ts'

export type Expired = { readonly id: string; readonly customerId: string }
type SendMail = (order: Expired) => Promise<boolean>

const lockKey = 4711
const maxHours = 48

export async function expireOrders(db: Database, limit: number): Promise<readonly Expired[]> {
  if (!Number.isInteger(limit) || limit < 1 || limit > 500) throw new RangeError('the limit is from 1 to 500')
  const rows = await db.query(
    `UPDATE orders SET status = 'cancelled' WHERE id IN (
       SELECT id FROM orders WHERE status = 'open' AND created_at < now() - make_interval(hours => $1)
       ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING id, customer_id`,
    [maxHours, limit],
  )
  return rows.map((row) => ({ id: String(row.id), customerId: String(row.customer_id) }))
}

/** The number of mails that were not sent. `db` is one connection, since the lock belongs to it. */
export async function runOnce(db: Database, send: SendMail, limit: number): Promise<number> {
  const [row] = await db.query('SELECT pg_try_advisory_lock($1) AS taken', [lockKey])
  if (row === undefined || row.taken !== true) return 0
  let failed = 0
  try {
    for (const order of await expireOrders(db, limit)) {
      const isSent = await send(order)
      if (!isSent) failed += 1
    }
  } catch (error) {
    console.error('the run failed', error)
    throw error
  } finally {
    await db.query('SELECT pg_advisory_unlock($1)', [lockKey])
  }
  return failed
}
