import { open, rename, rm } from 'node:fs/promises'
import type { Database, Row } from './db.ts'
import { formatCents } from './prices.ts'

/** null for a day that does not exist, such as 2026-02-30. */
export function parseDay(text: string): string | null {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return null
  const date = new Date(`${text}T00:00:00Z`)
  if (Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== text) return null
  return text
}

export async function exportSince(db: Database, file: string, since: string): Promise<number> {
  const day = parseDay(since)
  if (day === null) throw new RangeError(`${since} is no day`)
  const partial = `${file}.partial`
  const handle = await open(partial, 'wx', 0o600)
  try {
    const rows = await db.query('SELECT * FROM orders WHERE created_at >= $1::date ORDER BY created_at', [day])
    await handle.writeFile(rows.map(asLine).join(''))
    await handle.sync()
    await rename(partial, file)
    return rows.length
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  } finally {
    await handle.close()
  }
}

const asLine = (row: Row): string =>
  `${row.id},${row.customer_id},${row.status},${formatCents(Number(row.total_cents))}\n`
