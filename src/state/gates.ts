import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { InstallRecord } from '../schemas/records.ts'
import { isNotFound, systemErrorCode, unlessAbsent } from '../system/errors.ts'
import type { GitDirs } from '../system/git-dirs.ts'
import { claudeDir, resolvePath } from '../system/paths.ts'
import { putFile, readAnyJson } from './files.ts'
import { gatesDir } from './own-paths.ts'

/**
 * `<Claude Code's folder>/plan-gate/gates/<root>/#gate`: the gates that this user has installed, by which the plugin's hooks
 * know one. What a repository, a command or another user leaves in a folder above a session is none.
 */

/** `bundles`: the sha256 of each file that a hook runs, and of V8's code caches. */
export type RegisteredGate = {
  readonly git: string
  readonly common: string
  readonly bundles: { readonly [path: string]: string }
}

type Installed = Pick<InstallRecord, 'files'>
type GitFolders = Pick<GitDirs, 'own' | 'common'>

const entryName = '#gate'

/** Claude Code's folder was not there before. */
const newFolderMark = 'plan-gate/new-folder'

/** A drive's colon is not allowed in a name, and a checkout may be called as the entry is. As in `pluginLoader`. */
const folderOf = (root: string): string => `${gatesDir}/${encode(realPath(root).replaceAll('\\', '/'))}`
const encode = (path: string): string => path.replace(/[%:#]/g, (one) => `%${one.charCodeAt(0).toString(16)}`)
const decode = (name: string): string =>
  name.replace(/%([0-9a-f]{2})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))

/** As the hooks find it. One that is gone is named as it was. */
function realPath(root: string): string {
  const target = resolvePath(root)
  return target.kind === 'resolved' ? target.real : target.path
}

const gateOf = ({ own, common }: GitFolders, { files }: Installed): RegisteredGate => ({
  git: own,
  common,
  bundles: Object.fromEntries(files.map(({ path, sha256 }) => [path, sha256])),
})

export function registerGate(root: string, gitDirs: GitFolders, record: Installed, dir = claudeDir()): void {
  forgetGone(dir)
  const entry = `${JSON.stringify(gateOf(gitDirs, record))}\n`
  // Another process may remove the empty folders between any two of these steps.
  for (let attempts = 20; ; attempts--) {
    try {
      if (mkdirSync(dir, { recursive: true }) !== undefined) putFile(dir, newFolderMark, '', 0o600)
      putFile(dir, `${folderOf(root)}/${entryName}`, entry, 0o600)
      return
    } catch (error) {
      if (attempts === 0) throw error
    }
  }
}

export const isRegistered = (root: string, gitDirs: GitFolders, record: Installed): boolean =>
  JSON.stringify(readAnyJson(claudeDir(), `${folderOf(root)}/${entryName}`)) === JSON.stringify(gateOf(gitDirs, record))

/** With the folders that are empty then, and with Claude Code's own where it was made for the registry and is empty. */
export function forgetGate(root: string, dir = claudeDir()): void {
  rmSync(join(dir, folderOf(root), entryName), { recursive: true, force: true })
  const [ours, mark] = [join(dir, dirname(newFolderMark)), join(dir, newFolderMark)]
  for (let folder = join(dir, folderOf(root)); folder !== ours; folder = dirname(folder))
    if (!removeIfEmpty(folder)) return
  const isNew = existsSync(mark)
  rmSync(mark, { force: true })
  if (removeIfEmpty(ours) && isNew) removeIfEmpty(dir)
}

function removeIfEmpty(folder: string): boolean {
  try {
    rmdirSync(folder)
    return true
  } catch (error) {
    const code = systemErrorCode(error) ?? ''
    if (isNotFound(code)) return true
    if (['ENOTEMPTY', 'EEXIST'].includes(code)) return false
    throw error
  }
}

export function forgetGone(dir = claudeDir()): void {
  for (const root of listRoots(join(dir, gatesDir))) if (!existsSync(root)) forgetGate(root, dir)
}

function listRoots(folder: string, root = '/'): string[] {
  return unlessAbsent(() => readdirSync(folder, { withFileTypes: true }), []).flatMap((entry) =>
    entry.name === entryName
      ? [root]
      : entry.isDirectory()
        ? listRoots(join(folder, entry.name), join(root, decode(entry.name)))
        : [],
  )
}
