import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  composeCondensing,
  composeSummary,
  condensed,
  joinLong,
  parseReflection,
  splitLong,
} from '../../../src/reflect/prompts.ts'

const random = () => '1234'
/** Of characters that take two. */
const halves = /\p{Cs}/u
const read = (raw: string) => {
  const { verdict, toCondense } = parseReflection(raw, [])
  return { verdict, text: toCondense.text }
}

const verdicts = [
  { raw: 'PASS', verdict: 'PASS', text: '' },
  { raw: 'FAIL\n- src/a.ts:3: wrong.', verdict: 'FAIL', text: '- src/a.ts:3: wrong.' },
  { raw: 'UNCERTAIN\n- no test shown', verdict: 'UNCERTAIN', text: '- no test shown' },
  { raw: '**FAIL**\r\n\r\n- x', verdict: 'FAIL', text: '- x' },
  { raw: 'Verdict: FAIL\n- x', verdict: 'FAIL', text: '- x' },
  { raw: '## PASS.\n- later: y', verdict: 'PASS', text: '- later: y' },
  { raw: '\n\n  FAIL\n- x', verdict: 'FAIL', text: '- x' },
  { raw: 'FAIL: the lock leaks\n- x', verdict: 'FAIL', text: 'FAIL: the lock leaks\n- x' },
  { raw: 'PASS\nFAIL', verdict: 'UNCERTAIN', text: 'FAIL' },
  { raw: '', verdict: 'UNCERTAIN', text: '' },
  { raw: '  \n ', verdict: 'UNCERTAIN', text: '' },
  { raw: 'It looks fine to me.', verdict: 'UNCERTAIN', text: 'It looks fine to me.' },
  { raw: 'one\ntwo\nthree\nfour\nfive\nFAIL', verdict: 'UNCERTAIN', text: 'one\ntwo\nthree\nfour\nfive\nFAIL' },
  { raw: '{"error": "rate limited"}', verdict: 'UNCERTAIN', text: '{"error": "rate limited"}' },
  { raw: 'PASSWORDS are logged', verdict: 'UNCERTAIN', text: 'PASSWORDS are logged' },
]

describe('parseReflection', () => {
  it.each(verdicts)('$raw → $verdict', ({ raw, verdict, text }) => {
    expect(read(raw)).toEqual({ verdict, text })
  })

  it('a verdict at the head of a very long answer is read before anything is cut', () => {
    const { verdict, toCondense } = parseReflection(`FAIL\n${'- a point\n'.repeat(50_000)}`, [])
    expect(verdict).toBe('FAIL')
    expect(condensed(toCondense, 'PASS', 1500)).not.toContain('PASS')
  })

  it('what it quotes of a file with secrets is gone', () => {
    const { toCondense, files } = parseReflection('FAIL\n- .env:1: it holds `KEY=abc`, remove it', [])
    expect(files).toEqual(['.env'])
    expect(toCondense.text).not.toContain('abc')
  })
})

const long = parseReflection(
  `FAIL\n${Array.from({ length: 40 }, (_, n) => `- src/a.ts:${n}: ${'word '.repeat(20)}`).join('\n')}`,
  [],
).toCondense
const short = parseReflection('FAIL\n- src/a.ts:1: wrong.', []).toCondense

const answers = [
  { what: 'five points', answer: '- one\n- two', expected: '- one\n- two' },
  {
    what: 'more than five',
    answer: Array.from({ length: 9 }, (_, n) => `- ${n}`).join('\n'),
    expected: '- 0\n- 1\n- 2\n- 3\n- 4',
  },
  {
    what: 'numbers and other bullets',
    answer: '1. one\n2) two\n* three\n• four',
    expected: '- one\n- two\n- three\n- four',
  },
  { what: 'talk around the points', answer: 'Here you are:\n\n- one\n\nAnything else?', expected: '- one' },
]

describe('condensing', () => {
  it('is asked for only beyond the limit', () => {
    expect(composeCondensing(short, 1500, random)).toBeNull()
    const prompt = composeCondensing(long, 1500, random)
    expect(prompt?.system).toContain('at most 5 points')
    expect(prompt?.user).toContain('<<<material-1234 the review\n- src/a.ts:0:')
    expect(prompt?.user).toContain('1,500 characters')
  })

  it('leaves a short text as it is', () => {
    expect(condensed(short, '- other', 1500)).toBe('- src/a.ts:1: wrong.')
  })

  it.each(answers)('$what', ({ answer, expected }) => {
    expect(condensed(long, answer, 1500)).toBe(expected)
  })

  it.each([null, '', '  ', 'I cannot do that.', '{}'])(
    'falls back to the beginning of the text when the answer is %j',
    (answer) => {
      const cut = condensed(long, answer, 1500)
      expect(cut).toHaveLength(1500)
      expect(cut.startsWith('- src/a.ts:0: word')).toBe(true)
      expect(cut.endsWith('…')).toBe(true)
    },
  )

  it('is never longer than the limit', () => {
    expect(condensed(long, `- ${'x'.repeat(9000)}`, 1500)).toHaveLength(1500)
  })
})

describe('content that is too long', () => {
  const content = `${'h'.repeat(5000)}${'m'.repeat(90_000)}${'t'.repeat(5000)}`

  it('is the head, a summary and the tail', () => {
    const fitting = splitLong(content, 10_000)
    expect(fitting).toMatchObject({ kind: 'long', head: 'h'.repeat(4000), tail: 't'.repeat(4000) })
    const joined = joinLong(fitting, 'Many m.', 10_000)
    expect(joined.slice(4000, -4000)).toBe(
      '\n[… 92,000 characters are left out here; a summary of them: …]\nMany m.\n[… from here on as it is …]\n',
    )
  })

  it.each([null, '', '  '])('says what is missing when the summary is %j', (summary) => {
    expect(joinLong(splitLong(content, 10_000), summary, 10_000).slice(4000, -4000)).toBe(
      '\n[… 92,000 characters are left out here …]\n',
    )
  })

  it('is left as it is when it is not', () => {
    const fitting = splitLong('short', 10_000)
    expect(fitting).toEqual({ kind: 'whole', text: 'short' })
    expect(joinLong(fitting, 'other', 10_000)).toBe('short')
  })

  it('is asked for fenced and bounded, since the middle may be long as well', () => {
    const { system, user } = composeSummary('m'.repeat(1_000_000), 10_000, random)
    expect(system).toContain('material-1234')
    expect(user).toContain('<<<material-1234 the middle of the text\nmmm')
    expect(user).toContain('1,000,000 characters in all')
    expect(user.length).toBeLessThan(10_200)
  })

  it('never exceeds its limit, parts no character, and loses nothing of a short text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 3000 }),
        fc.option(fc.string()),
        fc.integer({ min: 1000, max: 2000 }),
        (text, summary, max) => {
          const joined = joinLong(splitLong(text, max), summary, max)
          expect(joined.length).toBeLessThanOrEqual(max)
          if (text.length <= max) expect(joined).toBe(text)
          if (!halves.test(`${text} ${summary}`)) expect(joined).not.toMatch(halves)
        },
      ),
    )
  })
})
