import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCli } from '../../../support/run-cli.ts'
import {
  commit,
  git,
  makeRepo,
  statusOf,
  temporaryFolder,
  temporaryRepo,
  write,
} from '../../../support/temporary-repo.ts'
import { bootstrapIn, offline } from './bootstrap-in.ts'

describe('a folder name', () => {
  it.each([
    'with spaces',
    ' ends in a space ',
    `it's a "shop"`,
    "$HOME $& $' $` $$ $1",
    'caf\u00e9 \u5e97',
    'cafe\u0301 \u5e97',
    '-dash',
    '.hidden',
    '{name}',
    '!*?[a]#~ %41',
  ])('may be %j', async (name) => {
    const repo = temporaryRepo(name)
    const { worktree, branch } = await bootstrapIn(repo)
    expect({ worktree, branch }).toEqual({ worktree: `${repo}-x`, branch: 'plan/x' })
    expect(readFileSync(join(worktree, 'README.md'), 'utf8')).toBe('# Shop\n')
    expect((await bootstrapIn(repo)).worktree).toBe(worktree)
  })
})

type Place = {
  cwd: string
  worktree: string
  /** Checkouts that must not change; the folder it is started in when absent. */
  untouched?: string[]
  env?: { [name: string]: string }
}

const places: { name: string; make: () => Place }[] = [
  {
    name: 'a subfolder',
    make: () => {
      const repo = temporaryRepo('shop', { 'packages/cart/index.js': '' })
      return { cwd: join(repo, 'packages/cart'), worktree: `${repo}-x`, untouched: [repo] }
    },
  },
  {
    name: 'a repository with submodules',
    make: () => {
      const { repo } = withSubmodule()
      return { cwd: repo, worktree: `${repo}-x` }
    },
  },
  {
    name: 'a submodule: beside the outer repository',
    make: () => {
      const { repo } = withSubmodule()
      const submodule = join(repo, 'lib/money')
      return { cwd: submodule, worktree: `${repo}-money-x`, untouched: [submodule, repo] }
    },
  },
  {
    name: 'a linked worktree of a submodule',
    make: () => {
      const { repo } = withSubmodule()
      const linked = `${repo}-linked`
      git(join(repo, 'lib/money'), 'worktree', 'add', '--quiet', linked)
      return { cwd: linked, worktree: `${repo}-money-x`, untouched: [linked, repo] }
    },
  },
  {
    name: 'a bare repository',
    make: () => {
      const { bare, folder } = bareRepo('shop.git')
      return { cwd: bare, worktree: join(folder, 'shop-x'), untouched: [] }
    },
  },
  {
    name: 'a linked worktree of a bare repository',
    make: () => {
      const { bare, folder } = bareRepo('shop.git')
      git(bare, 'worktree', 'add', '--quiet', join(folder, 'elsewhere/feature'))
      return { cwd: join(folder, 'elsewhere/feature'), worktree: join(folder, 'shop-x') }
    },
  },
  {
    name: 'a folder whose .git names a bare repository in it',
    make: () => {
      const { folder } = bareRepo('shop/.bare')
      write(join(folder, 'shop'), { '.git': 'gitdir: ./.bare\n' })
      return { cwd: join(folder, 'shop'), worktree: join(folder, 'shop/shop-x'), untouched: [] }
    },
  },
  {
    name: 'a worktree beside such a bare repository',
    make: () => {
      const { bare, folder } = bareRepo('shop/.git')
      git(bare, 'worktree', 'add', '--quiet', join(folder, 'shop/feature'))
      return { cwd: join(folder, 'shop/feature'), worktree: join(folder, 'shop/shop-x') }
    },
  },
  {
    name: 'a detached HEAD',
    make: () => {
      const repo = temporaryRepo()
      commit(repo, { 'later.txt': '' })
      git(repo, 'checkout', '--quiet', '--detach', 'HEAD~1')
      return { cwd: repo, worktree: `${repo}-x` }
    },
  },
  {
    name: 'a linked worktree: beside the main checkout',
    make: () => {
      const repo = temporaryRepo()
      const linked = join(dirname(repo), 'elsewhere/feature')
      git(repo, 'worktree', 'add', '--quiet', linked)
      return { cwd: linked, worktree: `${repo}-x`, untouched: [linked, repo] }
    },
  },
  {
    name: 'a git directory of its own',
    make: () => {
      const folder = temporaryFolder()
      const repo = join(folder, 'shop')
      git(folder, 'init', '--quiet', `--separate-git-dir=${join(folder, 'store')}`, repo)
      commit(repo, { 'README.md': '' })
      return { cwd: repo, worktree: `${repo}-x` }
    },
  },
  {
    name: 'a .git that is a link',
    make: () => {
      const repo = temporaryRepo()
      renameSync(join(repo, '.git'), join(dirname(repo), 'store'))
      symlinkSync('../store', join(repo, '.git'))
      return { cwd: repo, worktree: `${repo}-x` }
    },
  },
  {
    name: 'a symbolic link to the repository',
    make: () => {
      const repo = temporaryRepo()
      symlinkSync(repo, join(dirname(repo), 'link'))
      return { cwd: join(dirname(repo), 'link'), worktree: `${repo}-x` }
    },
  },
  {
    name: 'a shallow clone',
    make: () => {
      const repo = temporaryRepo()
      const clone = join(dirname(repo), 'clone')
      git(dirname(repo), 'clone', '--quiet', '--depth=1', `file://${repo}`, clone)
      return { cwd: clone, worktree: `${clone}-x` }
    },
  },
  {
    name: 'a sparse checkout',
    make: () => {
      const repo = temporaryRepo('shop', { 'a/file': '', 'b/file': '' })
      git(repo, 'sparse-checkout', 'set', 'a')
      return { cwd: repo, worktree: `${repo}-x` }
    },
  },
  {
    name: 'a repository whose only commit is empty',
    make: () => {
      const repo = temporaryRepo('shop', {})
      return { cwd: repo, worktree: `${repo}-x` }
    },
  },
  {
    name: 'line ends that git changes on checkout',
    make: () => {
      const repo = temporaryRepo('shop', {
        '.gitattributes': '*.bat text eol=crlf\n*.sh text eol=lf\n',
        'run.bat': 'echo\r\n',
        'run.sh': 'echo\n',
        'notes.txt': 'one\ntwo\n',
      })
      git(repo, 'config', 'core.autocrlf', 'true')
      return { cwd: repo, worktree: `${repo}-x` }
    },
  },
  {
    name: 'a shell with a GIT_DIR of another repository',
    make: () => {
      const repo = temporaryRepo()
      const other = makeRepo(join(dirname(repo), 'other'), { 'other.txt': '' })
      const env = { GIT_DIR: join(other, '.git'), GIT_WORK_TREE: other, GIT_INDEX_FILE: join(other, '.git/index') }
      return { cwd: repo, worktree: `${repo}-x`, untouched: [repo, other], env }
    },
  },
]

describe('a worktree from', () => {
  it.each(places)('$name', async ({ make }) => {
    const { cwd, worktree, untouched = [cwd], env = {} } = make()
    const statuses = () => untouched.map((checkout) => [checkout, statusOf(checkout)])
    const before = statuses()
    const opened = await bootstrapIn(cwd, { checkout: untouched[0] ?? null, env })
    expect({ worktree: opened.worktree, branch: opened.branch }).toEqual({ worktree, branch: 'plan/x' })
    expect(statuses()).toEqual(before)
    expect(git(worktree, 'rev-parse', 'HEAD')).toBe(git(cwd, 'rev-parse', 'HEAD'))
    expect((await bootstrapIn(cwd, { checkout: untouched[0] ?? null, env })).worktree).toBe(worktree)
    expect(git(cwd, 'worktree', 'list', '--porcelain').match(/shop-x|money-x|clone-x/g)).toHaveLength(1)
  })
})

it('neither copies from a dirty checkout nor changes it', async () => {
  const repo = temporaryRepo('shop', { 'staged.txt': '1', 'unstaged.txt': '1', 'both.txt': '1', 'deleted.txt': '1' })
  write(repo, { 'staged.txt': '2', 'both.txt': '2', 'added.txt': '2' })
  git(repo, 'add', '--all')
  write(repo, { 'unstaged.txt': '3', 'both.txt': '3', 'untracked.txt': '3', 'new folder/file': '3' })
  git(repo, 'rm', '--quiet', 'deleted.txt')
  const { worktree } = await bootstrapIn(repo)
  const files = git(worktree, 'ls-files').split('\n')
  expect(Object.fromEntries(files.map((file) => [file, readFileSync(join(worktree, file), 'utf8')]))).toEqual({
    'both.txt': '1',
    'deleted.txt': '1',
    'staged.txt': '1',
    'unstaged.txt': '1',
  })
  expect(existsSync(join(worktree, 'untracked.txt'))).toBe(false)
})

it("leaves the user's own untracked settings in their git status", async () => {
  const repo = temporaryRepo()
  write(repo, {
    '.claude/settings.json': '{}',
    '.claude/settings.local.json': '{}',
    '.claude/skills/mine/SKILL.md': '',
  })
  await bootstrapIn(repo)
})

describe("the user's post-checkout hook", () => {
  const withHook = (folder: string, script: string): string => {
    const repo = temporaryRepo('shop', { [`${folder}/post-checkout`]: `#!/bin/sh\n${script}\n`, 'README.md': '' })
    chmodSync(join(repo, folder, 'post-checkout'), 0o755)
    git(repo, 'add', '--all')
    commit(repo, {}, 'An executable hook')
    git(repo, 'config', 'core.hooksPath', folder)
    return repo
  }
  const note = '. "$(git rev-parse --git-common-dir)/note"'

  it('runs once, in the worktree, as for `git worktree add`', async () => {
    const repo = withHook('.husky', note)
    const log = join(dirname(repo), 'log')
    write(repo, { '.git/note': `echo "$PWD $*" >> '${log}'; ls | tr '\\n' ' ' >> '${log}'\n` })
    const { worktree } = await bootstrapIn(repo)
    const ran = `${worktree} ${'0'.repeat(40)} ${git(repo, 'rev-parse', 'HEAD')} 1\nREADME.md `
    expect(readFileSync(log, 'utf8')).toBe(ran)
    await bootstrapIn(repo)
    expect(readFileSync(log, 'utf8')).toBe(ran)
  })

  it('may fail: that is reported, and the next run reuses the worktree', async () => {
    const repo = withHook('.husky', 'echo no such tool >&2; exit 3')
    const { stderr } = await runCli([...offline, '--name', 'x'], { cwd: repo, exitCode: 1 })
    expect(stderr).toContain(
      `plan-gate: The worktree ${repo}-x was created, but this repository's post-checkout hook failed: no such tool\n` +
        '  → Fix the hook if you need it, then run the same command again',
    )
    expect((await bootstrapIn(repo)).branch).toBe('plan/x')
    expect(git(repo, 'worktree', 'list').split('\n')).toHaveLength(2)
  })
})

it('rolls back if git cannot check out the files', async () => {
  const repo = temporaryRepo('shop', { '.gitattributes': '*.big filter=big\n', 'a.big': 'pointer' })
  git(repo, 'config', 'filter.big.clean', 'cat')
  git(repo, 'config', 'filter.big.smudge', 'false')
  git(repo, 'config', 'filter.big.required', 'true')
  const { stderr } = await runCli([...offline, '--name', 'x'], { cwd: repo, exitCode: 1 })
  expect(stderr).toContain(`plan-gate: git could not check out plan/x in ${repo}-x: `)
  expect(stderr).toContain('smudge filter big failed\n  → ')
  expect(git(repo, 'worktree', 'list').split('\n')).toHaveLength(1)
  expect(git(repo, 'branch', '--list', 'plan/x')).toBe('')
  expect(existsSync(`${repo}-x`)).toBe(false)
  git(repo, 'config', 'filter.big.smudge', 'cat')
  await bootstrapIn(repo)
})

function withSubmodule(): { repo: string } {
  const folder = temporaryFolder()
  const money = makeRepo(join(folder, 'origin/money'), { 'money.js': '' })
  const repo = makeRepo(join(folder, 'shop'), { 'README.md': '' })
  git(repo, 'submodule', '--quiet', 'add', money, 'lib/money')
  commit(repo, {}, 'A submodule')
  return { repo }
}

function bareRepo(path: string): { bare: string; folder: string } {
  const folder = temporaryFolder()
  const bare = join(folder, path)
  mkdirSync(dirname(bare), { recursive: true })
  git(folder, 'clone', '--quiet', '--bare', makeRepo(join(folder, 'origin', basename(path)), { 'README.md': '' }), bare)
  return { bare, folder }
}
