import { writeFile } from 'node:fs/promises'
import type { Database } from './db.ts'
import { listOrders } from './orders.ts'
import { formatCents } from './prices.ts'

/** All orders as CSV, for the accountants. */
export async function exportOrders(db: Database, file: string): Promise<number> {
  const orders = await listOrders(db, null)
  const rows = orders.map(({ id, customerId, status, totalCents }) =>
    [id, customerId, status, formatCents(totalCents)].join(','),
  )
  await writeFile(file, ['id,customer,status,total', ...rows, ''].join('\n'), { mode: 0o600 })
  return orders.length
}
