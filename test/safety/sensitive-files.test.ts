import { describe, expect, it } from 'vitest'
import { sensitiveFilesIn, withholdFromDiff, withholdQuotes } from '../../src/safety/sensitive-files.ts'

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
    ['our own vault.txt', ['vault.txt']],
  ])('%s', (text, expected) => {
    expect(sensitiveFilesIn(text, ['vault.txt'])).toEqual(expected)
  })

  it('are quick to look for, whatever the pattern', () => {
    expect(sensitiveFilesIn(`${'a'.repeat(200_000)} ${'a/'.repeat(50_000)}`, ['*a*a*a*a*a*b'])).toEqual([])
  })
})

describe('what a reviewer quotes of them', () => {
  it.each([
    ['`.env` is committed:\n```\nTOKEN=abc\n```\nRemove it.', /abc/],
    ['In .env:\n> TOKEN=abc\n> OTHER=def\nRemove it.', /abc|def/],
    ['.env holds `TOKEN=abc`.', /abc/],
    ['See .env: DOOR=abc, as it is.', /abc/],
    ['server.key, see below.\n\n~~~\nabc\n~~~~\n', /abc/],
  ])('goes: %j', (text, secret) => {
    const { text: kept, files } = withholdQuotes(text, [])
    expect(files).toHaveLength(1)
    expect(kept).not.toMatch(secret)
    expect(kept).toContain('withheld')
  })

  it.each(['`src/a.ts:12` is wrong:\n```\nconst a = 1\n```', '`.env` is read at `src/a.ts:12`.', 'No file at all.'])(
    'stays where it is of something else: %j',
    (text) => {
      expect(withholdQuotes(text, []).text).toBe(text)
    },
  )
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

  it('leaves anything else as it is', () => {
    for (const text of ['# A plan\n\nuse .env\n', file('src/a.ts', 'x'), ''])
      expect(withholdFromDiff(text, []).diff).toBe(text)
  })
})
