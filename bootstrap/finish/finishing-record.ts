import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../../src/store/sha256.ts'
import { sweepTemporaries } from '../../src/store/sweep-temporaries.ts'
import { writeWhole } from '../../src/store/write-whole.ts'

/** What is being taken away, kept in the common git directory until it is gone. Written when nothing can be lost any more. */
export type Finishing = {
  dir: string
  /** Where the folder is moved first: in one step, and to a name that nobody else uses. */
  moved: string
  /** The branch that goes, and where it was. */
  branch: { name: string; head: string } | null
  archive: string
}

const prefix = 'plan-gate-finishing-'
const nameOf = (dir: string): string => `${prefix}${sha256(dir).slice(0, 16)}.json`

export function beginFinishing(commonDir: string, finishing: Finishing): void {
  const name = nameOf(finishing.dir)
  sweepTemporaries(commonDir, '.', name)
  writeWhole(commonDir, name, `${JSON.stringify(finishing)}\n`)
}

export const endFinishing = (commonDir: string, dir: string): void =>
  rmSync(join(commonDir, nameOf(dir)), { force: true })

export const listFinishing = (commonDir: string): Finishing[] =>
  readdirSync(commonDir)
    .filter((name) => name.startsWith(prefix) && name.endsWith('.json'))
    .flatMap((name) => readRecord(join(commonDir, name)) ?? [])

export const readFinishing = (commonDir: string, dir: string): Finishing | null =>
  readRecord(join(commonDir, nameOf(dir)))

function readRecord(path: string): Finishing | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Finishing
  } catch {
    return null
  }
}
