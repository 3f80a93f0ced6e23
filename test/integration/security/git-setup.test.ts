import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCli } from '../../support/run-cli.ts'
import { askGate, runHook } from '../../support/run-hook.ts'
import { cleanEnvironment, git, makeRepo, temporaryFolder, write } from '../../support/temporary-repo.ts'

/**
 * A repository that was cloned brings no configuration of git's and no hooks. One that was unpacked, from an archive,
 * brings both, and git runs what they name: in `git status`, in `git worktree add`. Promise: plan-gate has git run
 * nothing that those two commands would not, and from the opening of the worktree on nothing that was added since.
 */
type Row = { attack: string; config?: readonly string[]; hook?: string; runsWithGit: boolean }

const rows: readonly Row[] = [
  // What plain git runs by itself.
  { attack: 'core.fsmonitor', config: ['core.fsmonitor', 'PROGRAM'], runsWithGit: true },
  { attack: 'filter.*.smudge', config: ['filter.x.smudge', 'PROGRAM; cat'], runsWithGit: true },
  { attack: 'filter.*.clean', config: ['filter.x.clean', 'PROGRAM; cat'], runsWithGit: true },
  { attack: 'filter.*.process', config: ['filter.y.process', 'PROGRAM'], runsWithGit: true },
  { attack: 'the hook post-checkout', hook: 'post-checkout', runsWithGit: true },
  { attack: 'the hook post-index-change', hook: 'post-index-change', runsWithGit: true },
  { attack: 'the hook reference-transaction', hook: 'reference-transaction', runsWithGit: true },
  { attack: 'core.hooksPath', config: ['core.hooksPath', 'FOLDER'], runsWithGit: true },
  // What other commands of git's would run.
  { attack: 'core.pager', config: ['core.pager', 'PROGRAM'], runsWithGit: false },
  { attack: 'pager.log', config: ['pager.log', 'PROGRAM'], runsWithGit: false },
  { attack: 'core.editor', config: ['core.editor', 'PROGRAM'], runsWithGit: false },
  { attack: 'diff.external', config: ['diff.external', 'PROGRAM'], runsWithGit: false },
  { attack: 'diff.*.command', config: ['diff.x.command', 'PROGRAM'], runsWithGit: false },
  { attack: 'diff.*.textconv', config: ['diff.x.textconv', 'PROGRAM'], runsWithGit: false },
  { attack: 'merge.*.driver', config: ['merge.x.driver', 'PROGRAM'], runsWithGit: false },
  {
    attack: 'gpg.program',
    config: ['gpg.program', 'PROGRAM', 'commit.gpgSign', 'true', 'log.showSignature', 'true'],
    runsWithGit: false,
  },
  {
    attack: 'core.sshCommand',
    config: ['core.sshCommand', 'PROGRAM', 'remote.origin.url', 'ssh://nowhere/x'],
    runsWithGit: false,
  },
  { attack: 'core.askPass', config: ['core.askPass', 'PROGRAM'], runsWithGit: false },
  { attack: 'credential.helper', config: ['credential.helper', '!PROGRAM'], runsWithGit: false },
  { attack: 'an alias', config: ['alias.worktree', '!PROGRAM', 'alias.status', '!PROGRAM'], runsWithGit: false },
  {
    attack: 'submodule.*.update',
    config: ['submodule.lib.update', '!PROGRAM', 'submodule.recurse', 'true'],
    runsWithGit: false,
  },
  {
    attack: 'a remote that is a command',
    config: ['remote.origin.url', 'ext::PROGRAM', 'protocol.ext.allow', 'always'],
    runsWithGit: false,
  },
  { attack: 'core.gitProxy', config: ['core.gitProxy', 'PROGRAM'], runsWithGit: false },
  { attack: 'the hook pre-commit', hook: 'pre-commit', runsWithGit: false },
  { attack: 'the hook post-merge', hook: 'post-merge', runsWithGit: false },
]

/** With one of these armed, the others have no turn. */
const alone = ['core.hooksPath', 'filter.*.process']

describe('an unpacked repository', () => {
  it.each([
    { group: 'of what only other commands would run', armed: rows.filter(({ runsWithGit }) => !runsWithGit) },
    {
      group: 'of what plain git runs, too',
      armed: rows.filter(({ attack, runsWithGit }) => runsWithGit && !alone.includes(attack)),
    },
    ...alone.map((name) => ({ group: `with ${name}`, armed: rows.filter(({ attack }) => attack === name) })),
  ])('$group has git run no more than `git worktree add` and `git status` do', async ({ armed }) => {
    const { repo, ran } = unpacked()
    const control = join(dirname(repo), 'control')
    cpSync(repo, control, { recursive: true, verbatimSymlinks: true })
    arm(control, armed)
    tryGit(control, 'worktree', 'add', '-b', 'plan/x', `${control}-x`)
    // As long as before, so that git has to look into it.
    write(control, { 'a.txt': 'A\n', 'b.txt': 'B\n' })
    tryGit(control, 'status')
    const byGit = ran(control)
    expect(byGit).toEqual(armed.filter(({ runsWithGit }) => runsWithGit).map(({ attack }) => attack))

    arm(repo, armed)
    const worktree = `${repo}-x`
    const isTold = byGit.length === 0
    await tryCli(['bootstrap', '--no-launch', '--reviewer', 'checklist', '--name', 'x'], repo, isTold)
    if (isTold) write(worktree, { 'a.txt': 'changed\n', 'docs/plan.md': '# Plan\n' })
    for (const command of [['status'], ['drift', 'accept'], ['drift'], ['log'], ['review', '--diff'], ['uninstall']])
      await tryCli(command, isTold ? worktree : repo, isTold)
    expect(ran(repo).filter((attack) => !byGit.includes(attack))).toEqual([])
  })
})

describe('what is added after the worktree was opened', () => {
  const added = rows.filter(({ runsWithGit, attack }) => runsWithGit && attack !== 'the hook post-checkout')

  it('is run by nobody, and named', async () => {
    const { repo, ran } = unpacked()
    await runCli(['bootstrap', '--no-launch', '--reviewer', 'checklist', '--name', 'x'], { cwd: repo })
    const worktree = `${repo}-x`
    write(worktree, { 'a.txt': 'changed\n', 'b.txt': 'changed\n' })
    for (const row of added) {
      const config = readFileSync(join(repo, '.git/config'))
      arm(repo, [row])
      expect(askGate(worktree, 'Bash', { command: 'git status' })).toContain(nameOf(row))
      const event = { hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_input: { command: 'x' } }
      const { stdout } = runHook(worktree, 'post-tool-use', { ...event, cwd: worktree, tool_response: {} })
      expect(stdout).toMatch(
        /(?:is not known|approved plan): git's configuration changed since this worktree was opened/,
      )
      expect(stdout).toContain(nameOf(row))
      writeFileSync(join(repo, '.git/config'), config)
      rmSync(join(repo, '.git/hooks'), { recursive: true, force: true })
    }
    expect(ran(repo)).toEqual([])
    expect(askGate(worktree, 'Bash', { command: 'git status' })).toBeNull()
  })

  const nameOf = ({ attack, config }: Row): string => config?.[0]?.replace('hooksPath', 'hookspath') ?? attack
})

describe('submodules', () => {
  it('are neither fetched nor entered, whatever they are called and wherever they are said to be', async () => {
    const folder = temporaryFolder()
    const modules = ['ext::sh -c "touch ../RAN"', '../../outside', '-u./touch', 'file:///etc'].map(
      (url, i) => `[submodule "../../x${i}"]\n\tpath = lib${i}\n\turl = ${url}\n\tupdate = !touch ../RAN\n`,
    )
    const repo = makeRepo(join(folder, 'shop'), { '.gitmodules': modules.join('') })
    const head = git(repo, 'rev-parse', 'HEAD')
    for (const i of modules.keys()) git(repo, 'update-index', '--add', '--cacheinfo', `160000,${head},lib${i}`)
    git(repo, 'commit', '--quiet', '--message', 'Submodules')
    await runCli(['bootstrap', '--no-launch', '--reviewer', 'checklist', '--name', 'x'], { cwd: repo })
    const event = { hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_input: { command: 'x' }, tool_response: {} }
    expect(runHook(`${repo}-x`, 'post-tool-use', event).stdout).toBe('')
    expect(readdirSync(folder).sort()).toEqual(['shop', 'shop-x'])
    expect(existsSync(join(repo, '.git/modules'))).toBe(false)
  })
})

describe('a repository inside of this one', () => {
  const program = (folder: string): string => {
    const path = join(folder, 'program')
    write(folder, { program: `#!/bin/sh\ntouch '${folder}/RAN'\n` })
    chmodSync(path, 0o755)
    return path
  }

  it.each([
    {
      name: 'core.fsmonitor',
      plant: (sub: string, run: string) => git(sub, 'config', 'core.fsmonitor', run),
      told: 'core.fsmonitor',
    },
    {
      name: 'the hook post-index-change',
      plant: (sub: string, run: string) => cpSync(run, join(sub, '.git/hooks/post-index-change')),
      told: 'the hook post-index-change',
    },
  ])('is looked into by git status, so $name of it counts', async ({ plant, told }) => {
    const folder = temporaryFolder()
    const repo = makeRepo(join(folder, 'shop'), { 'a.txt': 'a\n' })
    const head = git(repo, 'rev-parse', 'HEAD')
    git(repo, 'update-index', '--add', '--cacheinfo', `160000,${head},sub`)
    git(repo, 'commit', '--quiet', '--message', 'An embedded repository')
    await runCli(['bootstrap', '--no-launch', '--reviewer', 'checklist', '--name', 'x'], { cwd: repo })
    const worktree = `${repo}-x`
    const status = () => askGate(worktree, 'Bash', { command: 'git status' })
    expect(status()).toBeNull()
    git(worktree, 'clone', '--quiet', repo, 'sub')
    write(worktree, { 'sub/a.txt': 'changed\n' })
    // What git writes into a new repository is harmless.
    expect(status()).toBeNull()
    plant(join(worktree, 'sub'), program(folder))
    tryGit(worktree, 'status')
    expect(existsSync(join(folder, 'RAN'))).toBe(true)
    rmSync(join(folder, 'RAN'))
    expect(status()).toContain(told)
    expect(existsSync(join(folder, 'RAN'))).toBe(false)
  })
})

describe('what leads on to a program', () => {
  type Way = {
    name: string
    /** On the first day: harmless. */
    begin: (repo: string, folder: string) => void
    /** Later, in the worktree. `hook`, `program`: both run the same. */
    plant: (worktree: string, run: { hook: string; program: string }, repo: string) => void
  }
  const hook = (at: string, from: string): void => cpSync(from, join(at, 'post-index-change'))
  const gitlink = (repo: string, path: string): void => {
    git(repo, 'update-index', '--add', '--cacheinfo', `160000,${git(repo, 'rev-parse', 'HEAD')},${path}`)
    git(repo, 'commit', '--quiet', '--message', path)
  }

  it.each<Way>([
    {
      name: 'a folder of hooks, which gets one',
      begin: (repo) => git(repo, 'config', 'core.hooksPath', '.husky/_'),
      plant: (worktree, run) => {
        mkdirSync(join(worktree, '.husky/_'), { recursive: true })
        hook(join(worktree, '.husky/_'), run.hook)
      },
    },
    {
      name: 'a folder of hooks with a comment behind it',
      begin: (repo) => appendFileSync(join(repo, '.git/config'), '[core]\n\thooksPath = .hooks ; ours\n'),
      plant: (worktree, run) => {
        mkdirSync(join(worktree, '.hooks'))
        hook(join(worktree, '.hooks'), run.hook)
      },
    },
    {
      name: 'hooks that are a link',
      begin: (repo, folder) => {
        rmSync(join(repo, '.git/hooks'), { recursive: true, force: true })
        mkdirSync(join(folder, 'shared'))
        symlinkSync('../../shared', join(repo, '.git/hooks'))
      },
      plant: (worktree, run) => hook(join(dirname(worktree), 'shared'), run.hook),
    },
    {
      name: 'an included file that comes later',
      begin: (repo, folder) => git(repo, 'config', 'include.path', join(folder, 'more')),
      plant: (worktree, run) =>
        writeFileSync(join(dirname(worktree), 'more'), `[core]\n\tfsmonitor = ${run.program}\n`),
    },
    {
      name: 'a repository inside, whose .git is a link',
      begin: (repo) => gitlink(repo, 'sub'),
      plant: (worktree, run, repo) => {
        git(worktree, 'clone', '--quiet', repo, 'elsewhere')
        git(join(worktree, 'elsewhere'), 'config', 'core.fsmonitor', run.program)
        mkdirSync(join(worktree, 'sub'), { recursive: true })
        symlinkSync('../elsewhere/.git', join(worktree, 'sub/.git'))
      },
    },
    {
      name: 'a linked worktree of another repository inside',
      begin: (repo) => gitlink(repo, 'sub'),
      plant: (worktree, run, repo) => {
        const other = join(dirname(worktree), 'other')
        git(worktree, 'clone', '--quiet', repo, other)
        git(other, 'worktree', 'add', '--quiet', '--detach', '--force', join(worktree, 'sub'))
        git(other, 'config', 'core.fsmonitor', run.program)
      },
    },
    {
      name: 'a repository inside of one inside',
      begin: (repo) => gitlink(repo, 'sub'),
      plant: (worktree, run, repo) => {
        const sub = join(worktree, 'sub')
        git(worktree, 'clone', '--quiet', repo, 'sub')
        git(sub, 'clone', '--quiet', repo, 'in')
        git(sub, 'update-index', '--add', '--cacheinfo', `160000,${git(sub, 'rev-parse', 'HEAD')},in`)
        git(join(sub, 'in'), 'config', 'core.fsmonitor', run.program)
      },
    },
  ])('is seen: $name', async ({ begin, plant }) => {
    const folder = temporaryFolder()
    const repo = makeRepo(join(folder, 'shop'), { 'a.txt': 'a\n' })
    begin(repo, folder)
    await runCli(['bootstrap', '--no-launch', '--reviewer', 'checklist', '--name', 'x'], { cwd: repo })
    const worktree = `${repo}-x`
    const status = () => askGate(worktree, 'Bash', { command: 'git status' })
    // Twice, since what was checked once may be remembered.
    expect([status(), status()]).toEqual([null, null])
    const program = join(folder, 'program')
    writeFileSync(program, `#!/bin/sh\ntouch '${folder}/RAN'\n`)
    chmodSync(program, 0o755)
    plant(worktree, { hook: program, program }, repo)
    expect(status()).toContain('changed since this worktree was opened')
    expect(existsSync(join(folder, 'RAN'))).toBe(false)
    writeFileSync(join(worktree, 'a.txt'), 'a\n')
    tryGit(worktree, 'status')
    expect(existsSync(join(folder, 'RAN'))).toBe(true)
  })
})

it('a core.worktree that leads to another folder writes nothing there', async () => {
  const folder = temporaryFolder()
  const repo = makeRepo(join(folder, 'shop'), { 'README.md': '' })
  const victim = join(folder, 'victim')
  mkdirSync(victim)
  git(repo, 'config', 'core.worktree', victim)
  for (const args of [['install'], ['bootstrap', '--no-launch', '--name', 'x']])
    await runCli([...args, '--reviewer', 'checklist'], { cwd: repo, exitCode: 1 })
  expect([readdirSync(victim), readdirSync(folder).sort()]).toEqual([[], ['shop', 'victim']])
})

/** A repository as it may come out of an archive. `ran`: what of it has left a mark. */
function unpacked(): { repo: string; ran: (repo: string) => string[] } {
  const repo = makeRepo(join(temporaryFolder(), 'shop'), {
    'a.txt': 'a\n',
    'b.txt': 'b\n',
    '.gitattributes': 'a.txt filter=x\nb.txt filter=y\n* diff=x merge=x\n',
  })
  return {
    repo,
    ran: (armed) => rows.filter((_, at) => existsSync(join(`${armed}-marks`, `${at}`))).map(({ attack }) => attack),
  }
}

/** Each row has a program of its own, which leaves its number. */
function arm(repo: string, armed: readonly Row[]): void {
  mkdirSync(`${repo}-marks`, { recursive: true })
  for (const row of armed) {
    const mark = `touch '${repo}-marks/${rows.indexOf(row)}'`
    const program = join(`${repo}-marks`, `program-${rows.indexOf(row)}`)
    const folder = `${repo}-marks/hooks`
    const hooks = row.config?.includes('FOLDER')
      ? [`${folder}/post-checkout`, `${folder}/post-index-change`]
      : row.hook === undefined
        ? []
        : [join(repo, '.git/hooks', row.hook)]
    for (const path of [program, ...hooks]) {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, `#!/bin/sh\n${mark}\n`)
      chmodSync(path, 0o755)
    }
    const config = (row.config ?? []).map((text) => text.replace('PROGRAM', program).replace('FOLDER', folder))
    for (let i = 0; i < config.length; i += 2) git(repo, 'config', config[i] ?? '', config[i + 1] ?? '')
  }
}

/** Where git itself cannot do its work for what is armed, neither can the command. */
async function tryCli(command: readonly string[], cwd: string, mustEndWell: boolean): Promise<void> {
  try {
    await runCli(command, { cwd })
  } catch (error) {
    if (mustEndWell) throw error
  }
}

function tryGit(cwd: string, ...args: string[]): void {
  try {
    execFileSync('git', args, { cwd, env: cleanEnvironment(), stdio: 'ignore' })
  } catch {
    // Some of these programs do not do what git expects of them.
  }
}
