import { stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { installLocked } from './install-locked.ts'

export type ClaudeClient = 'newest' | 'oldest'

const clients = join(import.meta.dirname, 'clients')

/** Installs the pinned clients, once. */
export const ensureClients = async (): Promise<void> => void (await installLocked('clients'))

/** The native executable itself: `bin/claude.exe` is a stub wherever npm was told to run no install scripts. */
export async function claudeBinary(client: ClaudeClient): Promise<string> {
  const home = join(clients, 'node_modules', `claude-${client}`)
  const candidates = [join(home, 'bin', 'claude.exe'), ...platformBinaries(home)]
  for (const path of candidates) if (await isNativeProgram(path)) return path
  throw new Error(`Claude Code (${client}) is not installed. Run \`npm ci\` in test/support/clients.`)
}

/** The JavaScript launcher, as users have it on PATH; it needs `node`. */
export async function codexBinary(): Promise<string> {
  const path = join(clients, 'node_modules', 'codex', 'bin', 'codex.js')
  if (await stat(path).catch(() => undefined)) return path
  throw new Error('Codex is not installed. Run `npm ci` in test/support/clients.')
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
