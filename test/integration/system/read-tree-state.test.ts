import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { findDrift, type TreeState } from '../../../src/gate/working-tree.ts'
import { readTreeState } from '../../../src/system/hook-git.ts'
import { type GatedWorktree, gatedWorktree } from '../../support/gated-worktree.ts'

/** Two looks at a real worktree with something done in between. */
let worktree: GatedWorktree
beforeEach(async () => {
  worktree = await gatedWorktree({ '.gitignore': '*.log\nhome/\n', 'src/a.ts': 'a\n', 'src/b.ts': 'b\n' })
})
afterEach(() => worktree.remove())

async function look(): Promise<TreeState> {
  const state = readTreeState(worktree.root, {
    isLeftOut: (path) => path === 'docs/plan.md',
    timeoutMs: 30_000,
    sandbox: null,
  })
  if (state.kind === 'failed') throw new Error(state.why)
  return state
}
const path = (name: string): string => worktree.at(name)
const bytes = (name: string): Buffer => Buffer.concat([Buffer.from(`${worktree.root}/`), Buffer.from(name, 'latin1')])

const rows: [name: string, before: () => void, between: () => void, drift: [path: string, what: string][]][] = [
  ['nothing', () => {}, () => {}, []],
  ['a tracked file changes', () => {}, () => worktree.write('src/a.ts', 'x\n'), [['src/a.ts', 'changed']]],
  [
    'a dirty file changes once more',
    () => worktree.write('src/a.ts', 'x\n'),
    () => worktree.write('src/a.ts', 'y\n'),
    [['src/a.ts', 'changed']],
  ],
  ['a dirty file stays as it is', () => worktree.write('src/a.ts', 'x\n'), () => {}, []],
  [
    'a dirty file is put back',
    () => worktree.write('src/a.ts', 'x\n'),
    () => worktree.git('checkout', '--', 'src/a.ts'),
    [['src/a.ts', 'is back to what is committed']],
  ],
  [
    'a change is taken back',
    () => {},
    () => [worktree.write('src/a.ts', 'x\n'), worktree.write('src/a.ts', 'a\n')],
    [],
  ],
  ['a file is created', () => {}, () => worktree.write('new.txt', ''), [['new.txt', 'created']]],
  [
    'its name means something to JavaScript',
    () => {},
    () => worktree.write('__proto__', ''),
    [['__proto__', 'created']],
  ],
  [
    'a file of such a name goes',
    () => worktree.write('constructor', ''),
    () => rmSync(path('constructor')),
    [['constructor', 'is back to what is committed']],
  ],
  [
    'an untracked file changes',
    () => worktree.write('new.txt', '1'),
    () => worktree.write('new.txt', '2'),
    [['new.txt', 'changed (untracked)']],
  ],
  ['a file is deleted', () => {}, () => rmSync(path('src/a.ts')), [['src/a.ts', 'deleted']]],
  [
    'a file is renamed',
    () => {},
    () => renameSync(path('src/a.ts'), path('src/c.ts')),
    [
      ['src/a.ts', 'deleted'],
      ['src/c.ts', 'created'],
    ],
  ],
  [
    'a file is renamed by git',
    () => {},
    () => worktree.git('mv', 'src/a.ts', 'src/c.ts'),
    [
      ['src/a.ts', 'deleted'],
      ['src/c.ts', 'created'],
    ],
  ],
  [
    'a change is staged',
    () => worktree.write('src/a.ts', 'x\n'),
    () => worktree.git('add', 'src/a.ts'),
    [['src/a.ts', 'staged or unstaged']],
  ],
  ['a file can be run', () => {}, () => chmodSync(path('src/a.ts'), 0o755), [['src/a.ts', 'changed']]],
  [
    'an untracked file can be run',
    () => worktree.write('new.sh', ''),
    () => chmodSync(path('new.sh'), 0o755),
    [['new.sh', 'changed (untracked)']],
  ],
  [
    'a file becomes a link',
    () => {},
    () => [rmSync(path('src/a.ts')), symlinkSync('b.ts', path('src/a.ts'))],
    [['src/a.ts', 'changed']],
  ],
  [
    'a link points elsewhere',
    () => symlinkSync('1', path('l')),
    () => [rmSync(path('l')), symlinkSync('2', path('l'))],
    [['l', 'changed (untracked)']],
  ],
  [
    'something is committed',
    () => worktree.write('src/a.ts', 'x\n'),
    () => worktree.git('commit', '-qam', 'x'),
    [
      ['HEAD', expect.stringMatching(/^moved from \w{8} to \w{8}$/) as unknown as string],
      ['src/a.ts', 'is back to what is committed'],
    ],
  ],
  ['an ignored file changes', () => worktree.write('x.log', '1'), () => worktree.write('x.log', '2'), []],
  ['the plan changes', () => {}, () => worktree.write('docs/plan.md', '1'), []],
  ['our own files change', () => {}, () => worktree.write('.claude/review/x', '1'), []],
  ['a name with a line end and a quote', () => {}, () => worktree.write('a\n"b', ''), [['a\n"b', 'created']]],
  [
    'a name with blanks',
    () => {},
    () => [worktree.write('src/a b  c.ts', ''), worktree.git('add', '-A')],
    [['src/a b  c.ts', 'created']],
  ],
  ['a name that is no UTF-8', () => {}, () => writeFileSync(bytes('\xff\xfe'), ''), [['\xff\xfe', 'created']]],
  [
    'the content of a name that is no UTF-8',
    () => writeFileSync(bytes('\xff\xfe'), '1'),
    () => writeFileSync(bytes('\xff\xfe'), '2'),
    [['\xff\xfe', 'changed (untracked)']],
  ],
]

describe('readTreeState and findDrift', () => {
  it.each(rows)('%s', async (_, before, between, drift) => {
    before()
    const first = await look()
    between()
    expect(findDrift(first, await look()).map(({ path, what }) => [path, what])).toEqual(drift)
  })

  it('looks into a submodule that is dirty', async () => {
    const library = await gatedWorktree({ 'lib.c': '1\n' })
    try {
      worktree.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library.root, 'lib')
      worktree.git('commit', '-qm', 'lib')
      const clean = await look()
      worktree.write('lib/lib.c', '2\n')
      const dirty = await look()
      expect(findDrift(clean, dirty).map(({ path }) => path)).toEqual(['lib', 'lib/lib.c'])
      worktree.write('lib/lib.c', '3\n')
      expect(findDrift(dirty, await look())).toEqual([{ path: 'lib/lib.c', what: 'changed' }])
    } finally {
      library.remove()
    }
  })

  it('works in a repository without a commit', async () => {
    rmSync(path('.git'), { recursive: true })
    worktree.git('init', '--quiet')
    const first = await look()
    worktree.write('src/a.ts', 'x\n')
    expect(findDrift(first, await look())).toEqual([{ path: 'src/a.ts', what: 'changed (untracked)' }])
  })

  it('says why where git cannot look', async () => {
    mkdirSync(join(worktree.root, 'elsewhere'))
    rmSync(path('.git/HEAD'))
    expect(readTreeState(worktree.root, { isLeftOut: () => false, timeoutMs: 30_000, sandbox: null })).toMatchObject({
      kind: 'failed',
      why: expect.stringContaining('not a git repository'),
    })
  })
})

it('takes the memory for reading once, however many files there are', async () => {
  for (let i = 0; i < 50; i += 1) worktree.write(`new-${i}.txt`, `${i}\n`)
  const taken = vi.spyOn(Buffer, 'allocUnsafe')
  const { paths } = await look()
  const large = taken.mock.calls.filter(([size]) => size >= 64 * 1024).length
  taken.mockRestore()
  expect([Object.keys(paths).length, new Set(Object.values(paths).map(({ digest }) => digest)).size]).toEqual([50, 50])
  expect(large).toBeLessThanOrEqual(1)
})
