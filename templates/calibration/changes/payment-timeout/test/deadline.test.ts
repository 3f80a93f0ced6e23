import { expect, it } from 'vitest'
import { readSeconds } from '../src/deadline.ts'

const range = { from: 1, to: 30, byDefault: 15 }

it('has a default', () => {
  expect(readSeconds({}, 'PAYMENT_TIMEOUT_SECONDS', range)).toBe(15)
})

it.each(['0', '31', '5.5', 'x', ''])('refuses %s', (value) => {
  expect(() => readSeconds({ PAYMENT_TIMEOUT_SECONDS: value }, 'PAYMENT_TIMEOUT_SECONDS', range)).toThrow('PAYMENT_')
})
