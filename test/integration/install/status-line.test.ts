import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { recordFirstBaseline } from '../../../src/gate/working-tree.ts'
import { type Choices, installHere, installWorktree } from '../../../src/install/apply.ts'
import { readThreats } from '../../../src/install/settings.ts'
import { uninstall } from '../../../src/install/uninstall.ts'
import { git as runGit } from '../../../src/system/git.ts'
import { readGitDirs } from '../../../src/system/git-dirs.ts'
import { runHook } from '../../support/run-hook.ts'
import { snapshotTree } from '../../support/snapshot-tree.ts'

/** A main checkout, a worktree of it that the gate is put into, and the user's own settings. */
let home: string
const place = (name: 'main' | 'worktree' | 'user'): string => join(home, name)
const put = (path: string, value: unknown): void => {
  mkdirSync(dirname(join(home, path)), { recursive: true })
  writeFileSync(join(home, path), typeof value === 'string' ? value : JSON.stringify(value))
}
const git = (cwd: string, ...args: string[]): Promise<string> =>
  runGit(cwd, ['-c', 'user.name=t', '-c', 'user.email=t@localhost', '-c', 'commit.gpgSign=false', ...args])

beforeEach(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'status-line-')))
  vi.stubEnv('CLAUDE_CONFIG_DIR', place('user'))
  put('main/README.md', '# Here\n')
  mkdirSync(place('user'))
  await git(place('main'), 'init', '--quiet')
  await git(place('main'), 'add', '-A')
  await git(place('main'), 'commit', '--quiet', '-m', 'first')
  await git(place('main'), 'worktree', 'add', '--quiet', '-b', 'plan', place('worktree'))
})
afterEach(() => {
  rmSync(home, { recursive: true, force: true, maxRetries: 3 })
  vi.unstubAllEnvs()
})

const gitDirs = () => readGitDirs(place('worktree')) ?? expect.unreachable()
async function install(more: Partial<Choices> = {}) {
  const installed = await installWorktree(place('worktree'), gitDirs(), {
    reviewer: 'checklist',
    reflect: false,
    ...more,
  })
  recordFirstBaseline(place('worktree'), gitDirs())
  return installed
}
const remove = () => uninstall(place('worktree'), gitDirs(), null)
const settings = (path = 'worktree/.claude/settings.json') =>
  JSON.parse(readFileSync(join(home, path), 'utf8')) as { statusLine?: { command: string }; hooks?: object }
const snapshot = () => snapshotTree(home, (path) => path.endsWith('/index') || path.endsWith('plan-gate-exclude.lock'))

const theirs = { type: 'command', command: './my-line.sh', padding: 0 }
const ours = { type: 'command', command: expect.stringMatching(/status-line\.mjs"$/), refreshInterval: 5 }

describe('our status line', () => {
  it('is installed if there is none, and uninstalled byte for byte', async () => {
    put('worktree/.claude/settings.local.json', '{ "model":"opus" }')
    const before = snapshot()
    await install()
    expect(settings().statusLine).toEqual(ours)
    const once = readFileSync(join(home, 'worktree/.claude/settings.json'), 'utf8')
    await install()
    expect(readFileSync(join(home, 'worktree/.claude/settings.json'), 'utf8')).toBe(once)
    expect((await remove()).notes).toEqual([])
    expect(snapshot()).toEqual(before)
  })

  it.each([
    'user/settings.json',
    'worktree/.claude/settings.json',
    'worktree/.claude/settings.local.json',
    'main/.claude/settings.json',
    'main/.claude/settings.local.json',
  ])('is not there where %s has one', async (path) => {
    put(path, { statusLine: theirs })
    const before = snapshot()
    await install()
    expect(settings().statusLine).toEqual(path === 'worktree/.claude/settings.json' ? theirs : undefined)
    expect(settings(path).statusLine).toEqual(theirs)
    await remove()
    expect(snapshot()).toEqual(before)
  })

  it('is not taken for another one if the main checkout has the gate, too', async () => {
    const main = readGitDirs(place('main')) ?? expect.unreachable()
    await installWorktree(place('main'), main, { reviewer: 'checklist', reflect: false })
    await install()
    expect([settings('main/.claude/settings.json').statusLine, settings().statusLine]).toEqual([ours, ours])
  })

  it('goes into the local settings if the project’s are committed', async () => {
    put('worktree/.claude/settings.json', {})
    await git(place('worktree'), 'add', '-A')
    await git(place('worktree'), 'commit', '--quiet', '-m', 'settings')
    await install()
    expect(settings('worktree/.claude/settings.local.json').statusLine).toEqual(ours)
    expect(settings().statusLine).toBeUndefined()
  })

  it('is not committed for a team', async () => {
    await install()
    expect(settings().statusLine).toEqual(ours)
    await install({ track: true })
    expect(settings().statusLine).toBeUndefined()
    expect(settings().hooks).toHaveProperty('PreToolUse')
  })

  it('is listed by a dry run', async () => {
    const told = async (): Promise<boolean> => {
      const { plan } = await installHere(
        place('worktree'),
        { reviewer: 'checklist', reflect: false, dryRun: true },
        () => {},
      )
      return plan.statusLine !== null
    }
    const without = await told()
    put('user/settings.json', { statusLine: theirs })
    expect([without, await told()]).toEqual([true, false])
  })

  it('is removed by the next install if another one was added since', async () => {
    await install()
    put('user/settings.json', { statusLine: theirs })
    await install()
    expect(settings().statusLine).toBeUndefined()
    rmSync(join(home, 'user/settings.json'))
    await install()
    expect(settings().statusLine).toEqual(ours)
  })
})

describe('a status line that replaced ours', () => {
  const replace = (statusLine: unknown): void => {
    const { statusLine: _, ...rest } = settings()
    put('worktree/.claude/settings.json', JSON.stringify({ ...rest, statusLine }, null, 2))
  }
  const root = () => place('worktree')
  const env = () => ({ HOME: place('user'), CLAUDE_CONFIG_DIR: place('user') })

  it.each<[string, unknown]>([
    ['another', theirs],
    ['none at all', undefined],
  ])(
    '%s: nothing of the gate minds, nothing puts ours back, and it survives install and uninstall',
    async (_, line) => {
      await install()
      replace(line)
      const text = readFileSync(join(home, 'worktree/.claude/settings.json'), 'utf8')
      const change = { hook_event_name: 'ConfigChange', source: 'project_settings', file_path: 'settings.json' }
      expect(runHook(root(), 'config-change', change, env()).exitCode).toBe(0)
      const bash = { hook_event_name: 'PostToolUse', session_id: 's-1', cwd: root(), tool_name: 'Bash' }
      const after = { ...bash, tool_input: { command: 'ls' }, tool_response: {} }
      expect(runHook(root(), 'post-tool-use', after, env()).stdout).toBe('')
      expect(readFileSync(join(home, 'worktree/.claude/settings.json'), 'utf8')).toBe(text)
      expect(readThreats(root())).toEqual([])
      await install()
      expect(settings().statusLine).toEqual(line ?? ours)
      if (line === undefined) return
      await remove()
      expect(settings()).toEqual({ statusLine: theirs })
    },
  )

  it('is restored with the rest of the file when a command breaks the gate', async () => {
    await install()
    replace(theirs)
    const change = { hook_event_name: 'ConfigChange', source: 'project_settings', file_path: 'settings.json' }
    runHook(root(), 'config-change', change, env())
    put('worktree/.claude/settings.json', { disableAllHooks: true })
    const bash = { hook_event_name: 'PostToolUse', session_id: 's-1', cwd: root(), tool_name: 'Bash' }
    const after = { ...bash, tool_input: { command: 'node x.mjs' }, tool_response: {} }
    expect(runHook(root(), 'post-tool-use', after, env()).stdout).toMatch(/restored/)
    expect(settings().statusLine).toEqual(theirs)
  })
})
