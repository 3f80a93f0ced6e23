import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Capabilities } from './capabilities.ts'

/** What an earlier run found out; null where there is nothing that can be trusted. */
export function readCached(folder: string, identity: string): Capabilities | null {
  try {
    if (!isOurFolder(folder)) return null
    // A pipe in its place would be waited for, and a link followed.
    const file = openSync(pathOf(folder, identity), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const stat = fstatSync(file)
      if (!stat.isFile() || !isOurs(stat) || stat.size > 256 * 1024) return null
      return parse(readFileSync(file, 'utf8'))
    } finally {
      closeSync(file)
    }
  } catch {
    return null
  }
}

/** Whole or not at all: two may write at once, and each renames a file of its own. Without a cache all works as well. */
export function writeCached(folder: string, identity: string, { features, canIgnoreRules }: Capabilities): void {
  const temporary = join(folder, `.codex-${process.pid}-${randomBytes(6).toString('hex')}`)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    if (!isOurFolder(folder)) return
    writeFileSync(temporary, JSON.stringify({ features, canIgnoreRules }), { mode: 0o600, flag: 'wx' })
    renameSync(temporary, pathOf(folder, identity))
  } catch {
    removeIfThere(temporary)
  }
}

function removeIfThere(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // The folder is none, so there is nothing in it.
  }
}

const pathOf = (folder: string, identity: string): string => join(folder, `codex-${identity.slice(0, 32)}.json`)

/** Who could write there could tell us that a Codex does what it does not. */
function isOurFolder(folder: string): boolean {
  const stat = lstatSync(folder)
  return stat.isDirectory() && isOurs(stat)
}

const isOurs = ({ uid, mode }: Stats): boolean =>
  process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0)

function parse(text: string): Capabilities | null {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null || !('features' in value) || !('canIgnoreRules' in value)) return null
  const { features, canIgnoreRules } = value
  if (!Array.isArray(features) || typeof canIgnoreRules !== 'boolean') return null
  return { features: features.filter((name): name is string => typeof name === 'string'), canIgnoreRules }
}
