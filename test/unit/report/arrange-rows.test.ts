import { describe, expect, it } from 'vitest'
import { arrangeRows, diffRows, foldRows, type Item, type Layout, type Row } from '../../../src/report/page/rows.ts'
import type { PageFinding } from '../../../src/report/page-data.ts'

const lines = (text: string): string[] => (text === '' ? [] : text.split(' '))

const shownRow = ({ kind, before, after }: Row): string => `${before ?? ''}${kind === 'same' ? '=' : '≠'}${after ?? ''}`

describe('two texts side by side', () => {
  it.each([
    { before: 'a b c', after: 'a b c', rows: '1=1 2=2 3=3' },
    { before: 'a b c', after: 'a x c', rows: '1=1 2≠2 3=3' },
    { before: 'a c', after: 'a b b c', rows: '1=1 ≠2 ≠3 2=4' },
    { before: 'a b b c', after: 'a c', rows: '1=1 2≠ 3≠ 4=2' },
    { before: 'a b c d', after: 'a x d', rows: '1=1 2≠2 3≠ 4=3' },
    { before: '', after: 'a b', rows: '≠1 ≠2' },
    { before: 'a', after: '', rows: '1≠' },
    { before: '', after: '', rows: '' },
  ])('$before → $after', ({ before, after, rows }) => {
    expect(diffRows(lines(before), lines(after)).map(shownRow).join(' ')).toBe(rows)
  })
})

describe('what nothing happened in is folded', () => {
  const row = (mark: string): Row => ({ kind: mark === '#' ? 'changed' : 'same', before: 1, after: 1 })
  it.each([
    { rows: '....', folds: 'folded 0-4' },
    { rows: '#', folds: 'shown 0-1' },
    { rows: '....#....', folds: 'folded 0-3, shown 3-6, folded 6-9' },
    { rows: '..#..', folds: 'shown 0-5' },
    { rows: '...#....', folds: 'folded 0-2, shown 2-5, folded 5-8' },
    { rows: '#...#', folds: 'shown 0-5' },
    { rows: '#....#', folds: 'shown 0-2, folded 2-4, shown 4-6' },
    { rows: '.', folds: 'shown 0-1' },
    { rows: '', folds: '' },
  ])('$rows', ({ rows, folds }) => {
    const folded = foldRows([...rows].map(row), ({ kind }) => kind === 'changed', 1)
    expect(folded.map(({ kind, from, to }) => `${kind} ${from}-${to}`).join(', ')).toBe(folds)
  })
})

describe('the rows of a difference', () => {
  const finding = (id: string, line: number | null): PageFinding => ({
    id,
    line,
    severity: 'major',
    severityTone: 'wait',
    problem: '',
    fix: '',
    outcome: '',
    outcomeTone: 'plain',
    anchor: id,
  })
  const shown = (item: Item): string => {
    switch (item.kind) {
      case 'row':
        return shownRow(item.row) + (item.side === 'both' ? '' : `(${item.side})`)
      case 'notes':
        return `[${item.before.map(({ id }) => id).join()}|${item.after.map(({ id }) => id).join()}]`
      case 'folded':
        return `{${item.lines}: ${item.items.map(shown).join(' ')}}`
    }
  }
  const notes = { before: [finding('F1', 2)], after: [finding('F2', 2), finding('F3', null)] }
  const arranged = (layout: Layout, isWhole = false, before: string | null = 'a b c d e f g h'): string => {
    const old = before === null ? null : lines(before)
    return arrangeRows(old, lines('a x c d e f g h'), notes, { layout, isWhole }).items.map(shown).join(' ')
  }

  it('stand side by side, each finding under its line on its side', () => {
    expect(arranged('split')).toBe('1=1 2≠2 [F1|F2] 3=3 4=4 5=5 {3: 6=6 7=7 8=8}')
  })
  it('or one under the other, what went first', () => {
    expect(arranged('unified')).toBe('1=1 2≠2(before) [F1|] 2≠2(after) [|F2] 3=3 4=4 5=5 {3: 6=6 7=7 8=8}')
  })
  it('or as a whole', () => {
    expect(arranged('split', true)).toBe('1=1 2≠2 [F1|F2] 3=3 4=4 5=5 6=6 7=7 8=8')
  })
  it('or are those of a single text', () => {
    expect(arranged('whole', false, null)).toBe('=1 =2 [|F2] =3 =4 =5 =6 =7 =8')
  })
  it('stay in sight where something was found, changed or not', () => {
    const same = lines('a b c d e f g h i j k l')
    const { items, changed } = arrangeRows(
      same,
      same,
      { before: [], after: [finding('F1', 7)] },
      { layout: 'split', isWhole: false },
    )
    expect([items.map(shown).join(' '), changed]).toEqual([
      '{3: 1=1 2=2 3=3} 4=4 5=5 6=6 7=7 [|F1] 8=8 9=9 10=10 {2: 11=11 12=12}',
      0,
    ])
  })
})
