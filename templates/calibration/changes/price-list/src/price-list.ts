import { open } from 'node:fs/promises'
import type { Begin } from './db.ts'

export type Price = { readonly sku: string; readonly name: string; readonly cents: number }
export type ParsedList =
  | { readonly kind: 'list'; readonly prices: readonly Price[] }
  | { readonly kind: 'invalid'; readonly line: number; readonly why: string }

const maxLines = 20_000

export function parseList(text: string): ParsedList {
  const lines = text.split('\n')
  if (lines.length > maxLines) return { kind: 'invalid', line: maxLines, why: 'there are too many lines' }
  const prices: Price[] = []
  for (const [at, line] of lines.entries()) {
    if (line.trim() === '') continue
    const [sku = '', name = '', price = ''] = line.trim().split(';')
    if (sku === '') return { kind: 'invalid', line: at + 1, why: 'the sku is missing' }
    if (!/^\d{1,6}\.\d{2}$/.test(price)) return { kind: 'invalid', line: at + 1, why: 'the price is not valid' }
    prices.push({ sku, name, cents: toCents(price) })
  }
  return { kind: 'list', prices }
}

const toCents = (price: string): number => Math.round(Number(price) * 100)

/** All or nothing. */
export async function loadPrices(begin: Begin, prices: readonly Price[]): Promise<void> {
  if (prices.length === 0) throw new Error('the list is empty')
  await begin(async (db) => {
    await db.query('LOCK TABLE prices IN EXCLUSIVE MODE')
    await db.query('DELETE FROM prices')
    for (const { sku, name, cents } of prices)
      await db.query('INSERT INTO prices VALUES ($1, $2, $3)', [sku, name, cents])
  })
}

export async function readList(file: string): Promise<ParsedList> {
  const handle = await open(file)
  try {
    return parseList(await handle.readFile('utf8'))
  } finally {
    await handle.close()
  }
}
