import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { project } from '../support/project.ts'
import { askGate } from '../support/run-hook.ts'
import { snapshotTree } from '../support/snapshot-tree.ts'
import { makeRepo } from '../support/temporary-repo.ts'

/** As a stranger gets it: the packed tarball, installed into an empty folder, used in a repository that is elsewhere. */
describe('the package', () => {
  let folder: string
  let packed: { filename: string; files: { path: string; size: number }[] }
  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'packed-')))
    // What `prepare` builds is there; building it again would take it from under the tests beside this one.
    const { stdout } = await execa('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
      cwd: project,
    })
    packed = Object.values(JSON.parse(stdout) as { [name: string]: typeof packed })[0] ?? expect.unreachable()
  }, 120_000)
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))

  it('contains only what runs', () => {
    const tops = new Set(packed.files.map(({ path }) => path.split('/')[0]))
    expect([...tops].sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'dist',
      'docs',
      'package.json',
      'skills',
      'templates',
    ])
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
})
