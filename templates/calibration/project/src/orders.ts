import { randomUUID } from 'node:crypto'
import type { Begin, Database, Row } from './db.ts'
import { discountCents, type Line, totalCents } from './prices.ts'

export type Status = 'open' | 'paid' | 'cancelled'
export type Order = {
  readonly id: string
  readonly customerId: string
  readonly status: Status
  readonly totalCents: number
}

export async function placeOrder(begin: Begin, customerId: string, lines: readonly Line[]): Promise<Order> {
  const total = totalCents(lines)
  const order: Order = { id: randomUUID(), customerId, status: 'open', totalCents: total - discountCents(total) }
  await begin(async (db) => {
    await db.query('INSERT INTO orders (id, customer_id, status, total_cents) VALUES ($1, $2, $3, $4)', [
      order.id,
      customerId,
      order.status,
      order.totalCents,
    ])
    for (const { sku, quantity, unitCents } of lines)
      await db.query('INSERT INTO order_lines VALUES ($1, $2, $3, $4)', [order.id, sku, quantity, unitCents])
  })
  return order
}

export async function findOrder(db: Database, id: string): Promise<Order | null> {
  const [row] = await db.query('SELECT * FROM orders WHERE id = $1', [id])
  return row === undefined ? null : asOrder(row)
}

export async function listOrders(db: Database, customerId: string | null): Promise<readonly Order[]> {
  const rows =
    customerId === null
      ? await db.query('SELECT * FROM orders ORDER BY created_at')
      : await db.query('SELECT * FROM orders WHERE customer_id = $1 ORDER BY created_at', [customerId])
  return rows.map(asOrder)
}

/** Only from the status that is named, so that two requests at once cannot both succeed. */
export async function setStatus(db: Database, id: string, from: Status, to: Status): Promise<boolean> {
  const rows = await db.query('UPDATE orders SET status = $3 WHERE id = $1 AND status = $2 RETURNING id', [
    id,
    from,
    to,
  ])
  return rows.length === 1
}

const asOrder = (row: Row): Order => ({
  id: String(row.id),
  customerId: String(row.customer_id),
  status: row.status as Status,
  totalCents: Number(row.total_cents),
})
