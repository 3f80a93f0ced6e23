import { createHash } from 'node:crypto'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { execa } from 'execa'
import { lock } from 'proper-lockfile'

export type ClaudeClient = 'newest' | 'oldest'

const root = join(import.meta.dirname, '..', '..')
const clients = join(root, 'test', 'clients')
const stamp = join(clients, 'node_modules', '.installed-from')

/** Installs the pinned clients unless that very lockfile was installed before; a second caller waits for the first. */
export async function ensureClients(): Promise<void> {
  if (await areInstalled()) return
  await mkdir(join(root, 'node_modules'), { recursive: true })
  const release = await lock(clients, {
    lockfilePath: join(root, 'node_modules', '.test-clients.lock'),
    retries: { retries: 240, factor: 1, minTimeout: 500 },
  })
  try {
    if (await areInstalled()) return
    await execa('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: clients, timeout: 300_000 })
    await writeFile(stamp, await lockfileDigest())
  } finally {
    await release()
  }
}

/** The native executable itself: `bin/claude.exe` is a stub wherever npm was told to run no install scripts. */
export async function claudeBinary(client: ClaudeClient): Promise<string> {
  const home = join(clients, 'node_modules', `claude-${client}`)
  const candidates = [join(home, 'bin', 'claude.exe'), ...platformBinaries(home)]
  for (const path of candidates) if (await isNativeProgram(path)) return path
  throw new Error(`Claude Code (${client}) is not installed. Run \`npm ci\` in test/clients.`)
}

/** The JavaScript launcher, as users have it on PATH; it needs `node`. */
export async function codexBinary(): Promise<string> {
  const path = join(clients, 'node_modules', 'codex', 'bin', 'codex.js')
  if (await stat(path).catch(() => undefined)) return path
  throw new Error('Codex is not installed. Run `npm ci` in test/clients.')
}

async function areInstalled(): Promise<boolean> {
  return (await readFile(stamp, 'utf8').catch(() => '')) === (await lockfileDigest())
}

async function lockfileDigest(): Promise<string> {
  return createHash('sha256')
    .update(await readFile(join(clients, 'package-lock.json')))
    .digest('hex')
}

function platformBinaries(home: string): string[] {
  const require = createRequire(join(home, 'package.json'))
  return ['', '-musl'].flatMap((libc) => {
    try {
      return [require.resolve(`@anthropic-ai/claude-code-${process.platform}-${process.arch}${libc}/claude`)]
    } catch {
      return []
    }
  })
}

async function isNativeProgram(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found !== undefined && found.size > 1_000_000
}
