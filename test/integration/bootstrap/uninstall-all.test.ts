import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import type { UninstallOutput } from '../../../src/schemas/output.ts'
import { cli } from '../../support/project.ts'
import { runCli } from '../../support/run-cli.ts'
import { snapshotTree } from '../../support/snapshot-tree.ts'
import { commit, git, statusOf, temporaryFolder, temporaryRepo, write } from '../../support/temporary-repo.ts'
import { byTmux, hasTmux, openTmux } from '../../support/tmux.ts'
import { offline } from './worktree/bootstrap-in.ts'

/** Two gated worktrees, one whose folder was deleted, a finished one, a gate in the main checkout, and caches. */
async function place(cache: 'XDG_CACHE_HOME' | null) {
  const repo = temporaryRepo()
  const home = temporaryFolder()
  write(home, { '.bashrc': 'export A=1\n' })
  write(repo, { '.git/info/exclude': '# mine\n*.log' })
  const before = { home: snapshotTree(home), exclude: readFileSync(join(repo, '.git/info/exclude'), 'utf8') }
  const cacheHome = cache === null ? join(home, '.cache') : join(home, 'xdg')
  const env = { HOME: home, ...(cache === null ? {} : { [cache]: cacheHome }) }
  const run = { cwd: repo, env }
  for (const name of ['a', 'b', 'gone', 'done']) await runCli([...offline, '--name', name, '--trust'], run)
  commit(`${repo}-a`, { 'work.js': 'unmerged' })
  await runCli(['finish', 'done'], run)
  await runCli(['install', '--reviewer', 'checklist'], run)
  rmSync(`${repo}-gone`, { recursive: true })
  write(cacheHome, { 'plan-gate/programs/codex.json': '{}', 'plan-gate/claude/session': 'x' })
  return { repo, home, before, run, cacheHome }
}

/** Paths that are plan-gate's by their name, but for the archive. */
const ours = (folder: string): string[] =>
  Object.keys(snapshotTree(folder)).filter((path) => /plan-gate(?!-archive)/.test(path) && !path.includes('objects/'))

it.each([null, 'XDG_CACHE_HOME'] as const)(
  'leaves nothing of ours anywhere, and all that is not (%s)',
  async (cache) => {
    const { repo, home, before, run, cacheHome } = await place(cache)
    const branches = git(repo, 'for-each-ref')
    const untouched = snapshotTree(dirname(repo))
    const dry = JSON.parse((await runCli(['uninstall', '--all', '--dry-run', '--json'], run)).stdout) as UninstallOutput
    expect([dry.kind, dry.worktrees, dry.removed]).toEqual([
      'dry-run',
      [repo, `${repo}-a`, `${repo}-b`],
      [join(repo, '.git/worktrees/shop-gone/plan-gate'), join(repo, '.git/plan-gate'), join(cacheHome, 'plan-gate')],
    ])
    const refused = await runCli(['uninstall', '--all'], { ...run, exitCode: 2 })
    expect(refused.stderr).toMatch(/needs consent/)
    expect(snapshotTree(dirname(repo))).toEqual(untouched)

    const done = JSON.parse((await runCli(['uninstall', '--all', '--yes', '--json'], run)).stdout) as UninstallOutput
    expect(done.notes).toEqual([`The reviews of finished worktrees are kept in ${repo}/.git/plan-gate-archive.`])
    expect([ours(join(repo, '.git')), ours(`${repo}-a`), ours(`${repo}-b`)]).toEqual([[], [], []])
    const kept = cache === null ? before.home : { ...before.home }
    expect(snapshotTree(home)).toEqual(kept)
    expect(readFileSync(join(repo, '.git/info/exclude'), 'utf8')).toBe(before.exclude)
    for (const root of [repo, `${repo}-a`, `${repo}-b`])
      expect([statusOf(root), existsSync(join(root, '.claude'))]).toEqual(['', false])
    expect([git(repo, 'for-each-ref'), readFileSync(`${repo}-a/work.js`, 'utf8')]).toEqual([branches, 'unmerged'])
    expect(readdirSync(join(repo, '.git/plan-gate-archive'))).toHaveLength(1)
    await runCli(['uninstall', '--all', '--yes'], run)
  },
)

it.skipIf(!hasTmux)(
  `asks at a terminal, and no is no ${byTmux}`,
  async () => {
    const { repo, home } = await place(null)
    const terminal = openTmux()
    try {
      const before = snapshotTree(repo, (path) => path.endsWith('index'))
      const start = () =>
        terminal.start(`cd '${repo}' && HOME='${home}' '${process.execPath}' '${cli}' uninstall --all; sleep 60`)
      start()
      await terminal.seen(/Remove all of this\?.*\[y\/N\]/)
      expect(terminal.screen().replaceAll('\n', '')).toContain(`${home}/.cache/plan-gate/`)
      terminal.tmux('send-keys', 'n', 'Enter')
      await terminal.seen(/Nothing was changed/)
      expect(snapshotTree(repo, (path) => path.endsWith('index'))).toEqual(before)
      terminal.end()
      start()
      await terminal.seen(/\[y\/N\]/)
      terminal.tmux('send-keys', 'y', 'Enter')
      await terminal.seen(/removed .*cache\/plan-gate/)
      expect(ours(join(repo, '.git'))).toEqual([])
    } finally {
      terminal.end()
    }
  },
  120_000,
)
