import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { execa } from 'execa'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { removeSandbox } from '../../../src/gate/sandbox/prepare.ts'
import { readGitDirs } from '../../../src/system/git-dirs.ts'
import { type ClaudeClient, codexBinary } from '../../support/claude-clients.ts'
import { startClaude, untilGone } from '../../support/claude-in-terminal.ts'
import { codexConfig } from '../../support/codex-config.ts'
import { planText, verdict } from '../../support/plan-texts.ts'
import { claudeCommand, installPlugin, unpackPackage } from '../../support/plugin-home.ts'
import { claudeEnv, runClaude } from '../../support/run-claude.ts'
import { startMessagesApi, type Turn } from '../../support/servers/messages-api.ts'
import { startResponsesApi } from '../../support/servers/responses-api.ts'
import { serve } from '../../support/servers/serve.ts'
import { makeRepo, snapshot } from '../../support/temporary-repo.ts'
import { byTmux, hasTmux, openTmux } from '../../support/tmux.ts'

let folder: string
let home: string
let repo: string
beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'plugin-journey-')))
  home = join(folder, 'home')
  repo = join(folder, 'shop')
  for (const path of [join(home, '.codex'), join(home, 'tmp'), join(folder, 'bin')])
    mkdirSync(path, { recursive: true })
  const codex = await startResponsesApi({ turns: () => verdict({ verdict: 'APPROVED' }), lifetimeMs: 200_000 })
  onTestFinished(codex.close)
  symlinkSync(await codexBinary(), join(folder, 'bin/codex'))
  writeFileSync(join(home, '.codex/config.toml'), codexConfig(codex.url))
})
afterEach(() => {
  const gitDirs = readGitDirs(repo)
  if (gitDirs !== null) removeSandbox(gitDirs.own)
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

const env = () => ({
  PATH: [join(folder, 'bin'), dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter),
  FAKE_KEY: ['fake', 'key', 'of', 'the', 'tests'].join('-'),
})

const write = (path: string, content: string): Turn => ({
  tools: [{ name: 'Write', input: { file_path: join(repo, path), content } }],
})
/** Denied, reviewed and approved, allowed. */
const work = (): Turn[] => [
  { tools: [{ name: 'Read', input: { file_path: join(repo, 'src/app.ts') } }] },
  write('src/app.ts', 'console.log("too early")\n'),
  write('docs/plan.md', planText()),
  write('src/app.ts', 'console.log("hello")\n'),
  { text: 'Over.' },
]
const worked = [
  ['Read', false],
  ['Write', true],
  ['Write', false],
  ['Write', false],
]

const session = (
  client: ClaudeClient,
  prompt: string,
  turns: readonly Turn[],
  more: Readonly<Record<string, string>> = {},
) =>
  runClaude({
    client,
    cwd: repo,
    home,
    prompt,
    turns,
    env: { ...env(), ...more },
    permissionMode: 'acceptEdits',
    timeoutMs: 120_000,
  })

/** What git writes when somebody looks at the repository, as the client does. */
const gitsOwn = ['logs', 'index']

/** What the client writes by itself; of the plugin, its copy of the package, which it marks and removes later. */
const ofClient = (path: string): boolean =>
  /^(?:\.claude\/|\.claude\.json|tmp\/|\.codex\/)/.test(path) &&
  (!path.includes('plan-gate') || path.startsWith('.claude/plugins/cache/plan-gate/'))

describe.each(['newest', 'oldest'] as const)('%s Claude Code, from an empty home', (client) => {
  it('installs the plugin, opens the gate in a session, is denied, approved, works, and leaves nothing', async () => {
    // Commands in the sandbox have a /tmp of their own, and see the home.
    const unpacked = await unpackPackage(join(home, 'npm'))
    makeRepo(repo, { 'src/app.ts': 'export {}\n' })
    const before = { repo: snapshot(repo, gitsOwn), home: snapshot(home) }
    expect(await claudeCommand(client, home, ['plugin', 'validate', '--strict', unpacked])).toContain(
      'Validation passed',
    )
    await installPlugin(client, home, unpacked)

    const outcome = await session(client, '/plan-gate:open print hello', work())
    expect(outcome.toolResults.map(({ tool, isError }) => [tool, isError])).toEqual(worked)
    expect(outcome.toolResults[1]?.text).toContain('plan-gate: writing')
    expect(readFileSync(join(repo, 'src/app.ts'), 'utf8')).toBe('console.log("hello")\n')
    const [first] = outcome.requests
    expect(JSON.stringify(first?.messages)).toMatch(/✓ self-test {2}passed[\s\S]*What is wanted: print hello/)

    const asked = await session(client, '/plan-gate:status', [])
    expect(JSON.stringify(asked.requests[0]?.messages)).toMatch(/Where the plan stands[\s\S]*approved/)
    const again = await session(client, '/plan-gate:open', [])
    expect(JSON.stringify(again.requests[0]?.messages)).toContain('plan-gate guards this worktree already')
    const reported = await session(client, '/plan-gate:report', [])
    expect(reported.stdout).toContain('run it in a terminal of your own')

    const uninstall = [join(unpacked, 'dist/cli.mjs'), 'uninstall', '--all', '--yes']
    const processEnv = { ...claudeEnv(home, 'http://127.0.0.1:9'), ...env() }
    await execa(process.execPath, uninstall, { cwd: repo, env: processEnv, extendEnv: false })
    for (const words of ['uninstall plan-gate@plan-gate', 'marketplace remove plan-gate'])
      await claudeCommand(client, home, ['plugin', ...words.split(' ')])
    const after = snapshot(repo, gitsOwn)
    const changed = Object.keys({ ...before.repo, ...after }).filter((path) => after[path] !== before.repo[path])
    expect(changed).toEqual(['src/app.ts', 'docs/', 'docs/plan.md'])
    const left = Object.keys(snapshot(home)).filter((path) => !(path in before.home))
    expect(left.filter((path) => !ofClient(path))).toEqual([])
    expect(left.filter((path) => path.endsWith('.orphaned_at'))).toHaveLength(1)
    expect(readFileSync(join(home, '.claude/settings.json'), 'utf8')).not.toContain('plan-gate')
    expect((await session(client, 'Go on.', [write('src/free.ts', 'x')])).toolResults[0]?.isError).toBe(false)
  }, 180_000)

  it('works from git and from the npm registry, where the commands come from npm', async () => {
    const unpacked = await unpackPackage(join(folder, 'npm'))
    const registry = await startRegistry(join(folder, 'npm/plan-gate-0.1.0.tgz'))
    const more = { npm_config_registry: registry, npm_config_update_notifier: 'false' }

    const bare = join(folder, 'plan-gate.git')
    const committed = snapshotWithoutBuild(unpacked)
    await execa('git', ['clone', '--quiet', '--bare', makeRepo(join(folder, 'source'), committed), bare])
    makeRepo(repo, { 'src/app.ts': 'export {}\n' })
    const address = 'https://git.invalid/plan-gate.git'
    const inPlace = {
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: `url.file://${bare}.insteadOf`,
      GIT_CONFIG_VALUE_0: address,
    }
    await installPlugin(client, home, address, { ...env(), ...inPlace, ...more })
    const opened = await session(client, '/plan-gate:open', work(), more)
    expect(JSON.stringify(opened.requests[0]?.messages)).toContain(
      "`npx 'plan-gate@0.1.0' open` starts Claude Code there",
    )
    expect(opened.toolResults.map(({ tool, isError }) => [tool, isError])).toEqual(worked)

    const fromNpm = join(folder, 'by-npm')
    mkdirSync(join(fromNpm, '.claude-plugin'), { recursive: true })
    const marketplace = JSON.parse(readFileSync(join(unpacked, '.claude-plugin/marketplace.json'), 'utf8'))
    marketplace.plugins[0].source = { source: 'npm', package: 'plan-gate' }
    writeFileSync(join(fromNpm, '.claude-plugin/marketplace.json'), JSON.stringify(marketplace))
    home = join(folder, 'other-home')
    await installPlugin(client, home, fromNpm, { ...env(), ...more })
    const seen = await session(client, '/plan-gate:status', [], more)
    expect(JSON.stringify(seen.requests[0]?.messages)).toMatch(/Where the plan stands[\s\S]*approved/)
    expect(existsSync(join(home, '.npm/_npx'))).toBe(false)
  }, 180_000)
})

/** What git has of the plugin: the build is not committed. */
function snapshotWithoutBuild(unpacked: string): { [path: string]: string } {
  const paths = ['.claude-plugin', 'hooks', 'skills'].flatMap((name) =>
    Object.keys(snapshot(join(unpacked, name))).map((path) => `${name}/${path}`),
  )
  const files = [...paths.filter((path) => !path.endsWith('/')), 'package.json', 'README.md']
  return Object.fromEntries(files.map((path) => [path, readFileSync(join(unpacked, path), 'utf8')]))
}

/** A registry with one package in it. */
async function startRegistry(tarball: string): Promise<string> {
  const bytes = readFileSync(tarball)
  const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`
  const server = createServer((request, response) => {
    const at = `http://${request.headers.host}`
    if (request.url?.endsWith('.tgz')) return void response.end(bytes)
    if (request.url !== '/plan-gate') return void response.writeHead(404).end('{}')
    const dist = { tarball: `${at}/plan-gate-0.1.0.tgz`, integrity }
    const version = { name: 'plan-gate', version: '0.1.0', bin: { 'plan-gate': 'dist/cli.mjs' }, dist }
    const packument = { name: 'plan-gate', 'dist-tags': { latest: '0.1.0' }, versions: { '0.1.0': version } }
    response.setHeader('content-type', 'application/json').end(JSON.stringify(packument))
  })
  const { host, close } = await serve(server, 180_000)
  onTestFinished(close)
  return `http://${host}`
}

it.skipIf(!hasTmux)(
  `the same, typed in a terminal ${byTmux}`,
  async () => {
    makeRepo(repo, { 'src/app.ts': 'export {}\n' })
    await installPlugin('newest', home, await unpackPackage(join(home, 'npm')))
    const terminal = openTmux()
    const api = await startMessagesApi({ turns: [{ text: 'Ready.' }, ...work()] })
    try {
      await startClaude(terminal, { root: repo, home, env: env() }, api)
      await terminal.seen(/Ready\./)
      terminal.tmux('send-keys', '-l', '/plan-gate:open print hello')
      await terminal.seen(/plan-gate:open print hello/)
      terminal.tmux('send-keys', 'Enter')
      await terminal.seen(/Over\./, 60_000)
      expect(api.record().toolResults.map(({ tool, isError }) => [tool, isError])).toEqual(worked)
      expect(readFileSync(join(repo, 'src/app.ts'), 'utf8')).toBe('console.log("hello")\n')
    } finally {
      terminal.end()
      await untilGone(home)
      await api.close()
    }
  },
  120_000,
)
