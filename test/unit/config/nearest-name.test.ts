import { expect, it } from 'vitest'
import { nearestName } from '../../../src/config/nearest-name.ts'

const names = ['max_revisions', 'max_bytes', 'bash', 'base', 'timeout_seconds', 'when']

it.each([
  { written: 'bsah', expected: 'bash' },
  { written: 'Bash', expected: 'bash' },
  { written: 'bas', expected: 'bash' },
  { written: 'maxRevisions', expected: 'max_revisions' },
  { written: 'max-revison', expected: 'max_revisions' },
  { written: 'timeout', expected: 'timeout_seconds' },
  { written: 'if', expected: undefined },
  { written: 'models', expected: undefined },
  { written: '', expected: undefined },
  { written: 'x'.repeat(100_000), expected: undefined },
])('$written → $expected', ({ written, expected }) => {
  expect(nearestName(written, names)).toBe(expected)
})
