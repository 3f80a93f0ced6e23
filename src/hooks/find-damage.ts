import { join } from 'node:path'
import { cachedFiles, hooksDir } from '../protocol/hook-entries.ts'
import type { InstallRecord } from '../schemas/install-record.ts'
import type { Refused } from '../store/check-folder.ts'
import { checkCompiledConfig, compiledConfigPath, readCompiledConfig } from '../store/compiled-config.ts'
import { type InstallRecordRead, installRecordPath, ownFileCopy, readInstallRecord } from '../store/install-record.ts'
import { putFile } from '../store/put-file.ts'
import { readRegular } from '../store/read-regular.ts'
import { removePath } from '../store/remove-path.ts'
import { reviewDir } from '../store/review-paths.ts'
import { sha256 } from '../store/sha256.ts'
import { readSettingsBaseline } from '../store/worktree-baseline.ts'
import type { GitDirs } from '../system/git-dirs.ts'
import { isPassing } from '../system/system-failure.ts'
import { type FileThreat, findThreats } from './find-threats.ts'
import { loadCompiler } from './load-compiler.ts'

/** A path of the control plane that is not as it must be; `putBack` is null where nothing is known to put back. */
export type Damage = { readonly path: string; readonly why: string | null; readonly putBack: PutBack | null }
type PutBack = () => void | Promise<void>

/** `unread`: what nobody can tell of now. It was not altered for that, and the next look may tell. */
export type DamageFound = { readonly damage: readonly Damage[]; readonly unread: readonly string[] }

/** Looks at all of it, and changes nothing. */
export function findTamperedFiles(root: string, { own: gitDir, mainRoot }: GitDirs): DamageFound {
  const unread: string[] = []
  const isUnread = (refused: Refused): boolean => {
    if (!isPassing(refused.errno)) return false
    unread.push(refused.why)
    return true
  }
  const record = readInstallRecord(gitDir)
  if (record.kind === 'absent' && !wasRecorded(root)) return { damage: [], unread }
  if (record.kind === 'refused' && isUnread(record)) return { damage: [], unread }
  const damage = [
    ...(record.kind === 'read'
      ? [...damagedFiles(root, gitDir, record.value, isUnread), ...strangeCaches(root, record.value)]
      : [lost(join(gitDir, installRecordPath), record.kind === 'refused' ? record.why : null)]),
    ...damagedConfig(root, gitDir, isUnread),
    ...damagedSettings(root, gitDir, findThreats(root, mainRoot, settingsIn(record)), isUnread),
  ]
  return { damage, unread }
}

/** Says the compiled configuration, which is compared next: whoever forges one file has to forge the other too. */
function wasRecorded(root: string): boolean {
  const compiled = readCompiledConfig(root)
  return compiled.kind === 'read' && compiled.value.recorded
}

const settingsIn = (record: InstallRecordRead): InstallRecord['settings'] | null =>
  record.kind === 'read' ? record.value.settings : null

const lost = (path: string, why: string | null): Damage => ({ path, why, putBack: null })

type IsUnread = (refused: Refused) => boolean

function damagedFiles(root: string, gitDir: string, record: InstallRecord, isUnread: IsUnread): Damage[] {
  return record.files.flatMap(({ path, sha256: digest, mode }) => {
    const found = readRegular(root, path)
    if (found.kind === 'read' && sha256(found.bytes) === digest) return []
    if (found.kind === 'refused' && isUnread(found)) return []
    const why = found.kind === 'refused' ? found.why : null
    const copy = readRegular(gitDir, ownFileCopy(digest))
    const bytes = copy.kind === 'read' ? inflateOrNull(copy.bytes) : null
    return bytes === null || sha256(bytes) !== digest
      ? [lost(path, copy.kind === 'refused' ? copy.why : why)]
      : [{ path, why, putBack: () => putWhole(root, path, bytes, mode) }]
  })
}

/** V8 runs what a code cache holds, whatever its program says; one that no install made is not ours. */
function strangeCaches(root: string, { files }: InstallRecord): Damage[] {
  const known = new Set(files.map(({ path }) => path))
  return cachedFiles
    .map((name) => `${hooksDir}/${name}.mjs.cache`)
    .filter((path) => !known.has(path) && readRegular(root, path).kind !== 'absent')
    .map((path) => ({ path, why: null, putBack: () => putWhole(root, path, null, 0o644) }))
}

/** A compiled configuration that nobody here wrote is made anew from plan-gate.yaml. */
function damagedConfig(root: string, gitDir: string, isUnread: IsUnread): Damage[] {
  const check = checkCompiledConfig(root, gitDir)
  if (check.kind === 'ours' || (check.kind === 'refused' && isUnread(check))) return []
  const putBack = async (): Promise<void> => {
    removePath(root, compiledConfigPath)
    const { recompileConfig } = await loadCompiler()
    recompileConfig(root)
  }
  return [{ path: compiledConfigPath, why: check.kind === 'refused' ? check.why : null, putBack }]
}

/** Only files of this worktree; those of the main checkout and the user's own are theirs, and `doctor` tells of them. */
function damagedSettings(root: string, gitDir: string, found: readonly FileThreat[], isUnread: IsUnread): Damage[] {
  const threats = new Map(found.map((threat) => [threat.file, threat]))
  const baseline = readSettingsBaseline(gitDir)
  return [...threats.values()]
    .filter(({ whose }) => whose === 'project' || whose === 'local')
    .flatMap(({ file, dir, path, refused = null }) => {
      if (refused !== null && isUnread(refused)) return []
      const why = refused === null ? null : refused.why
      const known = baseline.kind === 'read' ? baseline.value.files[file] : undefined
      if (known === undefined) return [lost(file, baseline.kind === 'refused' ? baseline.why : why)]
      const putBack = (): void => {
        keepReplaced(root, dir, path)
        putWhole(dir, path, known === null ? null : Buffer.from(known), 0o644)
      }
      return [{ path: file, why, putBack }]
    })
}

/** Nothing that somebody wrote is lost: what was replaced lies beside the reviews. */
function keepReplaced(root: string, dir: string, path: string): void {
  const found = readRegular(dir, path)
  if (found.kind !== 'read') return
  const name = `${new Date().toISOString().replace(/[:.]/g, '-')}-${path.slice(path.lastIndexOf('/') + 1)}`
  putFile(root, `${reviewDir}/replaced/${name}`, found.bytes, 0o600)
}

/** A link, a folder or a pipe that was put in the place of a file goes; null takes the file away. */
function putWhole(root: string, path: string, bytes: Buffer | null, mode: number): void {
  const found = readRegular(root, path)
  if (found.kind === 'refused' || bytes === null) removePath(root, path)
  if (bytes !== null) putFile(root, path, bytes, mode)
}

function inflateOrNull(bytes: Buffer): Buffer | null {
  try {
    return process.getBuiltinModule('node:zlib').inflateRawSync(bytes, { maxOutputLength: 16 * 1024 * 1024 })
  } catch {
    return null
  }
}
