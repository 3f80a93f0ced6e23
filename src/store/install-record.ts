import validate from '../schemas/generated/install-record.js'
import type { InstallRecord } from '../schemas/install-record.ts'
import { ensureFolder } from './ensure-folder.ts'
import { type JsonRead, readJson } from './read-json.ts'
import { writeWhole } from './write-whole.ts'

/** Our folder inside a git directory: out of every working tree, and gone with the worktree. */
export const gitDirFolder = 'plan-gate'

export const installRecordPath = `${gitDirFolder}/install.json`

/** Where the bytes of an installed file are kept, deflated, so that it can be put back. */
export const ownFileCopy = (digest: string): string => `${gitDirFolder}/files/${digest}`

export type InstallRecordRead = JsonRead<InstallRecord>

export const readInstallRecord = (gitDir: string): InstallRecordRead => readJson(gitDir, installRecordPath, validate)

export function writeInstallRecord(gitDir: string, record: InstallRecord): void {
  ensureFolder(gitDir, gitDirFolder)
  writeWhole(gitDir, installRecordPath, `${JSON.stringify(record, null, 2)}\n`)
}
