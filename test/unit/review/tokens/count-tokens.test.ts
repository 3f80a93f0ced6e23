import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import { countTokens as countByPackage } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, it } from 'vitest'
import { countTokens } from '../../../../src/review/count-tokens.ts'
import { estimateTokens, mayExceedBudget, openTokenizer } from '../../../../src/review/tokens.ts'
import { dist } from '../../../support/project.ts'

const folder = new URL('corpus/', import.meta.url)
const corpus = readdirSync(folder).map((name) => ({ name, text: readFileSync(new URL(name, folder), 'utf8') }))
const asText = { disallowedSpecial: new Set<string>() }

describe('the corpus', () => {
  it('has code of many languages', () => {
    expect(corpus.length).toBeGreaterThanOrEqual(14)
    expect(corpus.filter(({ text }) => text.split('\n').length < 60).map(({ name }) => name)).toEqual([])
  })

  it.each(corpus)('$name is counted as the package counts it', ({ text }) => {
    expect(countTokens(text)).toBe(countByPackage(text))
  })

  it('is estimated with an error of at most 15 % on average and 25 % in 19 of 20', () => {
    const errors = corpus
      .map(({ text }) => Math.abs(estimateTokens(text) / countTokens(text) - 1))
      .sort((a, b) => a - b)
    expect(errors.reduce((sum, error) => sum + error, 0) / errors.length).toBeLessThanOrEqual(0.15)
    expect(errors[Math.ceil(errors.length * 0.95) - 1]).toBeLessThanOrEqual(0.25)
  })

  it('is miscounted by words, which is why the estimate goes by characters', () => {
    const errors = corpus.map(({ text }) => Math.abs((text.split(/\s+/).length * 4) / 3 / countTokens(text) - 1))
    expect(errors.reduce((sum, error) => sum + error, 0) / errors.length).toBeGreaterThan(0.25)
  })
})

describe('the exact count', () => {
  it.each([
    '',
    ' ',
    'hello world',
    'a\r\nb\r\n',
    '<|endoftext|>',
    'before <|im_start|>user<|im_end|> behind',
    '日本語の文章です。'.repeat(100),
    'Пока план не одобрен, ничего нельзя менять. '.repeat(50),
    '👩‍👩‍👧‍👦 family',
    '\ud800 half \udc00',
    `${' '.repeat(200)}x`,
    '='.repeat(120),
    `${'\t'.repeat(40)}}`,
    '0123456789'.repeat(200),
  ])('of %j is what the package says', (text) => {
    expect(countTokens(text)).toBe(countByPackage(text, asText))
  })

  it('of any short text is what the package says', () => {
    const text = fc.oneof(fc.string({ maxLength: 300 }), fc.string({ unit: 'grapheme', maxLength: 100 }))
    fc.assert(
      fc.property(text, (text) => {
        expect(countTokens(text)).toBe(countByPackage(text, asText))
      }),
    )
  })

  it.each([
    ['a', 200_000, 25_000],
    [' ', 200_000, 1600],
    ['_', 200_000, 3200],
    ['\n', 200_000, 12_500],
    ['A', 5_000_000, 625_000],
    ['中', 200_000, 200_000],
    ['\ud800', 200_000, 200_000],
    ['👩‍👩‍👧', 20_000, 160_000],
    ['<|endoftext|>', 20_000, 121_000],
  ])('of %j, repeated %i times, does not take for ever', (part, times, most) => {
    const tokens = countTokens(part.repeat(times))
    expect(tokens).toBeGreaterThan(0)
    expect(tokens).toBeLessThanOrEqual(most)
  })
})

describe('an estimate', () => {
  const digest = 'Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MGFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo'
  const bytes = new TextDecoder().decode(
    Uint8Array.from({ length: 8000 }, (_, at) => (at * 7919 + (at >> 3) * 31) % 256),
  )

  it.each([
    ['base64', digest.repeat(50)],
    ['prose in another script', '承認されるまでは、どのファイルも変更できません。'.repeat(50)],
    ['Russian', 'Пока план не одобрен, ничего нельзя менять. '.repeat(50)],
    ['German', 'Solange der Plan nicht freigegeben ist, lässt sich nichts ändern. '.repeat(50)],
    ['bytes', bytes],
  ])('of %s is off by less than half', (_, text) => {
    expect(Math.abs(estimateTokens(text) / countTokens(text) - 1)).toBeLessThan(0.5)
  })

  it('takes CRLF for one line end', () => {
    expect(estimateTokens('a\r\n'.repeat(1000)) / estimateTokens('a\n'.repeat(1000))).toBeLessThan(1.05)
  })

  it('of any text is a whole number of at most its bytes, and 0 for an empty one', () => {
    expect(estimateTokens('')).toBe(0)
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(Number.isSafeInteger(estimateTokens(text))).toBe(true)
        expect(estimateTokens(text)).toBeGreaterThanOrEqual(0)
        expect(estimateTokens(text)).toBeLessThanOrEqual(Buffer.byteLength(text))
      }),
    )
  })

  it.each([' ', 'a', '\n', '-', 'é', '{"a":1}, ', `${'a'.repeat(60)} `])('of 5 MB of %j takes little time', (part) => {
    const started = performance.now()
    expect(estimateTokens(part.repeat(5_000_000 / part.length))).toBeGreaterThan(1000)
    expect(performance.now() - started).toBeLessThan(5_000)
  })
})

describe('mayExceed', () => {
  it.each([
    ['', 0, false],
    ['a', 0, true],
    ['abcd', 4, false],
    ['abcde', 4, true],
    ['éé', 4, false],
    ['éé', 3, true],
    ['日', 3, false],
    ['日', 2, true],
    ['\ud800', 3, false],
    ['\ud800', 2, true],
  ])('of %j with %i tokens is %s', (text, budget, expected) => {
    expect(mayExceedBudget(text, budget)).toBe(expected)
  })

  it('is never wrong about a text that fits', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(300), (text, budget) => {
        if (!mayExceedBudget(text, budget)) expect(countTokens(text)).toBeLessThanOrEqual(budget)
      }),
    )
  })
})

describe('openTokenizer', () => {
  it.each<[string, () => Promise<{ countTokens: (text: string) => number }>, boolean]>([
    ['the tokenizer', async () => ({ countTokens }), true],
    ['nothing', () => Promise.reject(new Error('not there')), false],
    ['a tokenizer that counts something else', async () => ({ countTokens: (text) => text.length }), false],
    [
      'a tokenizer that fails',
      async () => ({
        countTokens: () => {
          throw new Error('broken')
        },
      }),
      false,
    ],
  ])('with %s', async (_, load, isExact) => {
    expect(await openTokenizer(load)).toBe(isExact ? countTokens : estimateTokens)
  })

  it('with the bundle', async () => {
    const bundle = join(dist, 'tokenizer.mjs')
    const count = await openTokenizer(() => import(pathToFileURL(bundle).href))
    expect(count).not.toBe(estimateTokens)
    expect(corpus.map(({ text }) => count(text))).toEqual(corpus.map(({ text }) => countTokens(text)))
  })

  it('whose vocabulary is in no other bundle, where each start would pay for it', () => {
    const bundles = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.mjs'))
    const mark = /bytePairRankDecoder/
    expect(bundles.filter((name) => mark.test(readFileSync(join(dist, name), 'utf8')))).toEqual(['tokenizer.mjs'])
  })
})
