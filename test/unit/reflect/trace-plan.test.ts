import { describe, expect, it } from 'vitest'
import { readPlanScope } from '../../../src/gate/scope.ts'
import { type Trace, tracePlan } from '../../../src/reflect/at-stop.ts'
import type { ChangedFile } from '../../../src/system/worktree-diff.ts'

const plan = (...changes: string[]): string =>
  ['# P', '', '## Changes', '', ...changes, '', '## Risks', 'none'].join('\n')
const added = (path: string): ChangedFile => ({ path, from: null, status: 'added' })
const changed = (path: string): ChangedFile => ({ path, from: null, status: 'changed' })
const deleted = (path: string): ChangedFile => ({ path, from: null, status: 'deleted' })
const renamed = (from: string, path: string): ChangedFile => ({ path, from, status: 'renamed' })
const clean = null

type Row = { what: string; plan: string; diff: ChangedFile[]; expected: Trace | null }

const rows: Row[] = [
  { what: 'all is as planned', plan: plan('- `src/a.ts`'), diff: [changed('src/a.ts')], expected: clean },
  { what: 'the plan names nothing', plan: plan('Only words.'), diff: [changed('a.ts')], expected: null },
  {
    what: 'a file that is not named',
    plan: plan('- `src/a.ts`'),
    diff: [changed('src/a.ts'), changed('src/b.ts'), added('src/c.ts'), deleted('d.ts')],
    expected: { unplanned: ['src/b.ts (changed)', 'src/c.ts (added)', 'd.ts (deleted)'], undone: [] },
  },
  {
    what: 'a step without a change',
    plan: plan('- `src/a.ts`', '- `src/b.ts` (new)'),
    diff: [changed('src/a.ts')],
    expected: { unplanned: [], undone: ['src/b.ts (line 6 of the plan, new): no change'] },
  },
  {
    what: 'nothing was done',
    plan: plan('- `src/a.ts`', '- `test/`'),
    diff: [],
    expected: {
      unplanned: [],
      undone: ['src/a.ts (line 5 of the plan): no change', 'test/ (line 6 of the plan): no change'],
    },
  },
  { what: 'a folder', plan: plan('- `src/`'), diff: [added('src/x/y.ts')], expected: clean },
  {
    what: 'a folder that only begins alike',
    plan: plan('- `src/`'),
    diff: [added('src2/y.ts'), added('src/a.ts')],
    expected: { unplanned: ['src2/y.ts (added)'], undone: [] },
  },
  { what: 'a glob', plan: plan('- `src/**/*.{ts,tsx}`'), diff: [changed('src/a/b.tsx')], expected: clean },
  {
    what: 'a glob that covers no change',
    plan: plan('- `src/*.css`', '- `src/a.ts`'),
    diff: [changed('src/a.ts')],
    expected: { unplanned: [], undone: ['src/*.css (line 5 of the plan): no change'] },
  },
  { what: 'a new file', plan: plan('- `a.ts` (new)'), diff: [added('a.ts')], expected: clean },
  { what: 'a new file that was there', plan: plan('- `a.ts` (new)'), diff: [changed('a.ts')], expected: clean },
  {
    what: 'a new file that is gone',
    plan: plan('- `a.ts` (new)'),
    diff: [deleted('a.ts')],
    expected: { unplanned: [], undone: ['a.ts (line 5 of the plan, new): it was deleted instead'] },
  },
  { what: 'a deleted file', plan: plan('- Delete `a.ts`'), diff: [deleted('a.ts')], expected: clean },
  {
    what: 'a file to be deleted that is still there',
    plan: plan('- Delete `a.ts`'),
    diff: [changed('a.ts')],
    expected: { unplanned: [], undone: ['a.ts (line 5 of the plan, deleted): it is still there, with changes'] },
  },
  {
    what: 'a file to be deleted that moved to where nobody said',
    plan: plan('- Delete `a.ts`'),
    diff: [renamed('a.ts', 'b.ts')],
    expected: { unplanned: ['b.ts (moved from a.ts)'], undone: [] },
  },
  {
    what: 'a file to be changed that is gone',
    plan: plan('- Change `a.ts`'),
    diff: [deleted('a.ts')],
    expected: { unplanned: [], undone: ['a.ts (line 5 of the plan, changed): it was deleted instead'] },
  },
  { what: 'a renamed file', plan: plan('- Rename `a.ts` → `b.ts`'), diff: [renamed('a.ts', 'b.ts')], expected: clean },
  {
    what: 'a renamed file that git sees as two',
    plan: plan('- Rename `a.ts` → `b.ts`'),
    diff: [deleted('a.ts'), added('b.ts')],
    expected: clean,
  },
  {
    what: 'a rename of which only the target is named',
    plan: plan('- `b.ts` (new)'),
    diff: [renamed('a.ts', 'b.ts')],
    expected: { unplanned: ['a.ts (moved to b.ts)'], undone: [] },
  },
  {
    what: 'a rename that was to be and was not',
    plan: plan('- Rename `a.ts` → `b.ts`'),
    diff: [changed('a.ts')],
    expected: {
      unplanned: [],
      undone: [
        'a.ts (line 5 of the plan, renamed): it is still there, with changes',
        'b.ts (line 5 of the plan, renamed): no change',
      ],
    },
  },
  {
    what: 'a lock file beside its manifest',
    plan: plan('- `web/package.json`'),
    diff: [changed('web/package.json'), changed('web/package-lock.json')],
    expected: clean,
  },
  {
    what: 'a lock file whose manifest is not named',
    plan: plan('- `a.ts`'),
    diff: [changed('a.ts'), changed('package-lock.json')],
    expected: { unplanned: ['package-lock.json (changed)'], undone: [] },
  },
]

describe('tracePlan', () => {
  it.each(rows)('$what', ({ plan: text, diff, expected }) => {
    expect(tracePlan(readPlanScope(text), diff)).toEqual(expected)
  })
})
