import { describe, expect, it } from 'vitest'
import { similarity, wordsIn } from '../../../../src/review/findings.ts'

describe('likeness', () => {
  it.each<[string, string, string, number, number]>([
    ['the same words', 'The lock outlives a crash.', 'The lock outlives a crash', 1, 1],
    [
      'the same in other words',
      'The lock is never released when the process crashes, so the next run waits for ever.',
      'When the process crashes the lock is never released, and each later run waits for ever.',
      0.6,
      1,
    ],
    [
      'a sentence more',
      'Retries are not bounded, so a failing server is called for ever.',
      'Retries are still not bounded: a failing server is called for ever. The plan only names a pause.',
      0.6,
      0.9,
    ],
    ['another problem', 'The lock outlives a crash.', 'No test covers an invoice without an address.', 0, 0.2],
    ['alike, but of another file', 'The file `src/a.ts` does not exist.', 'The file `src/b.ts` does not exist.', 0, 0],
    ['alike, but of another function', 'Nobody calls sendInvoice() here', 'Nobody calls sendReminder() here', 0, 0],
    ['alike, but of another number', 'Step 3 has no test at all', 'Step 4 has no test at all', 0, 0],
    ['the same file, at another line', 'In src/a.ts:12 the lock leaks', 'In ./src/a.ts:19 the lock leaks', 1, 1],
    ['one names the file, one does not', 'The lock in src/a.ts leaks memory', 'The lock leaks memory', 0.6, 0.9],
    ['a script without spaces', '鍵が解放されない', '鍵は解放されません', 0.5, 0.9],
    ['nothing and nothing', '', '', 1, 1],
    ['nothing and something', '', 'The lock leaks', 0, 0],
  ])('%s', (_, a, b, least, most) => {
    expect(similarity(a, b)).toBeGreaterThanOrEqual(least)
    expect(similarity(a, b)).toBeLessThanOrEqual(most)
    expect(similarity(b, a)).toBe(similarity(a, b))
  })
})

describe('wordsIn', () => {
  it.each([
    ['Keep it, see #3.', ['keep', 'it', 'see', '3']],
    ['十分', ['十', '分']],
    ['—', []],
  ])('%s', (text, expected) => {
    expect(wordsIn(text)).toEqual(expected)
  })
})
