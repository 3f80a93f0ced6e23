import repositoryIsValid from '../schemas/generated/repository-baseline.js'
import settingsIsValid from '../schemas/generated/settings-baseline.js'
import treeIsValid from '../schemas/generated/tree-baseline.js'
import type { RepositoryBaseline, SettingsBaseline, TreeBaseline } from '../schemas/worktree-baseline.ts'
import { gitDirFolder } from './install-record.ts'
import { putFile } from './put-file.ts'
import { type JsonRead, readJson } from './read-json.ts'
import { removePath } from './remove-path.ts'

const maxBytes = 256 * 1024 * 1024

const paths = {
  tree: `${gitDirFolder}/tree.json`,
  repository: `${gitDirFolder}/repository.json`,
  settings: `${gitDirFolder}/settings.json`,
} as const

export const readTreeBaseline = (gitDir: string): JsonRead<TreeBaseline> =>
  readJson(gitDir, paths.tree, treeIsValid, maxBytes)
export const writeTreeBaseline = (gitDir: string, baseline: TreeBaseline): void => put(gitDir, paths.tree, baseline)
export const forgetTreeBaseline = (gitDir: string): void => removePath(gitDir, paths.tree)

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
