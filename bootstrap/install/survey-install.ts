import { join } from 'node:path'
import { readThroughLinks } from '../../src/hooks/read-through-links.ts'
import { readInstallRecord } from '../../src/store/install-record.ts'
import { readRegular } from '../../src/store/read-regular.ts'
import { claudeDir } from '../../src/system/claude-dir.ts'
import { gitOutput } from '../../src/system/git.ts'
import { type GitDirs, readGitDirs } from '../../src/system/git-dirs.ts'
import { spawnGit } from '../../src/system/spawn-git.ts'
import { UserError } from '../../src/system/user-error.ts'
import { localSettings, type Survey, sharedSettings } from './plan-install.ts'

const ours = ['.claude', 'plan-gate.yaml'] as const

/** What stands in a worktree that exists. */
export async function surveyInstall(root: string, gitDirs: GitDirs): Promise<Survey> {
  const tracked = new Set((await gitOutput(root, ['ls-files', '-z', '--', ...ours])).split('\0'))
  const record = readInstallRecord(gitDirs.own)
  if (record.kind === 'refused')
    throw new UserError(
      `The record of the last install cannot be read: ${record.why}.`,
      `Look at ${join(gitDirs.own, 'plan-gate')}; if nothing there is yours, remove that folder and run \`plan-gate install\` again.`,
    )
  return {
    record: record.kind === 'read' ? record.value : null,
    isTracked: (path) => isTracked(tracked, path),
    read: (path) => readOwn(root, path),
    settings: [...settingsOf(root), ...settingsBeyond(gitDirs)],
  }
}

/** What will stand in a worktree that is still to be opened from a commit. */
export async function surveyCommit(repo: string, commit: string): Promise<Survey> {
  const listed = await gitOutput(repo, ['ls-tree', '-r', '-z', '--full-tree', commit, '--', ...ours])
  const entries = listed.split('\0').filter((entry) => entry !== '')
  const blobs = new Map<string, Buffer>()
  for (const entry of entries) {
    const [mode = '', , object = '', path = ''] = entry.split(/[ \t]/, 3).concat(entry.slice(entry.indexOf('\t') + 1))
    if (mode === '120000') throw notReal(`${path} is a symbolic link`)
    const blob = await spawnGit(repo, ['cat-file', 'blob', object], 60_000)
    if (blob.kind === 'ended' && blob.exitCode === 0) blobs.set(path, blob.stdout)
  }
  const tracked = new Set(blobs.keys())
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
