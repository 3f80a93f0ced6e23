import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { exportSince, parseDay } from '../src/export-since.ts'
import { fakeDb } from './fake-db.ts'

it.each(['2026-02-30', '2026-13-01', 'yesterday', ''])('takes %s for no day', (text) => {
  expect(parseDay(text)).toBeNull()
})

it('leaves the old file as it was after a failure', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'export-'))
  const file = join(folder, 'orders.csv')
  await writeFile(file, 'old')
  const db = { query: () => Promise.reject(new Error('no database')) }
  await expect(exportSince(db, file, '2026-05-01')).rejects.toThrow('no database')
  expect(await readFile(file, 'utf8')).toBe('old')
  expect(await readdir(folder)).toEqual(['orders.csv'])
})

it('counts what it has written', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'export-')), 'orders.csv')
  expect(await exportSince(fakeDb([]), file, '2026-05-01')).toBe(0)
})
