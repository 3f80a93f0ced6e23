/**
 * The sessions of reviews. Claude Code keeps a session in its folder for the project, where `claude --continue` would
 * take the reviewer's for the user's own; so each is moved to a folder of plan-gate's after its turn, and resumed from
 * there by its path.
 */
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  type Dirent,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { isPrivate, isPrivateFolder } from '../program-cache.ts'

/** A folder for one turn. `file`: the session that goes on. */
export type TurnFolder = { readonly folder: string; readonly file: string | null }

/** null: no session can be kept there. */
export function openTurnFolder(sessions: string): TurnFolder | null {
  try {
    mkdirSync(sessions, { recursive: true, mode: 0o700 })
    if (!isPrivateFolder(sessions)) return null
    removeOld(sessions)
    return { folder: mkdtempSync(join(sessions, 'turn-')), file: null }
  } catch {
    return null
  }
}

/**
 * Takes a session for this turn, so that no other turn goes on with it at the same time. null: it is gone, in use, or not
 * as its last turn left it; Claude Code leaves out what it cannot read, without a word.
 */
export function takeSession(sessions: string, id: string, { folder }: TurnFolder): TurnFolder | null {
  try {
    const name = readdirSync(sessions).find((name) => name.startsWith(`${id}.`) && name.endsWith('.jsonl'))
    if (name === undefined) return null
    const file = join(folder, `${id}.jsonl`)
    renameSync(join(sessions, name), file)
    const stat = lstatSync(file)
    return stat.isFile() && isPrivate(stat) && name === keptName(id, file) ? { folder, file } : null
  } catch {
    return null
  }
}

/** Keeps the session of this turn, wherever Claude Code has written it. false: there is none. */
export function keepSession(sessions: string, id: string, { folder }: TurnFolder, projects: string): boolean {
  try {
    const name = `${id}.jsonl`
    const found = [folder, ...subfolders(folder), ...subfolders(projects)].find((dir) => isPlainFile(join(dir, name)))
    if (found === undefined) return false
    const file = join(found, name)
    const moving = join(folder, 'kept')
    copyFileSync(file, moving)
    renameSync(moving, join(sessions, keptName(id, moving)))
    rmSync(file)
    // Long results of its tools.
    rmSync(join(found, id), { recursive: true, force: true })
    return true
  } catch {
    return false
  }
}

const keptName = (id: string, file: string): string =>
  `${id}.${createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 32)}.jsonl`

const isPlainFile = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true

const subfolders = (folder: string): string[] =>
  entriesOf(folder).flatMap((entry) => (entry.isDirectory() ? [join(folder, entry.name)] : []))

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

/** As long as Claude Code keeps its own. */
const maxAgeMs = 30 * 24 * 3_600_000

function removeOld(sessions: string): void {
  for (const name of readdirSync(sessions)) {
    const path = join(sessions, name)
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat !== undefined && Date.now() - stat.mtimeMs > maxAgeMs) rmSync(path, { recursive: true, force: true })
  }
}
