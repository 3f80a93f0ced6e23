import { expect, it } from 'vitest'
import { loadPrices, parseList } from '../src/price-list.ts'
import { fakeDb } from './fake-db.ts'

it('reads prices in cents', () => {
  const list = parseList('green;Green tea;4.50\n\nblack;Black tea;3.05\n')
  expect(list).toMatchObject({ kind: 'list', prices: [{ cents: 450 }, { cents: 305 }] })
})

it.each(['green;Green tea;4.5', 'green;Green tea;-4.50', ';Green tea;4.50'])('names the line of %s', (line) => {
  expect(parseList(`black;Black tea;3.05\n${line}`)).toMatchObject({ kind: 'invalid', line: 2 })
})

it('does not empty the list', async () => {
  const db = fakeDb()
  await expect(loadPrices(db.begin, [])).rejects.toThrow('empty')
  expect(db.asked).toEqual([])
})
