import { execFileSync } from 'node:child_process'
import {
  type BigIntStats,
  chmodSync,
  copyFileSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
} from 'node:fs'
import { join } from 'node:path'

type Entries = Map<string, BigIntStats>

/**
 * A folder that is made equal to a kept one again and again. After the first time only what changed is copied: nothing
 * can change without a new ctime, and no program can set that.
 */
export function openRestored(folder: string) {
  let from: string | null = null
  let kept: Entries = new Map()
  let brought: Entries = new Map()
  let keptHashes: ReadonlySet<string> | null = null
  const texts = new Map<string, string>()

  const restore = (source: string): void => {
    if (from !== source) {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
      execFileSync('cp', ['-a', source, folder])
      from = source
      keptHashes = null
      texts.clear()
      kept = entriesIn(source)
    } else if (!repair(source)) return
    brought = entriesIn(folder)
  }

  /** Whether there was anything to do. */
  const repair = (source: string): boolean => {
    const now = entriesIn(folder)
    const added = [...now.keys()].filter((path) => !kept.has(path))
    const changed = [...kept.keys()].filter((path) => !isSame(brought.get(path), now.get(path)))
    for (const path of added) rmSync(join(folder, path), { recursive: true, force: true, maxRetries: 5 })
    for (const path of changed) put(join(source, path), join(folder, path), kept.get(path), now.get(path))
    // Deepest first: a folder's time changes with what is put into it.
    for (const path of changed.reverse()) setTime(join(folder, path), kept.get(path))
    return added.length + changed.length > 0
  }

  /** Every path that is another one than was brought, or is gone or new. */
  const changes = (): { path: string; before: BigIntStats | undefined; now: BigIntStats | undefined }[] => {
    const now = entriesIn(folder)
    return [...new Set([...kept.keys(), ...now.keys()])]
      .filter((path) => !isSame(brought.get(path), now.get(path)))
      .map((path) => ({ path, before: kept.get(path), now: now.get(path) }))
  }

  const bytesOfKept = (path: string): string => {
    const known = texts.get(path)
    if (known !== undefined) return known
    const full = join(from ?? '', path)
    const stats = kept.get(path)
    const text = stats?.isDirectory() ? '' : stats?.isSymbolicLink() ? readlinkSync(full) : readFileSync(full, 'latin1')
    texts.set(path, text)
    return text
  }
  const hashesInKept = (): ReadonlySet<string> => {
    keptHashes ??= new Set([...kept.keys()].flatMap((path) => `${path} ${bytesOfKept(path)}`.match(hashes) ?? []))
    return keptHashes
  }
  return { restore, changes, kept: { bytes: bytesOfKept, hashes: hashesInKept } }
}

export const hashes = /\b[0-9a-f]{8,64}\b/g

const isSame = (one: BigIntStats | undefined, other: BigIntStats | undefined): boolean =>
  one !== undefined && one.ino === other?.ino && one.ctimeNs === other.ctimeNs

function entriesIn(root: string): Entries {
  const entries: Entries = new Map()
  const visit = (inside: string): void => {
    for (const name of readdirSync(join(root, inside))) {
      const path = inside === '' ? name : `${inside}/${name}`
      const stats = lstatSync(join(root, path), { bigint: true })
      entries.set(path, stats)
      if (stats.isDirectory()) visit(path)
    }
  }
  visit('')
  return entries
}

function put(source: string, target: string, kept: BigIntStats | undefined, now: BigIntStats | undefined): void {
  const isFolder = kept?.isDirectory() === true
  if (!(isFolder && now?.isDirectory())) rmSync(target, { recursive: true, force: true, maxRetries: 5 })
  if (isFolder) mkdirSync(target, { recursive: true })
  else if (kept?.isSymbolicLink()) symlinkSync(readlinkSync(source), target)
  else copyFileSync(source, target)
  if (!kept?.isSymbolicLink()) chmodSync(target, Number(kept?.mode) & 0o7777)
}

function setTime(target: string, kept: BigIntStats | undefined): void {
  const [accessed, modified] = [Number(kept?.atimeNs) / 1e9, Number(kept?.mtimeNs) / 1e9]
  const set = kept?.isSymbolicLink() ? lutimesSync : utimesSync
  set(target, accessed, modified)
}
