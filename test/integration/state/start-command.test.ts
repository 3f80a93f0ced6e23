import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ownCommand } from '../../../src/state/start-command.ts'
import { gatedWorktree } from '../../support/gated-worktree.ts'
import { cli } from '../../support/project.ts'
import { askGate, runHook } from '../../support/run-hook.ts'

const node = dirname(process.execPath)

/** Folders with a space, in which packages say which of them was started. */
function machine() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'a home ')))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const at = (path: string): string => join(home, path)
  const write = (path: string, text: string, mode = 0o644): void => {
    mkdirSync(dirname(at(path)), { recursive: true })
    writeFileSync(at(path), text)
    chmodSync(at(path), mode)
  }
  const link = (path: string, target: string): void => {
    mkdirSync(dirname(at(path)), { recursive: true })
    symlinkSync(at(target), at(path))
  }
  const pack = (path: string): string => {
    write(`${path}/dist/cli.mjs`, `#!/usr/bin/env node\nconsole.log(${JSON.stringify(path)}, process.argv[2])\n`, 0o755)
    write(`${path}/package.json`, '{"name":"plan-gate","version":"0.0.1","bin":{"plan-gate":"dist/cli.mjs"}}')
    return at(path)
  }
  mkdirSync(at('repo/src'), { recursive: true })
  mkdirSync(at('worktree'))
  const bin = [at('bin'), node, '/usr/bin', '/bin'].join(':')
  return { at, write, link, pack, bin }
}

/** As a shell of the user runs it. */
const run = (command: string | null, cwd: string, PATH: string): string => {
  const env = {
    PATH,
    HOME: cwd,
    npm_config_offline: 'true',
    npm_config_cache: join(cwd, '.npm'),
    NO_UPDATE_NOTIFIER: '1',
  }
  const done = spawnSync('/bin/sh', ['-c', `${command} status`], { cwd, env, encoding: 'utf8' })
  return done.stdout.trim() || done.stderr
}

describe('the command in a message runs where the person is', () => {
  it('is plan-gate where PATH has this package, as a link or as the script of pnpm', () => {
    const { at, write, link, pack, bin } = machine()
    const root = pack('lib/plan-gate')
    link('bin/plan-gate', 'lib/plan-gate/dist/cli.mjs')
    expect(ownCommand(at('worktree'), root, { PATH: bin })).toBe('plan-gate')
    rmSync(at('bin/plan-gate'))
    write('bin/plan-gate', '#!/bin/sh\nexec node  "$basedir/../lib/plan-gate/dist/cli.mjs" "$@"\n', 0o755)
    expect(ownCommand(at('worktree'), root, { PATH: bin })).toBe('plan-gate')
    expect(ownCommand(at('worktree'), pack('other'), { PATH: bin })).toBe(`node '${at('other')}/dist/cli.mjs'`)
  })

  it('is npx only in a folder from which npx finds this package', () => {
    const { at, link, pack, bin } = machine()
    const root = pack('repo/node_modules/plan-gate')
    link('repo/node_modules/.bin/plan-gate', 'repo/node_modules/plan-gate/dist/cli.mjs')
    // npx itself puts this on PATH.
    const PATH = `${at('repo/node_modules/.bin')}:${bin}`
    const [here, beside] = [at('repo/src'), at('worktree')].map((folder) => ownCommand(folder, root, { PATH }))
    expect([here, beside]).toEqual(['npx plan-gate', `node '${root}/dist/cli.mjs'`])
    expect(run(here ?? null, at('repo/src'), bin)).toBe('repo/node_modules/plan-gate status')
    expect(run(beside ?? null, at('worktree'), bin)).toBe('repo/node_modules/plan-gate status')
    pack('worktree/node_modules/plan-gate')
    link('worktree/node_modules/.bin/plan-gate', 'worktree/node_modules/plan-gate/dist/cli.mjs')
    expect(ownCommand(at('worktree'), root, { PATH })).toBe(`node '${root}/dist/cli.mjs'`)
  })

  it.each([
    ['plan-gate', 'npx plan-gate'],
    ['plan-gate@0.1.0', "npx 'plan-gate@0.1.0'"],
    ['/tmp/plan-gate-0.1.0.tgz', null],
    ['git+file:///srv/plan-gate.git', null],
    ['plan-gate@$(reboot)', null],
  ])('from the cache of npx, started as %s: %s', (spec, expected) => {
    const { at, write, pack, bin } = machine()
    const root = pack('.npm/_npx/0123456789abcdef/node_modules/plan-gate')
    write('.npm/_npx/0123456789abcdef/package.json', JSON.stringify({ _npx: { packages: [spec] } }))
    const command = ownCommand(at('worktree'), root, { PATH: bin })
    expect(command).toBe(expected ?? `node '${root}/dist/cli.mjs'`)
    if (expected === null)
      expect(run(command, at('worktree'), bin)).toMatch(/_npx\/\w+\/node_modules\/plan-gate status/)
  })

  it('names its own node where PATH has another or none', () => {
    const { at, pack } = machine()
    const root = pack('lib/plan-gate')
    const command = ownCommand(at('worktree'), root, { PATH: '/nowhere' })
    expect(command).toBe(`${process.execPath} '${root}/dist/cli.mjs'`)
    expect(run(command, at('worktree'), '/usr/bin')).toBe('lib/plan-gate status')
  })

  it('is unknown once the package is gone and PATH has no other', () => {
    const { at, link, pack, bin } = machine()
    const root = pack('lib/plan-gate')
    renameSync(root, at('moved'))
    expect(ownCommand(at('worktree'), root, { PATH: bin })).toBeNull()
    link('bin/plan-gate', 'moved/dist/cli.mjs')
    expect(ownCommand(at('worktree'), root, { PATH: bin })).toBe('plan-gate')
  })
})

describe('messages', () => {
  const PATH = [node, '/usr/bin', '/bin'].join(':')
  const started = `node ${cli}`

  it('of the command line, as text and as JSON', () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'nothing-')))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const plan = (...args: string[]) =>
      spawnSync(process.execPath, [cli, ...args], { cwd: folder, env: { PATH, HOME: folder }, encoding: 'utf8' })
    expect(plan('stauts').stderr).toContain(`Did you mean \`${started} status\`? See \`${started} --help\`.`)
    const error = JSON.parse(plan('schema', 'nonsense', '--json').stdout) as { next_step: string }
    expect(error.next_step).toContain(`${started} schema lists them`)
    expect(plan('completion', 'bash').stdout).toContain('Generated by `plan-gate completion bash`')
  })

  it('of the hooks, with what the install has recorded', async () => {
    const before = process.env.PATH
    process.env.PATH = PATH
    const { root, gitDirs, remove } = await gatedWorktree().finally(() => {
      process.env.PATH = before
    })
    onTestFinished(remove)
    expect(askGate(root, 'Write', { file_path: join(root, 'a.ts') })).toContain(`\`${started} status\` shows`)
    // The user has installed it meanwhile: the next session knows.
    const event = { hook_event_name: 'SessionStart', session_id: 's', source: 'startup', cwd: root }
    runHook(root, 'session-start', event, { PATH: before })
    expect(askGate(root, 'Write', { file_path: join(root, 'a.ts') })).toContain('`plan-gate status` shows')
    writeFileSync(join(gitDirs.own, 'plan-gate/start-command'), 'plan-gate\n/gone/plan-gate\n')
    const told = runHook(root, 'session-start', event, { PATH }).stdout
    expect(told).toContain('the package that installed this gate is no longer in /gone/plan-gate')
    writeFileSync(join(gitDirs.own, 'plan-gate/start-command'), 'node \'/a "b" \\\\c/cli.mjs\'\n/x\n')
    expect(askGate(root, 'Write', { file_path: join(root, 'a.ts') })).toContain(
      '`node \'/a "b" \\\\c/cli.mjs\' status` shows',
    )
  })
})
