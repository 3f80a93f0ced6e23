/** `<git dir>/plan-gate/launches/<nonce>`: each Claude Code that plan-gate has started, by which its sessions are known. */
import { randomBytes } from 'node:crypto'
import { ensureFolder, isAlive, listNames, readAnyJson, removePath, writeAtomic } from './files.ts'
import { launchesDir, launchVariable } from './own-paths.ts'

/**
 * `client`: the pid of the Claude Code that used it first. One that it started inherits the variable, and is not it. Until
 * then it counts while plan-gate waits for it.
 */
type Launch = { readonly loads_repository: boolean; readonly launcher: number; readonly client: string | null }

const pathOf = (nonce: string): string => `${launchesDir}/${nonce}.json`

export function recordLaunch(gitDir: string, loadsRepository: boolean): string {
  ensureFolder(gitDir, launchesDir)
  for (const name of listNames(gitDir, launchesDir))
    if (hasEnded(gitDir, `${launchesDir}/${name}`)) removePath(gitDir, `${launchesDir}/${name}`)
  const nonce = randomBytes(16).toString('hex')
  write(gitDir, nonce, { loads_repository: loadsRepository, launcher: process.pid, client: null })
  return nonce
}

/** Once that Claude Code has ended. */
export const forgetLaunch = (gitDir: string, nonce: string): void => removePath(gitDir, pathOf(nonce))

/** How plan-gate started the Claude Code of this hook; null where it did not. */
export function readLaunch(gitDir: string, env: NodeJS.ProcessEnv = process.env): Launch | null {
  const nonce = env[launchVariable] ?? ''
  if (!/^[0-9a-f]{32}$/.test(nonce)) return null
  const launch = read(gitDir, pathOf(nonce))
  if (launch === null || (launch.client === null && !isAlive(launch.launcher))) return null
  const client = env.CLAUDE_PID ?? 'unknown'
  if (launch.client === null) write(gitDir, nonce, { ...launch, client })
  return launch.client === null || launch.client === client ? launch : null
}

const write = (gitDir: string, nonce: string, launch: Launch): void =>
  writeAtomic(gitDir, pathOf(nonce), JSON.stringify(launch))

function read(gitDir: string, path: string): Launch | null {
  const value = readAnyJson(gitDir, path) as Partial<Launch> | null
  const isLaunch =
    typeof value?.loads_repository === 'boolean' &&
    typeof value.launcher === 'number' &&
    (value.client === null || typeof value.client === 'string')
  return isLaunch ? (value as Launch) : null
}

function hasEnded(gitDir: string, path: string): boolean {
  const launch = read(gitDir, path)
  return launch === null || !isAlive(Number(launch.client ?? launch.launcher))
}
