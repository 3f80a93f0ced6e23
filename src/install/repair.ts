import { join, posix } from 'node:path'
import { checkCompiledConfig, loadCompiler, readCompiledConfig } from '../config/compiled-config.ts'
import type { InstallRecord } from '../schemas/records.ts'
import { readApproval, revokeApproval } from '../state/approval.ts'
import { endCycle, withLock } from '../state/cycles.ts'
import { putFile, type Refused, readRegular, removePath, sweepTemporaries } from '../state/files.ts'
import { appendEvent } from '../state/ledger.ts'
import {
  compiledConfigPath,
  gitDirFolder,
  hooksDir,
  installRecordPath,
  ownSkills,
  planPath,
  reviewDir,
} from '../state/own-paths.ts'
import {
  fileSignature,
  type InstallRecordRead,
  isUnchangedSinceCheck,
  readInstallRecord,
  readSettingsBaseline,
  recordCheck,
  storedFilePath,
  writeSettingsBaseline,
} from '../state/records.ts'
import { isTransient } from '../system/errors.ts'
import { type GitDirs, readGitDirs } from '../system/git-dirs.ts'
import { sha256 } from '../system/sha256.ts'
import { bundleNames, cachedFiles } from './hook-entries.ts'
import { type FileThreat, findThreats, readThreats } from './settings-audit.ts'

/** A path of the control plane that was not as it must be, and what became of it. */
type Restored = { path: string; what: 'put back' | 'could not be put back'; why: string | null }

/** `unrecorded`: why it could not be put on record. */
type ControlPlane = { restored: readonly Restored[]; unread: readonly string[]; unrecorded: string | null }

/**
 * After a command: are the gate's own files, and the settings that name them, still whole? The approval ends (whoever
 * changes the gate has not followed the plan) and the record says so before anything is put back: whole again, it would
 * not tell the next look that there is something to end.
 */
export async function restoreControlPlane(root: string, gitDirs: GitDirs): Promise<ControlPlane> {
  const signature = fileSignature(filesToSee(root, gitDirs))
  if (isUnchangedSinceCheck(gitDirs.own, 'own-files', signature)) return { restored: [], unread: [], unrecorded: null }
  const { tampered, unread } = findTamperedFiles(root, gitDirs)
  if (tampered.length === 0) {
    if (unread.length === 0) recordCheck(gitDirs.own, 'own-files', signature)
    return { restored: [], unread, unrecorded: null }
  }
  const unended = readApproval(root).kind === 'absent' ? null : await endApproval(root)
  const record = (): Promise<string | null> => recordRestored(root, tampered)
  const first = await record()
  const restored: Restored[] = []
  for (const each of tampered) restored.push(await restore(each))
  return { restored, unread, unrecorded: unended ?? (first === null ? null : await record()) }
}

async function recordRestored(root: string, damage: readonly TamperedFile[]): Promise<string | null> {
  try {
    await appendEvent(root, { type: 'control-plane-restored', paths: damage.map(({ path }) => path) })
    return null
  } catch (error) {
    // What can be put back is put back all the same, and told.
    return messageOf(error)
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Neither a review that holds the lock for minutes nor a full disk must keep the approval alive. Returns what is not on record. */
async function endApproval(root: string): Promise<string | null> {
  const why = 'a command changed what decides whether the gate holds'
  try {
    const held = await withLock(root, () => endCycle(root, why), { waitMs: 10_000 })
    if (held.kind === 'busy') await revokeApproval(root, why)
    return null
  } catch (error) {
    if (readApproval(root).kind !== 'absent') await revokeApproval(root, why)
    return messageOf(error)
  }
}

async function restore({ path, why, putBack: act }: TamperedFile): Promise<Restored> {
  if (act === null) return { path, what: 'could not be put back', why }
  try {
    await act()
    return { path, what: 'put back', why }
  } catch (error) {
    return { path, what: 'could not be put back', why: messageOf(error) }
  }
}

/** Whatever is compared: while none of it was touched since it was last found whole, nothing is read. */
const filesToSee = (root: string, { own, mainRoot }: GitDirs): string[] => [
  ...bundleNames.map((name) => join(root, hooksDir, `${name}.mjs`)),
  ...cachedFiles.map((name) => join(root, hooksDir, `${name}.mjs.cache`)),
  ...ownSkills.map((name) => join(root, '.claude/skills', name, 'SKILL.md')),
  join(root, '.claude/settings.json'),
  join(root, '.claude/settings.local.json'),
  join(mainRoot ?? root, '.claude/settings.local.json'),
  join(root, compiledConfigPath),
  join(root, 'plan-gate.yaml'),
  join(own, installRecordPath),
]

/** What Claude and the user are told. */
export function describeControlPlane({ restored, unread, unrecorded }: ControlPlane): string[] {
  const altered = [
    'plan-gate: the command changed what decides whether the gate holds:',
    ...restored.map(({ path, what, why }) => `  ${path}: ${what}${why === null ? '' : ` (${why})`}`),
    'Any approval has ended. Stop here and tell the user; they can look with `plan-gate doctor`.',
    ...(unrecorded === null ? [] : [`This is not on record: ${unrecorded}`]),
  ]
  const unknown = [
    'plan-gate: whether the gate is whole is not known, because something of it cannot be read now:',
    ...unread.map((why) => `  ${why}`),
    'Tell the user before you go on; they can look with `plan-gate doctor`.',
  ]
  return [...(restored.length === 0 ? [] : [altered]), ...(unread.length === 0 ? [] : [unknown])].map((lines) =>
    lines.join('\n'),
  )
}

/** A path of the control plane that is not as it must be; `putBack` is null where nothing is known to put back. */
type TamperedFile = { readonly path: string; readonly why: string | null; readonly putBack: Restore | null }
type Restore = () => void | Promise<void>

/** `unread`: what nobody can tell of now. It was not altered for that, and the next look may tell. */
type Tampering = { readonly tampered: readonly TamperedFile[]; readonly unread: readonly string[] }

/** Looks at all of it, and changes nothing. */
function findTamperedFiles(root: string, { own: gitDir, mainRoot }: GitDirs): Tampering {
  const unread: string[] = []
  const isUnread = (refused: Refused): boolean => {
    if (!isTransient(refused.errno)) return false
    unread.push(refused.why)
    return true
  }
  const record = readInstallRecord(gitDir)
  if (record.kind === 'absent' && !wasRecorded(root)) return { tampered: [], unread }
  if (record.kind === 'refused' && isUnread(record)) return { tampered: [], unread }
  const tampered = [
    ...(record.kind === 'read'
      ? [...tamperedInstallFiles(root, gitDir, record.value, isUnread), ...unknownCaches(root, record.value)]
      : [lost(join(gitDir, installRecordPath), record.kind === 'refused' ? record.why : null)]),
    ...tamperedConfig(root, gitDir, isUnread),
    ...tamperedSettings(root, gitDir, findThreats(root, mainRoot, settingsIn(record)), isUnread),
  ]
  return { tampered, unread }
}

/** Says the compiled configuration, which is compared next: whoever forges one file has to forge the other too. */
function wasRecorded(root: string): boolean {
  const compiled = readCompiledConfig(root)
  return compiled.kind === 'read' && compiled.value.recorded
}

const settingsIn = (record: InstallRecordRead): InstallRecord['settings'] | null =>
  record.kind === 'read' ? record.value.settings : null

const lost = (path: string, why: string | null): TamperedFile => ({ path, why, putBack: null })

type IsUnread = (refused: Refused) => boolean

function tamperedInstallFiles(root: string, gitDir: string, record: InstallRecord, isUnread: IsUnread): TamperedFile[] {
  return record.files.flatMap(({ path, sha256: digest, mode }) => {
    const found = readRegular(root, path)
    if (found.kind === 'read' && sha256(found.bytes) === digest) return []
    if (found.kind === 'refused' && isUnread(found)) return []
    const why = found.kind === 'refused' ? found.why : null
    const copy = readRegular(gitDir, storedFilePath(digest))
    const bytes = copy.kind === 'read' ? inflateOrNull(copy.bytes) : null
    return bytes === null || sha256(bytes) !== digest
      ? [lost(path, copy.kind === 'refused' ? copy.why : why)]
      : [{ path, why, putBack: () => putWhole(root, path, bytes, mode) }]
  })
}

/** V8 runs what a code cache holds, whatever its program says; one that no install made is not ours. */
function unknownCaches(root: string, { files }: InstallRecord): TamperedFile[] {
  const known = new Set(files.map(({ path }) => path))
  return cachedFiles
    .map((name) => `${hooksDir}/${name}.mjs.cache`)
    .filter((path) => !known.has(path) && readRegular(root, path).kind !== 'absent')
    .map((path) => ({ path, why: null, putBack: () => putWhole(root, path, null, 0o644) }))
}

/** A compiled configuration that nobody here wrote is made anew from plan-gate.yaml. */
function tamperedConfig(root: string, gitDir: string, isUnread: IsUnread): TamperedFile[] {
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
function tamperedSettings(
  root: string,
  gitDir: string,
  found: readonly FileThreat[],
  isUnread: IsUnread,
): TamperedFile[] {
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

/**
 * Remembers the settings files while they leave the gate whole, so that a command which breaks them can be undone.
 * With a threat in one of them nothing is remembered: the older memory is the better one.
 */
export function rememberSettings(root: string): void {
  const gitDirs = readGitDirs(root)
  if (gitDirs === null || readThreats(root).some(({ whose }) => whose !== 'user')) return
  const main =
    gitDirs.mainRoot === null || gitDirs.mainRoot === root
      ? []
      : [[gitDirs.mainRoot, '.claude/settings.local.json'] as const]
  const files = [[root, '.claude/settings.json'] as const, [root, '.claude/settings.local.json'] as const, ...main]
  const texts = files.map(([dir, path]) => ({ path: join(dir, path), read: readRegular(dir, path) }))
  // null means that there was none, and a file that comes later is taken away for it.
  if (texts.some(({ read }) => read.kind === 'refused')) return
  writeSettingsBaseline(gitDirs.own, {
    files: Object.fromEntries(
      texts.map(({ path, read }) => [path, read.kind === 'read' ? read.bytes.toString('utf8') : null]),
    ),
  })
}

/** What hooks that were killed left half written. Where the user's files stand, only what bears the name of one of ours. */
export function sweepLeftovers(root: string, { own }: GitDirs): void {
  for (const folder of [gitDirFolder, `${gitDirFolder}/files`]) sweepTemporaries(own, folder)
  for (const folder of [
    reviewDir,
    `${reviewDir}/replaced`,
    hooksDir,
    ...ownSkills.map((name) => `.claude/skills/${name}`),
  ])
    sweepTemporaries(root, folder)
  for (const path of [planPath, '.claude/settings.json', '.claude/settings.local.json', '.claude/.gitignore'])
    sweepTemporaries(root, posix.dirname(path), posix.basename(path))
}
