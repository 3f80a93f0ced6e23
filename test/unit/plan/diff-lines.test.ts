import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitLines } from '../../../src/text/clean.ts'
import { diffLines, type LineChange } from '../../../src/text/diff.ts'

describe('diffLines', () => {
  it.each<[string, string, string, readonly LineChange[]]>([
    ['equal texts', 'a\nb\n', 'a\nb\n', []],
    ['two empty texts', '', '', []],
    ['a text from nothing', '', 'a\nb\n', [{ before: 1, removed: [], after: 1, added: ['a\n', 'b\n'] }]],
    ['a text that goes', 'a\n', '', [{ before: 1, removed: ['a\n'], after: 1, added: [] }]],
    ['a line in the middle', 'a\nb\nc\n', 'a\nX\nc\n', [{ before: 2, removed: ['b\n'], after: 2, added: ['X\n'] }]],
    ['an insertion', 'a\nc\n', 'a\nb\nc\n', [{ before: 2, removed: [], after: 2, added: ['b\n'] }]],
    ['a removal at the end', 'a\nb\nc\n', 'a\n', [{ before: 2, removed: ['b\n', 'c\n'], after: 2, added: [] }]],
    [
      'two changes',
      'a\nb\nc\nd\ne\n',
      'A\nb\nc\nd\nE\n',
      [
        { before: 1, removed: ['a\n'], after: 1, added: ['A\n'] },
        { before: 5, removed: ['e\n'], after: 5, added: ['E\n'] },
      ],
    ],
    ['a newline at the end', 'a\nb', 'a\nb\n', [{ before: 2, removed: ['b'], after: 2, added: ['b\n'] }]],
    ['other line endings', 'a\r\nb\n', 'a\nb\n', [{ before: 1, removed: ['a\r\n'], after: 1, added: ['a\n'] }]],
    [
      'lines that stand there more than once',
      'x\na\nx\nb\nx\n',
      'x\nx\nb\nx\nx\n',
      [
        { before: 2, removed: ['a\n'], after: 2, added: [] },
        { before: 5, removed: [], after: 4, added: ['x\n'] },
      ],
    ],
  ])('%s', (_, before, after, expected) => {
    expect(diffLines(before, after)).toEqual(expected)
  })

  it('turns the one text into the other, whatever they are', () => {
    fc.assert(
      fc.property(anyText, anyText, (before, after) => {
        expect(applied(before, diffLines(before, after))).toBe(after)
      }),
    )
  })

  it('keeps as many lines as can be kept where no line stands once', () => {
    const repeating = fc.array(fc.constantFrom('x', 'y'), { maxLength: 30 }).map((lines) => lines.map((l) => `${l}\n`))
    fc.assert(
      fc.property(
        repeating.map((lines) => ['x\n', 'x\n', 'y\n', 'y\n', ...lines]),
        repeating.map((lines) => [...lines, 'x\n', 'x\n', 'y\n', 'y\n']),
        (before, after) => {
          const removed = diffLines(before.join(''), after.join('')).flatMap((change) => change.removed).length
          expect(before.length - removed).toBe(longestCommon(before, after))
        },
      ),
    )
  })

  it('ends soon on 20,000 lines, also where it has to give up on the shortest edit', () => {
    const lines = (of: (n: number) => string) => Array.from({ length: 20_000 }, (_, n) => `${of(n)}\n`).join('')
    const before = lines((n) => `old ${n}`)
    const shuffled = lines((n) => `word ${(n * n * 7919) % 101}`)
    const otherwise = lines((n) => `word ${(n * n * 104_729 + n * 31) % 101}`)
    expect(
      diffLines(
        before,
        lines((n) => `new ${n}`),
      ).map(({ removed }) => removed.length),
    ).toEqual([20_000])
    expect(applied(shuffled, diffLines(shuffled, otherwise))).toBe(otherwise)
    const reversed = splitLines(before).toReversed().join('')
    expect(applied(before, diffLines(before, reversed))).toBe(reversed)
  })

  it('takes a text of a million lines', () => {
    const empty = '\n'.repeat(1_000_000)
    expect(diffLines(empty, `${empty}end`)).toEqual([
      { before: 1_000_001, removed: [], after: 1_000_001, added: ['end'] },
    ])
    expect(diffLines('x\n', empty).map(({ removed, added }) => [removed.length, added.length])).toEqual([
      [1, 1_000_000],
    ])
  })
})

const anyText = fc
  .array(fc.tuple(fc.constantFrom('', 'a', 'b', 'c', 'dd', '\r', 'é'), fc.constantFrom('\n', '\n', '\r\n')), {
    maxLength: 40,
  })
  .chain((lines) => fc.constantFrom('', 'end').map((end) => `${lines.flat().join('')}${end}`))

function applied(before: string, changes: readonly LineChange[]): string {
  const lines = splitLines(before)
  let at = 1
  const result: string[] = []
  for (const change of changes) {
    result.push(...lines.slice(at - 1, change.before - 1))
    expect(lines.slice(change.before - 1, change.before - 1 + change.removed.length)).toEqual(change.removed)
    expect(result.length + 1).toBe(change.after)
    result.push(...change.added)
    at = change.before + change.removed.length
  }
  return [...result, ...lines.slice(at - 1)].join('')
}

function longestCommon(a: readonly string[], b: readonly string[]): number {
  let row = b.map(() => 0)
  for (const line of a) {
    const next: number[] = []
    for (const [n, other] of b.entries())
      next.push(line === other ? (row[n - 1] ?? 0) + 1 : Math.max(row[n] ?? 0, next[n - 1] ?? 0))
    row = next
  }
  return row.at(-1) ?? 0
}
