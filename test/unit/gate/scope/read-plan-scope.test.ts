import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { inScope, mayOverlap, readPlanScope } from '../../../../src/gate/scope.ts'
import { growth } from '../../../support/growth.ts'

const understood = (changes: string): [string, string][] =>
  readPlanScope(`# Plan\n\n## Goal\nsrc/goal.ts\n\n## Changes\n${changes}\n\n## Risks\n\`src/risk.ts\``).map(
    ({ pattern, mark }) => [pattern, mark],
  )

describe('readPlanScope', () => {
  it.each<[string, [string, string][]]>([
    ['- `src/a.ts` (new): the function `greet(name)`', [['src/a.ts', 'new']]],
    ['- `src/a.ts`: change `x` to `y`', [['src/a.ts', 'changed']]],
    ['* **src/a.ts**: extended', [['src/a.ts', 'changed']]],
    ['1. src/a.ts – delete', [['src/a.ts', 'deleted']]],
    [
      '- rename `src/a.ts` → `src/b.ts`',
      [
        ['src/a.ts', 'renamed'],
        ['src/b.ts', 'renamed'],
      ],
    ],
    [
      '- src/a.ts -> src/b.ts',
      [
        ['src/a.ts', 'renamed'],
        ['src/b.ts', 'renamed'],
      ],
    ],
    [
      '| `src/a.ts` | new | the thing |\n|---|---|---|\n| test/a.test.ts | new | its test |',
      [
        ['src/a.ts', 'new'],
        ['test/a.test.ts', 'new'],
      ],
    ],
    [
      '- `src/**/*.ts`, `test/*.{js,ts}`',
      [
        ['src/**/*.ts', 'unstated'],
        ['test/*.{js,ts}', 'unstated'],
      ],
    ],
    ['- `src/lib/` and `docs`', [['src/lib/', 'unstated']]],
    ['- `./src/a.ts:12-20`', [['src/a.ts', 'unstated']]],
    ['- [`src/a.ts`](src/a.ts) changes', [['src/a.ts', 'changed']]],
    [
      '- `package.json`, `.gitignore`, `Makefile`, `README.md`',
      [
        ['package.json', 'unstated'],
        ['.gitignore', 'unstated'],
        ['Makefile', 'unstated'],
        ['README.md', 'unstated'],
      ],
    ],
    [
      '### Server\n- `server/main.go`\n### Client\n- `client/app.tsx`',
      [
        ['server/main.go', 'unstated'],
        ['client/app.tsx', 'unstated'],
      ],
    ],
    [
      '```\nsrc/in-a-block.ts\n# no heading\nsrc/after.ts\n```',
      [
        ['src/in-a-block.ts', 'unstated'],
        ['src/after.ts', 'unstated'],
      ],
    ],
    ['- `new-user.ts` changes', [['new-user.ts', 'changed']]],
    ['- `src/ünïcode/größe.ts`', [['src/ünïcode/größe.ts', 'unstated']]],
    // No paths.
    ['- run `npm test -- --watch` and/or `git add -A`; see https://example.com/a.ts', []],
    ['- `/etc/passwd`, `../outside.ts`, `~/.bashrc`, `a/../../b.ts`', []],
    ['Nothing.', []],
    // Patterns that would name nearly every file.
    ['- `src/app.ts`: the quantifier `*` becomes `+`, `**` and `**/*.*` too', [['src/app.ts', 'unstated']]],
    ['- `[!a]*`, `?*/`, **/*', []],
  ])('%j', (changes, expected) => {
    expect(understood(changes)).toEqual(expected)
  })

  it.each(['## Changes', '## changes:', '##   Changes ##', '## Changes (by file)'])(
    'finds the section under %j',
    (heading) => {
      expect(readPlanScope(`${heading}\n- \`src/a.ts\`\n`)).toEqual([
        { pattern: 'src/a.ts', mark: 'unstated', line: 2 },
      ])
    },
  )

  it.each(['](', '[a]('])('takes twice as long for twice as many %j', (line) => {
    expect(growth((text) => readPlanScope(`## Changes\n${text}`), line, 20_000)).toBeLessThan(2.6)
  })

  it('takes nothing from other sections', () => {
    expect(readPlanScope('# Changes\n`a.ts`\n### Changes\n`b.ts`\n## Approach\n`c.ts`')).toEqual([])
  })

  it('stays quick and whole whatever the plan says', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 2_000, unit: 'binary' }), (text) => {
        for (const { pattern } of readPlanScope(`## Changes\n${text}`))
          inScope('src/a.ts', [{ pattern, mark: 'new', line: 1 }])
      }),
      { numRuns: 300 },
    )
    const since = performance.now()
    readPlanScope(`## Changes\n${'`a/'.repeat(100_000)}\n${'*'.repeat(100_000)}\n${'a/b.'.repeat(50_000)}`)
    expect(performance.now() - since).toBeLessThan(2_000)
  })
})

describe('inScope', () => {
  it.each<[string, string, boolean]>([
    ['src/a.ts', 'src/a.ts', true],
    ['src/a.ts', 'src/a.tsx', false],
    ['src/a.ts', 'lib/src/a.ts', false],
    ['src/lib', 'src/lib/deep/a.ts', true],
    ['src/lib/', 'src/lib/a.ts', true],
    ['src/lib/', 'src/library.ts', false],
    ['src/*.ts', 'src/a.ts', true],
    ['src/*.ts', 'src/deep/a.ts', false],
    ['src/**/*.ts', 'src/a.ts', true],
    ['src/**/*.ts', 'src/x/y/a.ts', true],
    ['src/**', 'src/x/y', true],
    ['**', 'src/a.ts', false],
    ['{docs,*}', 'src/a.ts', false],
    ['src/?.ts', 'src/a.ts', true],
    ['src/?.ts', 'src/ab.ts', false],
    ['src/{a,b}.ts', 'src/b.ts', true],
    ['src/{a,b}.ts', 'src/c.ts', false],
    ['src/[ab].ts', 'src/a.ts', true],
    ['src/[!ab].ts', 'src/a.ts', false],
    ['src/{a.ts', 'src/{a.ts', false],
    ['src/a+b.ts', 'src/aab.ts', false],
    ['**/*.md', 'docs/x.md', true],
    ['**/*.md', 'x.md', true],
    ['src/**', 'src', false],
    ['src/*', 'src/lib/deep/a.ts', true],
    ['src/**/test', 'src/a/b/test/deep/x.ts', true],
    ['a/**/b/**/c', 'a/b/x/y/c', true],
    ['a/**/b/**/c', 'a/x/y/c', false],
    ['a**b', 'a/x/b', true],
    ['{src,lib}/{a,b}.{ts,js}', 'lib/a.js', true],
    ['{src/{a,b},lib}/x', 'src/b/x', true],
    ['src/a}.ts', 'src/a}.ts', true],
    ['src/[z-a].ts', 'src/b.ts', false],
    ['src/?.ts', 'src/😀.ts', true],
  ])('%s names %s: %s', (pattern, path, expected) => {
    expect(inScope(path, [{ pattern, mark: 'unstated', line: 1 }])).toBe(expected)
  })

  it.each([
    { name: 'stars', pattern: `${'*a'.repeat(40)}b` },
    { name: 'double stars', pattern: `${'**a'.repeat(40)}b` },
    { name: 'folders', pattern: `${'**/'.repeat(40)}b` },
    { name: 'choices', pattern: `${'{a,b}'.repeat(40)}c` },
    { name: 'choices in choices', pattern: `${'{'.repeat(5_000)}b${'}'.repeat(5_000)}` },
    { name: 'sets', pattern: `${'[a-z]*'.repeat(40)}1` },
  ])('takes no longer for a pattern of many $name', ({ pattern }) => {
    const since = performance.now()
    for (const path of ['a'.repeat(4_000), 'a/'.repeat(2_000)])
      expect(inScope(path, [{ pattern, mark: 'unstated', line: 1 }])).toBe(false)
    expect(performance.now() - since).toBeLessThan(5_000)
  })
})

describe('mayOverlap', () => {
  it.each<[string, string, boolean]>([
    ['src/db/**', 'src/db/a.ts', true],
    ['src/db/**', 'src/app.ts', false],
    ['**/*.sql', 'src/app.ts', false],
    ['src/db/**', 'src/**/*.ts', true],
    ['src/db/**', 'src/', true],
    ['**/*.sql', 'src/', true],
    ['src/db/**', 'test/**', false],
    ['src/app.ts', 'src/app.tsx', false],
  ])('%s and %s: %s, either way round', (a, b, expected) => {
    expect([mayOverlap(a, b), mayOverlap(b, a)]).toEqual([expected, expected])
  })
})
