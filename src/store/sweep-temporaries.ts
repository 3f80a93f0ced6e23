import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { checkFolder, lstatEntry } from './check-folder.ts'
import { isAlive } from './is-alive.ts'
import { writerOf } from './temporary-name.ts'

const second = 1_000
const hour = 3_600 * second

/** Removes what killed writers left in a folder; `file`: only of this one, where others write beside us. */
export function sweepTemporaries(root: string, folder: string, file: string | null = null): void {
  if (checkFolder(root, folder).kind !== 'folder') return
  const now = Date.now()
  for (const name of readdirSync(join(root, folder))) {
    const writer = writerOf(name)
    if (writer === undefined || !name.startsWith(`.${file ?? ''}`)) continue
    const entry = lstatEntry(root, `${folder}/${name}`)
    if (entry.kind !== 'entry' || !entry.stat.isFile()) continue
    if (isLeftOver(writer, now - entry.stat.mtimeMs)) rmSync(join(root, folder, name), { force: true })
  }
}

/** A writer in a container looks dead from outside, hence the grace; a pid is given out again, hence the hour. */
const isLeftOver = (writer: number, ageMs: number): boolean => ageMs > hour || (ageMs > 10 * second && !isAlive(writer))
