import { describe, expect, it } from 'vitest'
import { markOf } from '../../../src/redact/mask.ts'
import { sensitiveFilesIn, withholdFromDiff, withholdQuotes } from '../../../src/redact/sensitive-files.ts'

describe('files that hold secrets', () => {
  it.each([
    ['see .env', ['.env']],
    ['`config/.env.production`, line 3', ['config/.env.production']],
    ['The key is in certs/server.pem.', ['certs/server.pem']],
    ['~/.aws/credentials and ~/.ssh/id_rsa', ['~/.aws/credentials', '~/.ssh/id_rsa']],
    ['deploy/secrets.yml and secrets.yaml', ['deploy/secrets.yml', 'secrets.yaml']],
    ['.env.example, .env.sample, id_rsa.pub', []],
    ['src/environment.ts, keys.ts, src/key.tsx, package.json', []],
    ['process.env.API, process.env, globalThis.process.env and import.meta.env', []],
    ['event.key, props.key and ctx.env are no files; server.key is one', ['server.key']],
    ['our own vault.txt', ['vault.txt']],
  ])('%s', (text, expected) => {
    expect(sensitiveFilesIn(text, ['vault.txt'])).toEqual(expected)
  })

  it('are found quickly with any pattern', () => {
    for (const name of ['a'.repeat(290), 'a'.repeat(200_000), 'a/'.repeat(50_000)])
      expect(sensitiveFilesIn(name, ['*a*a*a*a*a*a*a*a*b', '**/*a*a*a*a*a/b'])).toEqual([])
  })

  it.each([
    { pattern: 'vault.txt', yes: ['vault.txt', 'a/b/Vault.txt'], no: ['my-vault.txt', 'vault.txt.bak'] },
    { pattern: '*.{crt,cer}', yes: ['a.crt', 'x/b.cer'], no: ['a.crt2', 'crt'] },
    { pattern: 'deploy/*.yml', yes: ['deploy/a.yml', 'x/deploy/a.yml'], no: ['deploy/b/a.yml', 'a.yml'] },
    { pattern: 'deploy/**/x-?.txt', yes: ['deploy/x-1.txt', 'deploy/b/c/x-1.txt'], no: ['x-1.txt', 'deploy/x-12.txt'] },
    { pattern: '**/private/**', yes: ['a/private/b', 'private/c/d.ts'], no: ['private', 'a/privates/b'] },
    { pattern: 'private/', yes: ['private/b', 'a/private/b/c'], no: ['private', 'private.ts'] },
  ])('are found by $pattern', ({ pattern, yes, no }) => {
    expect([...yes, ...no].filter((path) => sensitiveFilesIn(path, [pattern]).length > 0)).toEqual(yes)
  })
})

describe('what a reviewer quotes of them', () => {
  it.each([
    ['`.env` is committed:\n```\nTOKEN=abc\n```\nRemove it.', /abc/],
    ['In .env:\n> TOKEN=abc\n> OTHER=def\nRemove it.', /abc|def/],
    ['.env holds `TOKEN=abc`.', /abc/],
    ['See .env: DOOR=abc, as it is.', /abc/],
    ['server.key, see below.\n\n~~~\nabc\n~~~~\n', /abc/],
    ['Committed:\n```sh\n# .env\nTOKEN=abc\n```', /abc/],
    ['Committed:\n```\nTOKEN=abc\n```\nThat is .env.', /abc/],
    ['Committed:\n```.env\nTOKEN=abc\n```', /abc/],
  ])('goes: %j', (text, secret) => {
    const { text: kept, files } = withholdQuotes(text, [])
    expect(files).toHaveLength(1)
    expect(kept).not.toMatch(secret)
    expect(kept).toContain('withheld')
  })

  const mark = markOf('api-key')
  const gone = '[withheld: the content of a file that holds secrets]'
  it.each([
    [`In .env there is ${mark}, as the plan says.`, null],
    [`In .env there is \`${mark}\`.`, null],
    [`See .env: TOKEN=${mark}, and DOOR: ${mark}.`, null],
    [`See .env: TOKEN=abc${mark}def`, `See .env: TOKEN=${gone} ${mark}`],
    [`.env holds \`TOKEN=${mark}\`.`, `.env holds \`${gone} ${mark}\`.`],
    [`In .env:\n> TOKEN=${mark}\n> OTHER=def`, `In .env:\n${gone} ${mark}`],
    [`.env:\n\`\`\`\nTOKEN=${mark}\nDOOR=${mark}\nabc\n\`\`\``, `.env:\n${gone} ${mark}`],
  ])('keeps the mark of what was redacted before: %j', (text, expected) => {
    expect(withholdQuotes(text, []).text).toBe(expected ?? text)
  })

  it.each(['`src/a.ts:12` is wrong:\n```\nconst a = 1\n```', '`.env` is read at `src/a.ts:12`.', 'No file at all.'])(
    'stays where it is of something else: %j',
    (text) => {
      expect(withholdQuotes(text, []).text).toBe(text)
    },
  )
})

it('keeps what stands after a code block that only mentions such a file', () => {
  const text = 'One.\n```js\nimport x\n// reads .env\nrun()\n```\nTwo.\nThree.\nFour.'
  expect(withholdQuotes(text, [])).toEqual({ text, files: ['.env'] })
})

describe('a diff', () => {
  const hunk = (text: string): string => `@@ -1,2 +1,2 @@ above\n same\n-old ${text}\n+new ${text}\n`
  const file = (name: string, text: string): string =>
    `diff --git a/${name} b/${name}\nindex 1..2 100644\n--- a/${name}\n+++ b/${name}\n${hunk(text)}`

  it('shows that such a file changed, and not what is in it', () => {
    const { diff, files } = withholdFromDiff(file('src/a.ts', 'one') + file('.env', 'abc') + file('b.ts', 'two'), [])
    expect(files).toEqual(['.env'])
    expect(diff).not.toContain('abc')
    for (const part of ['old one', 'new two', '+++ b/.env', '@@ -1,2 +1,2 @@ [withheld']) expect(diff).toContain(part)
  })

  it('is not fooled by lines that look like the head of another file', () => {
    const trick =
      'diff --git a/.env b/.env\n--- a/.env\n+++ b/.env\n@@ -1,2 +1,3 @@\n same\n-old abc\n+++ b/harmless.ts\n+new abc\n'
    expect(withholdFromDiff(trick, []).diff).not.toContain('abc')
    const other = 'diff --git a/a.ts b/a.ts\n--- a/a.ts\n+++ b/a.ts\n@@ -1 +1,2 @@\n same\n+++ b/.env\n'
    expect(withholdFromDiff(other, [])).toEqual({ diff: other, files: [] })
  })

  it('hides a file that was renamed from or to such a name', () => {
    const renamed = `diff --git a/.env b/env.txt\nsimilarity index 90%\nrename from .env\nrename to env.txt\n--- a/.env\n+++ b/env.txt\n${hunk('abc')}`
    expect(withholdFromDiff(renamed, []).diff).not.toContain('abc')
  })

  it('hides it with any line ends, and behind a hunk whose numbers lie', () => {
    const crlf = file('.env', 'abc').replaceAll('\n', '\r\n')
    expect(withholdFromDiff(crlf, [])).toMatchObject({ files: ['.env'], diff: expect.not.stringContaining('abc') })
    const lie = file('a.ts', 'one').replace('@@ -1,2 +1,2 @@', '@@ -1,999 +1,999 @@')
    for (const behind of [file('.env', 'abc'), `--- a/.env\n+++ b/.env\n${hunk('abc')}`])
      expect(withholdFromDiff(lie + behind, [])).toMatchObject({ diff: expect.not.stringContaining('abc') })
  })

  it('hides it in a merge, and a hidden line that looks like a head shows nothing', () => {
    const merge = 'diff --cc .env\nindex 1,2..3\n--- a/.env\n+++ b/.env\n@@@ -1,1 -1,1 +1,1 @@@\n- abc\n -abc\n++abc\n'
    expect(withholdFromDiff(merge, [])).toMatchObject({ files: ['.env'], diff: expect.not.stringContaining('abc') })
    const trick = '--- a/.env\n+++ b/.env\n@@ -1,3 +1,3 @@\n--- a/x.ts\n+++ b/x.ts\n@@ -1 +1 @@\n-abc\n+abc\n'
    expect(withholdFromDiff(trick, []).diff).not.toContain('+abc\n+abc')
  })

  it('leaves anything else as it is', () => {
    for (const text of ['# A plan\n\nuse .env\n', file('src/a.ts', 'x'), ''])
      expect(withholdFromDiff(text, []).diff).toBe(text)
  })
})
