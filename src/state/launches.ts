/** `<git dir>/plan-gate/launches/<nonce>`: each Claude Code that plan-gate has started, by which its sessions are known. */
import { randomBytes } from 'node:crypto'
import { ensureFolder, isAlive, listNames, lstatEntry, readAnyJson, removePath, writeAtomic } from './files.ts'
import { launchesDir, launchVariable } from './own-paths.ts'

/** `client`: the pid of the Claude Code that used it first. One that it started inherits the variable, and is not it. */
type Launch = { readonly loads_repository: boolean; readonly client: string | null }

const pathOf = (nonce: string): string => `${launchesDir}/${nonce}.json`

export function recordLaunch(gitDir: string, loadsRepository: boolean): string {
  ensureFolder(gitDir, launchesDir)
  for (const name of listNames(gitDir, launchesDir))
    if (hasEnded(gitDir, `${launchesDir}/${name}`)) removePath(gitDir, `${launchesDir}/${name}`)
  const nonce = randomBytes(16).toString('hex')
  write(gitDir, nonce, { loads_repository: loadsRepository, client: null })
  return nonce
}

/** How plan-gate started the Claude Code of this hook; null where it did not. */
export function readLaunch(gitDir: string, env: NodeJS.ProcessEnv = process.env): Launch | null {
  const nonce = env[launchVariable] ?? ''
  if (!/^[0-9a-f]{32}$/.test(nonce)) return null
  const launch = read(gitDir, pathOf(nonce))
  if (launch === null) return null
  const client = env.CLAUDE_PID ?? 'unknown'
  if (launch.client === null) write(gitDir, nonce, { ...launch, client })
  return launch.client === null || launch.client === client ? launch : null
}

const write = (gitDir: string, nonce: string, launch: Launch): void =>
  writeAtomic(gitDir, pathOf(nonce), JSON.stringify(launch))

function read(gitDir: string, path: string): Launch | null {
  const value = readAnyJson(gitDir, path) as Partial<Launch> | null
  const isLaunch =
    typeof value?.loads_repository === 'boolean' && (value.client === null || typeof value.client === 'string')
  return isLaunch ? (value as Launch) : null
}

const startMs = 24 * 3_600_000

function hasEnded(gitDir: string, path: string): boolean {
  const client = read(gitDir, path)?.client ?? null
  if (client !== null) return !isAlive(Number(client))
  const entry = lstatEntry(gitDir, path)
  return entry.kind === 'entry' && Date.now() - entry.stat.mtimeMs > startMs
}
