import { join } from 'node:path'
import { dirname } from 'node:path/posix'
import { ownSkills, planPath } from '../../src/gate/place-of.ts'
import { readThroughLinks } from '../../src/hooks/read-through-links.ts'
import { hooksDir } from '../../src/protocol/hook-entries.ts'
import { checkFolder, describe, lstatEntry } from '../../src/store/check-folder.ts'
import { readInstallRecord } from '../../src/store/install-record.ts'
import { readRegular } from '../../src/store/read-regular.ts'
import { claudeDir } from '../../src/system/claude-dir.ts'
import { gitOrThrow } from '../../src/system/git.ts'
import { type GitDirs, readGitDirs } from '../../src/system/git-dirs.ts'
import { spawnGit } from '../../src/system/spawn-git.ts'
import { UserError } from '../../src/system/user-error.ts'
import { findInTheWay, type Listed } from './find-in-the-way.ts'
import { localSettings, type Survey, sharedSettings } from './plan-install.ts'

const ours = ['.claude', 'plan-gate.yaml'] as const

/** What stands in a worktree that exists. */
export async function surveyInstall(root: string, gitDirs: GitDirs): Promise<Survey> {
  const listed = parseEntries(await gitOrThrow(root, ['ls-files', '-z', '--stage', '--', ...ours]))
  // The rest is judged by what is on disk.
  const submodule = findInTheWay(listed.filter(({ mode }) => mode === submoduleMode))
  if (submodule !== null) throw notReal(submodule)
  const tracked = new Set(listed.map(({ path }) => path))
  const record = readInstallRecord(gitDirs.own)
  if (record.kind === 'refused')
    throw new UserError(
      `The record of the last install cannot be read: ${record.why}.`,
      `Look at ${join(gitDirs.own, 'plan-gate')}; if nothing there is yours, remove that folder and run \`plan-gate install\` again.`,
    )
  refusePlanElsewhere(root)
  return {
    record: record.kind === 'read' ? record.value : null,
    isTracked: (path) => isTracked(tracked, path),
    read: (path) => readOwn(root, path),
    settings: [...settingsOf(root), ...settingsBeyond(gitDirs)],
  }
}

/** However long it is: only what it is counts here. */
function refusePlanElsewhere(root: string): void {
  const folder = checkFolder(root, dirname(planPath))
  if (folder.kind === 'refused') throw notReal(folder.why)
  const plan = lstatEntry(root, planPath)
  if (plan.kind === 'entry' && !plan.stat.isFile()) throw notReal(`${planPath} is ${describe(plan.stat)}, not a file`)
}

/** What will stand in a worktree that is still to be opened from a commit. */
export async function surveyCommit(repo: string, commit: string): Promise<Survey> {
  const entries = [
    ...(await listTree(repo, ['-r', commit, '--', ...ours])),
    // Not what else is in that folder: it may be all of the documentation.
    ...(await listTree(repo, [commit, '--', dirname(planPath), planPath])).filter(
      ({ mode, path }) => path === planPath || ![folderMode, submoduleMode].includes(mode),
    ),
  ]
  const inTheWay = findInTheWay(entries)
  if (inTheWay !== null) throw notReal(inTheWay)
  const blobs = new Map<string, Buffer>()
  for (const { object, path } of entries.filter(({ path }) => isRead(path)).slice(0, mostRead)) {
    const blob = await spawnGit(repo, ['cat-file', 'blob', object], 60_000)
    if (blob.kind === 'ended' && blob.exitCode === 0) blobs.set(path, blob.stdout)
  }
  const tracked = new Set(entries.map(({ path }) => path))
  const read = (path: string): Buffer | null => blobs.get(path) ?? null
  return {
    record: null,
    isTracked: (path) => isTracked(tracked, path),
    read,
    settings: [
      ...[sharedSettings, localSettings].flatMap((path) => read(path)?.toString('utf8') ?? []),
      ...settingsBeyond(readGitDirs(repo)),
    ],
  }
}

/** What counts in a worktree beside its own files: the user's, and the main checkout's, of which one is merged into it. */
function settingsBeyond(gitDirs: GitDirs | null): string[] {
  const mainRoot = gitDirs?.mainRoot ?? null
  return [...textOf(join(claudeDir(), 'settings.json')), ...(mainRoot === null ? [] : settingsOf(mainRoot))]
}

const settingsOf = (root: string): string[] =>
  [sharedSettings, localSettings].flatMap((path) => textOf(join(root, path)))

function textOf(file: string): string[] {
  const read = readThroughLinks(file)
  return read.kind === 'read' ? [read.bytes.toString('utf8')] : []
}

const folderMode = '040000'
const submoduleMode = '160000'

const listTree = async (repo: string, args: readonly string[]): Promise<(Listed & { object: string })[]> =>
  parseEntries(await gitOrThrow(repo, ['ls-tree', '-z', '--full-tree', ...args]))

/** `mode type object TAB path` of a tree, `mode object stage TAB path` of the index. */
const parseEntries = (listed: string): (Listed & { object: string })[] =>
  listed.split('\0').flatMap((entry) => {
    const [mode = '', ...words] = entry.split(/[ \t]/, 3)
    const object = words.find((word) => word.length >= 40) ?? ''
    return entry === '' ? [] : [{ mode, object, path: entry.slice(entry.indexOf('\t') + 1) }]
  })

/** A team may keep any number of files of its own below `.claude`, and each is a git of its own here. */
const isRead = (path: string): boolean =>
  /^(?:plan-gate\.yaml|\.claude\/(?:settings[^/]*\.json|\.gitignore))$/.test(path) ||
  [hooksDir, ...ownSkills.map((name) => `.claude/skills/${name}`)].some((folder) => path.startsWith(`${folder}/`))

const mostRead = 100

/** A folder counts as tracked when something in it is. */
const isTracked = (tracked: ReadonlySet<string>, path: string): boolean =>
  tracked.has(path) || (path.endsWith('/') && [...tracked].some((file) => file.startsWith(path)))

function readOwn(root: string, path: string): Buffer | null {
  const read = readRegular(root, path)
  switch (read.kind) {
    case 'absent':
      return null
    case 'read':
      return read.bytes
    case 'refused':
      throw notReal(read.why)
  }
}

const notReal = (why: string): UserError =>
  new UserError(
    `plan-gate cannot install here: ${why}.`,
    'It writes only real files in real folders of the worktree. Replace that by one, then run the command again.',
  )
