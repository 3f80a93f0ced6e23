import {
  chmodSync,
  closeSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  symlinkSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fromBase64, ignoreMark } from '../src/install/plan.ts'
import { formatSettings, settingsOrEmpty, withoutOwnEntries } from '../src/install/settings.ts'
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
  /** Cannot be archived, and why. */
  left: { path: string; why: string }[]
}

const maxEntryBytes = 1024 * 1024
const maxEntryFiles = 500
const maxKeptBytes = 16 * 1024 * 1024

export async function readIgnored(root: string, gitDirs: GitDirs): Promise<Ignored> {
  const made = readMadeBySetup(gitDirs.own)
  const found: Ignored = { inMain: [], goes: [], kept: [], left: [] }
  let keptBytes = 0
  for (const path of await ignoredEntries(root, gitDirs.own)) {
    const measured = measure(root, path)
    const isWhole = measured.kind === 'whole'
    if (isWhole && measured.files.length === 0) found.goes.push(path)
    // One file is compared whatever its size.
    else if (isInMain(root, gitDirs.mainRoot, isWhole ? measured.files : [path])) found.inMain.push(path)
    else if (isMarkedAsMade(root, path)) found.goes.push(path)
    else if (isWhole && keptBytes + measured.bytes <= maxKeptBytes) {
      keptBytes += measured.bytes
      found.kept.push({ path, files: measured.files })
    } else if (made.includes(path)) found.goes.push(path)
    else found.left.push({ path, why: isWhole ? 'would make the archive larger than 16 MB' : measured.why })
  }
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

type Measured = { kind: 'whole'; files: readonly string[]; bytes: number } | { kind: 'not'; why: string }

function measure(root: string, entry: string): Measured {
  const files: string[] = []
  let bytes = 0
  const walk = (path: string): string | null => {
    const stat = statOf(join(root, path))
    if (typeof stat === 'string') return stat
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
    return why === null ? { kind: 'whole', files, bytes } : { kind: 'not', why }
  } catch (error) {
    return { kind: 'not', why: `cannot be read (${errnoOf(error)})` }
  }
}

/** Node cannot name a file whose name is not UTF-8. */
function statOf(path: string): Stats | string {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat !== undefined) return stat
  return path.includes('\ufffd') ? 'have names that are not UTF-8, so they cannot be read' : 'cannot be read (ENOENT)'
}

const isInMain = (root: string, main: string | null, files: readonly string[]): boolean =>
  main !== null && main !== root && files.every((path) => isSame(join(root, path), join(main, path)))

function isSame(one: string, other: string): boolean {
  try {
    const [stat, otherStat] = [lstatSync(one), lstatSync(other)]
    if (stat.isSymbolicLink()) return otherStat.isSymbolicLink() && readlinkSync(one) === readlinkSync(other)
    return stat.isFile() && otherStat.isFile() && stat.size === otherStat.size && hasSameBytes(one, other)
  } catch {
    return false
  }
}

function hasSameBytes(one: string, other: string): boolean {
  const [fd, otherFd] = [openSync(one, 'r'), openSync(other, 'r')]
  const [piece, otherPiece] = [Buffer.alloc(1 << 20), Buffer.alloc(1 << 20)]
  try {
    for (;;) {
      const [count, otherCount] = [readSync(fd, piece), readSync(otherFd, otherPiece)]
      if (count !== otherCount || !piece.subarray(0, count).equals(otherPiece.subarray(0, count))) return false
      if (count === 0) return true
    }
  } finally {
    closeSync(fd)
    closeSync(otherFd)
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
      const to = join(partial, path)
      mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
      if (lstatSync(join(root, path)).isSymbolicLink()) symlinkSync(readlinkSync(join(root, path)), to)
      else putPrivateCopy(join(root, path), to)
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

function putPrivateCopy(from: string, to: string): void {
  copyFileSync(from, to)
  chmodSync(to, lstatSync(from).mode & 0o100 ? 0o700 : 0o600)
}
