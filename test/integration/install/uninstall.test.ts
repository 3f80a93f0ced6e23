import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Choices, installWorktree } from '../../../src/install/apply.ts'
import { uninstall } from '../../../src/install/uninstall.ts'
import { appendDenial, endSession, recordSession } from '../../../src/state/sessions.ts'
import { git as runGit } from '../../../src/system/git.ts'
import { readGitDirs } from '../../../src/system/git-dirs.ts'
import { snapshotTree } from '../../support/snapshot-tree.ts'

let root: string
const at = (path: string): string => join(root, path)
const put = (path: string, content: string, mode = 0o644): void => {
  mkdirSync(dirname(at(path)), { recursive: true })
  writeFileSync(at(path), content)
  chmodSync(at(path), mode)
}
const git = (...args: string[]): Promise<string> =>
  runGit(root, ['-c', 'user.name=t', '-c', 'user.email=t@localhost', '-c', 'commit.gpgSign=false', ...args])
const gitDirs = () => readGitDirs(root) ?? expect.unreachable()
const choices: Choices = { reviewer: 'checklist', reflect: false }
const install = (more: Partial<Choices> = {}) => installWorktree(root, gitDirs(), { ...choices, ...more })
const remove = () => uninstall(root, gitDirs(), null)
const status = (): Promise<string> => git('status', '--porcelain', '-uall')

beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'install-')))
  await git('init', '--quiet')
  put('README.md', '# Here\n')
  await git('add', '-A')
  await git('commit', '--quiet', '-m', 'first')
})
afterEach(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }))

/** git status may refresh the index. */
const snapshot = () => snapshotTree(root, (path) => path === '.git/index')

const settings = (value: unknown, indent: string | number = 2): string => JSON.stringify(value, null, indent)
const ownHook = { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: './check.sh' }] }] }

/** Checkouts before the install. */
const befores: [name: string, prepare: () => void | Promise<void>][] = [
  ['nothing', () => {}],
  [
    'settings of the user',
    () => put('.claude/settings.json', `${settings({ model: 'opus', hooks: ownHook })}\n`, 0o600),
  ],
  ['settings in an odd form', () => put('.claude/settings.json', '{"hooks":\t{},\r\n "permissions" : {"deny": []}}')],
  ['an empty settings file', () => put('.claude/settings.json', '')],
  [
    'personal settings',
    () => put('.claude/settings.local.json', settings({ permissions: { allow: ['Bash(ls)'] } }, '\t')),
  ],
  [
    'skills and hooks of the user',
    () => {
      put('.claude/skills/mine/SKILL.md', 'mine')
      put('.claude/hooks/own.sh', '#!/bin/sh\n', 0o755)
    },
  ],
  ['an exclude file without a line end', () => put('.git/info/exclude', '# mine\n*.log')],
  ['no exclude file', () => rmSync(at('.git/info'), { recursive: true })],
  [
    'an exclude file in another encoding',
    () => writeFileSync(at('.git/info/exclude'), Buffer.from([0x23, 0xe9, 0xff, 0x0a])),
  ],
  [
    'settings that are committed',
    async () => {
      put('.claude/settings.json', settings({ hooks: ownHook }))
      await git('add', '-A')
      await git('commit', '--quiet', '-m', 'settings')
    },
  ],
  [
    'a .claude that git ignores',
    async () => {
      put('.gitignore', '.claude/\n')
      await git('add', '-A')
      await git('commit', '--quiet', '-m', 'ignore')
    },
  ],
]

it.each([
  ['runs', 1, false, 1],
  ['has ended', 1, true, 0],
  ['was here an hour ago', 60, false, 0],
])('tells of a session that would be refused every call: one that %s', async (_, minutes, ended, notes) => {
  await install()
  const seen = new Date(Date.now() - minutes * 60_000)
  const session = { session_id: 's', client_version: null, source: 'startup', cwd: root, launched: false }
  recordSession(root, session, seen)
  if (ended) endSession(root, 's', seen)
  expect((await remove()).notes).toEqual(
    Array(notes).fill(expect.stringMatching(/refuse each call now\. End it \(\/exit\), then start it again\./)),
  )
})

describe.each(befores)('a checkout with %s', (_, prepare) => {
  it('is clean after install, and identical after uninstall', async () => {
    await prepare()
    const [before, statusBefore] = [snapshot(), await status()]
    await install()
    expect(await status()).toBe(statusBefore)
    const result = await remove()
    expect(result.notes).toEqual([])
    expect(snapshot()).toEqual(before)
  })

  it('is identical after two installs, some use, and uninstall', async () => {
    await prepare()
    const before = snapshot()
    await install()
    const first = snapshotTree(root, (path) => path.startsWith('.git'))
    await install()
    expect(snapshotTree(root, (path) => path.startsWith('.git'))).toEqual(first)
    appendDenial(root, 's', { tool: 'Write', target: 'x', rule: 'write', reason: 'no' })
    await remove()
    expect(snapshot()).toEqual(before)
  })
})

describe('install', () => {
  it('finishes an interrupted install, and repairs damage', async () => {
    await install()
    const whole = snapshotTree(at('.claude'))
    rmSync(at('.claude/hooks/plan-gate/pre-tool-use.mjs'))
    writeFileSync(at('.claude/hooks/plan-gate/session-events.mjs.br'), 'broken')
    writeFileSync(at('.claude/skills/plan-with-review/SKILL.md'), 'broken')
    writeFileSync(at('.claude/settings.json'), '{}\n')
    await install()
    expect(snapshotTree(at('.claude'))).toEqual(whole)
  })

  it('keeps earlier options unless overridden', async () => {
    await install({ reviewer: 'curl', reflect: true })
    const { record, entries } = await installWorktree(root, gitDirs(), { reviewer: null, reflect: false })
    expect([record.reviewer, record.reflect, 'Stop' in entries]).toEqual(['curl', true, true])
  })

  it('never writes committed settings: the local file gets our hooks', async () => {
    put('.claude/settings.json', '{}')
    await git('add', '-A')
    await git('commit', '--quiet', '-m', 'settings')
    const { record } = await install()
    expect([record.settings.path, readFileSync(at('.claude/settings.json'), 'utf8')]).toEqual([
      '.claude/settings.local.json',
      '{}',
    ])
  })

  it.each<[string, () => void, RegExp]>([
    ['settings that are no JSON', () => put('.claude/settings.json', '{'), /would not hold.*skip the whole file/],
    [
      'settings with something else where our hooks go',
      () => put('.claude/settings.json', '{"hooks":{"PreToolUse":"x"}}'),
      /hooks.PreToolUse is not a list/,
    ],
    [
      'settings behind a link',
      () => {
        put('elsewhere.json', '{}')
        mkdirSync(at('.claude'))
        symlinkSync('../elsewhere.json', at('.claude/settings.json'))
      },
      /symbolic link/,
    ],
    [
      'a .claude that is a link',
      () => {
        mkdirSync(at('elsewhere'))
        symlinkSync('elsewhere', at('.claude'))
      },
      /symbolic link/,
    ],
    ['a .claude/hooks that is a file', () => put('.claude/hooks', ''), /not a directory|a file/],
    [
      'a skill of the user’s under our name',
      () => put('.claude/skills/plan-with-review/SKILL.md', 'mine'),
      /exists already/,
    ],
  ])('refuses %s, and changes nothing', async (_, prepare, why) => {
    prepare()
    const before = snapshot()
    await expect(install()).rejects.toThrow(why)
    expect(snapshot()).toEqual(before)
  })

  it('for a team: committed files that work on any machine, and later installs that add only what git ignores', async () => {
    const { record } = await install({ track: true })
    expect(await status()).toMatch(/\?\? .claude\/hooks\/plan-gate\/pre-tool-use.mjs\n/)
    const text = readFileSync(at('.claude/settings.json'), 'utf8')
    expect([text.includes('"node",'), text.includes(process.execPath), text.includes(root), record.excluded]).toEqual([
      true,
      false,
      false,
      [],
    ])
    await git('add', '-A')
    await git('commit', '--quiet', '-m', 'gate')
    await remove()
    await git('checkout', '--quiet', '--', '.')
    const again = await install()
    expect([again.plan.settings.path, again.plan.files.map(({ change }) => change), await status()]).toEqual([
      '.claude/settings.json',
      again.plan.files.map(({ path }) => (path.endsWith('.cache') ? 'create' : 'the repository has it')),
      '',
    ])
    await again.prove()
    expect(await status()).toBe('')
  })
})

describe('uninstall', () => {
  it('removes only our entries if the settings were edited since', async () => {
    put('.claude/settings.json', settings({ model: 'opus' }))
    await install()
    const edited = { ...JSON.parse(readFileSync(at('.claude/settings.json'), 'utf8')), theme: 'dark' }
    put('.claude/settings.json', settings(edited, 4))
    await remove()
    expect(readFileSync(at('.claude/settings.json'), 'utf8')).toBe(settings({ model: 'opus', theme: 'dark' }, 4))
  })

  it('keeps edits that were made between two installs', async () => {
    put('.claude/settings.json', settings({ model: 'opus' }))
    await install()
    const edited = { ...JSON.parse(readFileSync(at('.claude/settings.json'), 'utf8')), theme: 'dark' }
    put('.claude/settings.json', settings(edited))
    await install()
    await remove()
    expect(JSON.parse(readFileSync(at('.claude/settings.json'), 'utf8'))).toEqual({ model: 'opus', theme: 'dark' })
  })

  it('keeps other files in the parents of our folders, and the plan', async () => {
    await install()
    put('.claude/skills/mine/SKILL.md', 'mine')
    put('docs/plan.md', '# Plan\n')
    await remove()
    expect(Object.keys(snapshotTree(root, (path) => path.startsWith('.git')))).toEqual([
      '.claude',
      '.claude/skills',
      '.claude/skills/mine',
      '.claude/skills/mine/SKILL.md',
      'README.md',
      'docs',
      'docs/plan.md',
    ])
  })

  it('keeps other files in our folders, and reports them', async () => {
    put('.claude/review/mine.txt', 'mine')
    await install()
    put('.claude/skills/plan-with-review/notes.md', 'mine')
    put('.claude/hooks/plan-gate/mine.txt', 'mine')
    expect((await remove()).notes).toHaveLength(3)
    for (const path of [
      '.claude/review/mine.txt',
      '.claude/skills/plan-with-review/notes.md',
      '.claude/hooks/plan-gate/mine.txt',
    ])
      expect(readFileSync(at(path), 'utf8')).toBe('mine')
  })

  it('keeps what the gate had replaced', async () => {
    await install()
    put('.claude/review/replaced/settings.json', '{ "mine": 1 }')
    await remove()
    expect(readFileSync(at('plan-gate-replaced/settings.json'), 'utf8')).toBe('{ "mine": 1 }')
  })

  it('works without its record', async () => {
    await install()
    rmSync(join(gitDirs().own, 'plan-gate'), { recursive: true })
    await remove()
    expect(snapshotTree(root, (path) => path.startsWith('.git'))).toEqual({
      '.claude': expect.stringContaining('folder'),
      'README.md': expect.any(String),
    })
  })

  it('keeps settings that it cannot read, and reports them', async () => {
    await install()
    writeFileSync(at('.claude/settings.json'), '{')
    expect((await remove()).notes).toEqual([expect.stringContaining('.claude/settings.json was not changed')])
  })

  it('copies the reviews first with --keep-reviews', async () => {
    await install()
    put('.claude/review/plan_v1.snapshot.md', '# Plan\n')
    const kept = at('kept')
    await uninstall(root, gitDirs(), kept)
    expect(readFileSync(join(kept, 'plan_v1.snapshot.md'), 'utf8')).toBe('# Plan\n')
  })

  it('keeps the lines of other worktrees in the shared exclude file', async () => {
    const before = readFileSync(at('.git/info/exclude'), 'utf8')
    const other = `${root}-other`
    await git('worktree', 'add', '--quiet', '-b', 'other', other)
    const otherDirs = readGitDirs(other) ?? expect.unreachable()
    try {
      await Promise.all([install(), installWorktree(other, otherDirs, choices)])
      await remove()
      expect(await runGit(other, ['status', '--porcelain', '-uall'])).toBe('')
      await uninstall(other, otherDirs, null)
      expect(readFileSync(at('.git/info/exclude'), 'utf8')).toBe(before)
    } finally {
      rmSync(other, { recursive: true, force: true })
    }
  })
})
