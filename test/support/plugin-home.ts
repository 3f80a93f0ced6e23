import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { type ClaudeClient, claudeBinary } from './claude-clients.ts'
import { project } from './project.ts'
import { claudeEnv } from './run-claude.ts'

/** The package as npm delivers it, unpacked: a marketplace that is a folder. */
export async function unpackPackage(folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true })
  // What `prepare` builds is there; building it again would take it from under other tests.
  const packed = await execa('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
    cwd: project,
  })
  const [{ filename }] = JSON.parse(packed.stdout) as [{ filename: string }]
  await execa('tar', ['-xzf', join(folder, filename), '-C', folder])
  return join(folder, 'package')
}

/** `claude …` in this home, for its `plugin` commands. Throws unless it ends with 0. */
export async function claudeCommand(
  client: ClaudeClient,
  home: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  mkdirSync(join(home, 'tmp'), { recursive: true })
  const { stdout } = await execa(await claudeBinary(client), args, {
    cwd: home,
    env: { ...claudeEnv(home, 'http://127.0.0.1:9'), ...env },
    extendEnv: false,
    stdin: 'ignore',
    timeout: 60_000,
  })
  return stdout
}

export async function installPlugin(
  client: ClaudeClient,
  home: string,
  source: string,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  await claudeCommand(client, home, ['plugin', 'marketplace', 'add', source], env)
  await claudeCommand(client, home, ['plugin', 'install', 'plan-gate@plan-gate'], env)
}

export type PluginHome = { home: string; marketplace: string; remove: () => void }

/** A home in which a person has installed the plugin from a folder of its own: a copy of one that is made once. */
export async function pluginHome(client: ClaudeClient, unpacked: string): Promise<PluginHome> {
  templates[client] ??= makeTemplate(client, unpacked)
  const template = await templates[client]
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'plugin-home-')))
  cpSync(template, folder, { recursive: true })
  // The client has noted where the marketplace and the plugin are.
  const home = join(folder, 'home')
  for (const name of ['.claude.json', ...listFiles(join(home, '.claude')).map((path) => join('.claude', path))]) {
    if (!name.endsWith('.json') || !existsSync(join(home, name))) continue
    const text = readFileSync(join(home, name), 'utf8')
    if (text.includes(template)) writeFileSync(join(home, name), text.replaceAll(template, folder))
  }
  return {
    home,
    marketplace: join(folder, 'package'),
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
  }
}

const templates: { [client in ClaudeClient]?: Promise<string> } = {}
const listFiles = (folder: string): string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' })

async function makeTemplate(client: ClaudeClient, unpacked: string): Promise<string> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'plugin-home-')))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  cpSync(unpacked, join(folder, 'package'), { recursive: true })
  await installPlugin(client, join(folder, 'home'), join(folder, 'package'))
  return folder
}
