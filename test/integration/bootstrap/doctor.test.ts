import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runDoctor } from '../../../bootstrap/doctor.ts'
import { installWorktree } from '../../../src/install/apply.ts'
import type { CheckResult } from '../../../src/install/prerequisites.ts'
import { recordSession } from '../../../src/state/sessions.ts'
import { readGitDirs } from '../../../src/system/git-dirs.ts'
import { type GatedWorktree, gatedWorktree } from '../../support/gated-worktree.ts'

let worktree: GatedWorktree
let environment: NodeJS.ProcessEnv
beforeEach(async () => {
  worktree = await gatedWorktree()
  environment = { ...process.env }
  process.env.HOME = worktree.at('home')
  delete process.env.CLAUDE_CONFIG_DIR
  program('claude', 'echo "2.1.326 (Claude Code)"')
  process.env.PATH = `${worktree.at('bin')}:${process.env.PATH}`
})
afterEach(() => {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name]
  Object.assign(process.env, environment)
  worktree.remove()
})

const program = (name: string, script: string): void => {
  worktree.write(`bin/${name}`, `#!/bin/sh\n${script}\n`)
  chmodSync(worktree.at(`bin/${name}`), 0o755)
}
const gitDirs = (root: string) => readGitDirs(root) ?? expect.unreachable()
const rows = (root = worktree.root): Promise<CheckResult[]> => runDoctor(root, gitDirs(root))
const put = (path: string, content: string): void => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}
/** A transcript as Claude Code writes them. */
const transcript = (cwd: string, session: string): void =>
  put(
    join(worktree.at('home/.claude/projects'), cwd.replace(/[^a-zA-Z0-9]/g, '-'), `${session}.jsonl`),
    `${JSON.stringify({ type: 'user', sessionId: session, cwd, message: {} })}\n`,
  )

describe('doctor', () => {
  it('finds a deadline that was raised after the install', async () => {
    put(worktree.at('plan-gate.yaml'), 'plan:\n  deadline_seconds: 2000\n')
    expect((await rows()).find(({ name }) => name === 'deadline')).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining('ends it after 1560 s'),
      remedy: expect.stringContaining('plan-gate install'),
    })
    await installWorktree(worktree.root, gitDirs(worktree.root), { reviewer: 'checklist', reflect: false })
    expect((await rows()).find(({ name }) => name === 'deadline')).toBeUndefined()
  })

  it('finds nothing to fix in a fresh install', async () => {
    const found = await rows()
    expect(found.filter(({ status }) => status === 'failed')).toEqual([])
    // A machine with bubblewrap has one, this installation has not.
    expect(found.find(({ name }) => name === 'sandbox')).toMatchObject({
      status: 'warning',
      detail: expect.stringMatching(/there is none, so the list decides about commands.*no bubblewrap was found/),
      remedy: expect.stringMatching(/Install Codex or your system’s bubblewrap, then run `plan-gate install`/),
    })
    expect(found.map(({ name, status }) => `${name} ${status}`)).toEqual([
      'node ok',
      'git ok',
      'Claude Code ok',
      'reviewer ok',
      'reviews ok',
      'install ok',
      'settings ok',
      'self-test ok',
      'sandbox warning',
      'repository ok',
      'sessions warning',
      'trust warning',
    ])
  })

  it('has no findings once a session has run and the folder is trusted', async () => {
    put(
      worktree.at('home/.claude.json'),
      JSON.stringify({ projects: { [worktree.root]: { hasTrustDialogAccepted: true } } }),
    )
    recordSession(
      worktree.root,
      { session_id: 's-1', client_version: '2.1.326', source: 'startup', cwd: worktree.root },
      new Date(),
    )
    transcript(worktree.root, 's-1')
    expect((await rows()).filter(({ name, status }) => status !== 'ok' && name !== 'sandbox')).toEqual([])
  })

  const local = (text: string) => () => put(worktree.at('.claude/settings.local.json'), text)
  it.each<[string, () => unknown, name: string, detail: RegExp, remedy: RegExp]>([
    [
      'an old Claude Code',
      () => program('claude', 'echo 2.1.200'),
      'Claude Code',
      /2.1.200 is older than 2.1.295: a hook that times out or cannot be started lets the call through/,
      /claude update/,
    ],
    [
      'no Claude Code',
      () => (process.env.PATH = '/usr/bin:/bin'),
      'Claude Code',
      /not on PATH/,
      /npm i -g @anthropic-ai\/claude-code/,
    ],
    [
      'a missing hook',
      () => rmSync(worktree.at('.claude/hooks/plan-gate/pre-tool-use.mjs')),
      'install',
      /pre-tool-use.mjs is missing/,
      /plan-gate install/,
    ],
    [
      'a changed hook',
      () => put(worktree.at('.claude/hooks/plan-gate/session-events.mjs.br'), ''),
      'install',
      /session-events.mjs.br was changed/,
      /plan-gate install/,
    ],
    [
      'hooks removed from the settings',
      () => put(worktree.at('.claude/settings.json'), '{}'),
      'settings (project)',
      /missing or changed/,
      /plan-gate install/,
    ],
    [
      'missing settings',
      () => rmSync(worktree.at('.claude/settings.json')),
      'settings (project)',
      /it is missing/,
      /plan-gate install/,
    ],
    [
      'hooks disabled by the project',
      () =>
        put(
          worktree.at('.claude/settings.json'),
          worktree.read('.claude/settings.json').replace('{', '{"disableAllHooks":true,'),
        ),
      'settings (project)',
      /disableAllHooks/,
      /plan-gate install/,
    ],
    [
      'hooks disabled locally',
      local('{"disableAllHooks":true}'),
      'settings (local)',
      /disableAllHooks/,
      /plan-gate install/,
    ],
    [
      'hooks disabled by the user',
      () => put(worktree.at('home/.claude/settings.json'), '{"disableAllHooks":true}'),
      'settings (user)',
      /disableAllHooks/,
      /disableAllHooks/,
    ],
    [
      'a settings file that would be skipped',
      local('{"hooks":{"Stop":[{"hooks":[{"type":"command","onFailure":"maybe"}]}]}}'),
      'settings (local)',
      /skip the whole file/,
      /plan-gate install/,
    ],
    ['a settings file that is no JSON', local('{'), 'settings (local)', /skip the whole file/, /plan-gate install/],
    [
      'a library loaded into hooks',
      local('{"env":{"LD_PRELOAD":"x"}}'),
      'settings (local)',
      /LD_PRELOAD/,
      /plan-gate install/,
    ],
    [
      'an environment without hooks',
      () => (process.env.CLAUDE_CODE_SAFE_MODE = '1'),
      'environment',
      /CLAUDE_CODE_SAFE_MODE/,
      /unset/,
    ],
    [
      'an invalid configuration',
      () => put(worktree.at('plan-gate.yaml'), 'plan: 3\n'),
      'plan-gate.yaml',
      /plan-gate.yaml:1:/,
      /Fix/,
    ],
    [
      'a session without a heartbeat',
      () => transcript(worktree.root, 's-2'),
      'sessions',
      /s-2 ran here without a heartbeat/,
      /--bare/,
    ],
    [
      'a session from a subfolder',
      () => transcript(worktree.at('src'), 's-3'),
      'sessions',
      /s-3 was started in .*src/,
      /Start it in/,
    ],
    [
      'a session in an old client',
      () =>
        recordSession(
          worktree.root,
          { session_id: 's', client_version: '2.1.200', source: 'startup', cwd: worktree.root },
          new Date(),
        ),
      'sessions',
      /2.1.200/,
      /claude update/,
    ],
    [
      'an unusable reviewer',
      () => installWorktree(worktree.root, gitDirs(worktree.root), { reviewer: 'hounfour', reflect: false }),
      'reviewer',
      /hounfour: model-invoke is not an executable/,
      /hounfour.model_invoke/,
    ],
    [
      'no install',
      () => rmSync(join(gitDirs(worktree.root).own, 'plan-gate'), { recursive: true }),
      'install',
      /there is no gate/,
      /plan-gate install/,
    ],
  ])('finds %s, with its remedy', async (_, damage, name, detail, remedy) => {
    await damage()
    const found = (await rows()).filter((row) => row.name === name && row.status !== 'ok')
    expect(found).toContainEqual({
      name,
      status: expect.stringMatching(/failed|warning/),
      detail: expect.stringMatching(detail),
      remedy: expect.stringMatching(remedy),
    })
  })

  it('says nothing of a session in a subfolder whose start our hook has recorded, here or in a gate between', async () => {
    const nested = worktree.at('nested')
    mkdirSync(nested)
    for (const [root, session_id] of [
      [worktree.root, 's-4'],
      [nested, 's-5'],
    ] as const) {
      const session = { session_id, client_version: '2.1.326', source: 'startup', cwd: nested, launched: true }
      recordSession(root, session, new Date())
      transcript(nested, session_id)
    }
    expect((await rows()).filter(({ name }) => name === 'sessions')).toMatchObject([{ status: 'ok' }])
  })

  it('finds the main checkout’s local settings, which apply in a linked worktree, too', async () => {
    const linked = `${worktree.root}-linked`
    worktree.git('worktree', 'add', '--quiet', '-b', 'linked', linked)
    try {
      await installWorktree(linked, gitDirs(linked), { reviewer: 'checklist', reflect: false })
      put(worktree.at('.claude/settings.local.json'), '{"disableAllHooks":true}')
      expect(await rows(linked)).toContainEqual({
        name: 'settings (main checkout)',
        status: 'failed',
        detail: `${worktree.at('.claude/settings.local.json')}: line 1: disableAllHooks is true`,
        remedy: expect.stringMatching(/^Set it to false: `perl .*settings\.local\.json`$/),
      })
    } finally {
      rmSync(linked, { recursive: true, force: true })
    }
  })
})
