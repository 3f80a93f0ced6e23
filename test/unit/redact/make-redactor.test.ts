import { describe, expect, it } from 'vitest'
import { makeRedactor } from '../../../src/redact/redact.ts'
import { tokenKinds } from '../../../src/redact/token-kinds.ts'
import { fakeKeyBlocks, fakeSecrets, makeDraw } from './fake-secrets.ts'
import { leaks } from './leaks.ts'
import { cut, placings, splits } from './placings.ts'

const redactor = makeRedactor([])

function redacted(text: string): string {
  const redaction = redactor.text(text)
  if (redaction.kind === 'failed') throw new Error(redaction.why)
  return redaction.text
}

const fakes = [1, 2].flatMap((seed) => fakeSecrets(seed))
/** `sk-ant-`, `github_pat_`: how all of a kind begin, which is no secret and may be part of a name. */
const body = (secret: string): string => secret.replace(/^(?:[a-z]+_)*[A-Za-z]+[_-](?=[\w-]{16})/, '')

describe('a secret', () => {
  it('is known in 60 kinds and more', () => {
    expect(new Set([...tokenKinds, ...fakes].map(({ kind }) => kind)).size).toBeGreaterThan(90)
    expect(new Set(fakes.map(({ kind, name }) => `${kind} ${name}`)).size).toBeGreaterThan(80)
  })

  it.each(Object.entries(placings))('does not stay in %s', (_, place) => {
    const left = fakes.flatMap((fake) => {
      const text = redacted(place(fake, fake.within(fake.secret)))
      const found = leaks(body(fake.secret), text)
      return found.length > 0 || !text.includes('[REDACTED:') ? [{ kind: fake.kind, text }] : []
    })
    expect(left).toEqual([])
  })

  it('is named by its kind', () => {
    const misnamed = fakes.filter(
      ({ kind, secret, within }) => !redacted(`x ${within(secret)} y`).includes(`[REDACTED:${kind}]`),
    )
    expect(misnamed.map(({ kind, name }) => `${kind} ${name}`)).toEqual([])
  })

  it.each(Object.entries(splits))('does not stay when it was split by %s', (_, split) => {
    const left = fakes.flatMap((fake) => {
      const [before = '', after = ''] = fake.within('\u0001').split('\u0001')
      return [[0.5], [0.3], [0.8], [0.33, 0.66], [0.1, 0.5, 0.9]].flatMap((at) => {
        const pieces = cut(fake.secret, at)
        const text = redacted(split(pieces, [before, after], fake))
        // A piece that is part of how all of its kind begin may stand in the mark.
        const stayed = pieces
          .slice(1)
          .filter((piece) => piece.length >= 5 && text.includes(piece) && !/^[a-z_-]+$/.test(piece))
        return stayed.length > 0 ? [{ kind: fake.kind, stayed, text }] : []
      })
    })
    expect(left).toEqual([])
  })

  it('does not stay behind the colours of a terminal, an address or another word', () => {
    const key = `sk-${makeDraw(3)('abcdefgh0123456789', 40)}`
    for (const before of ['\u001b[31m', 'key%3D', '\\u003d', '\\n', 'x=', 'x:', 'x_', '(', '`', '"'])
      expect(leaks(key, redacted(`a ${before}${key} b`)), before).toEqual([])
  })
})

describe('a private key', () => {
  const blocks = fakeKeyBlocks(5)
  const left = (lines: readonly string[], text: string) => lines.filter((line) => leaks(line, text, 12).length > 0)

  it.each(blocks)('goes: $label', ({ block, lines }) => {
    const shapes = [
      `before\n${block}\nafter`,
      `key: |\n  ${block.replaceAll('\n', '\n  ')}\nnext: 1`,
      block.replace(/^/gm, '+'),
      block.replaceAll('\n', '\r\n'),
      `KEY="${block.replaceAll('\n', '\\n')}"`,
      `const key = ${block
        .split('\n')
        .map((line) => `'${line}\\n'`)
        .join(' +\n  ')}`,
      JSON.stringify({ private_key: `${block}\n`, type: 'x' }),
      JSON.stringify({ a: [JSON.stringify({ private_key: block })] }),
      `log: ${JSON.stringify({ private_key: block })} and more`,
      block.split('\n').slice(0, -3).join('\n'),
    ]
    for (const shape of shapes) expect(left(lines.slice(0, 5), redacted(shape)), shape).toEqual([])
  })

  it('is no certificate, and no talk about keys', () => {
    const dashes = '-----'
    for (const text of [
      `${dashes}BEGIN CERTIFICATE${dashes}\nMIIabcdefghijklmnopqrstuvwxyz\n${dashes}END CERTIFICATE${dashes}`,
      `A key begins with ${dashes}BEGIN PRIVATE KEY${dashes} and is followed by internationalised words.`,
    ])
      expect(redacted(text)).toBe(text)
  })
})

describe('a name that says secret', () => {
  it.each([
    'password: hunter2hunter2',
    'password = "hunter2hunter2"',
    "conf['password'] = 'S3cretPw9'",
    'DB_PASSWORD=swordfish',
    'DB_PASSWORD=83749201',
    'DB_PASSWORD="correct horse battery staple"',
    'MYSQL_ROOT_PASSWORD: p@ssw0rd!x',
    'spring.datasource.password=Winter2024!',
    'SECRET=abcdefghijklmnop',
    '--password=hunter2hunter2',
    '--password hunter22 db',
    'curl -u admin:S3cretPw9 https://x.org',
    'sshpass -p S3cretPw9 ssh x',
    'docker login -u me -p S3cretPw9',
    'mysql -uroot -pS3cretPw9 db',
    "curl -H 'X-API-Key: 9f8e7d6c5b4a3210'",
    'ENV API_TOKEN 9f8e7d6c5b4a3210',
    '#define API_KEY "9f8e7d6c5b4a3210"',
    '<add key="ApiKey" value="9f8e7d6c5b4a3210" />',
    '<password>S3cretPw9</password>',
    'Password=S3cretPw9;Server=x',
    'jdbc:mysql://h/db?user=a&password=S3cretPw9',
    'https://x.org/?access_token=9f8e7d6c5b4a32109f8e',
    'os.environ["API_KEY"] = "9f8e7d6c5b4a3210"',
    'setPassword("S3cretPw9")',
    "'password' => 'S3cretPw9',",
    'let password: &str = "S3cretPw9";',
    '  - name: DB_PASSWORD\n    value: S3cretPw9',
    'password:\n  "S3cretPw9"',
    'password: S3cretPw9 # prod',
    'VITE_KEY=9f8e7d6c5b4a32109f8e7d6c',
    'machine x\n  login y\n  password S3cretPw9',
    '{"password": "swordfish"}',
    '{"db": {"pass": "S3cr3t!pass"}}',
    '{"passphrase": "correct horse battery staple"}',
    '{"passwords": ["S3cretPw9"]}',
    '{"env": [{"name": "DB_PASSWORD", "value": "S3cretPw9"}]}',
    '{"token": {"value": "9f8e7d6c5b4a3210"}}',
    '{"kty": "RSA", "d": "X4cTteJY_gn4FYPsXB8rdXix5vwsg1FLN5E3EaG6RJoVH"}',
    '{"headers": {"authorization": "Bearer 9f8e7d6c5b4a3210", "cookie": "a=b; sid=9f8e7d6c5b4a3210"}}',
  ])('gives it away: %s', (text) => {
    const clean = redacted(text)
    expect(clean).toContain('[REDACTED:')
    for (const secret of ['S3cret', 'hunter2', '9f8e7d6c', 'swordfish', 'staple', '83749201', 'X4cTteJY'])
      expect(clean).not.toContain(secret)
  })

  it.each([
    'password = getPassword()',
    'const password: string = form.value',
    'token: string',
    'const token = tokens[i]',
    'token = self.token',
    'secret = utf8ToBytes(x)',
    'apiKey: process.env.API_KEY',
    'api_key = os.environ["API_KEY"]',
    'api_key="your-api-key-here"',
    'API_KEY=<your key>',
    'TOKEN=${TOKEN}',
    'TOKEN=$TOKEN',
    'token: <token>',
    'password: "changeme"',
    'password = "test"',
    'API_KEY=xxxxxxxxxxxxxxxx',
    'PASSWORD=********',
    'password: ${{ secrets.DB_PASSWORD }}',
    'secretKeyRef: { name: db, key: password }',
    '{"password": "Enter your password"}',
    '{"type": "object", "properties": {"password": {"type": "string", "description": "The password of the user"}}}',
    '{"max_tokens": 4096, "token_count": 123456789, "password": 12345678}',
    'cacheKey = "user-12345-abcdef"',
    'http://localhost:3000/@vite/client',
    'git@github.com:a/b.git',
    'postgres://app:app@localhost/app',
    '"integrity": "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="',
    'commit 39da0ed081985cc868d48991eed6e85715b2048f',
    'Basic authentication and bearer tokens',
    'headers.Authorization = `Bearer ${getToken()}`',
    'sk-spinner-container-large-size',
    '{ token: "keyword.control.flow2" }',
    'password: z.string().min(8)',
    'via the --username and --password options instead',
    'AUTH_TOKEN_URL=https://auth.example.org/oauth/token',
    'PASS 12 tests, FAIL 0',
    'docker run -p 8080:80 -u 1000:1000 x',
    'SECRET_KEY_LENGTH = 32',
  ])('does not always: %s', (text) => {
    expect(redactor.text(text)).toEqual({ kind: 'redacted', text, count: 0, kinds: [] })
  })
})

describe('what comes back', () => {
  const key = fakes.find(({ kind }) => kind === 'github-token')?.secret ?? ''

  it('counts the secrets and names their kinds', () => {
    expect(redactor.text(`${key} and "${key.slice(0, 9)}" + "${key.slice(9)}", password = "hunter2hunter2"`)).toEqual({
      kind: 'redacted',
      text: ['X and "X" + "X"', 'password = "[REDACTED:password]"']
        .join(', ')
        .replaceAll('X', '[REDACTED:github-token]'),
      count: 3,
      kinds: ['github-token', 'password'],
    })
  })

  it('keeps the spacing of JSON, its numbers and its doubled names', () => {
    const text = `{ "a" :\t"${key}", "n": 1.0e2, "a": [ ], "\\u0061": "x\\u0041\\/" }\n`
    expect(redacted(text)).toBe(text.replace(key, '[REDACTED:github-token]'))
  })

  it('finds in JSON what is written in escapes', () => {
    expect(redacted(`{"a": "\\u0067${key.slice(1)}", "pass\\u0077ord": "S3cretPw9"}`)).toBe(
      '{"a": "[REDACTED:github-token]", "pass\\u0077ord": "[REDACTED:password]"}',
    )
  })

  it('blanks a name that is a secret itself, and loses no entry by it', () => {
    expect(JSON.parse(redacted(JSON.stringify({ [key]: 1, [`${key} 2`]: 2, a: 3 })))).toEqual({
      '[REDACTED:github-token]': 1,
      '[REDACTED:github-token] 2': 2,
      a: 3,
    })
  })

  it('takes any depth', () => {
    const deep = `${'['.repeat(100_000)}"${key}"${']'.repeat(100_000)}`
    expect(redacted(deep)).toBe(deep.replace(key, '[REDACTED:github-token]'))
  })
})
