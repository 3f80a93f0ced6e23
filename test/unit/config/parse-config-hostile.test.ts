import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { parseConfig } from '../../../src/config/load.ts'
import { type Config, configSchema } from '../../../src/config/schema.ts'
import type { Schema } from '../../../src/schemas/schema.ts'
import { fillDefaults } from '../../../src/schemas/schema.ts'
import { config as fuzzed } from '../../harness/fuzz/targets/config.ts'

const limit = 256 * 1024
const limitMs = 50

/**
 * What it takes, by the clock or in processor time, whichever is less: others work on the machine and hold up the clock,
 * and what the collector and the compiler do beside it counts as processor time. Neither is ever less than the work
 * itself. The best of a few rounds, since the first ones are not compiled yet.
 */
function bestTime(text: string): number {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 5 && best > limitMs; round += 1) {
    const [start, used] = [performance.now(), process.cpuUsage()]
    parseConfig(text)
    const { user, system } = process.cpuUsage(used)
    best = Math.min(best, performance.now() - start, (user + system) / 1000)
  }
  return best
}

/** On a machine that is busy, measured by what an ordinary text of the same length takes there and then. */
function expectFast(text: string): void {
  const best = bestTime(text)
  if (best > limitMs) expect(best / bestTime('a: 1\n'.repeat(limit / 5))).toBeLessThan(6)
}

describe('any text', () => {
  const fragment = fc.constantFrom(...fuzzed.pieces)
  const soup = fc.array(fc.oneof(fragment, fc.string({ unit: 'binary', maxLength: 5 })), { maxLength: 60 })
  const text = soup.map((parts) => parts.join(''))

  it('gets an answer: a configuration, or problems in the order of the file', () => {
    fc.assert(
      fc.property(fc.oneof(text, fc.string({ unit: 'binary' })), (text) => {
        const parsed = parseConfig(text)
        if (parsed.kind === 'valid') return
        const places = parsed.problems.map(({ line, column }) => line * 1e6 + column)
        expect(places.length).toBeGreaterThan(0)
        expect(places).toEqual([...places].sort((a, b) => a - b))
        for (const { line, column, message } of parsed.problems) {
          expect(line).toBeGreaterThanOrEqual(1)
          expect(column).toBeGreaterThanOrEqual(1)
          expect(message).toMatch(/^[^\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]+$/)
        }
      }),
      { numRuns: 2000 },
    )
  })

  it('is answered fast, repeated to the limit', () => {
    fc.assert(
      fc.property(text, fc.constantFrom(100, 1000, 10_000, limit), (text, length) => {
        const repeated = text.repeat(Math.ceil(length / Math.max(1, text.length))).slice(0, length)
        expectFast(repeated)
      }),
      // To look for a smaller one would take as long for each.
      { numRuns: 150, endOnFailure: true },
    )
  })
})

describe('a hostile text', () => {
  const filled = (before: string, part: string, after = ''): string =>
    before + part.repeat(Math.floor((limit - 64 - before.length - after.length) / Buffer.byteLength(part))) + after
  const many = (count: number, line: (i: number) => string): string =>
    Array.from({ length: count }, (_, i) => line(i)).join('\n')

  it.each([
    { name: 'larger than the limit', text: 'x'.repeat(limit + 1) },
    { name: 'brackets in brackets', text: filled('', '[') },
    { name: 'braces in braces', text: filled('', '{a: ') },
    { name: 'lists in lists', text: filled('', '- ') },
    { name: 'keys in keys', text: filled('', '? ') },
    { name: 'blocks in blocks', text: many(700, (i) => `${' '.repeat(i)}a:`) },
    { name: '100,000 keys', text: many(100_000, (i) => `${i.toString(36)}:`).slice(0, limit) },
    { name: 'as many keys as are read', text: many(400, (i) => `k${i}: 1`) },
    { name: 'as many near misses as are read', text: `review:\n${many(400, (i) => `  timeout_secs${i}: 1`)}` },
    { name: 'long keys', text: many(400, (i) => `${'k'.repeat(600)}${i}: 1`) },
    { name: 'one long key', text: `${filled('', 'k')}: 1` },
    { name: 'the same key', text: filled('', 'a: 1\n') },
    { name: 'lines', text: filled('', '\n') },
    { name: 'comments', text: filled('', '#\n') },
    { name: 'documents', text: filled('', '---\n') },
    { name: 'anchors', text: filled('a: ', '&a ') },
    { name: 'aliases', text: filled('- &a x\n', '- *a\n') },
    { name: 'aliases that multiply', text: many(200, (i) => `a${i}: &a${i} [*a${i - 1}, *a${i - 1}]`) },
    { name: 'aliases in a chain', text: many(200, (i) => `a${i}: &a${i} [*a${i - 1}]`) },
    { name: 'wrong escapes', text: filled('a: "', '\\q', '"') },
    { name: 'folded lines', text: filled('a: >\n', ' x\n\n') },
    { name: 'quoted lines', text: filled('a: "', 'x\n', '"') },
    { name: 'plain lines', text: filled('a: x', '\n  x') },
    { name: 'an open quote', text: filled('a: "', ' ') },
    { name: 'spaces within a text', text: filled('a: x', ' ', 'y') },
    { name: 'unexpected signs', text: filled('', '{}') },
    { name: 'as many unexpected signs as are read', text: '{}'.repeat(1400) },
    { name: 'commas', text: `[${','.repeat(1400)}` },
    { name: 'a command that almost fits', text: filled('gate: {bash: {allow: ["a', ' ', '"]}}') },
    { name: 'a line that almost fits', text: filled('hounfour: {model_invoke: "', ' ', '\\0"}') },
    { name: 'a branch that almost fits', text: filled('worktree: {base: "', 'a', ' "}') },
  ])('$name', ({ text }) => {
    expect(parseConfig(text)).toMatchObject({ kind: 'invalid' })
    expectFast(text)
  })

  it.each([
    { name: 'size', text: 'x'.repeat(limit + 1), message: 'The file is larger than 256 KiB; it was not read.' },
    {
      name: 'length',
      text: filled('', 'a: 1\n'),
      message: 'This is too long to be a configuration; nothing from here on was read.',
    },
    {
      name: 'depth',
      text: filled('', '['),
      message: 'This is nested too deeply to be a configuration; nothing from here on was read.',
    },
    {
      name: 'aliases',
      text: `a0: &a0 [1, 1]\n${many(20, (i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`)}`,
      message: 'The aliases (*) multiply to too many values.',
    },
  ])('is told the limit of $name', ({ text, message }) => {
    const parsed = parseConfig(text)
    expect(parsed.kind === 'invalid' && parsed.problems.map((problem) => problem.message)).toContain(message)
  })
})

describe('what the schema accepts', () => {
  it('is read as it was written, with the rest filled in', () => {
    fc.assert(
      fc.property(arbitraryOf(configSchema), (value) => {
        const config = fillDefaults(configSchema, value as Config)
        expect(parseConfig(stringify(value))).toEqual({ kind: 'valid', config, notices: [] })
      }),
      { numRuns: 300 },
    )
  })
})

function arbitraryOf(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const kinds = [schema.type].flat().map((type): fc.Arbitrary<unknown> => {
    if (type === 'integer' || type === 'number')
      return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 0 })
    if (type === 'boolean') return fc.boolean()
    if (type === 'string') {
      const pattern = new RegExp(schema.pattern ?? '', 'u')
      // With none of them this throws, and does not look for ever.
      return fc.constantFrom(
        ...['a', 'off', '1', 'null', 'x-1.y', 'A_KEY', 'docs/{name}.md', '0'.repeat(64)].filter((text) =>
          pattern.test(text),
        ),
      )
    }
    if (type === 'array')
      return fc.array(arbitraryOf(schema.items ?? {}), { minLength: schema.minItems ?? 0, maxLength: 3 })
    if (type === 'null') return fc.constant(null)
    const properties = Object.entries(schema.properties ?? {}).map(([key, property]) => [key, arbitraryOf(property)])
    return fc.record(Object.fromEntries(properties), { requiredKeys: [...(schema.required ?? [])] as never[] })
  })
  return fc.oneof(...kinds)
}
