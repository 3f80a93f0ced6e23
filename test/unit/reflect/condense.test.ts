import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { condense, parseReflection, shorten } from '../../../src/reflect/prompts.ts'
import type { Prompt } from '../../../src/review/prompts.ts'

const random = () => '1234'
/** Of characters that take two. */
const halves = /\p{Cs}/u
/** What came of it, and what was asked. */
async function asked(by: typeof condense, text: string, limit: number, answer: string | null) {
  const prompts: Prompt[] = []
  const result = await by(text, limit, random, async (prompt) => {
    prompts.push(prompt)
    return answer
  })
  return { result, prompts }
}
const condensed = async (text: string, answer: string | null) => (await asked(condense, text, 1500, answer)).result
const shortened = async (text: string, answer: string | null) => (await asked(shorten, text, 10_000, answer)).result

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
    expect(parseReflection(raw, [])).toEqual({ verdict, text })
  })

  it('a verdict at the head of a very long answer is read before anything is cut', async () => {
    const { verdict, text } = parseReflection(`FAIL\n${'- a point\n'.repeat(50_000)}`, [])
    expect(verdict).toBe('FAIL')
    expect(await condensed(text, 'PASS')).not.toContain('PASS')
  })

  it('what it quotes of a file with secrets is gone', () => {
    const { text } = parseReflection('FAIL\n- .env:1: it holds `KEY=abc`, remove it', [])
    expect(text).not.toContain('abc')
    expect(text).toContain('.env:1')
  })
})

const long = parseReflection(
  `FAIL\n${Array.from({ length: 40 }, (_, n) => `- src/a.ts:${n}: ${'word '.repeat(20)}`).join('\n')}`,
  [],
).text
const short = '- src/a.ts:1: wrong.'

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

describe('condense', () => {
  it('asks only beyond the limit', async () => {
    expect(await asked(condense, short, 1500, '- other')).toEqual({ result: short, prompts: [] })
    const { prompts } = await asked(condense, long, 1500, null)
    expect(prompts).toHaveLength(1)
    expect(prompts[0]?.system).toContain('at most 5 points')
    expect(prompts[0]?.user).toContain('<<<material-1234 the review\n- src/a.ts:0:')
    expect(prompts[0]?.user).toContain('1,500 characters')
  })

  it.each(answers)('$what', async ({ answer, expected }) => {
    expect(await condensed(long, answer)).toBe(expected)
  })

  it.each([null, '', '  ', 'I cannot do that.', '{}'])(
    'falls back to the beginning of the text when the answer is %j',
    async (answer) => {
      const cut = await condensed(long, answer)
      expect(cut).toHaveLength(1500)
      expect(cut.startsWith('- src/a.ts:0: word')).toBe(true)
      expect(cut.endsWith('…')).toBe(true)
    },
  )

  it('is never longer than the limit', async () => {
    expect(await condensed(long, `- ${'x'.repeat(9000)}`)).toHaveLength(1500)
  })
})

describe('content that is too long', () => {
  const content = `${'h'.repeat(5000)}${'m'.repeat(90_000)}${'t'.repeat(5000)}`

  it('is the head, a summary and the tail', async () => {
    expect(await shortened(content, 'Many m.')).toBe(
      `${'h'.repeat(4000)}\n[… 92,000 characters are left out here; a summary of them: …]\nMany m.\n[… from here on as it is …]\n${'t'.repeat(4000)}`,
    )
  })

  it.each([null, '', '  '])('says what is missing when the summary is %j', async (summary) => {
    expect((await shortened(content, summary)).slice(4000, -4000)).toBe('\n[… 92,000 characters are left out here …]\n')
  })

  it('is left as it is when it is not', async () => {
    expect(await asked(shorten, 'short', 10_000, 'other')).toEqual({ result: 'short', prompts: [] })
  })

  it('is asked for fenced and bounded, since the middle may be long as well', async () => {
    const { prompts } = await asked(shorten, 'm'.repeat(1_000_000), 10_000, null)
    expect(prompts[0]?.system).toContain('material-1234')
    expect(prompts[0]?.user).toContain('<<<material-1234 the middle of the text\nmmm')
    expect(prompts[0]?.user).toContain('992,000 characters in all')
    expect(prompts[0]?.user.length).toBeLessThan(10_200)
  })

  it('never exceeds its limit, parts no character, and loses nothing of a short text', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'binary', maxLength: 3000 }),
        fc.option(fc.string()),
        fc.integer({ min: 1000, max: 2000 }),
        async (text, summary, max) => {
          const { result } = await asked(shorten, text, max, summary)
          expect(result.length).toBeLessThanOrEqual(max)
          if (text.length <= max) expect(result).toBe(text)
          if (!halves.test(`${text} ${summary}`)) expect(result).not.toMatch(halves)
        },
      ),
    )
  })
})
