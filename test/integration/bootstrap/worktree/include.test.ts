import {
  chmodSync,
  existsSync,
  lstatSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCli } from '../../../support/run-cli.ts'
import { commit, type Files, git, makeRepo, snapshot, temporaryRepo, write } from '../../../support/temporary-repo.ts'
import { bootstrapIn, offline } from './bootstrap-in.ts'

const ignore = '.env*\nconfig/local/\nsecrets\n*.pem\ngenerated\n:name\n'

/** A repository with these ignored files beside a tracked one, and this `.worktreeinclude`. */
function repoWith(include: string, ignored: Files): string {
  const repo = temporaryRepo('shop', { '.gitignore': ignore, 'tracked.pem.txt': '', '.worktreeinclude': include })
  write(repo, ignored)
  return repo
}

/** Files of the worktree that git did not check out, without our own. */
const copiedTo = (worktree: string): string[] =>
  Object.keys(snapshot(worktree, ['.git', '.claude', '.gitignore', '.worktreeinclude', 'tracked.pem.txt'])).filter(
    (path) => !path.endsWith('/'),
  )

describe('.worktreeinclude', () => {
  it.each<{ name: string; include: string; ignored: Files; copied: string[] }>([
    {
      name: 'copies files that are both named and ignored',
      include: '.env\nconfig/local/\nnotes.txt\n',
      ignored: { '.env': '1', '.env.production': '2', 'config/local/a/b.json': '3', 'notes.txt': 'not ignored' },
      copied: ['.env', 'config/local/a/b.json'],
    },
    {
      name: 'has the patterns of .gitignore',
      include: '# secrets\n**/.env*\n!.env.production\n/secrets/*\n!/secrets/huge\n',
      ignored: { '.env': '', '.env.production': '', 'app/.env.local': '', 'secrets/key': '', 'secrets/huge': '' },
      copied: ['.env', 'app/.env.local', 'secrets/key'],
    },
    {
      name: 'copies files of any name',
      include: '*\n',
      ignored: {
        '.env caf\u00e9 "$X"': '',
        '.env cafe\u0301': '',
        '.env\nline': '',
        ':name': '',
        '-.pem': '',
        '[a]*.pem': '',
      },
      copied: ['-.pem', '.env\nline', '.env caf\u00e9 "$X"', '.env cafe\u0301', ':name', '[a]*.pem'],
    },
    {
      name: 'never copies our own files',
      include: '.claude/\n.env\n',
      ignored: {
        '.env': '',
        '.claude/review/approval.json': '{"is_optimal":true}',
        '.claude/hooks/plan-gate/extra.mjs': '',
        '.claude/settings.local.json': '{"model":"opus"}',
        '.claude/skills/plan-with-review/more.md': '',
        '.git/info/exclude': '/.claude/review/\n/.claude/hooks/\n/.claude/settings.local.json\n/.claude/skills/\n',
      },
      copied: ['.env'],
    },
    { name: 'may be empty', include: '', ignored: { '.env': '' }, copied: [] },
  ])('$name', async ({ include, ignored, copied }) => {
    const repo = repoWith(include, ignored)
    const { worktree } = await bootstrapIn(repo)
    expect(copiedTo(worktree).sort()).toEqual([...copied].sort())
    for (const path of copied)
      expect(readFileSync(join(worktree, path), 'utf8')).toBe(readFileSync(join(repo, path), 'utf8'))
    for (const path of [
      '.claude/review/approval.json',
      '.claude/settings.local.json',
      '.claude/hooks/plan-gate/extra.mjs',
    ])
      expect(existsSync(join(worktree, path))).toBe(false)
    expect(existsSync(join(worktree, '.claude/skills/plan-with-review/more.md'))).toBe(false)
  })

  it('keeps modes and bytes, and symbolic links as links', async () => {
    const repo = repoWith('*\n', { 'secrets/key.pem': '', 'secrets/run': '#!/bin/sh\n' })
    writeFileSync(join(repo, 'secrets/key.pem'), Buffer.from([0, 255, 254, 10, 13]))
    chmodSync(join(repo, 'secrets/key.pem'), 0o400)
    chmodSync(join(repo, 'secrets/run'), 0o750)
    symlinkSync('key.pem', join(repo, 'secrets/link'))
    symlinkSync('/nowhere', join(repo, 'secrets/dangling'))
    symlinkSync('..', join(repo, 'secrets/to-a-folder'))
    const { worktree } = await bootstrapIn(repo)
    expect(snapshot(join(worktree, 'secrets'))).toEqual(snapshot(join(repo, 'secrets')))
  })

  it('overwrites nothing, and copies new files in the next run', async () => {
    const repo = repoWith('.env*\n', { '.env': 'first' })
    const { worktree } = await bootstrapIn(repo)
    write(worktree, { '.env': 'changed there' })
    write(repo, { '.env': 'changed here', '.env.new': 'new' })
    await bootstrapIn(repo)
    expect(readFileSync(join(worktree, '.env'), 'utf8')).toBe('changed there')
    expect(readFileSync(join(worktree, '.env.new'), 'utf8')).toBe('new')
  })

  it('does not write through a tracked symbolic link', async () => {
    const repo = repoWith('*\n', {})
    const outside = join(dirname(repo), 'outside')
    write(outside, { 'keep.txt': '' })
    git(repo, 'checkout', '--quiet', '-b', 'links')
    symlinkSync(outside, join(repo, 'config'))
    symlinkSync('.gitignore', join(repo, 'generated'))
    symlinkSync('docs', join(repo, 'inside'))
    write(repo, { 'docs/a.txt': '' })
    git(repo, 'add', '--all', '--force')
    commit(repo, {})
    git(repo, 'checkout', '--quiet', 'main')
    write(repo, { 'config/local/a': '1', generated: '2', 'inside/x.pem': '3', '.env': '4' })
    const { worktree } = await bootstrapIn(repo, { args: ['--name', 'x', '--base', 'links'] })
    expect(snapshot(outside)).toEqual({ 'keep.txt': '644 ' })
    expect(readlinkSync(join(worktree, 'generated'))).toBe('.gitignore')
    expect(existsSync(join(worktree, 'docs/x.pem'))).toBe(false)
    expect(readFileSync(join(worktree, '.env'), 'utf8')).toBe('4')
  })

  it('skips files that the base does not ignore or has itself', async () => {
    const repo = repoWith('*\n', { '.env': '', 'secrets/key': '' })
    git(repo, 'checkout', '--quiet', '-b', 'old')
    write(repo, { '.gitignore': '.env\n', generated: 'a file here', 'secrets/.gitignore': '!key\n' })
    git(repo, 'add', '.gitignore', 'generated', 'secrets/.gitignore')
    git(repo, 'commit', '--quiet', '--message', 'Less ignored')
    git(repo, 'checkout', '--quiet', 'main')
    write(repo, { 'generated/x': '' })
    const { worktree } = await bootstrapIn(repo, { args: ['--name', 'x', '--base', 'old'] })
    expect(copiedTo(worktree).sort()).toEqual(['.env', 'generated'])
    expect(lstatSync(join(worktree, 'generated')).isFile()).toBe(true)
  })

  it('skips nested repositories and names that are not UTF-8', async () => {
    const repo = repoWith('*\n', { '.env': '' })
    git(repo, 'init', '--quiet', 'secrets')
    writeFileSync(Buffer.concat([Buffer.from(`${repo}/.env-`), Buffer.from([0xff])]), '')
    const { worktree } = await bootstrapIn(repo, { checkout: null })
    expect(copiedTo(worktree)).toEqual(['.env'])
  })

  it('skips only paths inside a submodule of the base', async () => {
    const repo = repoWith('*\n', { '.env': '1' })
    git(repo, 'checkout', '--quiet', '-b', 'with-submodule')
    git(repo, 'submodule', '--quiet', 'add', '--force', makeRepo(join(dirname(repo), 'lib'), {}), 'secrets')
    commit(repo, {})
    git(repo, 'checkout', '--quiet', 'main')
    rmSync(join(repo, 'secrets'), { recursive: true, force: true })
    write(repo, { 'secrets/key': '2' })
    const { worktree } = await bootstrapIn(repo, { args: ['--name', 'x', '--base', 'with-submodule'] })
    expect(copiedTo(worktree)).toEqual(['.env', '.gitmodules'])
  })

  it('copies thousands', async () => {
    const names = Array.from({ length: 1_300 }, (_, index) => `secrets/${index}`)
    const repo = repoWith('secrets\n', Object.fromEntries(names.map((name) => [name, name])))
    const { worktree } = await bootstrapIn(repo, { checkout: null })
    expect(snapshot(join(worktree, 'secrets'))).toEqual(snapshot(join(repo, 'secrets')))
  })

  it('replaces a partial copy of a killed run', async () => {
    const repo = repoWith('.env\n', { '.env': 'whole' })
    const { worktree } = await bootstrapIn(repo)
    renameSync(join(worktree, '.env'), join(worktree, '.plan-gate-copy'))
    write(worktree, { '.plan-gate-copy': 'wh' })
    await bootstrapIn(repo)
    expect(copiedTo(worktree)).toEqual(['.env'])
    expect(readFileSync(join(worktree, '.env'), 'utf8')).toBe('whole')
  })

  it('is read from the checkout, committed or not; a folder of that name is ignored', async () => {
    const repo = temporaryRepo('shop', { '.gitignore': '.env\n' })
    write(repo, { '.env': '1', '.worktreeinclude': '.env\n' })
    const { worktree } = await bootstrapIn(repo)
    expect(copiedTo(worktree)).toEqual(['.env'])
    const other = temporaryRepo('shop', { '.gitignore': '.env\n', '.worktreeinclude/x': '' })
    write(other, { '.env': '1' })
    expect(copiedTo((await bootstrapIn(other)).worktree)).toEqual([])
  })
})

it('counts what it copies, and is not spoken of where there is none', async () => {
  const repo = temporaryRepo('shop', { '.gitignore': '.env\n' })
  write(repo, { '.env': '1' })
  const said = async (name: string): Promise<string> =>
    (await runCli([...offline, '--name', name], { cwd: repo })).stderr
  expect(await said('one')).not.toMatch(/include/)
  write(repo, { '.worktreeinclude': '.env\n' })
  expect(await said('two')).toMatch(/^✓ include {2}1 file copied \(/m)
})

describe('worktree.setup', () => {
  const withSetup = (...commands: string[]): string => {
    const repo = temporaryRepo('shop', { '.gitignore': 'log\n' })
    configure(repo, commands)
    return repo
  }
  const configure = (repo: string, commands: string[]): void =>
    commit(repo, { 'plan-gate.yaml': `worktree:\n  setup: ${JSON.stringify(commands)}\n` })
  const logOf = (worktree: string): string => readFileSync(join(worktree, 'log'), 'utf8')

  it('runs the commands once, in order, in the worktree, with their output on stderr', async () => {
    const repo = withSetup(
      'echo "one in $PWD" | tee -a log',
      'echo two >> log; echo loud',
      'echo three >> log; echo err >&2',
    )
    const { worktree, stderr, lines } = await bootstrapIn(repo)
    expect(logOf(worktree)).toBe(`one in ${worktree}\ntwo\nthree\n`)
    expect(stderr).toBe(`one in ${worktree}\nloud\nerr\n`)
    expect(lines.filter(({ step }) => step === 'setup').map(({ detail }) => detail)).toEqual([
      'echo "one in $PWD" | tee -a log',
      'echo two >> log; echo loud',
      'echo three >> log; echo err >&2',
    ])
    await bootstrapIn(repo)
    expect(logOf(worktree)).toBe(`one in ${worktree}\ntwo\nthree\n`)
  })

  it('uses this worktree, whatever repository the shell is in', async () => {
    const repo = withSetup('git rev-parse --show-toplevel > log')
    const { worktree } = await bootstrapIn(repo, { env: { GIT_DIR: join(repo, '.git'), GIT_WORK_TREE: repo } })
    expect(logOf(worktree)).toBe(`${worktree}\n`)
  })

  it('stops at a failure, and the next run starts over', async () => {
    const repo = withSetup('echo one >> log', 'echo two >> log; test -e ../fixed', 'echo three >> log')
    const { stderr } = await runCli([...offline, '--name', 'x'], { cwd: repo, exitCode: 1 })
    expect(stderr).toContain(
      `plan-gate: The setup command \`echo two >> log; test -e ../fixed\` failed (exit code 1) in ${repo}-x.\n` +
        '  → Fix it, then run the same bootstrap again',
    )
    expect(logOf(`${repo}-x`)).toBe('one\ntwo\n')
    write(dirname(repo), { fixed: '' })
    await bootstrapIn(repo)
    expect(logOf(`${repo}-x`)).toBe('one\ntwo\none\ntwo\nthree\n')
  })

  it('runs again when the list has changed', async () => {
    const repo = withSetup('echo one >> log')
    const { worktree } = await bootstrapIn(repo)
    configure(repo, ['echo one >> log', 'echo two >> log'])
    await bootstrapIn(repo)
    await bootstrapIn(repo)
    expect(logOf(worktree)).toBe('one\none\ntwo\n')
  })

  it('reports what ended a command', async () => {
    const repo = withSetup('kill -9 $$')
    const { stderr } = await runCli([...offline, '--name', 'x'], { cwd: repo, exitCode: 1 })
    expect(stderr).toContain('failed (ended by SIGKILL)')
  })
})
