import { mkdtemp, readFile, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { exportOrders } from '../src/export.ts'
import { fakeDb } from './fake-db.ts'

it('writes a file that only its owner can read', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'export-')), 'orders.csv')
  const rows = [{ id: 'o1', customer_id: 'c1', status: 'paid', total_cents: 1250 }]
  expect(await exportOrders(fakeDb(rows), file)).toBe(1)
  expect(await readFile(file, 'utf8')).toContain('o1,c1,paid,12.50 EUR')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
})
