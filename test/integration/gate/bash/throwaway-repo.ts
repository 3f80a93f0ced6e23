import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

export type ThrowawayRepo = {
  /** Holds the repository, a home and a place for temporary files: all that a command could reach to write. */
  readonly base: string
  readonly repo: string
  readonly env: Readonly<Record<string, string>>
  readonly remove: () => void
}

const contents: { readonly [path: string]: string } = {
  'src/a.ts': 'alpha\nbeta\n\nconst alpha = 1\n',
  'src/b.ts': 'beta\n',
  'docs/x.md': '# alpha\nprice: $5\n',
  'data.json': '{"scripts":{"test":"x"},"items":[{"id":1,"name":"a"},{"id":2,"name":"b"}],"x":"prod","n":1}\n',
  'list.txt': 'alpha,1,x\nbeta,2,y\nbeta,2,y\n',
  'odd name.txt': 'alpha\n',
  "it's.txt": 'alpha\n',
  '-dash.txt': 'alpha\n',
  '--pre=x': 'a file that is named like a flag\n',
  '-o': 'another\n',
  'ünï.txt': 'alpha\n',
  '*star*.txt': 'alpha\n',
  'new\nline.txt': 'alpha\n',
  '.gitignore': '*.log\n',
  'ignored.log': 'alpha\n',
}

/** A real repository with branches, a tag, a stash, changes that are not committed, and files with odd names. */
export function makeThrowawayRepo(): ThrowawayRepo {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'read-only-')))
  const [repo, home, tmp] = ['repo', 'home', 'tmp'].map((name) => join(base, name)) as [string, string, string]
  for (const folder of [repo, home, tmp]) mkdirSync(folder)
  writeFileSync(
    join(home, '.gitconfig'),
    '[user]\n\tname = me\n\temail = me@example.com\n[init]\n\tdefaultBranch = main\n',
  )
  const env = { PATH: process.env.PATH ?? '', HOME: home, TMPDIR: tmp, LC_ALL: 'C.UTF-8', GIT_CONFIG_NOSYSTEM: '1' }
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repo, env, stdio: 'pipe' })
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(repo, path)), { recursive: true })
    writeFileSync(join(repo, path), text)
  }

  git('init', '-q')
  for (const [path, text] of Object.entries(contents)) put(path, text)
  symlinkSync('src/a.ts', join(repo, 'link.ts'))
  git('add', '-A')
  git('commit', '-qm', 'first')
  git('tag', 'v1.0')
  git('branch', 'feature')
  put('src/a.ts', 'alpha\nbeta\ngamma\n')
  git('commit', '-qam', 'second')
  git('remote', 'add', 'origin', join(base, 'nowhere.git'))
  put('src/b.ts', 'beta\nstashed\n')
  git('stash', '-q')
  put('src/a.ts', 'alpha\nbeta\ngamma\nnot committed\n')
  return { base, repo, env, remove: () => rmSync(base, { recursive: true, force: true }) }
}
