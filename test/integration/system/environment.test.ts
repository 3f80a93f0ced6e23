import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { userEnvironment } from '../../../src/system/environment.ts'
import { git, temporaryFolder, temporaryRepo } from '../../support/temporary-repo.ts'

const settings = (dir: string, env: unknown, file = 'settings.json'): void => {
  const path = join(dir, '.claude', file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, JSON.stringify({ env }))
}

/** A process that was started with these variables, as Claude Code is. */
function startedWith(env: NodeJS.ProcessEnv): string {
  const child = spawn('sleep', ['60'], { env: { PATH: process.env.PATH, ...env } })
  onTestFinished(() => void child.kill())
  return String(child.pid)
}

function session(env: NodeJS.ProcessEnv) {
  const root = temporaryFolder()
  const home = temporaryFolder()
  return { root, home, env: { HOME: home, CLAUDE_PROJECT_DIR: root, ...env } }
}

describe('what the settings of a project set', () => {
  const set = { HTTPS_PROXY: 'theirs', CODEX_HOME: 'theirs', ADDED: 'theirs' }

  it('is removed, and what is the user’s stays', () => {
    const { root, env } = session({ ...set, FAKE_KEY: 'k', LANG: 'C' })
    settings(root, { HTTPS_PROXY: 'theirs', ADDED: 1 })
    settings(root, { CODEX_HOME: 'theirs' }, 'settings.local.json')
    expect(userEnvironment(env)).toEqual({ HOME: env.HOME, CLAUDE_PROJECT_DIR: root, FAKE_KEY: 'k', LANG: 'C' })
  })

  it('is removed where the main checkout sets it for a worktree', () => {
    const main = temporaryRepo('shop', { 'a.txt': 'a\n' })
    const worktree = join(temporaryFolder(), 'linked')
    git(main, 'worktree', 'add', '-q', worktree)
    settings(main, { ADDED: 'theirs' }, 'settings.local.json')
    // Claude Code does not read this one for a linked worktree.
    settings(main, { LANG: 'theirs' })
    const { env } = session({ ...set, LANG: 'C', CLAUDE_PROJECT_DIR: worktree })
    expect(userEnvironment(env)).toEqual({ ...env, ADDED: undefined })
  })

  it.runIf(process.platform === 'linux')(
    'counts for nothing where /proc tells what Claude Code was started with',
    () => {
      const pid = startedWith({ HTTPS_PROXY: 'own=1', HOME: '/own', CODEX_HOME: '', NODE_EXTRA_CA_CERTS: '/own.pem' })
      const theirs = { ...set, HOME: 'theirs', NODE_OPTIONS: 'theirs', PATH: 'theirs', OPENAI_API_KEY: 'k' }
      const { root, env } = session({ ...theirs, CLAUDE_PID: pid, AI_AGENT: 'x' })
      // The settings no longer say so, but Claude Code keeps what they said.
      for (const said of [theirs, {}]) {
        settings(root, said)
        expect(userEnvironment(env)).toEqual({
          PATH: process.env.PATH,
          ...{ HTTPS_PROXY: 'own=1', HOME: '/own', CODEX_HOME: '', NODE_EXTRA_CA_CERTS: '/own.pem' },
          OPENAI_API_KEY: 'k',
        })
      }
    },
  )

  it('gets the value back that the user’s own settings have', () => {
    const { root, home, env } = session(set)
    settings(root, set)
    settings(home, { HTTPS_PROXY: 'own', LANG: 'own' })
    expect(userEnvironment(env)).toEqual({ HOME: home, CLAUDE_PROJECT_DIR: root, HTTPS_PROXY: 'own' })
  })

  it.each([
    ['removed', false],
    ...(process.platform === 'linux' ? [['what Claude Code was started with', true] as const] : []),
  ] as const)('does not say where the user’s own settings are: %s', (_, isStarted) => {
    const theirs = temporaryFolder()
    writeFileSync(join(theirs, 'settings.json'), JSON.stringify({ env: { HTTPS_PROXY: 'theirs' } }))
    const { root, home, env } = session({ HTTPS_PROXY: 'theirs', CLAUDE_CONFIG_DIR: theirs })
    settings(root, { HTTPS_PROXY: 'theirs', CLAUDE_CONFIG_DIR: theirs })
    const pid = isStarted ? { CLAUDE_PID: startedWith({ HOME: home }) } : {}
    expect(Object.values(userEnvironment({ ...env, ...pid }))).not.toContain('theirs')
  })

  it('is no home: that is in the password file', () => {
    const { root, env } = session({ HOME: 'theirs' })
    settings(root, { HOME: 'theirs' })
    expect(userEnvironment(env).HOME).toBe(process.getBuiltinModule('node:os').userInfo().homedir)
  })

  it('may be an API key', () => {
    const { root, env } = session({ OPENAI_API_KEY: 'k', CODEX_ACCESS_TOKEN: 'k', OPENAI_API_KEY_URL: 'x' })
    settings(root, { OPENAI_API_KEY: 'k', CODEX_ACCESS_TOKEN: 'k', OPENAI_API_KEY_URL: 'x' })
    expect(userEnvironment(env)).toEqual({ ...env, OPENAI_API_KEY_URL: undefined })
  })

  it('has names of the language', () => {
    const { root, env } = session({ constructor: 'theirs' })
    mkdirSync(join(root, '.claude'))
    writeFileSync(join(root, '.claude/settings.json'), '\ufeff{"env":{"__proto__":{"a":"b"},"constructor":"theirs"}}')
    expect(Object.entries(userEnvironment(env))).toEqual([
      ['HOME', env.HOME],
      ['CLAUDE_PROJECT_DIR', root],
    ])
  })

  it.each(['{', '[]', '{"env":null}', '{"env":["A"]}', 'null'])('is nothing where the file says %s', (text) => {
    const { root, env } = session({ A: '1' })
    mkdirSync(join(root, '.claude'))
    writeFileSync(join(root, '.claude/settings.json'), text)
    expect(userEnvironment(env)).toEqual(env)
  })
})

it.runIf(process.platform === 'linux')('what would act on every node stays out, also where it is the user’s', () => {
  const own = { NODE_OPTIONS: '--own', NODE_CHANNEL_FD: '3', NODE_V8_COVERAGE: '/own' }
  const { env } = session({ CLAUDE_PID: startedWith(own) })
  const kept = userEnvironment(env)
  expect(Object.keys(own).filter((name) => name in kept)).toEqual([])
})

it('outside a session it is what it is', () => {
  const env = { HOME: temporaryFolder(), CLAUDE_PID: '1' }
  expect(userEnvironment(env)).toBe(env)
})
