import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type ProseVerdict, parseVerdict } from '../../../../src/review/answer.ts'

const rows: { [verdict in ProseVerdict]: string[] } = {
  PASS: [
    'PASS',
    'pass',
    'Pass.',
    'PASS!',
    '**PASS**',
    '__PASS__',
    '`PASS`',
    '# PASS',
    '- PASS',
    '1. PASS',
    '> PASS',
    '[PASS]',
    '✅ PASS',
    'PASS: nothing to add',
    'PASS - nothing to add',
    'PASS — nothing to add',
    'PASS with two remarks',
    'Pass – the change does what it says',
    'Verdict: PASS',
    'verdict: pass',
    '**Verdict:** PASS',
    '**Verdict**: **PASS**',
    '## Verdict: ✅ PASS',
    'Final verdict — PASS',
    'The verdict is PASS.',
    'Overall result: PASS',
    '| Verdict | PASS |',
    '{"verdict": "PASS"}',
    'Verdict: PASS (was FAIL before)',
    'Verdict: PASS\n- FAIL paths are tested',
    'PASS\n\nThe FAIL branch of the parser is covered.',
    'PASS\nno failures',
    'I read the whole change.\n\nPASS',
    '\n\n  \nPASS',
    'This is a PASS.',
    'Overall, the change is a PASS',
    'My answer: PASS',
    '1\n2\n3\n4\nPASS',
    'PASS\r\nall good',
  ],
  FAIL: [
    'FAIL',
    'fail',
    '**FAIL** – the lock is never released',
    '*FAIL*: x',
    'FAIL: 2 problems',
    'FAIL\n\nTests PASS, the design does not hold.',
    '❌ FAIL',
    'Verdict: FAIL',
    'Status: fail',
    'Conclusion: FAIL, since the file is missing',
    'Fail: the file is missing',
    'The code has issues. FAIL',
    'I rate this as FAIL because of the lock.',
  ],
  UNCERTAIN: [
    '',
    '   \n ',
    'UNCERTAIN',
    'Verdict: UNCERTAIN\nIt may PASS.',
    'Looks good to me.',
    'no failures found',
    'There are no FAIL cases',
    'the tests pass',
    'All tests PASS',
    'COMPASS',
    'PASSED',
    'FAILED',
    'PASSWORD: secret',
    'BYPASS',
    'FAIL_FAST is set',
    'PASS-THROUGH is on',
    'Pass the token on to the next call',
    'Fail-safe defaults are used',
    'PASS\nFAIL',
    'Verdict: PASS\nVerdict: FAIL',
    'PASS / FAIL',
    'PASS/FAIL',
    'Verdict: PASS or FAIL?',
    '| PASS | FAIL |',
    'PASS if you add a test',
    'Verdict: PASS once the test is there',
    'This is not a PASS',
    "It isn't a PASS",
    'It is never a FAIL',
    '1\n2\n3\n4\n5\nPASS',
    `${'x'.repeat(3000)} is a PASS`,
  ],
}

it.each(
  Object.entries(rows).flatMap(([verdict, texts]) =>
    texts.map((text) => ({ text: text.slice(0, 60), full: text, verdict })),
  ),
)('$text → $verdict', ({ full, verdict }) => {
  expect(parseVerdict(full)).toBe(verdict)
})

it('has a verdict for any text, and none for one without the words', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const verdict = parseVerdict(text)
      if (!/pass|fail/i.test(text)) expect(verdict).toBe('UNCERTAIN')
    }),
  )
})

it.each(['PASS ', '*', ' ', '\n', "'", '- ', 'verdict ', 'not a '])('reads 5 MB of %j in one go', (part) => {
  expect(parseVerdict(part.repeat(5_000_000 / part.length))).toBe('UNCERTAIN')
})
