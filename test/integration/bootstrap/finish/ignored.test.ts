import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readlinkSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCli } from '../../../support/run-cli.ts'
import { git, snapshot, temporaryRepo, write } from '../../../support/temporary-repo.ts'
import { offline } from '../worktree/bootstrap-in.ts'
import { archivesOf, expectGone, finish, type Opened, refused } from './finishable.ts'

const large = 'x'.repeat(1_100_000)

/** A worktree with what `.worktreeinclude` copies and `worktree.setup` makes. */
async function place(): Promise<Opened> {
  const repo = temporaryRepo('shop', {
    'README.md': '# Shop\n',
    '.gitignore': '.env\n*.local\nmade/\ndata/\nnotes/\nnode_modules/\n',
    '.worktreeinclude': '.env\nbig.local\n',
    'plan-gate.yaml': "worktree:\n  setup: ['mkdir made && head -c 1100000 /dev/zero > made/large']\n",
  })
  write(repo, { '.env': 'KEY=1\n', 'big.local': large })
  await runCli([...offline, '--name', 'x'], { cwd: repo })
  return { repo, worktree: `${repo}-x` }
}

const tooLarge = 'are larger than the archive takes (1 MB for a file, or for a folder in all)'

const keptOf = (repo: string): string => join(archivesOf(repo)[0] ?? '', 'ignored')

describe('what git ignores', () => {
  it('goes where the main checkout has the same, or setup made it, and is named', async () => {
    const fixture = await place()
    expect(await finish(fixture.worktree)).toMatchObject({
      goes_with_it: ['made/'],
      in_main: ['.env', 'big.local'],
      kept: [],
      kept_in: null,
    })
    expectGone(fixture)
  })

  it.each<[string, (fixture: Opened) => void, { [path: string]: string }]>([
    ['was copied and edited here', ({ worktree }) => write(worktree, { '.env': 'KEY=2\n' }), { '.env': 'KEY=2\n' }],
    ['was edited in the main checkout', ({ repo }) => write(repo, { '.env': 'KEY=3\n' }), { '.env': 'KEY=1\n' }],
    ['was made here', ({ worktree }) => write(worktree, { 'notes/a b/ü.md': 'n' }), { 'notes/a b/ü.md': 'n' }],
    [
      'the user has allowed in Claude Code',
      ({ worktree }) => write(worktree, { '.claude/settings.local.json': '{"permissions":{"allow":["Bash(ls)"]}}' }),
      { '.claude/settings.local.json': '{"permissions":{"allow":["Bash(ls)"]}}' },
    ],
  ])('is archived, for the user only, if it %s', async (_, change, expected) => {
    const fixture = await place()
    write(fixture.repo, {
      '.git/info/exclude': `.claude/settings.local.json\n${readFileSync(join(fixture.repo, '.git/info/exclude'), 'utf8')}`,
    })
    change(fixture)
    const { stderr } = await runCli(['finish'], { cwd: fixture.worktree })
    const folder = keptOf(fixture.repo)
    for (const [path, text] of Object.entries(expected)) {
      expect(readFileSync(join(folder, path), 'utf8')).toBe(text)
      expect((statSync(join(folder, path)).mode & 0o777).toString(8)).toBe('600')
      expect(stderr).toContain(`which git ignores: ${folder}\n`)
    }
  })

  it('is never archived where git could add it', async () => {
    const fixture = await place()
    write(fixture.worktree, { '.env': 'KEY=2\n' })
    const { archive, kept_in } = await finish(fixture.worktree, ['--archive', join(fixture.repo, 'reviews')])
    expect([archive, kept_in?.startsWith(`${fixture.repo}/.git/plan-gate-archive/`)]).toEqual([
      join(fixture.repo, 'reviews'),
      true,
    ])
    expect(readFileSync(join(kept_in ?? '', '.env'), 'utf8')).toBe('KEY=2\n')
    expect(JSON.stringify(snapshot(join(fixture.repo, 'reviews')))).not.toContain('KEY=2')
  })

  it.each<[string, (worktree: string) => void, string, string]>([
    ['is large', (worktree) => write(worktree, { 'data/db': large }), 'data/', tooLarge],
    [
      'was copied, is large and edited',
      (worktree) => write(worktree, { 'big.local': `${large}!` }),
      'big.local',
      tooLarge,
    ],
    ['is large in all', (worktree) => write(worktree, manyFiles(400, 'x'.repeat(3_000))), 'data/', tooLarge],
    [
      'has many files',
      (worktree) => write(worktree, manyFiles()),
      'data/',
      'hold more files than the archive takes (500)',
    ],
  ])('is not removed without consent, and why is said, if it %s', async (_, make, named, why) => {
    const fixture = await place()
    make(fixture.worktree)
    const said = await refused(fixture.worktree)
    expect(said).toContain(`  git ignores these; they are in no other place, and ${why}.\n      ${named}\n`)
    expect(said).toMatch(/plan-gate'? finish --discard ignored/)
    await finish(fixture.worktree, ['--discard', 'ignored'])
    expectGone(fixture)
  })

  it.each<[string, string]>([
    ['npm', 'node_modules/.package-lock.json'],
    ['pnpm', 'node_modules/.modules.yaml'],
    ['yarn', 'node_modules/.yarn-integrity'],
    ['a virtual environment', 'data/pyvenv.cfg'],
  ])('goes, and is named, where %s has made it', async (_, mark) => {
    const fixture = await place()
    const folder = mark.slice(0, mark.lastIndexOf('/') + 1)
    write(fixture.worktree, { [`${folder}large`]: large, [mark]: '{}\n' })
    expect((await finish(fixture.worktree)).goes_with_it).toContain(folder)
    expectGone(fixture)
  })

  it('goes where the folder is tagged as a cache, and not where the tag is another text', async () => {
    const fixture = await place()
    write(fixture.worktree, { 'data/large': large, 'data/CACHEDIR.TAG': 'a note of mine\n' })
    expect(await refused(fixture.worktree)).toContain('data/\n')
    write(fixture.worktree, { 'data/CACHEDIR.TAG': 'Signature: 8a477f597d28d172789f06886806bc55\n' })
    expect((await finish(fixture.worktree)).goes_with_it).toContain('data/')
  })

  it('is not removed without consent where only its name is node_modules', async () => {
    const fixture = await place()
    write(fixture.worktree, { 'node_modules/mine': large })
    expect(await refused(fixture.worktree)).toContain('node_modules/\n')
  })

  it('is not lost where its name is not UTF-8, so that node cannot read it', async () => {
    const fixture = await place()
    spawnSync('sh', ['-c', `echo > "$(printf 'a\\377.local')"`], { cwd: fixture.worktree })
    expect((await runCli(['finish'], { cwd: fixture.worktree, exitCode: 2 })).stderr).toContain(
      'have names that are not UTF-8, so they cannot be read.\n      a\ufffd.local\n',
    )
    await finish(fixture.worktree, ['--discard', 'ignored'])
    expectGone(fixture)
  })

  it('goes where it is an empty folder', async () => {
    const fixture = await place()
    mkdirSync(join(fixture.worktree, 'data/in'), { recursive: true })
    const { stderr } = await runCli(['finish'], { cwd: fixture.worktree })
    expect(stderr).toContain('shop-x, with data/, made/ (the main checkout has the same .env, big.local)\n')
    expectGone(fixture)
  })

  it('keeps links as links, and is written anew by a second run', async () => {
    const fixture = await place()
    symlinkSync('/etc/hostname', join(fixture.worktree, 'host.local'))
    write(fixture.worktree, { 'docs/left.txt': '', '.env': 'KEY=2\n' })
    await refused(fixture.worktree)
    await finish(fixture.worktree, ['--discard', 'uncommitted'])
    expect(readlinkSync(join(keptOf(fixture.repo), 'host.local'))).toBe('/etc/hostname')
    expect(existsSync(join(keptOf(fixture.repo), '.env'))).toBe(true)
    expect(git(fixture.repo, 'status', '--porcelain')).toBe('')
  })
})

const manyFiles = (length = 600, text = '') => Object.fromEntries(Array.from({ length }, (_, n) => [`data/${n}`, text]))
