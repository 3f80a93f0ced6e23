import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { unifiedDiff } from '../../../src/text/diff.ts'

const names = { before: 'a/plan.md', after: 'b/plan.md' }
const folder = mkdtempSync(join(tmpdir(), 'plan-gate-diff-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const numbered = (count: number, edit: (n: number) => string = (n) => `line ${n}`): string =>
  Array.from({ length: count }, (_, n) => `${edit(n + 1)}\n`).join('')

describe('unifiedDiff', () => {
  it('shows a change with its surroundings', () => {
    const after = numbered(9, (n) => (n === 5 ? 'five' : `line ${n}`))
    expect(unifiedDiff(numbered(9), after, { context: 2, maxLines: 100, names })).toBe(
      [
        '--- a/plan.md',
        '+++ b/plan.md',
        '@@ -3,5 +3,5 @@',
        ' line 3',
        ' line 4',
        '-line 5',
        '+five',
        ' line 6',
        ' line 7',
        '',
      ].join('\n'),
    )
  })

  it('is empty for equal texts', () => {
    expect(unifiedDiff('a\n', 'a\n', { context: 3, maxLines: 10 })).toBe('')
  })

  it('is cut to so many lines, and says how many there were', () => {
    expect(unifiedDiff('', numbered(100), { context: 3, maxLines: 6 }).split('\n')).toEqual([
      '--- before',
      '+++ after',
      '@@ -0,0 +1,100 @@',
      '+line 1',
      '+line 2',
      '[98 more lines of this difference are left out]',
      '',
    ])
  })

  it.each<[string, string, string]>([
    ['changes near each other', numbered(30), numbered(30, (n) => (n % 7 === 0 ? `seven ${n}` : `line ${n}`))],
    ['changes far apart', numbered(60), numbered(60, (n) => (n % 25 === 0 ? `far ${n}` : `line ${n}`))],
    ['an insertion at the start', numbered(5), `new\n${numbered(5)}`],
    ['a removal at the end', numbered(8), numbered(3)],
    ['everything removed but a line', numbered(8), 'line 4\n'],
    ['everything different', numbered(20), numbered(25, (n) => `other ${n}`)],
    ['no newline before', 'a\nb\nc', 'a\nb\nd\n'],
    ['no newline after', 'a\nb\nc\n', 'a\nB\nc'],
    ['no newline on either side', 'a\nb\nc', 'a\nB\nc'],
    ['carriage returns', 'a\r\nb\r\nc\r\n', 'a\r\nB\r\nc\r\n'],
    ['from carriage returns to none', 'a\r\nb\r\n', 'a\nb\n'],
  ])('is what git applies: %s', (_, before, after) => {
    for (const context of [1, 3]) {
      writeFileSync(join(folder, 'plan.md'), before)
      execFileSync('git', ['-c', 'core.autocrlf=false', 'apply', '--whitespace=nowarn', '-'], {
        cwd: folder,
        input: unifiedDiff(before, after, { context, maxLines: 1000, names }),
        env: { PATH: process.env.PATH, GIT_CEILING_DIRECTORIES: tmpdir(), HOME: folder },
      })
      expect(readFileSync(join(folder, 'plan.md'), 'utf8')).toBe(after)
    }
  })
})
