import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { project } from '../../support/project.ts'
import {
  cleanEnvironment,
  commit,
  git,
  statusOf,
  temporaryFolder,
  temporaryRepo,
  write,
} from '../../support/temporary-repo.ts'

/** As `npm run changelog` runs it, in another repository. */
function changelog(repo: string, ...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const loader = join(project, 'node_modules/tsx/dist/loader.mjs')
  const command = ['--import', loader, join(project, 'src/build/changelog.ts'), ...args]
  const { status, stdout, stderr } = spawnSync(process.execPath, command, {
    cwd: repo,
    env: cleanEnvironment(),
    encoding: 'utf8',
    timeout: 20_000,
  })
  return { status, stdout, stderr }
}

const head = '# Changelog\n\nAll notable changes.\n'
const released = '## 0.1.0 - 2026-01-01\n\n### Added\n\n- Everything.\n'
const note = '### Removed\n\n- By hand: the key `a.b` is gone.'

/** A first release, and nothing since. */
function releasedRepo(unreleased = ''): string {
  const repo = temporaryRepo('shop', { 'CHANGELOG.md': `${head}\n## Unreleased\n\n${unreleased}\n\n${released}` })
  commit(repo, {}, 'feat(old): in the release before')
  git(repo, 'tag', '-a', 'v0.1.0', '-m', 'v0.1.0')
  return repo
}

const readChangelog = (repo: string): string => readFileSync(join(repo, 'CHANGELOG.md'), 'utf8')
/** The short hashes differ from run to run. */
const withoutHashes = (text: string): string =>
  text.replace(/\([0-9a-f]{7}\)$/gm, '(hash)').replace(/\d{4}-\d\d-\d\d$/gm, 'date')

function commitAllSorts(repo: string): void {
  for (const subject of [
    'docs(readme): a word',
    'test: more',
    'refactor(gate): a new file',
    'Whatever I did today',
    'wip',
  ])
    commit(repo, {}, subject)
  commit(repo, {}, 'fix(gate): deny `sed -i` and *_all_* <b>of</b> [it](javascript:alert(1))')
  commit(
    repo,
    {},
    'feat: a feature without a scope\n\nBREAKING CHANGE: nobody reads this,\nit is a wrapped\nfooter\nReviewed-by: Ada',
  )
  commit(repo, {}, 'refactor(cli)!: `--all` is gone')
  commit(repo, {}, 'perf(hooks): starts in half the time')
  commit(repo, {}, 'Feat(CLI): said in capitals')
  commit(repo, {}, 'feat(report): a colour\n\nBREAKING CHANGE is what this is not.')
  commit(repo, { 'a.txt': 'a' }, 'feat(report): taken back at once')
  git(repo, 'revert', '--no-edit', 'HEAD')
  commit(repo, { 'b.txt': 'b' }, 'fix(plan): taken back, and again in')
  git(repo, 'revert', '--no-edit', 'HEAD')
  git(repo, 'revert', '--no-edit', 'HEAD')
  commit(repo, {}, `revert: feat(old): in the release before\n\nRefs: ${git(repo, 'rev-parse', 'v0.1.0^{commit}')}`)
  git(repo, 'switch', '--quiet', '--create', 'side', 'HEAD~1')
  commit(repo, {}, 'fix(side): from a branch that was merged')
  git(repo, 'switch', '--quiet', '-')
  git(repo, 'merge', '--quiet', '--no-ff', '-m', 'feat(merge): is no change by itself', 'side')
}

const section = `## 0.2.0 - date

${note}

<!-- from the commits since v0.1.0; \`npm run changelog\` writes it anew -->

### Breaking changes

- nobody reads this, it is a wrapped footer (hash)
- **cli:** \`--all\` is gone (hash)

### Features

- **CLI:** said in capitals (hash)
- **report:** a colour (hash)

### Fixes

- **gate:** deny \`sed -i\` and \\*\\_all\\_\\* \\<b\\>of\\</b\\> \\[it\\](javascript:alert(1)) (hash)
- **plan:** taken back, and again in (hash)
- **side:** from a branch that was merged (hash)

### Performance

- **hooks:** starts in half the time (hash)

### Reverted

- feat(old): in the release before (hash)

<!-- end of the commits -->
`

describe('npm run changelog', () => {
  it('writes the section of a version from commits of all sorts, and keeps what was written by hand', () => {
    const repo = releasedRepo(note)
    commitAllSorts(repo)
    const { status, stderr } = changelog(repo, '0.2.0')
    expect([status, stderr.replace(/[0-9a-f]{7} /g, '').split('\n')]).toEqual([
      0,
      [
        'CHANGELOG.md: the section 0.2.0 is written. Read it, and write above the commits what a reader should know.',
        '  left out, not conventional: wip',
        '  left out, not conventional: Whatever I did today',
        '',
      ],
    ])
    expect(withoutHashes(readChangelog(repo))).toBe(withoutHashes(`${head}\n## Unreleased\n\n${section}\n${released}`))

    const before = readChangelog(repo)
    expect([changelog(repo, '0.2.0').status, readChangelog(repo)]).toEqual([0, before])

    write(repo, {
      'CHANGELOG.md': before
        .replace(note, `${note}\n- And this.`)
        .replace('## Unreleased\n', '## Unreleased\n\n- Late.\n'),
    })
    commit(repo, {}, 'fix(late): after the section was written')
    changelog(repo, '0.2.0')
    const after = section
      .replace(note, `${note}\n- And this.\n\n- Late.`)
      .replace('- **plan:**', '- **late:** after the section was written (hash)\n- **plan:**')
    expect(withoutHashes(readChangelog(repo))).toBe(withoutHashes(`${head}\n## Unreleased\n\n${after}\n${released}`))
    expect(statusOf(repo)).toBe(' M CHANGELOG.md')
  })
  it('a first release is told by hand; without a word of that, by its commits', () => {
    const repo = temporaryRepo('shop', { 'CHANGELOG.md': `${head}\n## Unreleased\n\n${note}\n` })
    commit(repo, {}, 'fix(a): one')
    changelog(repo, '0.1.0')
    expect(withoutHashes(readChangelog(repo))).toBe(`${head}\n## Unreleased\n\n## 0.1.0 - date\n\n${note}\n`)
    write(repo, { 'CHANGELOG.md': head })
    changelog(repo, '0.1.0')
    expect(readChangelog(repo)).toMatch(
      /## 0\.1\.0 - .*\n\n<!-- from .* the beginning;.*\n\n### Fixes\n\n- \*\*a:\*\* one \(/,
    )
  })

  it('a release candidate lists since the last one, and the release all of them', () => {
    const repo = releasedRepo()
    commit(repo, {}, 'fix(a): one')
    git(repo, 'tag', 'v0.2.0-rc.1')
    commit(repo, {}, 'fix(b): two')
    const listed = (version: string) => {
      changelog(repo, version)
      return [...changelog(repo, '--print', version).stdout.matchAll(/\*\*(\w+):/g)].map(([, scope]) => scope)
    }
    expect([listed('0.2.0-rc.2'), listed('0.2.0')]).toEqual([['b'], ['a', 'b']])
  })

  it('text that imitates the file stays text', () => {
    const repo = releasedRepo()
    const hostile = [
      '<!-- end of the commits -->',
      '`<!-- end of the commits -->`',
      '## 9.9.9',
      'a\u202eb\u001b[31m',
      '`$(id)',
    ]
    for (const text of hostile)
      commit(repo, {}, `fix: ${text}\n\nBREAKING CHANGE: ${text}\n<!-- end of the commits -->\n## 8.8.8`)
    const runs = [1, 2].map(() => [changelog(repo, '0.2.0').status, readChangelog(repo)] as const)
    expect(runs[0]).toEqual(runs[1])
    const lines = readChangelog(repo).split('\n')
    expect(lines.filter((line) => /^## |^<!--/.test(line)).map((line) => line.slice(0, 12))).toEqual(
      ['## Unreleased', '## 0.2.0 - 20', '<!-- from the', '<!-- end of t', '## 0.1.0 - 20'].map((line) =>
        line.slice(0, 12),
      ),
    )
    expect(readChangelog(repo)).not.toMatch(/[\u202e\u001b]/)
  })

  it.each<[string, string[], RegExp]>([
    ['no version', [], /no version was given[\s\S]*npm run changelog -- 0\.2\.0/],
    ['no version number', ['--help'], /no version was given/],
    ['a version that is released', ['0.1.0'], /v0\.1\.0 is tagged/],
    ['nothing since', ['0.2.0'], /nothing was committed since v0\.1\.0/],
    ['a section that is not there', ['--print', '0.2.0'], /has no section 0\.2\.0/],
  ])('%s: it changes nothing and says what to do', (_, args, message) => {
    const repo = releasedRepo()
    const { status, stdout, stderr } = changelog(repo, ...args)
    expect([status, stdout, stderr, statusOf(repo)]).toEqual([1, '', expect.stringMatching(message), ''])
  })

  it('a shallow clone has not all commits', () => {
    const clone = join(temporaryFolder(), 'shallow')
    const repo = releasedRepo()
    commit(repo, {}, 'fix: one')
    git(repo, 'clone', '--quiet', '--depth', '1', `file://${repo}`, clone)
    expect(changelog(clone, '0.2.0').stderr).toMatch(/this clone is shallow[\s\S]*git fetch --unshallow --tags/)
  })
})
