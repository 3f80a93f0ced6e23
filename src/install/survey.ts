import { join } from 'node:path'
import { dirname } from 'node:path/posix'
import { wrapperPath } from '../gate/sandbox/rules.ts'
import type { InstallRecord } from '../schemas/records.ts'
import { checkFolder, describeStat, lstatEntry, readRegular } from '../state/files.ts'
import { readThroughLinks } from '../state/linked-files.ts'
import {
  cachedFiles,
  compiledConfigPath,
  configFile,
  hooksDir,
  ignorePath,
  ownSkillDirs,
  ownSkillFiles,
  planPath,
  reviewDir,
  reviewPaths,
  settingsFiles,
} from '../state/own-paths.ts'
import { readInstallRecord } from '../state/records.ts'
import { UserError } from '../system/errors.ts'
import { git, readBlob } from '../system/git.ts'
import { type GitDirs, readGitDirs } from '../system/git-dirs.ts'
import { claudeDir } from '../system/paths.ts'

const surveyedPaths = ['.claude', configFile] as const

export async function surveyInstall(root: string, gitDirs: GitDirs): Promise<Survey> {
  const listed = parseEntries(await git(root, ['ls-files', '-z', '--stage', '--', ...surveyedPaths]))
  // Everything but submodules is checked on disk.
  const submodule = findConflict(listed.filter(({ mode }) => mode === submoduleMode))
  if (submodule !== null) throw notInstallable(submodule)
  const record = readInstallRecord(gitDirs.own)
  if (record.kind === 'refused')
    throw new UserError(
      `The record of the last install cannot be read: ${record.why}.`,
      `Remove the folder ${join(gitDirs.own, 'plan-gate')}, unless something there is yours, and run \`plan-gate install\` again.`,
    )
  assertPlainPlan(root)
  return {
    record: record.kind === 'read' ? record.value : null,
    isTracked: trackedBy(listed),
    root,
    read: (path) => readOwn(root, path),
    settings: [...settingsOf(root), ...outerSettings(gitDirs)],
    wrapper: wrapperPath(gitDirs.own),
  }
}

function assertPlainPlan(root: string): void {
  const folder = checkFolder(root, dirname(planPath))
  if (folder.kind === 'refused') throw notInstallable(folder.why)
  const plan = lstatEntry(root, planPath)
  if (plan.kind === 'entry' && !plan.stat.isFile())
    throw notInstallable(`${planPath} is ${describeStat(plan.stat)}, not a file`)
}

export async function surveyCommit(repo: string, commit: string): Promise<Survey> {
  const entries = [
    ...(await listTree(repo, ['-r', commit, '--', ...surveyedPaths])),
    // Not the rest of that folder, which may be all of the documentation.
    ...(await listTree(repo, [commit, '--', dirname(planPath), planPath])).filter(
      ({ mode, path }) => path === planPath || ![folderMode, submoduleMode].includes(mode),
    ),
  ]
  const conflict = findConflict(entries)
  if (conflict !== null) throw notInstallable(conflict)
  const blobs = new Map<string, Buffer>()
  for (const { object, path } of entries.filter(({ path }) => isRead(path)).slice(0, maxBlobs)) {
    const blob = await readBlob(repo, object)
    if (blob !== null) blobs.set(path, blob)
  }
  const read = (path: string): Buffer | null => blobs.get(path) ?? null
  return {
    // For a preview: nothing is written there.
    root: repo,
    record: null,
    isTracked: trackedBy(entries),
    read,
    settings: [
      ...settingsFiles.flatMap((path) => read(path)?.toString('utf8') ?? []),
      ...outerSettings(readGitDirs(repo)),
    ],
    wrapper: null,
  }
}

/** The settings files outside of a worktree that apply to it: the user's, and the main checkout's. */
function outerSettings(gitDirs: GitDirs | null): string[] {
  const mainRoot = gitDirs?.mainRoot ?? null
  return [...textOf(join(claudeDir(), 'settings.json')), ...(mainRoot === null ? [] : settingsOf(mainRoot))]
}

const settingsOf = (root: string): string[] => settingsFiles.flatMap((path) => textOf(join(root, path)))

function textOf(file: string): string[] {
  const read = readThroughLinks(file)
  return read.kind === 'read' ? [read.bytes.toString('utf8')] : []
}

const folderMode = '040000'
const submoduleMode = '160000'

const listTree = async (repo: string, args: readonly string[]): Promise<(TreeEntry & { object: string })[]> =>
  parseEntries(await git(repo, ['ls-tree', '-z', '--full-tree', ...args]))

/** `mode type object TAB path` of a tree, `mode object stage TAB path` of the index. */
const parseEntries = (listed: string): (TreeEntry & { object: string })[] =>
  listed.split('\0').flatMap((entry) => {
    const [mode = '', ...words] = entry.split(/[ \t]/, 3)
    const object = words.find((word) => word.length >= 40) ?? ''
    return entry === '' ? [] : [{ mode, object, path: entry.slice(entry.indexOf('\t') + 1) }]
  })

/** Only what is needed: each file takes a git process, and a team may have any number below `.claude`. */
const isRead = (path: string): boolean =>
  [configFile, ...settingsFiles, ignorePath].includes(path) ||
  [hooksDir, ...ownSkillDirs].some((folder) => path.startsWith(`${folder}/`))

const maxBlobs = 100

/** A folder counts as tracked when something in it is. */
function trackedBy(entries: readonly TreeEntry[]): Survey['isTracked'] {
  const tracked = new Set(entries.map(({ path }) => path))
  return (path) => tracked.has(path) || (path.endsWith('/') && [...tracked].some((file) => file.startsWith(path)))
}

function readOwn(root: string, path: string): Buffer | null {
  const read = readRegular(root, path)
  if (read.kind === 'refused') throw notInstallable(read.why)
  return read.kind === 'read' ? read.bytes : null
}

const notInstallable = (why: string): UserError =>
  new UserError(
    `plan-gate cannot install here: ${why}.`,
    'It only writes regular files in real folders of the worktree. Replace that, then run the command again.',
  )

/** From `git ls-tree` or `git ls-files`: a file, a symbolic link, a submodule or (without -r) a folder. */
type TreeEntry = { readonly mode: string; readonly path: string }

const installedPaths: readonly string[] = [configFile, ...settingsFiles, ignorePath, planPath, ...ownSkillFiles]
const installedFolders: readonly string[] = [...foldersOf(installedPaths), '.claude/hooks', hooksDir, reviewDir]

/** Why plan-gate cannot write regular files into real folders there; null if it can. */
function findConflict(entries: readonly TreeEntry[]): string | null {
  for (const { mode, path } of entries) {
    const inside = path.startsWith(`${hooksDir}/`) ? path.slice(hooksDir.length + 1) : null
    if (installedFolders.includes(path)) return `${path} is ${kindOf(mode)}, not a folder`
    if ((installedPaths.includes(path) || inside !== null) && isNotFile(mode))
      return `${path} is ${kindOf(mode)}, not a file`
    const file = installedPaths.find((name) => path.startsWith(`${name}/`))
    if (file !== undefined) return `${file} is a folder, not a file`
    if (inside?.includes('/')) return `${hooksDir} has a folder in it`
  }
  return null
}

const isNotFile = (mode: string): boolean => !mode.startsWith('100')

const kinds: { readonly [mode: string]: string } = {
  '040000': 'a folder',
  '120000': 'a symbolic link',
  '160000': 'a submodule',
}

const kindOf = (mode: string): string => kinds[mode] ?? 'a file'

export function foldersOf(paths: readonly string[]): string[] {
  const folders = new Set<string>()
  for (const path of paths) for (let dir = dirname(path); dir !== '.'; dir = dirname(dir)) folders.add(dir)
  return [...folders].sort((a, b) => a.length - b.length)
}

/** What is in a worktree, read from disk or (before it exists) from a commit. */
export type Survey = {
  root: string
  record: InstallRecord | null
  isTracked: (path: string) => boolean
  read: (path: string) => Buffer | null
  /** The texts of all settings files that apply and may set another status line. */
  settings: readonly string[]
  /** The program that commands start through; null as long as there is no worktree. */
  wrapper: string | null
}

type Foreign = { readonly what: string; readonly remedy: string }

/** The hooks trust them as made here. Our own `.gitignore` files keep them out of commits. */
export function findForeign({ record, isTracked, read }: Survey): Foreign | null {
  if (isTracked(`${reviewDir}/`))
    return {
      what: `${reviewDir} is committed in this repository, and a review or an approval is only valid where it was made`,
      remedy: `Remove it (git rm -r --cached ${reviewDir}) and commit that; then run the command again.`,
    }
  const generated = [compiledConfigPath, ...cachedFiles.map((name) => `${hooksDir}/${name}.mjs.cache`)].find(isTracked)
  if (generated !== undefined)
    return {
      what: `${generated} is committed in this repository, and each machine generates its own`,
      remedy: `Remove it (git rm --cached ${generated}) and commit that; then run the command again.`,
    }
  const foreign = [reviewPaths.approval, reviewPaths.ledger].find((path) => read(path) !== null)
  if (record === null && foreign !== undefined)
    return {
      what: `${foreign} is here, although no plan-gate was installed that could have written it`,
      remedy: `Check ${reviewDir} and remove it; then run the command again.`,
    }
  return null
}
