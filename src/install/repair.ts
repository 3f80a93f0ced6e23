import { join, posix } from 'node:path'
import {
  checkCompiledConfig,
  loadCompiler,
  pendingConfig,
  pendingNotice,
  readCompiledConfig,
} from '../config/compiled-config.ts'
import type { InstallRecord } from '../schemas/records.ts'
import { readApproval, revokeApproval } from '../state/approval.ts'
import { endCycle, withLock } from '../state/cycles.ts'
import { putFile, type Refused, readRegular, removePath, sweepTemporaries } from '../state/files.ts'
import { appendEvent } from '../state/ledger.ts'
import {
  bundleNames,
  bundlePath,
  cachedFiles,
  compiledConfigPath,
  configFile,
  gitDirFolder,
  hooksDir,
  ignorePath,
  installRecordPath,
  localSettings,
  ownSkillDirs,
  ownSkillFiles,
  planPath,
  reviewDir,
  sandboxDir,
  settingsFiles,
} from '../state/own-paths.ts'
import {
  fileSignature,
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
import { type FileThreat, findThreats, readThreats } from './settings.ts'

/** A tampered path of the control plane, and whether it was restored. */
type Restored = { path: string; outcome: 'restored' | 'could not be restored'; why: string | null }

/** `unread`: files that cannot be read now. `unrecorded`: why the ledger has no event of it. */
type ControlPlane = { restored: readonly Restored[]; unread: readonly string[]; unrecorded: string | null }

/**
 * After a command: checks the gate's own files, and the settings that refer to them. If they were changed, the approval
 * ends (the plan did not ask for that) and an event is recorded before anything is restored: after a crash, restored
 * files would show no trace of it. `configChanged`: `plan-gate.yaml` changed while the command ran.
 */
export async function restoreControlPlane(root: string, gitDirs: GitDirs, configChanged: boolean) {
  const signature = fileSignature(watchedFiles(root, gitDirs))
  if (isUnchangedSinceCheck(gitDirs.own, 'own-files', signature)) return { restored: [], unread: [], unrecorded: null }
  const { tampered, unread } = findTamperedFiles(root, gitDirs, configChanged)
  if (tampered.length === 0) {
    if (unread.length === 0) recordCheck(gitDirs.own, 'own-files', signature)
    return { restored: [], unread, unrecorded: null }
  }
  const approvalProblem = readApproval(root).kind === 'absent' ? null : await endApproval(root)
  // A ledger that cannot be written does not keep anything from being restored.
  const record = (): Promise<string | null> =>
    problemOf(() => appendEvent(root, { type: 'control-plane-restored', paths: tampered.map(({ path }) => path) }))
  const first = await record()
  const restored: Restored[] = []
  for (const { path, why, restore } of tampered) {
    const problem = restore === null ? why : await problemOf(restore)
    if (restore === null || problem !== null) restored.push({ path, outcome: 'could not be restored', why: problem })
    else restored.push({ path, outcome: 'restored', why })
  }
  return { restored, unread, unrecorded: approvalProblem ?? (first === null ? null : await record()) }
}

async function problemOf(act: () => void | Promise<void>): Promise<string | null> {
  try {
    await act()
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Works also while a review holds the lock for minutes, or with a full disk. Returns why the ledger has no event of it. */
async function endApproval(root: string): Promise<string | null> {
  const why = 'a command changed the control plane of the gate'
  const problem = await problemOf(async () => {
    const held = await withLock(root, () => endCycle(root, why), { waitMs: 10_000 })
    if (held.kind === 'busy') await revokeApproval(root, why)
  })
  if (problem !== null && readApproval(root).kind !== 'absent') await revokeApproval(root, why)
  return problem
}

/** Everything that is compared. Unless one of them was touched since the last check, nothing is read. */
const watchedFiles = (root: string, { own, mainRoot }: GitDirs): string[] => [
  ...bundleNames.map((name) => join(root, bundlePath(name))),
  ...cachedFiles.map((name) => join(root, hooksDir, `${name}.mjs.cache`)),
  ...[...ownSkillFiles, ...settingsFiles, compiledConfigPath, configFile].map((path) => join(root, path)),
  join(mainRoot ?? root, localSettings),
  join(own, installRecordPath),
]

export function describeControlPlane({ restored, unread, unrecorded }: ControlPlane): string[] {
  const altered = [
    'plan-gate: the command changed the control plane of the gate:',
    ...restored.map(({ path, outcome, why }) => `  ${path}: ${outcome}${why === null ? '' : ` (${why})`}`),
    'Any approval has ended. Stop here and tell the user; `plan-gate doctor` shows the state of the gate.',
    ...(unrecorded === null ? [] : [`This could not be recorded: ${unrecorded}`]),
  ]
  const unknown = [
    'plan-gate: the control plane of the gate could not be checked, because some files cannot be read now:',
    ...unread.map((why) => `  ${why}`),
    'Tell the user before you go on; `plan-gate doctor` shows the state of the gate.',
  ]
  return [...(restored.length === 0 ? [] : [altered]), ...(unread.length === 0 ? [] : [unknown])].map((lines) =>
    lines.join('\n'),
  )
}

/** `restore` is null if its content is unknown. */
type TamperedFile = { readonly path: string; readonly why: string | null; readonly restore: Restore | null }
type Restore = () => void | Promise<void>

/** `unread`: files that cannot be read now, which does not make them tampered. Changes nothing. */
function findTamperedFiles(root: string, { own: gitDir, mainRoot }: GitDirs, configChanged: boolean) {
  const unread: string[] = []
  const isUnread = (refused: Refused): boolean => isTransient(refused.errno) && unread.push(refused.why) > 0
  const record = readInstallRecord(gitDir)
  if (record.kind === 'absent' && !isInstallExpected(root)) return { tampered: [], unread }
  if (record.kind === 'refused' && isUnread(record)) return { tampered: [], unread }
  const installed = record.kind === 'read' ? record.value : null
  const threats = findThreats(root, mainRoot, installed?.settings ?? null)
  const tampered = [
    ...(installed === null
      ? [irreparable(join(gitDir, installRecordPath), record.kind === 'refused' ? record.why : null)]
      : tamperedInstallFiles(root, gitDir, installed, isUnread)),
    ...tamperedConfig(root, gitDir, isUnread),
    ...(configChanged ? changedConfigFile(root, gitDir) : []),
    ...tamperedSettings(root, gitDir, threats, isUnread),
  ]
  return { tampered, unread }
}

/** By the compiled configuration, which is checked next: an attacker would have to forge both. */
function isInstallExpected(root: string): boolean {
  const compiled = readCompiledConfig(root)
  return compiled.kind === 'read' && compiled.value.recorded
}

const irreparable = (path: string, why: string | null): TamperedFile => ({ path, why, restore: null })

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
      ? [irreparable(path, copy.kind === 'refused' ? copy.why : why)]
      : [{ path, why, restore: () => replaceFile(root, path, bytes, mode) }]
  })
}

/** A forged configuration is compiled again from the text that counts. */
function tamperedConfig(root: string, gitDir: string, isUnread: IsUnread): TamperedFile[] {
  const check = checkCompiledConfig(root, gitDir)
  if (check.kind === 'ours' || (check.kind === 'refused' && isUnread(check))) return []
  const restore = async (): Promise<void> => {
    removePath(root, compiledConfigPath)
    const { restoreConfig } = await loadCompiler()
    restoreConfig(root)
  }
  return [{ path: compiledConfigPath, why: check.kind === 'refused' ? check.why : null, restore }]
}

function changedConfigFile(root: string, gitDir: string): TamperedFile[] {
  const pending = pendingConfig(root, gitDir)
  if (pending === null) return []
  const { counts } = pending
  const restore = (): void => {
    saveReplaced(root, root, configFile)
    replaceFile(root, configFile, counts === null ? null : Buffer.from(counts), 0o644)
  }
  return [{ path: configFile, why: null, restore }]
}

/** Once for each change of `plan-gate.yaml` that was made between tool calls. */
export function pendingConfigNotice(root: string, gitDir: string): string | null {
  const signature = fileSignature([join(root, configFile)])
  if (isUnchangedSinceCheck(gitDir, 'config', signature)) return null
  recordCheck(gitDir, 'config', signature)
  const pending = pendingConfig(root, gitDir)
  return pending === null ? null : `plan-gate: ${pendingNotice(pending)}`
}

/** Only files of this worktree. `doctor` reports those of the main checkout and of the user. */
function tamperedSettings(root: string, gitDir: string, found: readonly FileThreat[], isUnread: IsUnread) {
  const threats = new Map(found.map((threat) => [threat.file, threat]))
  const baseline = readSettingsBaseline(gitDir)
  return [...threats.values()]
    .filter(({ whose }) => whose === 'project' || whose === 'local')
    .flatMap(({ file, dir, path, refused = null }) => {
      if (refused !== null && isUnread(refused)) return []
      const why = refused === null ? null : refused.why
      const known = baseline.kind === 'read' ? baseline.value.files[file] : undefined
      if (known === undefined) return [irreparable(file, baseline.kind === 'refused' ? baseline.why : why)]
      const restore = (): void => {
        saveReplaced(root, dir, path)
        replaceFile(dir, path, known === null ? null : Buffer.from(known), 0o644)
      }
      return [{ path: file, why, restore }]
    })
}

/** Beside the reviews, so that nothing of the user's is lost. Returns where. */
export function saveReplaced(root: string, dir: string, path: string): string {
  const found = readRegular(dir, path)
  const name = `${new Date().toISOString().replace(/[:.]/g, '-')}-${path.slice(path.lastIndexOf('/') + 1)}`
  const copy = `${reviewDir}/replaced/${name}`
  if (found.kind === 'read') putFile(root, copy, found.bytes, 0o600)
  return copy
}

/** Also replaces a link, a folder or a pipe; null removes the file. */
function replaceFile(root: string, path: string, bytes: Buffer | null, mode: number): void {
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

/** Saves the settings files as a baseline to restore them from, unless one of them is a threat to the gate. */
export function rememberSettings(root: string): void {
  const gitDirs = readGitDirs(root)
  if (gitDirs === null || readThreats(root).some(({ whose }) => whose !== 'user')) return
  const { mainRoot } = gitDirs
  const files = [
    ...settingsFiles.map((path) => [root, path] as const),
    ...(mainRoot === null || mainRoot === root ? [] : [[mainRoot, localSettings] as const]),
  ]
  const texts = files.map(([dir, path]) => ({ path: join(dir, path), read: readRegular(dir, path) }))
  // Absent files are null in the baseline and removed when restored, so unreadable ones must not count as absent.
  if (texts.some(({ read }) => read.kind === 'refused')) return
  writeSettingsBaseline(gitDirs.own, {
    files: Object.fromEntries(
      texts.map(({ path, read }) => [path, read.kind === 'read' ? read.bytes.toString('utf8') : null]),
    ),
  })
}

/** Removes temporary files of killed hooks; in folders of the user, only those named after a file of ours. */
export function sweepLeftovers(root: string, { own, common }: GitDirs): void {
  for (const folder of [...['', '/closed', '/files', '/launches'].map((name) => `${gitDirFolder}${name}`), sandboxDir])
    sweepTemporaries(own, folder)
  sweepTemporaries(common, gitDirFolder)
  for (const folder of [reviewDir, `${reviewDir}/replaced`, hooksDir, ...ownSkillDirs]) sweepTemporaries(root, folder)
  for (const path of [planPath, ...settingsFiles, ignorePath])
    sweepTemporaries(root, posix.dirname(path), posix.basename(path))
}
