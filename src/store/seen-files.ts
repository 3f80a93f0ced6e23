import { lstatSync } from 'node:fs'
import { gitDirFolder } from './install-record.ts'
import { putFile } from './put-file.ts'
import { readRegular } from './read-regular.ts'
import { StoreError } from './store-error.ts'

/** What was looked into: our own files in the worktree, what tells git which programs to run, or whether the approval is on record. */
export type Seen = 'own-files' | 'repository' | 'approval'

const pathOf = (what: Seen): string => `${gitDirFolder}/seen-${what}`

/**
 * What a file system tells of files without reading them. The time of the last change to a file or its name (ctime) is
 * set by the kernel, so that whoever altered a file cannot make it look as before.
 */
export const signatureOf = (files: readonly string[]): string =>
  files
    .map((file) => {
      const stat = lstatSync(file, { bigint: true, throwIfNoEntry: false })
      return stat === undefined ? '-' : [stat.ino, stat.size, stat.mode, stat.mtimeNs, stat.ctimeNs].join(' ')
    })
    .join('\n')

/** Whether these files are as they were when somebody last looked into each. */
export function areAsSeen(gitDir: string, what: Seen, signature: string): boolean {
  const read = readRegular(gitDir, pathOf(what))
  return read.kind === 'read' && read.bytes.toString('utf8') === signature
}

/** It saves the next look its work, and no more: where it cannot be kept, that look is done again. */
export function rememberSeen(gitDir: string, what: Seen, signature: string): void {
  try {
    putFile(gitDir, pathOf(what), signature, 0o600)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
  }
}
