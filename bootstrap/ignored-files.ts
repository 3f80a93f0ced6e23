import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fromBase64, ignoreMark } from '../src/install/plan.ts'
import { formatSettings, settingsOrEmpty, withoutOwnEntries } from '../src/install/settings.ts'
import type { Obstacle } from '../src/schemas/output.ts'
import { errnoOf, putFile, readRegular } from '../src/state/files.ts'
import { gitDirFolder, hooksDir, ignorePath, ownSkillDirs, planPath, reviewDir } from '../src/state/own-paths.ts'
import { readInstallRecord } from '../src/state/records.ts'
import { UserError, unlessAbsent } from '../src/system/errors.ts'
import { git } from '../src/system/git.ts'
import type { GitDirs } from '../src/system/git-dirs.ts'
import { parseJson } from '../src/text/json.ts'

/** What git ignores in a worktree, folders as a whole, and what becomes of it with the worktree. */
export type Ignored = {
  /** Goes with the worktree: the main checkout has the same. */
  inMain: string[]
  /** Goes with the worktree: it can be made again, or is an empty folder. */
  goes: string[]
  /** Small, and only here: into the archive. */
  kept: { path: string; files: readonly string[] }[]
  obstacles: Obstacle[]
}

const maxEntryBytes = 1024 * 1024
const maxEntryFiles = 500
const maxKeptBytes = 16 * 1024 * 1024

export async function readIgnored(root: string, { own, mainRoot }: GitDirs): Promise<Ignored> {
  const made = readMadeBySetup(own)
  const found: Ignored = { inMain: [], goes: [], kept: [], obstacles: [] }
  const left = new Map<string, string[]>()
  let keptBytes = 0
  for (const path of await ignoredEntries(root, own)) {
    const { files, bytes, why } = measure(root, path)
    if (why === null && files.length === 0) found.goes.push(path)
    // One file is compared whatever its size.
    else if (isInMain(root, mainRoot, why === null ? files : [path])) found.inMain.push(path)
    else if (isMarkedAsMade(root, path)) found.goes.push(path)
    else if (why === null && keptBytes + bytes <= maxKeptBytes) {
      keptBytes += bytes
      found.kept.push({ path, files })
    } else if (made.includes(path)) found.goes.push(path)
    else {
      const reason = why ?? 'would make the archive larger than 16 MB'
      left.set(reason, [...(left.get(reason) ?? []), path])
    }
  }
  for (const [why, items] of left)
    found.obstacles.push({
      kind: 'ignored',
      what: `git ignores these; they are in no other place, and ${why}.`,
      items,
      next_step: 'Move what you still need.',
    })
  return found
}

/** Without plan-gate's own, and without the plan, which is archived in any case. */
async function ignoredEntries(root: string, gitDir: string): Promise<string[]> {
  const flags = ['--others', '--ignored', '--exclude-standard', '-z']
  const list = async (args: readonly string[]): Promise<string[]> =>
    (await git(root, ['ls-files', ...flags, ...args], { timeoutMs: 300_000 })).split('\0').filter((path) => path !== '')
  const entries = await list(['--directory', '--', ':/', ':(exclude,top).claude'])
  // File by file, because most of this folder is ours.
  const beside = (await list(['--', ':(top).claude'])).filter((path) => !isOwn(root, gitDir, path))
  return [...entries, ...beside].filter((path) => path !== planPath)
}

function isOwn(root: string, gitDir: string, path: string): boolean {
  if ([hooksDir, reviewDir, ...ownSkillDirs].some((folder) => path.startsWith(`${folder}/`))) return true
  if (/^\.claude\/\.[^/]*\.tmp$/.test(path)) return true
  if (path === ignorePath) return textOf(root, path).startsWith(ignoreMark)
  const record = readInstallRecord(gitDir)
  if (record.kind !== 'read' || path !== record.value.settings.path) return false
  const { before, after, denied } = record.value.settings
  const text = textOf(root, path)
  if (text === fromBase64(after)) return true
  const original = settingsOrEmpty(before === null ? '' : fromBase64(before))
  const left = withoutOwnEntries(settingsOrEmpty(text), denied, original)
  return formatSettings(left, '') === formatSettings(original, '')
}

const textOf = (root: string, path: string): string => {
  const read = readRegular(root, path)
  return read.kind === 'read' ? read.bytes.toString('utf8') : ''
}

/** `why` it cannot be archived; null where it can. */
function measure(root: string, entry: string): { files: readonly string[]; bytes: number; why: string | null } {
  const files: string[] = []
  let bytes = 0
  const walk = (path: string): string | null => {
    const stat = lstatSync(join(root, path), { throwIfNoEntry: false })
    // Node cannot name a file whose name is not UTF-8.
    if (stat === undefined)
      return path.includes('\ufffd')
        ? 'have names that are not UTF-8, so they cannot be read'
        : 'cannot be read (ENOENT)'
    if (stat.isDirectory()) {
      for (const name of readdirSync(join(root, path))) {
        const why = walk(`${path}/${name}`)
        if (why !== null) return why
      }
      return null
    }
    files.push(path)
    bytes += stat.isFile() ? stat.size : 0
    if (bytes > maxEntryBytes) return 'are larger than the archive takes (1 MB for a file, or for a folder in all)'
    if (files.length > maxEntryFiles) return `hold more files than the archive takes (${maxEntryFiles})`
    return stat.isFile() || stat.isSymbolicLink() ? null : 'are neither files, nor folders, nor links'
  }
  try {
    const why = walk(entry.replace(/\/$/, ''))
    return { files, bytes, why }
  } catch (error) {
    return { files, bytes, why: `cannot be read (${errnoOf(error)})` }
  }
}

const isInMain = (root: string, main: string | null, files: readonly string[]): boolean =>
  main !== null && main !== root && files.every((path) => isSame(join(root, path), join(main, path)))

/** One that cannot be read, or is larger than memory, is not the same. */
function isSame(one: string, other: string): boolean {
  try {
    const [stat, otherStat] = [lstatSync(one), lstatSync(other)]
    if (stat.isSymbolicLink()) return otherStat.isSymbolicLink() && readlinkSync(one) === readlinkSync(other)
    const areFiles = stat.isFile() && otherStat.isFile() && stat.size === otherStat.size
    return areFiles && readFileSync(one).equals(readFileSync(other))
  } catch {
    return false
  }
}

/** A folder that says of itself that a program makes it again: a package manager's, or a cache (https://bford.info/cachedir). */
const isMarkedAsMade = (root: string, path: string): boolean =>
  path.endsWith('/') &&
  (installMarks.some((mark) => path.endsWith('node_modules/') && isFile(join(root, path, mark))) ||
    isFile(join(root, path, 'pyvenv.cfg')) ||
    textOf(root, `${path}CACHEDIR.TAG`).startsWith('Signature: 8a477f597d28d172789f06886806bc55'))

const installMarks = ['.package-lock.json', '.modules.yaml', '.yarn-integrity', '.yarn-state.yml']

const isFile = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true

const madePath = `${gitDirFolder}/setup-made.json`

/** Called around `worktree.setup`, also one that fails: what was not there before can be made again. */
export async function recordMadeBySetup<T>(root: string, gitDir: string, setup: () => Promise<T>): Promise<T> {
  const before = await ignoredEntries(root, gitDir)
  try {
    return await setup()
  } finally {
    const made = (await ignoredEntries(root, gitDir)).filter((path) => !before.includes(path))
    putFile(gitDir, madePath, JSON.stringify([...new Set([...readMadeBySetup(gitDir), ...made])]), 0o600)
  }
}

function readMadeBySetup(gitDir: string): readonly string[] {
  const value = parseJson(unlessAbsent(() => readFileSync(join(gitDir, madePath), 'utf8'), '[]'))
  return Array.isArray(value) ? value.filter((path) => typeof path === 'string') : []
}

/** Readable by the user only: there may be keys in them. Whole or not at all; a second run writes all of it anew. */
export function keepIgnored(root: string, folder: string, kept: Ignored['kept']): void {
  const partial = `${folder}.partial`
  rmSync(partial, { recursive: true, force: true })
  try {
    for (const path of kept.flatMap(({ files }) => files)) {
      const [from, to] = [join(root, path), join(partial, path)]
      const stat = lstatSync(from)
      mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
      cpSync(from, to, { verbatimSymlinks: true })
      if (stat.isFile()) chmodSync(to, stat.mode & 0o100 ? 0o700 : 0o600)
    }
    rmSync(folder, { recursive: true, force: true })
    renameSync(partial, folder)
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    throw new UserError(
      `What git ignores in ${root} cannot be archived in ${folder} (${errnoOf(error)}), so nothing was removed.`,
      'Fix that, then try again.',
      1,
    )
  }
}
