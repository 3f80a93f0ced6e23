import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { project } from '../support/project.ts'
import { askGate } from '../support/run-hook.ts'
import { snapshotTree } from '../support/snapshot-tree.ts'
import { cleanEnvironment, makeRepo } from '../support/temporary-repo.ts'

/** Everything at the top of the package, with room for a third more. */
const maxKilobytes: { readonly [top: string]: number } = {
  '.claude-plugin': 4,
  'CHANGELOG.md': 20,
  LICENSE: 2,
  'README.md': 8,
  dist: 6_000,
  docs: 35,
  hooks: 60,
  'package.json': 4,
  skills: 10,
  templates: 160,
}

/** As a stranger gets it: the packed tarball, installed into an empty folder, used in a repository that is elsewhere. */
describe('the package', () => {
  let folder: string
  let packed: { filename: string; files: { path: string; size: number }[] }
  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'packed-')))
    // What `npm ci` built is there; building it again would take it from under the tests beside this one.
    const { stdout } = await execa('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
      cwd: project,
    })
    packed = Object.values(JSON.parse(stdout) as { [name: string]: typeof packed })[0] ?? expect.unreachable()
  }, 120_000)
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))

  it('contains only what runs', () => {
    const kilobytes: { [top: string]: number } = {}
    for (const { path, size } of packed.files) {
      const [top = ''] = path.split('/')
      kilobytes[top] = (kilobytes[top] ?? 0) + size / 1000
    }
    expect(Object.keys(kilobytes).sort()).toEqual(Object.keys(maxKilobytes))
    expect(Object.entries(kilobytes).filter(([top, size]) => size > (maxKilobytes[top] ?? 0))).toEqual([])
    expect(packed.files.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        'dist/cli.mjs',
        'dist/hooks/pre-tool-use.mjs',
        'dist/schemas/config.schema.json',
        'skills/plan-with-review/SKILL.md',
        'templates/plan-gate.yaml',
      ]),
    )
  })

  it('brings no other package with it', () => {
    expect(JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))).not.toHaveProperty('dependencies')
  })

  it('installs into an empty folder, opens a gated worktree from there, and takes it away without a trace', async () => {
    const stranger = join(folder, 'a stranger’s home')
    mkdirSync(stranger)
    writeFileSync(join(stranger, 'package.json'), '{"private":true}')
    await execa('npm', ['install', '--no-audit', '--no-fund', join(folder, packed.filename)], { cwd: stranger })
    const repo = makeRepo(join(stranger, 'my repo'), { 'src/a.ts': 'export {}\n' })
    const npx = (cwd: string, ...args: string[]) =>
      execa('npx', ['--no-install', 'plan-gate', ...args], { cwd, env: { HOME: stranger, NO_COLOR: '1' } })

    const { stdout } = await npx(repo, 'bootstrap', '--no-launch', '--name', 'x', '--reviewer', 'checklist', '--json')
    const result = JSON.parse(stdout.split('\n').at(-1) ?? '') as {
      event: string
      kind: string
      worktree: string
      branch: string
    }
    const worktree = join(stranger, 'my repo-x')
    expect(result).toMatchObject({ event: 'result', kind: 'ready', worktree, branch: 'plan/x' })

    const git = async (...args: string[]): Promise<string> => (await execa('git', args, { cwd: worktree })).stdout
    expect(await git('status', '--porcelain')).toBe('')
    expect(askGate(worktree, 'Write', { file_path: join(worktree, 'src/a.ts') })).toMatch(/not allowed/)
    expect(askGate(worktree, 'Write', { file_path: join(worktree, 'docs/plan.md') })).toBeNull()
    expect((await npx(worktree, 'status')).stdout).toMatch(/there is no plan yet; the gate is closed/)

    const pristine = join(stranger, 'pristine')
    await execa('git', ['worktree', 'add', '--quiet', '--detach', pristine], { cwd: repo })
    await npx(worktree, 'uninstall')
    const files = (root: string) => snapshotTree(root, (path) => path === '.git')
    expect(files(worktree)).toEqual(files(pristine))
    expect(existsSync(join(repo, '.git/plan-gate'))).toBe(false)
    expect(readFileSync(join(repo, '.git/info/exclude'), 'utf8')).not.toMatch(/plan-gate/)
  }, 120_000)

  it.each([
    ['the packed tarball', () => join(folder, packed.filename)],
    // `npm i -g` of a git address builds no package: npm hands its --global on to the inner install.
    ['what `npm pack` makes of the git repository', packedFromGit],
  ])(
    'is a program on PATH after `npm i -g` of %s, and its messages say plan-gate',
    async (_, spec) => {
      const prefix = mkdtempSync(join(folder, 'prefix-'))
      const env = { ...npmEnv(), HOME: prefix, npm_config_prefix: prefix, NO_COLOR: '1' }
      await execa('npm', ['install', '--global', '--no-audit', '--no-fund', await spec()], { cwd: prefix, env })
      const repo = makeRepo(join(prefix, 'my repo'), { 'src/a.ts': 'export {}\n' })
      const PATH = `${join(prefix, 'bin')}:${process.env.PATH?.replace(join(project, 'test/support/bin'), '')}`
      const planGate = (cwd: string, ...args: string[]) => execa('plan-gate', args, { cwd, env: { ...env, PATH } })
      const done = await planGate(repo, 'bootstrap', '--no-launch', '--name', 'x', '--reviewer', 'checklist')
      expect(done.stderr).toContain(`Start with:\n  plan-gate open '${repo}-x'`)
      // By the entry itself: a checkout with changes that are not committed has other bundles than the repository.
      const settings = readFileSync(`${repo}-x/.claude/settings.json`, 'utf8')
      const [{ command, args }] = JSON.parse(settings).hooks.PreToolUse[0].hooks
      const refusal = await execa(command, args.map(inFolder(`${repo}-x`)), {
        ...{ cwd: `${repo}-x`, env: { CLAUDE_PROJECT_DIR: `${repo}-x` }, reject: false },
        input: JSON.stringify({ hook_event_name: 'PreToolUse', tool_name: 'Write', tool_input: { file_path: 'a.ts' } }),
      })
      expect(refusal).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('`plan-gate status` shows') })
      expect((await planGate(`${repo}-x`, 'status')).stdout).toMatch(/^ {10}plan-gate open$/m)
    },
    240_000,
  )

  it.each([
    ['npm', ['install', '--no-audit'], []],
    ['npm', ['install', '--global', '--no-audit'], []],
    ['npx', ['--yes'], ['--version']],
  ])(
    '%s %j of the tarball warns of nothing',
    async (program, flags, rest) => {
      const home = mkdtempSync(join(folder, 'quiet-'))
      writeFileSync(join(home, 'package.json'), '{"private":true}')
      const env = { ...cleanEnvironment(), HOME: home, npm_config_prefix: home, npm_config_offline: 'true' }
      const options = { cwd: home, env, extendEnv: false, all: true } as const
      const { all } = await execa(program, [...flags, `../${packed.filename}`, ...rest], options)
      expect(all.trim()).toMatch(/^(?:added 1 package in \d+m?s|\d+\.\d+\.\d+)$/)
    },
    60_000,
  )

  const inFolder =
    (root: string) =>
    (arg: string): string =>
      arg.replaceAll('${CLAUDE_PROJECT_DIR}', root)

  /** What is committed here, without what is built: npm builds it, with the packages that it needs for that. */
  async function packedFromGit(): Promise<string> {
    const [clone, into] = [join(folder, 'clone.git'), mkdtempSync(join(folder, 'from-git-'))]
    await execa('git', ['clone', '--quiet', '--bare', project, clone])
    const { stdout } = await execa('npm', ['pack', '--silent', `git+file://${clone}`], { cwd: into, env: npmEnv() })
    return join(into, stdout.trim())
  }

  const npmEnv = () => ({
    npm_config_cache: join(folder, 'cache'),
    npm_config_userconfig: process.env.npm_config_userconfig ?? join(homedir(), '.npmrc'),
  })
})
