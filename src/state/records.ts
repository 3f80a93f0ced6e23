import { lstatSync } from 'node:fs'
import validate from '../schemas/generated/install-record.js'
import validateOpenedWorktree from '../schemas/generated/opened-worktree.js'
import repositoryIsValid from '../schemas/generated/repository-baseline.js'
import settingsIsValid from '../schemas/generated/settings-baseline.js'
import treeIsValid from '../schemas/generated/tree-baseline.js'
import type { InstallRecord, OpenedWorktree } from '../schemas/records.ts'
import type { RepositoryBaseline, SettingsBaseline, TreeBaseline } from '../schemas/worktree-baseline.ts'
import {
  ensureFolder,
  type JsonRead,
  putFile,
  readJson,
  readRegular,
  removePath,
  StoreError,
  writeAtomic,
} from './files.ts'
import { gitDirFolder, installRecordPath } from './own-paths.ts'

/** Where the bytes of an installed file are kept, deflated, so that it can be put back. */
export const storedFilePath = (digest: string): string => `${gitDirFolder}/files/${digest}`

export type InstallRecordRead = JsonRead<InstallRecord>

export const readInstallRecord = (gitDir: string): InstallRecordRead => readJson(gitDir, installRecordPath, validate)

export function writeInstallRecord(gitDir: string, record: InstallRecord): void {
  ensureFolder(gitDir, gitDirFolder)
  writeAtomic(gitDir, installRecordPath, `${JSON.stringify(record, null, 2)}\n`)
}

const path = `${gitDirFolder}/opened.json`

export const readOpenedWorktree = (gitDir: string): JsonRead<OpenedWorktree> =>
  readJson(gitDir, path, validateOpenedWorktree)

export function writeOpenedWorktree(gitDir: string, opened: OpenedWorktree): void {
  ensureFolder(gitDir, gitDirFolder)
  writeAtomic(gitDir, path, `${JSON.stringify(opened, null, 2)}\n`)
}

/** What was looked into: our own files in the worktree, what tells git which programs to run, or whether the approval is on record. */
type Seen = 'own-files' | 'repository' | 'approval'

const pathOf = (what: Seen): string => `${gitDirFolder}/seen-${what}`

/**
 * What a file system tells of files without reading them. The time of the last change to a file or its name (ctime) is
 * set by the kernel, so that whoever altered a file cannot make it look as before.
 */
export const fileSignature = (files: readonly string[]): string =>
  files
    .map((file) => {
      const stat = lstatSync(file, { bigint: true, throwIfNoEntry: false })
      return stat === undefined ? '-' : [stat.ino, stat.size, stat.mode, stat.mtimeNs, stat.ctimeNs].join(' ')
    })
    .join('\n')

/** Whether these files are as they were when somebody last looked into each. */
export function isUnchangedSinceCheck(gitDir: string, what: Seen, signature: string): boolean {
  const read = readRegular(gitDir, pathOf(what))
  return read.kind === 'read' && read.bytes.toString('utf8') === signature
}

/** It saves the next look its work, and no more: where it cannot be kept, that look is done again. */
export function recordCheck(gitDir: string, what: Seen, signature: string): void {
  try {
    putFile(gitDir, pathOf(what), signature, 0o600)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
  }
}

const maxBytes = 256 * 1024 * 1024

const paths = {
  tree: `${gitDirFolder}/tree.json`,
  repository: `${gitDirFolder}/repository.json`,
  settings: `${gitDirFolder}/settings.json`,
} as const

export const readTreeBaseline = (gitDir: string): JsonRead<TreeBaseline> =>
  readJson(gitDir, paths.tree, treeIsValid, maxBytes)

export const writeTreeBaseline = (gitDir: string, baseline: TreeBaseline): void => put(gitDir, paths.tree, baseline)

export const removeTreeBaseline = (gitDir: string): void => removePath(gitDir, paths.tree)

export const readRepositoryBaseline = (gitDir: string): JsonRead<RepositoryBaseline> =>
  readJson(gitDir, paths.repository, repositoryIsValid, maxBytes)

export const writeRepositoryBaseline = (gitDir: string, baseline: RepositoryBaseline): void =>
  put(gitDir, paths.repository, baseline)

export const readSettingsBaseline = (gitDir: string): JsonRead<SettingsBaseline> =>
  readJson(gitDir, paths.settings, settingsIsValid, maxBytes)

export const writeSettingsBaseline = (gitDir: string, baseline: SettingsBaseline): void =>
  put(gitDir, paths.settings, baseline)

const put = (gitDir: string, path: string, value: object): void =>
  putFile(gitDir, path, `${JSON.stringify(value)}\n`, 0o600)
