import { describe, expect, it } from 'vitest'
import { changedLines, type Diff, parseDiff } from '../../../src/text/diff.ts'

const head = (name: string, before = name): string[] => [
  `diff --git a/${before} b/${name}`,
  'index 1111111..2222222 100644',
  `--- a/${before}`,
  `+++ b/${name}`,
]
const text = (...lines: readonly (string | readonly string[])[]): string => `${lines.flat().join('\n')}\n`

/** Each file as `name +added -removed`; with all of its names where it has several. */
const shown = (diff: Diff | null): string[] | null =>
  diff === null
    ? null
    : [
        ...diff.files.map(
          ({ path, names, isDeleted, added, removed }) =>
            `${names.size > 1 ? `${[...names].join(' → ')} = ` : ''}${path} +${added} -${removed}${isDeleted ? ' deleted' : ''}`,
        ),
        ...(diff.strayLines === 0 ? [] : [`stray ${diff.strayLines}`]),
        ...diff.files
          .filter(({ suspectNames }) => suspectNames.size > 0)
          .map(({ suspectNames }) => `suspects ${[...suspectNames].join(', ')}`),
      ]

describe('parseDiff', () => {
  it.each<{ name: string; diff: string; expected: readonly string[] | null }>([
    { name: 'no diff', diff: '# A heading\n\n--- a rule\n+++ another\n', expected: null },
    { name: 'nothing', diff: '', expected: null },
    {
      name: 'one file, several hunks',
      diff: text(head('src/a.ts'), '@@ -1,2 +1,3 @@ function a', ' x', '-y', '+z', '+z', '@@ -9 +10 @@', '-q', '+r'),
      expected: ['src/a.ts +3 -2'],
    },
    {
      name: 'a new file, a deleted one, an empty one',
      diff: text(
        ['diff --git a/n.ts b/n.ts', 'new file mode 100644', 'index 0000000..1', '--- /dev/null', '+++ b/n.ts'],
        ['@@ -0,0 +1,2 @@', '+a', '+b'],
        ['diff --git a/d.ts b/d.ts', 'deleted file mode 100644', 'index 1..0000000', '--- a/d.ts', '+++ /dev/null'],
        ['@@ -1 +0,0 @@', '-a'],
        ['diff --git a/e.ts b/e.ts', 'new file mode 100644', 'index 0000000..e69de29'],
      ),
      expected: ['n.ts +2 -0', 'd.ts +0 -1 deleted', 'e.ts +0 -0'],
    },
    {
      name: 'a rename keeps the name that the file had',
      diff: text(
        ['diff --git a/src/auth.ts b/src/door.ts', 'similarity index 100%'],
        ['rename from src/auth.ts', 'rename to src/door.ts'],
      ),
      expected: ['src/door.ts → src/auth.ts = src/door.ts +0 -0'],
    },
    {
      name: 'a change of mode, and a binary file',
      diff: text(
        ['diff --git a/run.sh b/run.sh', 'old mode 100644', 'new mode 100755'],
        ['diff --git a/i.png b/i.png', 'index 1..2 100644', 'Binary files a/i.png and b/i.png differ'],
      ),
      expected: ['run.sh +0 -0', 'i.png +0 -0'],
    },
    {
      name: 'added and removed lines that look like heads',
      diff: text(
        head('notes.md'),
        [
          '@@ -1,3 +1,4 @@',
          '--- a/old.ts',
          '-diff --git a/x b/x',
          ' c',
          '+++ b/new.ts',
          '+diff --git a/y b/y',
          '+@@ -1 +1 @@',
        ],
        head('b.ts'),
        ['@@ -1 +1 @@', '-a', '+b'],
      ),
      expected: ['notes.md +3 -2', 'b.ts +1 -1'],
    },
    {
      name: 'no newline at the end',
      diff: text(
        head('a'),
        ['@@ -1 +1 @@', '-a', '\\ No newline at end of file', '+b', '\\ No newline at end of file'],
        head('b'),
        ['@@ -1 +1 @@', '-a', '+b'],
      ),
      expected: ['a +1 -1', 'b +1 -1'],
    },
    {
      name: 'line ends of Windows',
      diff: text(head('src/a.ts'), '@@ -1 +1 @@', '-a', '+b', head('src/b.ts'), '@@ -1 +1 @@', '-a', '+b').replaceAll(
        '\n',
        '\r\n',
      ),
      expected: ['src/a.ts +1 -1', 'src/b.ts +1 -1'],
    },
    {
      name: 'quoted names, names with spaces, with b/ in them',
      diff: text(
        ['diff --git "a/s\\303\\244.ts" "b/s\\303\\244.ts"', '--- "a/s\\303\\244.ts"', '+++ "b/s\\303\\244.ts"'],
        ['@@ -1 +1 @@', '-a', '+b'],
        ['diff --git a/a b/c d b/a b/c d', 'old mode 100644', 'new mode 100755'],
      ),
      expected: ['s\\303\\244.ts +1 -1', 'c d +0 -0'],
    },
    {
      name: 'a plain diff -u with times and other prefixes',
      diff: text(
        ['diff -u old/a.ts new/a.ts', '--- old/a.ts\t2026-01-02 03:04:05', '+++ new/a.ts\t2026-01-02 03:04:06'],
        ['@@ -1 +1 @@', '-a', '+b'],
        ['--- old/b.ts\t2026-01-02', '+++ new/b.ts\t2026-01-02', '@@ -1 +1,2 @@', '-a', '+b', '+c'],
      ),
      expected: ['-u old/a.ts new/a.ts → old/a.ts → new/a.ts = new/a.ts +1 -1', 'old/b.ts → new/b.ts = new/b.ts +2 -1'],
    },
    {
      name: 'an empty line of context that lost its space',
      diff: text(head('a'), '@@ -1,3 +1,3 @@', ' x', '', '-a', '+b'),
      expected: ['a +1 -1'],
    },
    {
      name: 'a message before and after it',
      diff: text(
        'From 1111',
        'Subject: Less',
        '',
        'It is less now.',
        head('a'),
        '@@ -1 +1 @@',
        '-a',
        '+b',
        '-- ',
        '2.39',
      ),
      expected: ['a +1 -1', 'stray 5'],
    },
  ])('$name', ({ diff, expected }) => expect(shown(parseDiff(diff))).toEqual(expected))
})

/** A diff may have wrong numbers; every changed line and every name is still reported. */
describe('parseDiff does not lose', () => {
  const secret = [...head('src/auth.ts'), '@@ -1 +1 @@', '-a', '+b']

  it.each<{ name: string; diff: string; expected: readonly string[] }>([
    {
      name: 'a file behind a hunk that claims to be endless',
      diff: text(head('a'), '@@ -1,999999999 +1,999999999 @@', '-a', '+b', secret),
      expected: ['a +1 -1', 'src/auth.ts +1 -1'],
    },
    {
      name: 'the name of a plain file behind one, whose head is counted as lines',
      diff: text(head('a'), '@@ -1,99 +1,99 @@', '-a', '+b', secret.slice(2)),
      expected: ['a +3 -3', 'suspects src/auth.ts'],
    },
    {
      name: 'the same with numbers that come out even',
      diff: text(head('a'), '@@ -1,2 +1,2 @@', '-a', '+b', secret.slice(2)),
      expected: ['a +3 -3', 'suspects src/auth.ts'],
    },
    {
      name: 'lines behind a hunk that claims to be empty',
      diff: text(head('a'), '@@ -0,0 +0,0 @@', ...Array.from({ length: 500 }, () => '+more')),
      expected: ['a +0 -0', 'stray 500'],
    },
    {
      name: 'the name of a file, by a line that gives it another one',
      diff: text(head('src/auth.ts'), '@@ -0,0 +0,0 @@', '+++ b/harmless.md'),
      expected: ['src/auth.ts → harmless.md = src/auth.ts +0 -0'],
    },
    { name: 'hunks without any file', diff: text('@@ -1,2 +1,2 @@', '-a', '+b', ' c'), expected: [' +1 -1'] },
    {
      name: 'a long text that shows a diff somewhere',
      diff: text(...Array.from({ length: 300 }, (_, i) => `Line ${i}.`), head('a'), '@@ -1 +1 @@', '-a', '+b'),
      expected: ['a +1 -1', 'stray 300'],
    },
    {
      name: 'a merge, whose hunks have other heads',
      diff: text(
        'diff --cc src/auth.ts',
        'index 1,2..3',
        '--- a/src/auth.ts',
        '+++ b/src/auth.ts',
        '@@@ -1 -1 +1 @@@',
        '++a',
      ),
      expected: ['src/auth.ts +0 -0', 'stray 2'],
    },
  ])('$name', ({ diff, expected }) => expect(shown(parseDiff(diff))).toEqual(expected))

  it('5 MB of it, or one line of them, in little time', () => {
    const line = '+x'.repeat(2_500_000)
    const started = performance.now()
    expect(shown(parseDiff(text(head('a'), '@@ -0,0 +1 @@', line)))).toEqual(['a +1 -0'])
    expect(parseDiff(text(head('a'), `diff --git ${'" b/'.repeat(1_000_000)}`))?.files).toHaveLength(2)
    expect(parseDiff('@@ -1 +1 @@\n+\n'.repeat(300_000))?.files).toHaveLength(1)
    expect(performance.now() - started).toBeLessThan(5_000)
  })
})

describe('changedLines', () => {
  it.each<{ name: string; diff: string; expected: readonly string[] }>([
    {
      name: 'numbers added lines as after the change and removed ones as before it',
      diff: text(
        head('a'),
        '@@ -5,4 +7,4 @@',
        ' x',
        '-gone',
        '+new',
        '+more',
        '-gone too',
        ' y',
        '@@ -30 +32 @@',
        '-p',
        '+q',
      ),
      expected: ['-6 gone', '+8 new', '+9 more', '-7 gone too', '-30 p', '+32 q'],
    },
    {
      name: 'counts an empty line of context, a tab that lost its space, and no mark for a missing line feed',
      diff: text(head('a'), '@@ -1,4 +1,4 @@', '', '\ttabbed', '-a', '\\ No newline at end of file', '+b', ' c'),
      expected: ['-3 a', '+3 b'],
    },
    {
      name: 'reads CRLF',
      diff: text(head('a'), '@@ -1 +1 @@', '-a', '+b').replaceAll('\n', '\r\n'),
      expected: ['-1 a', '+1 b'],
    },
    {
      name: 'takes lines that look like heads for lines',
      diff: text(head('a'), '@@ -1,2 +1,2 @@', '--- a/x', '+++ b/x', ' c'),
      expected: ['-1 -- a/x', '+1 ++ b/x'],
    },
  ])('$name', ({ diff, expected }) => {
    const files = parseDiff(diff)?.files ?? []
    const lines = files.flatMap((file) => [...changedLines(diff, file)])
    expect(lines.map(({ sign, number, text }) => `${sign}${number} ${text}`)).toEqual(expected)
  })
})

describe('the offsets of a diff', () => {
  const first = text(head('src/a.ts'))
  const hunks = [text('@@ -1 +1 @@', '-a', '+b'), text('@@ -9,2 +9,1 @@ function x', ' x', '-y')]
  const second = text(['diff --git a/i.png b/i.png', 'Binary files a/i.png and b/i.png differ'])

  it.each([
    ['\n', `${first}${hunks.join('')}${second}`],
    ['\r\n', `${first}${hunks.join('')}${second}`.replaceAll('\n', '\r\n')],
  ])('lead to the heads and the hunks, with %j', (eol, diff) => {
    const parts = parseDiff(diff)?.files.map(({ start, headEnd, hunks }) => [
      diff.slice(start, headEnd),
      ...hunks.map((hunk) => diff.slice(hunk.start, hunk.end)),
    ])
    expect(parts).toEqual([[first, ...hunks], [second]].map((file) => file.map((part) => part.replaceAll('\n', eol))))
  })
})
