import { expect, it } from 'vitest'
import { discountCents, totalCents } from '../src/prices.ts'

it('sums up the lines', () => {
  expect(totalCents([{ sku: 'green', quantity: 2, unitCents: 450 }])).toBe(900)
})

it.each([
  [99_99, 0],
  [100_00, 10_00],
  [100_05, 10_01],
])('gives a discount on %i', (total, discount) => {
  expect(discountCents(total)).toBe(discount)
})
