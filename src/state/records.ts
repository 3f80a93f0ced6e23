/** The records in a worktree's git directory, out of the reach of any tool of Claude Code. */
import { lstatSync } from 'node:fs'
import {
  type Consent,
  consentSchema,
  type InstallRecord,
  installRecordSchema,
  type OpenedWorktree,
  openedWorktreeSchema,
  type RepositoryBaseline,
  repositoryBaselineSchema,
  type SettingsBaseline,
  settingsBaselineSchema,
  type TreeBaseline,
  treeBaselineSchema,
} from '../schemas/records.ts'
import { type JsonRead, putFile, readJson, readRegular, removePath, StoreError, throwIfUnreadable } from './files.ts'
import { gitDirFolder, installRecordPath } from './own-paths.ts'

/** The deflated copy of an installed file, from which it is restored. */
export const storedFilePath = (digest: string): string => `${gitDirFolder}/files/${digest}`

export type InstallRecordRead = JsonRead<InstallRecord>

export const readInstallRecord = (gitDir: string): InstallRecordRead =>
  readJson(gitDir, installRecordPath, installRecordSchema)

export const writeInstallRecord = (gitDir: string, record: InstallRecord): void =>
  put(gitDir, installRecordPath, record)

const openedPath = `${gitDirFolder}/opened.json`

export const readOpenedWorktree = (gitDir: string): JsonRead<OpenedWorktree> =>
  readJson(gitDir, openedPath, openedWorktreeSchema)

export const writeOpenedWorktree = (gitDir: string, opened: OpenedWorktree): void => put(gitDir, openedPath, opened)

/** A check that is skipped while the files that it reads are unchanged. */
type Check = 'own-files' | 'config' | 'git-keys' | 'plan'

const checkPath = (what: Check): string => `${gitDirFolder}/seen-${what}`

/**
 * What `lstat` says about files, without reading them. The kernel sets the ctime, so an edited file cannot be made to have
 * its former signature.
 */
export const fileSignature = (files: readonly string[]): string =>
  files
    .map((file) => {
      const stat = lstatSync(file, { bigint: true, throwIfNoEntry: false })
      return stat === undefined ? '-' : [stat.ino, stat.size, stat.mode, stat.mtimeNs, stat.ctimeNs].join(' ')
    })
    .join('\n')

export const isUnchangedSinceCheck = (gitDir: string, what: Check, signature: string): boolean =>
  readCheck(gitDir, what) === signature

export function readCheck(gitDir: string, what: Check): string | null {
  const read = readRegular(gitDir, checkPath(what))
  return read.kind === 'read' ? read.bytes.toString('utf8') : null
}

/** Where it matters whether the check was never made. */
export function readCheckOrThrow(gitDir: string, what: Check): string | null {
  const read = readRegular(gitDir, checkPath(what))
  throwIfUnreadable(checkPath(what), read)
  return read.kind === 'read' ? read.bytes.toString('utf8') : null
}

/** Only a cache: where it cannot be written, the next check is not skipped. */
export function recordCheck(gitDir: string, what: Check, signature: string): void {
  try {
    putFile(gitDir, checkPath(what), signature, 0o600)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
  }
}

const maxBaselineBytes = 256 * 1024 * 1024

const treePath = `${gitDirFolder}/tree.json`
const repositoryPath = `${gitDirFolder}/repository.json`
const settingsPath = `${gitDirFolder}/settings.json`

export const readTreeBaseline = (gitDir: string): JsonRead<TreeBaseline> =>
  readJson(gitDir, treePath, treeBaselineSchema, maxBaselineBytes)
export const writeTreeBaseline = (gitDir: string, baseline: TreeBaseline): void => put(gitDir, treePath, baseline)
export const removeTreeBaseline = (gitDir: string): void => removePath(gitDir, treePath)

export const readRepositoryBaseline = (gitDir: string): JsonRead<RepositoryBaseline> =>
  readJson(gitDir, repositoryPath, repositoryBaselineSchema, maxBaselineBytes)
export const writeRepositoryBaseline = (gitDir: string, baseline: RepositoryBaseline): void =>
  put(gitDir, repositoryPath, baseline)

export const readSettingsBaseline = (gitDir: string): JsonRead<SettingsBaseline> =>
  readJson(gitDir, settingsPath, settingsBaselineSchema, maxBaselineBytes)
export const writeSettingsBaseline = (gitDir: string, baseline: SettingsBaseline): void =>
  put(gitDir, settingsPath, baseline)

const consentPath = `${gitDirFolder}/consent.json`

/** In the git directory that all worktrees share: one answer for the repository. */
export const readConsent = (commonDir: string): JsonRead<Consent> => readJson(commonDir, consentPath, consentSchema)

export const writeConsent = (commonDir: string, consent: Consent): void => put(commonDir, consentPath, consent)

export const removeConsent = (commonDir: string): void => removePath(commonDir, consentPath)

const put = (gitDir: string, path: string, value: object): void =>
  putFile(gitDir, path, `${JSON.stringify(value)}\n`, 0o600)
