import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { classifyPath, type ProtectedPaths } from '../../../src/gate/protected-paths.ts'
import { writeProfiles } from '../../../src/gate/sandbox/prepare.ts'
import { compileConfig } from '../../../src/install/compile-config.ts'
import { startSessionHere } from '../../../src/install/self-test.ts'
import { packageRoot } from '../../../src/system/package.ts'
import { type GatedWorktree, gatedWorktree } from '../../support/gated-worktree.ts'
import { fakePrograms, runCli } from '../../support/run-cli.ts'
import { askGate, runHook } from '../../support/run-hook.ts'
import { temporaryRepo, write } from '../../support/temporary-repo.ts'

let worktree: GatedWorktree
let home: string
beforeEach(async () => {
  worktree = await gatedWorktree()
  home = mkdtempSync(join(tmpdir(), 'home-'))
  vi.stubEnv('HOME', home)
  vi.stubEnv('CLAUDE_CONFIG_DIR', join(home, '.claude'))
})
afterEach(() => {
  vi.unstubAllEnvs()
  worktree.remove()
  rmSync(home, { recursive: true, force: true })
})

const markets = (...folders: string[]): void => {
  const entries = folders.map((path, index) => [`m${index}`, { source: { source: 'directory', path } }])
  const odd = { git: { source: { source: 'github', path: '/g' } }, none: null, relative: { source: { path: 'x' } } }
  const text = JSON.stringify({ ...odd, ...Object.fromEntries(entries) })
  write(home, { '.claude/plugins/known_marketplaces.json': text })
}

it('holds plan-gate itself and plugins of folders for the control plane, but not what is developed here', async () => {
  write(home, { 'market/hooks/hooks.json': '{}' })
  symlinkSync(join(home, 'market'), join(home, 'link'))
  markets(join(home, 'link'), worktree.root, join(worktree.root, 'plugin'), join(worktree.root, '..'), '/')
  const paths = compileConfig(worktree.root).protected_paths as ProtectedPaths
  const kindOf = (path: string) => classifyPath({ kind: 'resolved', path, real: path, hardLinks: 1 }, paths).kind
  expect({
    ownHooks: kindOf(join(packageRoot(), 'hooks/hooks.json')),
    ownProgram: kindOf(join(packageRoot(), 'dist/cli.mjs')),
    market: kindOf(join(home, 'market/hooks/hooks.json')),
    byALink: kindOf(join(home, 'link/hooks/hooks.json')),
    beside: kindOf(join(home, 'marketplace/a.js')),
    here: kindOf(worktree.at('src/a.js')),
    plugin: kindOf(worktree.at('plugin/hooks/hooks.json')),
    github: kindOf('/g/x'),
  }).toEqual({
    ownHooks: 'control-plane',
    ownProgram: 'control-plane',
    market: 'control-plane',
    byALink: 'control-plane',
    beside: 'elsewhere',
    here: 'elsewhere',
    plugin: 'elsewhere',
    github: 'elsewhere',
  })
})

it('refuses a write to plan-gate itself under an approval', () => {
  worktree.write('docs/plan.md', '# Plan\n')
  worktree.approve()
  const writing = (file_path: string) => askGate(worktree.root, 'Write', { file_path, content: '' })
  expect(writing(join(packageRoot(), '.claude-plugin/cli.mjs'))).toMatch(/cli\.mjs/)
  expect(writing(join(home, 'notes.md'))).toBeNull()
})

it.runIf(process.platform === 'linux')(
  'in a cache, the sandbox keeps them read-only under an approval (Linux only)',
  () => {
    const market = join(home, '.cache/market')
    write(market, { 'hooks/hooks.json': '{}' })
    markets(market)
    writeProfiles(worktree.root, worktree.gitDirs, { rehearse: [], approved: 'protect' })
    expect(worktree.read('.git/plan-gate/sandbox/approved.args')).toContain(`--ro-bind\0${market}\0${market}\0`)
  },
)

it.each([
  ['nothing', 'true'],
  ['no JSON', 'echo'],
])('a session start that answers %s is no crash', async (_, command) => {
  vi.stubEnv('CLAUDE_CODE_SESSION_ID', 's')
  const { entries } = worktree.installed
  const groups = (entries.SessionStart ?? []).map(({ hooks }) => ({
    hooks: hooks.map((hook) => ({ ...hook, command })),
  }))
  const start = (SessionStart: typeof groups) =>
    startSessionHere(worktree.root, worktree.gitDirs.own, { ...entries, SessionStart })
  expect(await start(groups)).toBeNull()
  expect(await start(entries.SessionStart ?? [])).toMatch(/plan-gate guards this worktree/)
})

it('without Codex it prints the command that needs no account', async () => {
  const repo = temporaryRepo()
  const programs = fakePrograms(repo, {})
  const git =
    process.env.PATH?.split(':')
      .filter((folder) => /^\/(?:usr\/)?bin$/.test(folder))
      .join(':') ?? ''
  const { stderr } = await runCli(['install'], {
    cwd: repo,
    env: { HOME: home, PATH: `${programs}:${git}` },
    exitCode: 2,
  })
  expect(stderr).toMatch(/→ Install it: .* or `[^`]* install --reviewer checklist` \(no account\)/)
})

it('speaks of a closed gate only where it is closed', () => {
  const told = () =>
    runHook(worktree.root, 'session-start', { hook_event_name: 'SessionStart', session_id: 's' }).stdout
  expect(told()).toMatch(/Until then only commands/)
  worktree.write('docs/plan.md', '# Plan\n')
  worktree.approve()
  expect(told()).toMatch(/docs\/plan\.md is approved(?!.*Until then)/s)
})
