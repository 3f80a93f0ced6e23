import type { Database } from './db.ts'
import { findOrder, type Order } from './orders.ts'

type Entry = { readonly order: Order; readonly at: number }
export type CacheSettings = { readonly now: () => number; readonly maxAgeMs: number; readonly maxEntries: number }

export function createOrderCache({ now, maxAgeMs, maxEntries }: CacheSettings) {
  if (!Number.isInteger(maxEntries) || maxEntries < 1) throw new RangeError('maxEntries is not a positive whole number')
  const entries = new Map<string, Entry>()

  async function find(db: Database, id: string): Promise<Order | null> {
    const known = entries.get(id)
    if (known !== undefined && now() - known.at < maxAgeMs) return keep(id, known)
    const order = await findOrder(db, id)
    if (order === null) return null
    return keep(id, { order, at: now() })
  }

  /** The last one that was read stands last. */
  function keep(id: string, entry: Entry): Order {
    entries.delete(id)
    entries.set(id, entry)
    if (entries.size > maxEntries) entries.delete(oldest())
    return entry.order
  }

  const oldest = (): string => entries.keys().next().value ?? ''

  return { find, drop: (id: string): void => void entries.delete(id), size: () => entries.size }
}
