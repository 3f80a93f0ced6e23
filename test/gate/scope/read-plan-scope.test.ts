import fc from 'fast-check'
import picomatch from 'picomatch'
import { describe, expect, it } from 'vitest'
import { inScope } from '../../../src/gate/scope/in-scope.ts'
import { readPlanScope } from '../../../src/gate/scope/read-plan-scope.ts'

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
  })

  // In processor time, of which a busy machine takes nothing away.
  it.each([
    `${'`a/'.repeat(100_000)}\n${'*'.repeat(100_000)}\n${'a/b.'.repeat(50_000)}`,
    `](${':1'.repeat(30_000)}x)`,
    `a/${'.'.repeat(60_000)}b`,
    `\`a/${':1'.repeat(30_000)}b\``,
  ])('reads a hostile plan in little time: %.30j', (changes) => {
    const used = process.cpuUsage()
    readPlanScope(`## Changes\n${changes}`)
    const { user, system } = process.cpuUsage(used)
    expect((user + system) / 1_000).toBeLessThan(1_000)
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
    ['a/**/b', 'a/b', true],
    ['a/**/b', 'a/x/y/b', true],
    ['a/**/b', 'a//b', false],
    ['a/**/b', 'ab', false],
    ['a**b', 'a/x/b', true],
    ['*.{ts,{c,m}js}', 'x.mjs', true],
    ['*.{ts,{c,m}js}', 'x.js', false],
    ['{src,lib}/**', 'lib/x/y', true],
    ['{a,}b', 'b', true],
    ['src/[a-c]?.ts', 'src/b1.ts', true],
    ['src/[!a].ts', 'src/a.ts', false],
    ['x[!a]y', 'x/y', false],
    ['src/[z-a]*', 'src/b', false],
    ['src}/*', 'src}/a', false],
    ['src/*', 'src/a/b', true],
    ['*', 'src/a', true],
    ['*é?', 'xé👩', true],
    ['a,b*', 'a,bc', true],
    ['src/*x', 'src/a', false],
  ])('%s names %s: %s', (pattern, path, expected) => {
    expect(inScope(path, [{ pattern, mark: 'unstated', line: 1 }])).toBe(expected)
  })

  it('reads its patterns as picomatch does', () => {
    const name = fc.constantFrom('a', 'b', 'ab', '*', '?', '[ab]', '{a,b}', '{a,bb/a}')
    const folders = fc.array(fc.oneof(name, fc.constant('**')), { maxLength: 3 })
    const pattern = fc.tuple(folders, name).map(([parts, last]) => [...parts, last].join('/'))
    const path = fc.array(fc.constantFrom('a', 'b', 'ab', 'bb'), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(pattern, path, (glob, names) => {
        // What is below a folder that is covered is covered, too.
        const ways = names.map((_, index) => names.slice(0, index + 1).join('/'))
        const isMatch = picomatch(glob, { dot: true })
        const expected = /[*?{[]/.test(glob) ? ways.some((way) => isMatch(way)) : ways.includes(glob)
        expect(inScope(names.join('/'), [{ pattern: glob, mark: 'new', line: 1 }])).toBe(expected)
      }),
      { numRuns: 3_000 },
    )
  })

  it('takes no time for a pattern and a path that were made to take it', () => {
    const scope = Array.from({ length: 1_000 }, (_, n) => ({
      pattern: `${'*a'.repeat(20)}${'**/a'.repeat(5)}${n}`,
      mark: 'new' as const,
      line: 1,
    }))
    const used = process.cpuUsage()
    expect(inScope('a/'.repeat(20) + 'a'.repeat(400), scope)).toBe(false)
    const { user, system } = process.cpuUsage(used)
    expect((user + system) / 1_000).toBeLessThan(2_000)
  })
})
