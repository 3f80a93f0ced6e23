import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Finished } from '../../../../src/schemas/records.ts'
import { writeProgress } from '../../../../src/state/revisions.ts'
import { recordSession } from '../../../../src/state/sessions.ts'
import { planText } from '../../../support/plan-texts.ts'
import { cli } from '../../../support/project.ts'
import { fakePrograms, runCli } from '../../../support/run-cli.ts'
import { runHook } from '../../../support/run-hook.ts'
import { runProgram } from '../../../support/run-program.ts'
import {
  cleanEnvironment,
  commit,
  git,
  makeRepo,
  snapshot,
  temporaryFolder,
  temporaryRepo,
  write,
} from '../../../support/temporary-repo.ts'
import { byTmux, hasTmux, openTmux } from '../../../support/tmux.ts'
import { offline } from '../worktree/bootstrap-in.ts'
import { archivesOf, expectGone, finish, merged, opened, refused } from './finishable.ts'

const recordIn = (folder: string): Finished =>
  JSON.parse(readFileSync(join(folder, 'finished.json'), 'utf8')) as Finished

describe('plan-gate finish', () => {
  it('archives the reviews and removes everything else', async () => {
    const fixture = await merged()
    const { repo, worktree } = fixture
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
    ageSessions(worktree)
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
    expectGone(fixture)
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

  it('archives into the git directory, readable by the owner only; also from a subfolder', async () => {
    const fixture = await merged()
    mkdirSync(join(fixture.worktree, 'src/deep'))
    const { archive, cd } = await finish(join(fixture.worktree, 'src/deep'))
    expect([archivesOf(fixture.repo), cd]).toEqual([[archive], fixture.repo])
    expect((statSync(archive ?? '').mode & 0o077).toString(8)).toBe('0')
    expectGone(fixture)
  })

  it.each(['x', 'plan/x', 'shop-x', '../shop-x'])(
    'finds the worktree %s, and not one with a similar name',
    async (name) => {
      const fixture = await merged()
      git(fixture.repo, 'worktree', 'add', '--quiet', '-b', 'old-x', '../shop-old-x')
      expect((await finish(fixture.repo, [name])).cd).toBe(null)
      git(fixture.repo, 'worktree', 'remove', '../shop-old-x')
      expectGone(fixture, ['main', 'old-x'])
    },
  )

  it('does not choose between two of the same name', async () => {
    const { repo } = await opened()
    git(repo, 'worktree', 'add', '--quiet', '-b', 'fix/x', '../other')
    expect(await refused(repo, ['x'])).toMatch(/Several worktrees are called "x":\n +\S+other\n +\S+shop-x\n/)
  })

  it('reports to people on stderr', async () => {
    const { repo, worktree } = await merged()
    const { stdout, stderr } = await runCli(['finish'], { cwd: worktree })
    expect([stdout, stderr]).toEqual([
      '',
      `archived  ${archivesOf(repo)[0]}\nremoved   ${worktree}\ndeleted   plan/x, merged into main\n\nThe current folder was removed: cd ${repo}\n`,
    ])
  })

  it('removes a worktree without any commits', async () => {
    const fixture = await opened()
    expect((await finish(fixture.worktree)).merged_into).toBe('main')
    expectGone(fixture)
  })

  it('keeps another worktree and its lines in the exclude file', async () => {
    const fixture = await merged()
    await runCli([...offline, '--name', 'y'], { cwd: fixture.repo })
    await finish(fixture.worktree)
    expect(git(`${fixture.repo}-y`, 'status', '--porcelain', '-uall')).toBe('')
    expect(readFileSync(join(fixture.repo, '.git/info/exclude'), 'utf8')).toContain('/.claude/review/')
    await finish(`${fixture.repo}-y`)
    expectGone(fixture)
  })

  it('keeps the gate of the main checkout, whose uninstall keeps the archives', async () => {
    const fixture = await merged()
    await runCli(['install', '--reviewer', 'checklist'], { cwd: fixture.repo })
    await finish(fixture.worktree)
    expect(existsSync(join(fixture.repo, '.git/plan-gate/install.json'))).toBe(true)
    await runCli(['uninstall'], { cwd: fixture.repo })
    expect(archivesOf(fixture.repo)).toHaveLength(1)
    expectGone(fixture)
  })
})

/** As if the last event were long ago. */
function ageSessions(worktree: string): void {
  const heartbeat = { session_id: 'long-ago', client_version: null, source: 'startup', cwd: worktree }
  recordSession(worktree, heartbeat, new Date('2026-01-01T00:00:00Z'))
  const file = join(worktree, '.claude/review/sessions/long-ago/session.json')
  const session = JSON.parse(readFileSync(file, 'utf8')) as object
  writeFileSync(file, JSON.stringify({ ...session, last_seen_at: '2026-01-01T00:00:00.000Z' }))
}

describe('detects merged work', () => {
  it.each<[string, (repo: string, worktree: string) => void, string]>([
    [
      'as one commit',
      (repo) => git(repo, 'merge', '--quiet', '--squash', 'plan/x') + git(repo, 'commit', '-qm', 'All of it'),
      'main',
    ],
    [
      'as one commit, and the files changed since',
      (repo) => {
        git(repo, 'merge', '--quiet', '--squash', 'plan/x')
        git(repo, 'commit', '-qm', 'All of it')
        commit(repo, { 'one.txt': '1\n2\n3\nand more\n' }, 'More')
      },
      'main',
    ],
    ['as other commits', (repo) => void git(repo, 'cherry-pick', 'main..plan/x'), 'main'],
    [
      'upstream, fetched only',
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
      'into the commit of a detached main checkout',
      (repo) => git(repo, 'switch', '--quiet', '--detach') + git(repo, 'merge', '--quiet', '--no-edit', 'plan/x'),
      'HEAD of the main checkout',
    ],
  ])('%s', async (_, act, into) => {
    const fixture = await opened()
    commit(fixture.repo, { 'README.md': '# Shop, edited\n' }, 'Meanwhile')
    commit(fixture.worktree, { 'one.txt': '1\n2\n3\n' }, 'One')
    commit(fixture.worktree, { 'two.txt': 'two\n' }, 'Two')
    act(fixture.repo, fixture.worktree)
    const before = git(fixture.repo, 'count-objects')
    const output = await finish(fixture.worktree)
    expect(output).toMatchObject({ merged_into: into, branch_is_kept: false })
    expect(existsSync(fixture.worktree)).toBe(false)
    expect(git(fixture.repo, 'count-objects')).toBe(before)
  })

  it('not what is merged in part; a merge that was reverted counts', async () => {
    const fixture = await opened()
    commit(fixture.repo, { 'README.md': '# Shop, edited\n' }, 'Meanwhile')
    commit(fixture.worktree, { 'one.txt': '1\n' }, 'One')
    commit(fixture.worktree, { 'two.txt': '2\n' }, 'Two')
    git(fixture.repo, 'cherry-pick', 'plan/x~1')
    expect(await refused(fixture.worktree)).toMatch(
      /A commit of plan\/x is not merged \(compared with main\)\.\n +\S+ Two\n +→/,
    )
    git(fixture.repo, 'cherry-pick', 'plan/x')
    git(fixture.repo, 'revert', '--no-edit', 'HEAD')
    expect((await finish(fixture.worktree)).merged_into).toBe('main')
  })
})

describe('refuses, and lists what would be lost:', () => {
  it('work that is not committed', async () => {
    const fixture = await merged()
    write(fixture.worktree, { 'README.md': '# Other\n', 'new dir/ä\u202e.txt': '', 'docs/plan.md': '# A plan\n' })
    const stderr = await refused(fixture.worktree)
    expect(stderr).toContain(
      `plan-gate: ${fixture.worktree} was not removed:\n  2 files are not committed.\n       M README.md\n`,
    )
    expect(stderr).toContain('?? new dir/ä\\u{202e}.txt\n')
    expect(stderr).not.toContain('plan.md')
    expect(stderr).toMatch(/→ Then try again\. To discard what is listed: plan-gate finish --discard uncommitted\n$/)
    await finish(fixture.worktree, ['--discard', 'uncommitted'])
    expectGone(fixture)
    const [archive = ''] = archivesOf(fixture.repo)
    expect([recordIn(archive).discarded, readFileSync(join(archive, 'docs/plan.md'), 'utf8')]).toEqual([
      ['uncommitted'],
      '# A plan\n',
    ])
  })

  it('a plan that is a link, since the archive would not have it', async () => {
    const fixture = await merged()
    mkdirSync(join(fixture.worktree, 'docs'))
    symlinkSync('../README.md', join(fixture.worktree, 'docs/plan.md'))
    expect(await refused(fixture.worktree)).toMatch(/A file is not committed\.\n +\?\? docs\/plan\.md/)
  })

  it('commits that are nowhere else', async () => {
    const fixture = await opened()
    commit(fixture.worktree, { 'work.js': '' }, 'The \u001b[31mwork')
    const head = git(fixture.worktree, 'rev-parse', 'HEAD')
    const stderr = await refused(fixture.worktree)
    expect(stderr).toContain(
      `  A commit of plan/x is not merged (compared with main).\n      ${head.slice(0, 7)} The \\u{1b}[31mwork\n`,
    )
    expect(stderr).toMatch(/fetch, if it was merged elsewhere[\s\S]*--keep-branch/)
    expect(await refused(fixture.worktree, ['--discard', 'uncommitted'])).toContain('is not merged')

    const discarded = await runCli(['finish', '--discard', 'unmerged'], { cwd: fixture.worktree })
    expect(discarded.stderr).toContain(
      `deleted   plan/x\nTo restore it while git keeps its commits: git branch plan/x ${head}\n`,
    )
    expectGone(fixture)
    git(fixture.repo, 'branch', 'plan/x', head)
  })

  it('not with --keep-branch', async () => {
    const fixture = await opened()
    commit(fixture.worktree, { 'work.js': '' })
    const output = await finish(fixture.worktree, ['--keep-branch'])
    expect(output).toMatchObject({ branch: 'plan/x', branch_is_kept: true, merged_into: null })
    expectGone(fixture, ['main', 'plan/x'])
  })

  it('all obstacles at once, also those that --discard does not cover', async () => {
    const { repo, worktree } = await opened()
    commit(worktree, { 'work.js': '' })
    write(worktree, { 'more.js': '' })
    git(repo, 'worktree', 'lock', '--reason', 'on a stick', worktree)
    const stderr = await refused(worktree)
    expect(stderr).toMatch(
      /is locked \(on a stick\)[\s\S]*worktree unlock[\s\S]*A file is not committed[\s\S]*A commit of/,
    )
    expect(stderr).toContain('--discard uncommitted --discard unmerged')
    expect(await refused(worktree, ['--discard', 'uncommitted', '--discard', 'unmerged'])).toMatch(/is locked/)
  })

  it('a detached HEAD, a rebase among them', async () => {
    const fixture = await opened()
    commit(fixture.worktree, { 'a.txt': 'a' }, 'A')
    git(fixture.worktree, 'switch', '--quiet', '--detach')
    expect(await refused(fixture.worktree)).toMatch(
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

describe('refuses while something runs there:', () => {
  it('an active session, until it has ended', async () => {
    const { worktree } = await merged()
    const heartbeat = { session_id: 's-1', client_version: '2.1.326', source: 'startup', cwd: worktree }
    recordSession(worktree, heartbeat, new Date())
    expect(await refused(worktree, [], 1)).toMatch(/session s-1 was active \d+ s ago[\s\S]*→ End it \(\/exit\)/)
    const file = join(worktree, '.claude/review/sessions/s-1/session.json')
    const session = JSON.parse(readFileSync(file, 'utf8')) as object
    writeFileSync(file, JSON.stringify({ ...session, ended_at: new Date().toISOString() }))
    await finish(worktree)
  })

  it('not a session that bootstrap started and that has ended', async () => {
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

  it('a running review, but not one whose process is gone', async () => {
    const { worktree } = await merged()
    const deadline_at = new Date(Date.now() + 60_000).toISOString()
    const progress = { pass: 1, passes: 3, backend: 'codex', started_at: deadline_at, deadline_at, revision: 2 }
    writeProgress(worktree, { ...progress, pid: process.pid })
    expect(await refused(worktree, [], 1)).toMatch(/Revision 2 of the plan is being reviewed by codex \(process \d+\)/)
    writeProgress(worktree, { ...progress, pid: 2 ** 22 - 3 })
    await finish(worktree)
  })

  it.skipIf(process.platform !== 'linux')('a running program', async () => {
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

  /** What runs while `finish` is tried; `says` is null where it must not count. */
  const programs: [string, (worktree: string, folder: string) => [string, string[]], RegExp | null][] = [
    ['watch', () => [process.execPath, [cli, 'watch']], null],
    ['watch, started by npm’s shell', () => ['sh', ['-c', `'${process.execPath}' '${cli}' watch; true`]], null],
    ['a shell’s script', () => ['sh', ['-c', 'read line']], /\d+ sh/],
    ['a script by the name of a shell', (_, folder) => [join(folder, 'bash'), []], /\d+ bash/],
    ['a program that calls itself watch', (_, folder) => ['node', [join(folder, 'cli.mjs'), 'watch']], /cli\.mjs/],
  ]

  it.skipIf(process.platform !== 'linux').each(programs)('as a program at work, or not: %s', async (_, make, says) => {
    const fixture = await merged()
    const folder = temporaryFolder()
    write(folder, { 'cli.mjs': 'setInterval(() => {}, 1000)\n', bash: '#!/usr/bin/perl\nsleep 60;\n' })
    chmodSync(join(folder, 'bash'), 0o755)
    const [file, args] = make(fixture.worktree, folder)
    const program = spawn(file, args, { cwd: fixture.worktree, detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
    await sleep(1_500)
    try {
      expect(program.exitCode).toBe(null)
      if (says === null) await finish(fixture.repo, ['x'])
      else expect(await refused(fixture.repo, ['x'], 1)).toMatch(says)
    } finally {
      process.kill(-(program.pid ?? 0))
    }
  })

  it.skipIf(process.platform !== 'linux')('not its own pipeline, also where timeout takes it out of that', async () => {
    const fixture = await merged()
    const line = `sleep 0 | timeout 50 '${process.execPath}' '${cli}' finish 2>&1 | tee /dev/null | cat`
    const { stdout } = await runProgram('sh', ['-c', line], {
      cwd: fixture.worktree,
      env: cleanEnvironment(),
      timeoutMs: 60_000,
    })
    expect(stdout).toMatch(/^removed +\/.*shop-x$/m)
    expectGone(fixture)
  })

  it.skipIf(!hasTmux)(`not a terminal that is open there, nor watch in it ${byTmux}`, async () => {
    const fixture = await merged()
    const terminal = openTmux()
    try {
      terminal.start(`cd '${fixture.worktree}' && exec bash --norc`)
      terminal.tmux('send-keys', `'${process.execPath}' '${cli}' watch`, 'Enter')
      await terminal.seen(/shop-x/)
      await finish(fixture.repo, ['x'])
      expectGone(fixture)
    } finally {
      terminal.end()
    }
  })
})

describe('--dry-run', () => {
  it('prints what would happen and the obstacles, and changes nothing', async () => {
    const { repo, worktree } = await merged()
    write(worktree, { 'node_modules/a/b.js': '', '.env': 'A=1', 'left.txt': '' })
    const before = snapshot(repo, ['index'])
    const output = await finish(worktree, ['--dry-run'], { exitCode: 2 })
    expect(output).toMatchObject({
      kind: 'dry-run',
      merged_into: 'main',
      kept: ['.env', 'node_modules/'],
      obstacles: [{ kind: 'uncommitted', items: ['?? left.txt'] }],
    })
    const { stdout, stderr } = await runCli(['finish', '--dry-run', '--discard', 'uncommitted'], { cwd: worktree })
    expect(stdout).toMatch(
      /^archive {2}\S+plan-gate-archive\/plan-x-\d+T\d+Z\nkeep {5}\.env, node_modules\/, which git ignores: \S+\/ignored\nremove {3}\S+shop-x\ndelete {3}plan\/x, merged into main\nA file is not committed\. It will be discarded\.\n {4}\?\? left\.txt\n\nNothing was changed\.\n$/,
    )
    expect([stderr, snapshot(repo, ['index'])]).toEqual(['', before])
  })
})

describe('refuses, with the next step:', () => {
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
      /is the main checkout, which finish does not remove\.\n {2}→ Name the worktree: plan-gate finish \S+-x \(/,
    ],
    [
      'a main checkout without a worktree',
      async () => ({ cwd: temporaryRepo() }),
      /Bootstrap has opened no worktree here\. \(.*plan-gate uninstall/,
    ],
    [
      'a bare repository',
      async () => ({ cwd: await bare() }),
      /bare repository[\s\S]*Bootstrap has opened no worktree here/,
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
      /is a folder in the worktree \S+-x\.\n {2}→ Name the worktree/,
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
      /is not empty, so the reviews were not archived there/,
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

describe('a branch that bootstrap did not create', () => {
  it('is kept: one that existed before', async () => {
    const repo = temporaryRepo()
    git(repo, 'branch', 'feature')
    await runCli([...offline, '--name', 'x', '--branch', 'feature'], { cwd: repo })
    commit(`${repo}-x`, { 'work.js': '' })
    const { notes, branch_is_kept } = await finish(`${repo}-x`)
    expect([notes, branch_is_kept]).toEqual([['feature is kept: bootstrap did not create it.'], true])
    expectGone({ repo, worktree: `${repo}-x` }, ['feature', 'main'])
  })

  it('is kept: one that the user switched to', async () => {
    const fixture = await opened()
    git(fixture.worktree, 'switch', '--quiet', '--create', 'better')
    await finish(fixture.worktree)
    expectGone(fixture, ['better', 'main', 'plan/x'])
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
