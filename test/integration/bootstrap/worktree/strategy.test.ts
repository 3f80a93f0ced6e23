import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { nameFor } from '../../../../bootstrap/steps.ts'
import { runCli } from '../../../support/run-cli.ts'
import { commit, git, temporaryRepo, write } from '../../../support/temporary-repo.ts'
import { bootstrapIn } from './bootstrap-in.ts'

const text = '# Login\n\nUsers sign in.\n'

type Given = { name: string; make: (repo: string) => { cwd?: string; strategy: string; args?: string[] } }

const asItStands: (Given & { path: string })[] = [
  { name: 'a tracked one', make: () => ({ strategy: 'docs/login.md' }), path: 'docs/login.md' },
  {
    name: 'one named from a subfolder',
    make: (repo) => ({ cwd: join(repo, 'docs'), strategy: 'login.md' }),
    path: 'docs/login.md',
  },
  { name: 'an absolute path', make: (repo) => ({ strategy: join(repo, 'docs/login.md') }), path: 'docs/login.md' },
  {
    name: 'a path through a link from outside',
    make: (repo) => {
      symlinkSync(repo, join(dirname(repo), 'link'))
      return { strategy: join(dirname(repo), 'link/docs/login.md') }
    },
    path: 'docs/login.md',
  },
  { name: 'a tracked link to one', make: () => ({ strategy: 'LOGIN.md' }), path: 'docs/login.md' },
  { name: 'a name with two dots in front', make: () => ({ strategy: '..login.md' }), path: '..login.md' },
  {
    name: 'one that only the base has unchanged',
    make: (repo) => {
      git(repo, 'checkout', '--quiet', '-b', 'other')
      commit(repo, { 'docs/login.md': 'another' })
      write(repo, { 'docs/login.md': text })
      return { strategy: 'docs/login.md', args: ['--base', 'main'] }
    },
    path: 'docs/login.md',
  },
]

const copied: Given[] = [
  {
    name: 'an untracked one',
    make: (repo) => {
      write(repo, { 'new idea.md': text })
      return { strategy: 'new idea.md' }
    },
  },
  {
    name: 'a modified one',
    make: (repo) => {
      write(repo, { 'docs/login.md': `${text}\nAnd out.\n` })
      return { strategy: 'docs/login.md' }
    },
  },
  {
    name: 'one from elsewhere, of any bytes',
    make: (repo) => {
      writeFileSync(join(dirname(repo), 'outside.md'), Buffer.from([0xff, 0xfe, 0x0d, 0x0a, 0x00]))
      return { strategy: '../outside.md' }
    },
  },
  {
    name: 'a tracked link that leads out of the repository',
    make: (repo) => {
      write(dirname(repo), { 'outside.md': text })
      symlinkSync('../outside.md', join(repo, 'out.md'))
      commit(repo, {})
      return { strategy: 'out.md' }
    },
  },
  {
    name: 'one that the base does not have',
    make: (repo) => {
      commit(repo, { 'later.md': text })
      return { strategy: 'later.md', args: ['--base', 'HEAD~1'] }
    },
  },
]

const repoWithStrategy = (): string => {
  const repo = temporaryRepo('shop', { 'docs/login.md': text, '..login.md': text })
  symlinkSync('docs/login.md', join(repo, 'LOGIN.md'))
  commit(repo, {}, 'A link')
  return repo
}

const copyPath = '.claude/review/strategy.md'

describe('a strategy', () => {
  it.each(asItStands)('in the worktree is named by its path: $name', async ({ make, path }) => {
    const repo = repoWithStrategy()
    const { cwd = repo, strategy, args = [] } = make(repo)
    const { worktree, prompt } = await bootstrapIn(cwd, { args: [strategy, ...args], checkout: repo })
    expect(prompt).toBe(`/plan-with-review ${path}`)
    expect(existsSync(join(worktree, copyPath))).toBe(false)
  })

  it.each(copied)('that is not in the worktree is copied: $name', async ({ make }) => {
    const repo = repoWithStrategy()
    const { cwd = repo, strategy, args = [] } = make(repo)
    const { worktree, prompt } = await bootstrapIn(cwd, { args: [strategy, '--name', 'x', ...args], checkout: repo })
    expect(prompt).toBe(`/plan-with-review ${copyPath}`)
    expect(readFileSync(join(worktree, copyPath))).toEqual(readFileSync(join(repo, strategy)))
  })

  it('is copied again when it has changed', async () => {
    const repo = repoWithStrategy()
    write(dirname(repo), { 'idea.md': 'first' })
    const { worktree } = await bootstrapIn(repo, { args: ['../idea.md'] })
    write(dirname(repo), { 'idea.md': 'second' })
    await bootstrapIn(repo, { args: ['../idea.md'] })
    expect(readFileSync(join(worktree, copyPath), 'utf8')).toBe('second')
  })

  it('leaves nothing behind after uninstall when it was copied', async () => {
    const repo = temporaryRepo()
    write(dirname(repo), { 'idea.md': text })
    const { worktree } = await bootstrapIn(repo, { args: ['../idea.md'] })
    await runCli(['uninstall'], { cwd: worktree })
    expect(readdirSync(worktree).sort()).toEqual(['.git', 'README.md'])
  })

  it('gives the worktree its name', async () => {
    const repo = repoWithStrategy()
    write(dirname(repo), { 'My Great Idea! (v2).final.md': text })
    const { worktree, branch } = await bootstrapIn(repo, { args: ['../My Great Idea! (v2).final.md'] })
    expect({ folder: basename(worktree), branch }).toEqual({
      folder: 'shop-my-great-idea-v2-final',
      branch: 'plan/my-great-idea-v2-final',
    })
  })

  it('may be left out', async () => {
    const repo = repoWithStrategy()
    const { branch, prompt } = await bootstrapIn(repo, { args: [] })
    expect({ branch, prompt }).toEqual({
      branch: expect.stringMatching(/^plan\/\d{4}-\d\d-\d\d$/),
      prompt: '/plan-with-review',
    })
  })

  it('is in the summary, quoted for a shell', async () => {
    const repo = temporaryRepo("it's", { 'read me.md': text })
    const { stderr } = await runCli(['bootstrap', 'read me.md', '--no-launch', '--reviewer', 'checklist'], {
      cwd: repo,
    })
    expect(stderr).toContain(`plan-gate open '${dirname(repo)}/it'\\''s-read-me'\n`)
  })
})

describe('a name', () => {
  const strategyAt = (path: string) => ({ path, bytes: Buffer.from(''), inCheckout: null })
  const noon = new Date('2026-03-04T12:00:00')

  it.each([
    { path: '/docs/strategy.md', expected: 'strategy' },
    { path: '/docs/Plan B.txt', expected: 'plan-b' },
    { path: '/docs/.hidden', expected: 'plan' },
    { path: '/docs/???.md', expected: 'plan' },
    { path: '/docs/no-ending', expected: 'no-ending' },
    { path: '/docs/-- x --.md', expected: 'x' },
    { path: '/docs/x.lock.md', expected: 'x-lock' },
    { path: '/docs/Cafe\u0301 \u5e97.md', expected: 'caf\u00e9-\u5e97' },
    { path: '/docs/\u0939\u093f\u0928\u094d\u0926\u0940.md', expected: '\u0939\u093f\u0928\u094d\u0926\u0940' },
    { path: '/docs/\u0130stanbul.md', expected: 'i\u0307stanbul' },
    { path: `/docs/${'long '.repeat(20)}.md`, expected: 'long-long-long-long-long-long-long-long-long-lon' },
    { path: `/docs/${'four '.repeat(20)}x.md`, expected: 'four-four-four-four-four-four-four-four-four-fou' },
    { path: `/docs/${'a'.repeat(47)} b.md`, expected: 'a'.repeat(47) },
    { path: `/docs/${'\u{20000}'.repeat(60)}.md`, expected: '\u{20000}'.repeat(48) },
  ])('from $path → $expected', ({ path, expected }) => {
    expect(nameFor(null, strategyAt(path), noon)).toBe(expected)
  })

  it.each([
    { given: 'login', expected: 'login' },
    { given: 'JIRA-12_b.2', expected: 'JIRA-12_b.2' },
    { given: '2026', expected: '2026' },
    { given: 'cafe\u0301', expected: 'caf\u00e9' },
    { given: '\u0939\u093f\u0928\u094d\u0926\u0940', expected: '\u0939\u093f\u0928\u094d\u0926\u0940' },
  ])('given as $given → $expected, whatever the strategy is called', ({ given, expected }) => {
    expect(nameFor(given, strategyAt('/docs/other.md'), noon)).toBe(expected)
  })

  it('is the day without both', () => {
    expect(nameFor(null, null, noon)).toBe('2026-03-04')
  })
})
