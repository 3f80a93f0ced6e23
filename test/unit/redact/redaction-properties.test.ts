import fc from 'fast-check'
import { expect, it } from 'vitest'
import { mayHoldSecret } from '../../../src/hooks/may-hold-secret.ts'
import { makeRedactor } from '../../../src/redact/redact.ts'
import { fakeSecrets } from './fake-secrets.ts'

const redactor = makeRedactor([])

function redacted(text: string): { text: string; count: number } {
  const redaction = redactor.text(text)
  if (redaction.kind === 'failed') throw new Error(redaction.why)
  return redaction
}

const fakes = fakeSecrets(7)
const glue = [
  ...'password api_key token secret Authorization Cookie value hunter2hunter2 name user: -- :// @ , { } [ ]'.split(' '),
  ...[
    'Bearer ',
    '=',
    ': ',
    ' = ',
    '"',
    "'",
    '`',
    '\\',
    '\n',
    '\\n',
    '\n+',
    '\n-',
    '\n  ',
    ' + ',
    '<',
    '>',
    '(',
    ')',
    ' ',
  ],
  ...['|\n  ', '[REDACTED:password]', '[REDACTED:', '-----BEGIN PRIVATE KEY-----', '-----END PRIVATE KEY-----'],
]

/** Secrets, halves of secrets and what may stand around them, in any order. */
const text = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...fakes.flatMap(({ secret, within }) => [secret, within(secret)])) },
      {
        weight: 2,
        arbitrary: fc.constantFrom(
          ...fakes.flatMap(({ secret }) => [secret.slice(0, secret.length / 2), secret.slice(secret.length / 2)]),
        ),
      },
      { weight: 4, arbitrary: fc.constantFrom(...glue) },
      { weight: 1, arbitrary: fc.string({ maxLength: 12 }) },
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(''))

const names = 'password|token|name|value|key|api_key|cookie|authorization|d|__proto__|a"b|x\\y|\u00e9'.split('|')
const data = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.integer(),
    fc.constantFrom(true, null, 1.5),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string({ maxLength: 6 })), tie('value'), { maxKeys: 4 }),
  ),
})).value

/** The data with every text made the same. */
const shape = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_, one) => (typeof one === 'string' ? '' : one))

it('redacting twice is redacting once', () => {
  fc.assert(
    fc.property(text, (given) => {
      const once = redacted(given)
      expect(redacted(once.text)).toMatchObject({ text: once.text, count: 0 })
    }),
    { numRuns: 3_000 },
  )
})

it('JSON keeps its names and its structure', () => {
  fc.assert(
    fc.property(fc.array(data), fc.constantFrom(0, 2, '\t'), (given, indent) => {
      const json = JSON.stringify(given, null, indent)
      const once = redacted(json)
      expect(shape(JSON.parse(once.text))).toEqual(shape(given))
      expect(redacted(once.text)).toMatchObject({ text: once.text, count: 0 })
    }),
    { numRuns: 1_500 },
  )
})

// Without the bundles, the hint alone decides.
it('the hint of the hooks says no only where nothing is found', async () => {
  await fc.assert(
    fc.asyncProperty(text, async (given) => {
      if (!(await mayHoldSecret(given)))
        expect(redacted(given)).toEqual({ kind: 'redacted', text: given, count: 0, kinds: [] })
    }),
    { numRuns: 3_000 },
  )
})

it('the hint of the hooks knows each secret', async () => {
  for (const { secret, within } of fakeSecrets(9)) expect(await mayHoldSecret(within(secret)), secret).toBe(true)
})

it.each([
  'git status --short && git log --oneline -n 5',
  'rg "foo|bar" src/token.ts',
  "cat docs/plan.md | head -n 20 | grep 'x'",
  'find . -name "*.ts" -type f',
  'src/components/secret-santa.tsx',
])('the hint of the hooks lets ordinary commands and paths be: %s', async (command) => {
  expect(await mayHoldSecret(command)).toBe(false)
})
