import { describe, expect, it } from 'vitest'
import { checkDiff } from '../../../../src/reviewers/checklist/diff.ts'

/** A diff that changes line 10 of a file into these lines. */
const adds = (path: string, ...lines: string[]): string =>
  [
    `diff --git a/${path} b/${path}`,
    'index 1111111..2222222 100644',
    `--- a/${path}`,
    `+++ b/${path}`,
    `@@ -9,3 +9,${lines.length + 2} @@ function before() {`,
    ' const before = 1',
    '-const gone = 2',
    ...lines.map((line) => `+${line}`),
    ' const after = 3',
    '',
  ].join('\n')

const findingsOf = (diff: string): string[] =>
  checkDiff(diff).map(({ severity, section, evidence }) => `${severity} ${section} | ${evidence}`)

/** Put together, so that this file itself has no conflict and no focused test. */
const [ours, theirs, only] = ['<'.repeat(7), '>'.repeat(7), ['.on', 'ly'].join('')]

describe('a line that is added', () => {
  it.each<[string, string, string]>([
    ['src/a.ts', `${ours} HEAD`, 'critical'],
    ['README.md', `${theirs} feature`, 'critical'],
    ['src/a.ts', '  debugger;', 'major'],
    ['src/a.vue', 'debugger', 'major'],
    ['a.py', '    breakpoint()', 'major'],
    ['a.py', 'import pdb; pdb.set_trace()', 'major'],
    ['a.rb', '  binding.pry', 'major'],
    ['test/a.test.ts', `  it${only}('works', () => {`, 'major'],
    ['test/a.test.ts', `describe${only}.each([1])('x', () => {`, 'major'],
    ['test/a.test.ts', `test.concurrent${only}('x', () => {`, 'major'],
    ['test/a.spec.js', "  fdescribe('x', () => {", 'major'],
  ])('to %s: %s', (path, line, severity) => {
    expect(findingsOf(adds(path, 'const x = 1', line))).toEqual([`${severity} ${path}:11 | Line 11: ${line.trim()}`])
  })

  it.each<[string, string]>([
    ['README.md', '======='],
    ['src/a.ts', "const text = 'debugger'"],
    ['src/a.ts', '// debugger'],
    ['src/a.ts', 'const debugger_ = 1'],
    ['a.md', 'debugger'],
    ['src/a.ts', `const rule = "it${only}("`],
    ['src/a.ts', `// it${only}('x')`],
    ['src/a.ts', `readonly${only}`],
    ['src/a.ts', 'benefit (x)'],
    ['src/a.min.js', `${'x'.repeat(5_000)} debugger`],
  ])('to %s is fine: %s', (path, line) => {
    expect(findingsOf(adds(path, line))).toEqual([])
  })

  it('counts alone: what stood there before or goes is not complained about', () => {
    const diff = adds('src/a.ts', 'fine')
      .replace(' const before = 1', ' debugger')
      .replace('-const gone = 2', '-debugger')
    expect(findingsOf(diff)).toEqual([])
  })
})

describe('a diff', () => {
  it.each<[string, string, string[]]>([
    ['that is empty', '\n', ['major Diff | The diff is empty from line 1 on.']],
    [
      'in the older form',
      `--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1 +1,2 @@\n const a = 1\n+debugger\n`,
      ['major src/a.ts:2 | Line 2: debugger'],
    ],
    ['that is a file', 'const a = 1\ndebugger\n', ['major line 2 | Line 2: debugger']],
    [
      'of lines that look like headers',
      adds('src/a.sql', '++ b/evil.ts', '-- a/evil.ts', '-- note').replace('-const gone = 2', '--- a/other.ts'),
      [],
    ],
    [
      'of two files',
      adds('src/a.ts', 'debugger') + adds('src/b.ts', 'x', 'y', 'debugger'),
      ['major src/a.ts:10 | Line 10: debugger', 'major src/b.ts:12 | Line 12: debugger'],
    ],
    ['with a path of spaces', adds('src/my file.ts', 'debugger'), ['major src/my file.ts:10 | Line 10: debugger']],
    ['with CRLF', adds('src/a.ts', 'debugger').replaceAll('\n', '\r\n'), ['major src/a.ts:10 | Line 10: debugger']],
    [
      'without a line end',
      `${adds('src/a.ts', 'debugger').trimEnd()}\n\\ No newline at end of file\n`,
      ['major src/a.ts:10 | Line 10: debugger'],
    ],
    ['of a binary file', 'diff --git a/a.png b/a.png\nBinary files a/a.png and b/a.png differ\n', []],
    [
      'of a renaming',
      'diff --git a/test/a.test.ts b/test/b.test.ts\nsimilarity index 100%\nrename from test/a.test.ts\nrename to test/b.test.ts\n',
      [],
    ],
  ])('%s', (_, diff, expected) => {
    expect(findingsOf(diff)).toEqual(expected)
  })

  it('with the same thing everywhere names eight places and counts the others', () => {
    const findings = checkDiff(adds('src/a.ts', ...Array.from({ length: 30 }, () => 'debugger')))
    expect(findings).toHaveLength(9)
    expect(findings.at(-1)).toMatchObject({
      severity: 'major',
      problem: 'In 22 more places: A call of the debugger stops the program here.',
      evidence: expect.stringMatching(/^src\/a\.ts:18, src\/a\.ts:19,/),
    })
  })

  it.each<[string, string]>([
    ['lines', adds('src/a.ts', ...Array.from({ length: 6_000 }, (_, i) => `const value${i} = call(${i}) // note`))],
    ['slashes', adds('src/a.ts', ...Array.from({ length: 110 }, () => '/'.repeat(1_900)))],
    ['dots', adds('src/a.ts', ...Array.from({ length: 110 }, () => 'it.a'.repeat(470)))],
    ['spaces', adds('src/a.ts', ...Array.from({ length: 110 }, () => ' '.repeat(1_900)))],
  ])('of 200 kB of %s is read quickly', (_, diff) => {
    const startedAt = performance.now()
    checkDiff(diff)
    // Some 20 ms where nothing else runs.
    expect(performance.now() - startedAt).toBeLessThan(3_000)
  })
})
