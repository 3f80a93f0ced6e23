import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Finished } from '../../../../src/schemas/records.ts'
import { writeProgress } from '../../../../src/state/revisions.ts'
import { recordSession } from '../../../../src/state/sessions.ts'
import { planText } from '../../../support/plan-texts.ts'
import { fakePrograms, runCli } from '../../../support/run-cli.ts'
import { runHook } from '../../../support/run-hook.ts'
import {
  commit,
  git,
  makeRepo,
  snapshot,
  temporaryFolder,
  temporaryRepo,
  write,
} from '../../../support/temporary-repo.ts'
import { offline } from '../worktree/bootstrap-in.ts'
import { archivesOf, expectGone, finish, merged, opened, refused } from './finishable.ts'

const recordIn = (folder: string): Finished =>
  JSON.parse(readFileSync(join(folder, 'finished.json'), 'utf8')) as Finished

describe('plan-gate finish', () => {
  it('archives the reviews, and leaves nothing else', async () => {
    const place = await merged()
    const { repo, worktree } = place
    write(worktree, { 'src/app.ts': 'export {}\n' })
    commit(worktree, {}, 'More')
    git(repo, 'merge', '--quiet', '--no-edit', 'plan/x')
    write(worktree, { 'docs/plan.md': planText() })
    runHook(worktree, 'post-tool-use', {
      hook_event_name: 'PostToolUse',
      session_id: 'long-ago',
      cwd: worktree,
      tool_name: 'Write',
      tool_input: { file_path: join(worktree, 'docs/plan.md'), content: '' },
      tool_response: {},
    })
    forgetSessions(worktree)
    const kept = join(temporaryFolder(), 'kept')
    const twin = {
      reviews: snapshot(join(worktree, '.claude/review')),
      plan: readFileSync(join(worktree, 'docs/plan.md')),
    }
    const head = git(worktree, 'rev-parse', 'HEAD')

    const output = await finish(worktree, ['--archive', kept])
    expect(output).toMatchObject({
      kind: 'finished',
      worktree,
      branch: 'plan/x',
      branch_is_kept: false,
      head,
      merged_into: 'main',
      archive: kept,
      obstacles: [],
      notes: [],
      cd: repo,
    })
    expectGone(place)
    const archived = snapshot(kept)
    for (const [path, text] of Object.entries(twin.reviews)) expect([path, archived[path]]).toEqual([path, text])
    expect(readFileSync(join(kept, 'docs/plan.md'))).toEqual(twin.plan)
    expect(recordIn(kept)).toMatchObject({
      branch: 'plan/x',
      base: 'refs/heads/main',
      head,
      merged_into: 'main',
      approval: { is_optimal: true, route: 'checklist' },
      discarded: [],
    })
    expect(recordIn(kept).approval?.plan_hash).toBe(recordIn(kept).plan_hash)
  })

  it('by default into the git directory, where only the owner looks; also from a folder inside, and by name', async () => {
    const place = await merged()
    mkdirSync(join(place.worktree, 'src/deep'))
    const { archive, cd } = await finish(join(place.worktree, 'src/deep'))
    expect([archivesOf(place.repo), cd]).toEqual([[archive], place.repo])
    expect((statSync(archive ?? '').mode & 0o077).toString(8)).toBe('0')
    expectGone(place)

    const other = await merged()
    expect((await finish(other.repo, ['../shop-x'])).cd).toBe(null)
    expectGone(other)
  })

  it('says to people on stderr what it did', async () => {
    const { repo, worktree } = await merged()
    const { stdout, stderr } = await runCli(['finish'], { cwd: worktree })
    expect([stdout, stderr]).toEqual([
      '',
      `archived  ${archivesOf(repo)[0]}\nremoved   ${worktree}\ndeleted   plan/x, merged into main\n\nThe folder that you are in is gone: cd ${repo}\n`,
    ])
  })

  it('takes what bootstrap opened without any work in it', async () => {
    const place = await opened()
    expect((await finish(place.worktree)).merged_into).toBe('main')
    expectGone(place)
  })

  it('leaves another worktree and its lines in the exclude file alone', async () => {
    const place = await merged()
    await runCli([...offline, '--name', 'y'], { cwd: place.repo })
    await finish(place.worktree)
    expect(git(`${place.repo}-y`, 'status', '--porcelain', '-uall')).toBe('')
    expect(readFileSync(join(place.repo, '.git/info/exclude'), 'utf8')).toContain('/.claude/review/')
    await finish(`${place.repo}-y`)
    expectGone(place)
  })

  it('the gate in the main checkout stays, and its uninstall leaves the archives', async () => {
    const place = await merged()
    await runCli(['install', '--reviewer', 'checklist'], { cwd: place.repo })
    await finish(place.worktree)
    expect(existsSync(join(place.repo, '.git/plan-gate/install.json'))).toBe(true)
    await runCli(['uninstall'], { cwd: place.repo })
    expect(archivesOf(place.repo)).toHaveLength(1)
    expectGone(place)
  })
})

/** Nobody has been heard of for long. */
function forgetSessions(worktree: string): void {
  const heartbeat = { session_id: 'long-ago', client_version: null, source: 'startup', cwd: worktree }
  recordSession(worktree, heartbeat, new Date('2026-01-01T00:00:00Z'))
  const file = join(worktree, '.claude/review/sessions/long-ago/session.json')
  const session = JSON.parse(readFileSync(file, 'utf8')) as object
  writeFileSync(file, JSON.stringify({ ...session, last_seen_at: '2026-01-01T00:00:00.000Z' }))
}

describe('knows what is merged', () => {
  it.each<[string, (repo: string, worktree: string) => void, string]>([
    [
      'as one commit',
      (repo) => git(repo, 'merge', '--quiet', '--squash', 'plan/x') + git(repo, 'commit', '-qm', 'All of it'),
      'main',
    ],
    [
      'as one commit, and the files went on',
      (repo) => {
        git(repo, 'merge', '--quiet', '--squash', 'plan/x')
        git(repo, 'commit', '-qm', 'All of it')
        commit(repo, { 'one.txt': '1\n2\n3\nand more\n' }, 'More')
      },
      'main',
    ],
    ['as other commits', (repo) => void git(repo, 'cherry-pick', 'main..plan/x'), 'main'],
    [
      'upstream, and only fetched',
      (repo) => {
        const remote = join(temporaryFolder(), 'remote.git')
        git(repo, 'clone', '--quiet', '--bare', '.', remote)
        git(repo, 'remote', 'add', 'origin', remote)
        git(repo, 'push', '--quiet', '--force', 'origin', 'plan/x:main')
        git(repo, 'fetch', '--quiet')
        git(repo, 'branch', '--quiet', '--set-upstream-to=origin/main', 'main')
      },
      'origin/main',
    ],
    [
      'into the branch of the main checkout',
      (repo) =>
        git(repo, 'switch', '--quiet', '--create', 'next') + git(repo, 'merge', '--quiet', '--no-edit', 'plan/x'),
      'next',
    ],
    [
      'into the commit that a main checkout without a branch is at',
      (repo) => git(repo, 'switch', '--quiet', '--detach') + git(repo, 'merge', '--quiet', '--no-edit', 'plan/x'),
      'HEAD of the main checkout',
    ],
  ])('%s', async (_, act, into) => {
    const place = await opened()
    commit(place.repo, { 'README.md': '# Shop, edited\n' }, 'Meanwhile')
    commit(place.worktree, { 'one.txt': '1\n2\n3\n' }, 'One')
    commit(place.worktree, { 'two.txt': 'two\n' }, 'Two')
    act(place.repo, place.worktree)
    const before = git(place.repo, 'count-objects')
    const output = await finish(place.worktree)
    expect(output).toMatchObject({ merged_into: into, branch_is_kept: false })
    expect(existsSync(place.worktree)).toBe(false)
    expect(git(place.repo, 'count-objects')).toBe(before)
  })

  it('but not what was merged by half; what was merged and then taken back was merged', async () => {
    const place = await opened()
    commit(place.repo, { 'README.md': '# Shop, edited\n' }, 'Meanwhile')
    commit(place.worktree, { 'one.txt': '1\n' }, 'One')
    commit(place.worktree, { 'two.txt': '2\n' }, 'Two')
    git(place.repo, 'cherry-pick', 'plan/x~1')
    expect(await refused(place.worktree)).toMatch(
      /A commit of plan\/x is not merged \(looked into main\)\.\n +\S+ Two\n +→/,
    )
    git(place.repo, 'cherry-pick', 'plan/x')
    git(place.repo, 'revert', '--no-edit', 'HEAD')
    expect((await finish(place.worktree)).merged_into).toBe('main')
  })
})

describe('refuses, and says what would be lost:', () => {
  it('work that is not committed', async () => {
    const place = await merged()
    write(place.worktree, { 'README.md': '# Other\n', 'new dir/ä\u202e.txt': '', 'docs/plan.md': '# A plan\n' })
    const said = await refused(place.worktree)
    expect(said).toContain(
      `plan-gate: ${place.worktree} stays for now:\n  2 files are not committed.\n       M README.md\n`,
    )
    expect(said).toContain('?? new dir/ä\\u{202e}.txt\n')
    expect(said).not.toContain('plan.md')
    expect(said).toMatch(/→ Then try again\. To lose what is listed, say so: plan-gate finish --discard uncommitted\n$/)
    await finish(place.worktree, ['--discard', 'uncommitted'])
    expectGone(place)
    const [archive = ''] = archivesOf(place.repo)
    expect([recordIn(archive).discarded, readFileSync(join(archive, 'docs/plan.md'), 'utf8')]).toEqual([
      ['uncommitted'],
      '# A plan\n',
    ])
  })

  it('a plan that is a link, since the archive would not have it', async () => {
    const place = await merged()
    mkdirSync(join(place.worktree, 'docs'))
    symlinkSync('../README.md', join(place.worktree, 'docs/plan.md'))
    expect(await refused(place.worktree)).toMatch(/A file is not committed\.\n +\?\? docs\/plan\.md/)
  })

  it('commits that are nowhere else', async () => {
    const place = await opened()
    commit(place.worktree, { 'work.js': '' }, 'The \u001b[31mwork')
    const head = git(place.worktree, 'rev-parse', 'HEAD')
    const said = await refused(place.worktree)
    expect(said).toContain(
      `  A commit of plan/x is not merged (looked into main).\n      ${head.slice(0, 7)} The \\u{1b}[31mwork\n`,
    )
    expect(said).toMatch(/fetch, where it was merged elsewhere[\s\S]*--keep-branch/)
    expect(await refused(place.worktree, ['--discard', 'uncommitted'])).toContain('is not merged')

    const { stderr } = await runCli(['finish', '--discard', 'unmerged'], { cwd: place.worktree })
    expect(stderr).toContain(
      `deleted   plan/x\nWhile git keeps its commits: git branch plan/x ${head} brings it back.\n`,
    )
    expectGone(place)
    git(place.repo, 'branch', 'plan/x', head)
  })

  it('with --keep-branch they need not be', async () => {
    const place = await opened()
    commit(place.worktree, { 'work.js': '' })
    const output = await finish(place.worktree, ['--keep-branch'])
    expect(output).toMatchObject({ branch: 'plan/x', branch_is_kept: true, merged_into: null })
    expectGone(place, ['main', 'plan/x'])
  })

  it('what cannot be lost by that is told with it, all at once', async () => {
    const { repo, worktree } = await opened()
    commit(worktree, { 'work.js': '' })
    write(worktree, { 'more.js': '' })
    git(repo, 'worktree', 'lock', '--reason', 'on a stick', worktree)
    const said = await refused(worktree)
    expect(said).toMatch(
      /is locked \(on a stick\)[\s\S]*worktree unlock[\s\S]*A file is not committed[\s\S]*A commit of/,
    )
    expect(said).toContain('--discard uncommitted --discard unmerged')
    expect(await refused(worktree, ['--discard', 'uncommitted', '--discard', 'unmerged'])).toMatch(/is locked/)
  })

  it('a detached HEAD, a rebase among them', async () => {
    const place = await opened()
    commit(place.worktree, { 'a.txt': 'a' }, 'A')
    git(place.worktree, 'switch', '--quiet', '--detach')
    expect(await refused(place.worktree)).toMatch(
      /on no branch, but at the commit [0-9a-f]{12}[\s\S]*git switch plan\/x/,
    )
  })

  it('commits in a submodule that were not pushed', async () => {
    const library = makeRepo(join(temporaryFolder(), 'library'), { 'lib.js': '1\n' })
    const repo = temporaryRepo()
    git(repo, 'submodule', '--quiet', 'add', library, 'lib')
    git(repo, 'commit', '-qm', 'A submodule')
    await runCli([...offline, '--name', 'x'], { cwd: repo })
    const worktree = `${repo}-x`
    git(worktree, 'submodule', '--quiet', 'update', '--init')
    commit(join(worktree, 'lib'), { 'lib.js': '2\n' }, 'In the library')
    commit(worktree, {}, 'Uses it')
    git(repo, 'merge', '--quiet', '--no-edit', 'plan/x')
    expect(await refused(worktree)).toMatch(
      /Submodules have commits that are in no other repository\.\n +lib: \S+ In the library/,
    )
    git(join(worktree, 'lib'), 'push', '--quiet', 'origin', 'HEAD:refs/heads/new')
    await finish(worktree)
    expect(existsSync(worktree)).toBe(false)
    expect(git(repo, 'worktree', 'list', '--porcelain').match(/^worktree /gm)).toHaveLength(1)
  })
})

describe('waits for whoever is at work there:', () => {
  it('a session that was heard of, until it has ended', async () => {
    const { worktree } = await merged()
    const heartbeat = { session_id: 's-1', client_version: '2.1.326', source: 'startup', cwd: worktree }
    recordSession(worktree, heartbeat, new Date())
    expect(await refused(worktree, [], 1)).toMatch(/session s-1 was heard of \d+ s ago[\s\S]*→ End it \(\/exit\)/)
    const file = join(worktree, '.claude/review/sessions/s-1/session.json')
    const session = JSON.parse(readFileSync(file, 'utf8')) as object
    writeFileSync(file, JSON.stringify({ ...session, ended_at: new Date().toISOString() }))
    await finish(worktree)
  })

  it('but not for one that bootstrap itself has started and seen end', async () => {
    const { repo, worktree } = await opened()
    const session = `{session_id: 's-1', client_version: null, started_at: now, last_seen_at: now, source: 'startup', cwd: '.'}`
    const claude = `[ "$1" = --version ] && echo '2.1.326 (Claude Code)' && exit
mkdir -p .claude/review/sessions/s-1
exec node -p "const now = new Date().toISOString(); JSON.stringify(${session})" > .claude/review/sessions/s-1/session.json`
    const programs = fakePrograms(dirname(repo), { claude })
    await runCli(['bootstrap', '--name', 'x', '--reviewer', 'checklist'], { cwd: repo, programs })
    await finish(worktree)
    expectGone({ repo, worktree })
  })

  it('a review that is running, but not one whose process is gone', async () => {
    const { worktree } = await merged()
    const deadline_at = new Date(Date.now() + 60_000).toISOString()
    const progress = { pass: 1, passes: 3, backend: 'codex', started_at: deadline_at, deadline_at, revision: 2 }
    writeProgress(worktree, { ...progress, pid: process.pid })
    expect(await refused(worktree, [], 1)).toMatch(/Revision 2 of the plan is being reviewed by codex \(process \d+\)/)
    writeProgress(worktree, { ...progress, pid: 2 ** 22 - 3 })
    await finish(worktree)
  })

  it.skipIf(process.platform !== 'linux')('a program that runs there', async () => {
    const { repo, worktree } = await merged()
    const server = spawn('sleep', ['60'], { cwd: worktree, detached: true, stdio: 'ignore' })
    try {
      expect(await refused(repo, [worktree], 1)).toMatch(
        new RegExp(`Programs are running in the worktree\\.\\n +${server.pid} sleep 60\\n`),
      )
    } finally {
      server.kill()
    }
  })
})

describe('--dry-run', () => {
  it('tells what would happen and what stands in the way, and changes nothing', async () => {
    const { repo, worktree } = await merged()
    write(worktree, { 'node_modules/a/b.js': '', '.env': 'A=1', 'left.txt': '' })
    const before = snapshot(repo, ['index'])
    const output = await finish(worktree, ['--dry-run'], { exitCode: 2 })
    expect(output).toMatchObject({
      kind: 'dry-run',
      merged_into: 'main',
      goes_with_it: ['.env', 'node_modules/'],
      obstacles: [{ kind: 'uncommitted', items: ['?? left.txt'] }],
    })
    const { stdout, stderr } = await runCli(['finish', '--dry-run', '--discard', 'uncommitted'], { cwd: worktree })
    expect(stdout).toMatch(
      /^archive {2}\S+plan-gate-archive\/plan-x-\d+T\d+Z\nremove {3}\S+shop-x\n {9}with what git ignores: \.env, node_modules\/\ndelete {3}plan\/x, merged into main\nA file is not committed\. It will be lost\.\n {4}\?\? left\.txt\n\nNothing was changed\.\n$/,
    )
    expect([stderr, snapshot(repo, ['index'])]).toEqual(['', before])
  })
})

describe('says what it cannot finish, and what to do instead:', () => {
  const bare = async (): Promise<string> => {
    const { repo } = await opened()
    const path = join(temporaryFolder(), 'shop.git')
    git(repo, 'clone', '--quiet', '--bare', '.', path)
    return path
  }

  it.each<[string, () => Promise<{ cwd: string; args?: string[] }>, RegExp]>([
    [
      'the main checkout',
      async () => ({ cwd: (await opened()).repo }),
      /is the main checkout, which stays\.\n {2}→ Name the worktree: plan-gate finish \S+-x \(/,
    ],
    [
      'a main checkout without a worktree',
      async () => ({ cwd: temporaryRepo() }),
      /There is no worktree here that bootstrap has opened\. \(.*plan-gate uninstall/,
    ],
    [
      'a bare repository',
      async () => ({ cwd: await bare() }),
      /bare repository[\s\S]*no worktree here that bootstrap has opened/,
    ],
    [
      'a worktree of the user’s with a gate',
      async () => {
        const repo = temporaryRepo()
        git(repo, 'worktree', 'add', '--quiet', '../own')
        await runCli(['install', '--reviewer', 'checklist'], { cwd: join(repo, '../own') })
        return { cwd: join(repo, '../own') }
      },
      /was not opened by bootstrap[\s\S]*→ plan-gate uninstall takes the gate out/,
    ],
    [
      'a worktree of the user’s without one',
      async () => {
        const repo = temporaryRepo()
        git(repo, 'worktree', 'add', '--quiet', '../own')
        return { cwd: repo, args: ['../own'] }
      },
      /no gate in \S+own[\s\S]*git worktree remove/,
    ],
    [
      'a folder inside of one',
      async () => {
        const { repo, worktree } = await opened({ 'src/a.js': '' })
        return { cwd: repo, args: [join(worktree, 'src')] }
      },
      /is a folder in the worktree \S+-x\.\n {2}→ Name that/,
    ],
    [
      'what is not there',
      async () => ({ cwd: (await opened()).repo, args: ['../nix'] }),
      /There is no \S+nix\.\n {2}→ Name the worktree: plan-gate finish \S+-x/,
    ],
    ['no repository', async () => ({ cwd: temporaryFolder() }), /is not in a git repository/],
    [
      'an archive that has something in it',
      async () => {
        const { repo, worktree } = await merged()
        return { cwd: worktree, args: ['--archive', repo] }
      },
      /is not empty, so the reviews are not put there/,
    ],
    [
      'an archive in the worktree itself',
      async () => {
        const { worktree } = await merged()
        return { cwd: worktree, args: ['--archive', 'kept'] }
      },
      /is in the worktree that is to be removed/,
    ],
    [
      'an unknown thing to discard',
      async () => ({ cwd: (await opened()).worktree, args: ['--discard', 'unmergd'] }),
      /Did you mean unmerged\?/,
    ],
  ])('%s', async (_, make, says) => {
    const { cwd, args = [] } = await make()
    expect(await refused(cwd, args)).toMatch(says)
  })
})

describe('a branch that is not ours', () => {
  it('stays: one that was there before', async () => {
    const repo = temporaryRepo()
    git(repo, 'branch', 'feature')
    await runCli([...offline, '--name', 'x', '--branch', 'feature'], { cwd: repo })
    commit(`${repo}-x`, { 'work.js': '' })
    const { notes, branch_is_kept } = await finish(`${repo}-x`)
    expect([notes, branch_is_kept]).toEqual([['feature is kept: bootstrap did not make it.'], true])
    expectGone({ repo, worktree: `${repo}-x` }, ['feature', 'main'])
  })

  it('stays: one that the user went over to', async () => {
    const place = await opened()
    git(place.worktree, 'switch', '--quiet', '--create', 'better')
    await finish(place.worktree)
    expectGone(place, ['better', 'main', 'plan/x'])
  })
})

it('works in the worktrees around a bare repository', async () => {
  const source = temporaryRepo()
  const project = temporaryFolder()
  git(project, 'clone', '--quiet', '--bare', source, '.bare')
  await runCli([...offline, '--name', 'x', '--dir', join(project, 'x')], { cwd: join(project, '.bare') })
  const output = await finish(join(project, 'x'))
  expect([output.merged_into, output.cd, existsSync(join(project, 'x'))]).toEqual([
    'main',
    join(project, '.bare'),
    false,
  ])
})
