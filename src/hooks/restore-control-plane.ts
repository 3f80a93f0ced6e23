import { join } from 'node:path'
import { ownSkills } from '../gate/place-of.ts'
import { bundleNames, cachedFiles, hooksDir } from '../protocol/hook-entries.ts'
import type { InstallRecord } from '../schemas/install-record.ts'
import { appendEvent } from '../store/append-event.ts'
import { compiledConfigPath, isCompiledConfigOurs, readCompiledConfig } from '../store/compiled-config.ts'
import { endCycle } from '../store/end-cycle.ts'
import { installRecordPath, ownFileCopy, readInstallRecord } from '../store/install-record.ts'
import { putFile } from '../store/put-file.ts'
import { readApproval } from '../store/read-approval.ts'
import { readRegular } from '../store/read-regular.ts'
import { removePath } from '../store/remove-path.ts'
import { reviewDir } from '../store/review-paths.ts'
import { areAsSeen, rememberSeen, signatureOf } from '../store/seen-files.ts'
import { sha256 } from '../store/sha256.ts'
import { withLock } from '../store/with-lock.ts'
import { readSettingsBaseline } from '../store/worktree-baseline.ts'
import type { GitDirs } from '../system/git-dirs.ts'
import { loadCompiler } from './load-compiler.ts'
import { readThreats } from './read-threats.ts'

/** A path of the control plane that was not as it must be, and what became of it. */
export type Restored = { path: string; what: 'put back' | 'could not be put back' }

/**
 * After a command: are the gate's own files, and the settings that name them, still whole? What is not is put back, the
 * approval ends (whoever changes the gate has not followed the plan), and the record says so.
 */
export async function restoreControlPlane(root: string, gitDirs: GitDirs): Promise<Restored[]> {
  const signature = signatureOf(filesToSee(root, gitDirs))
  if (areAsSeen(gitDirs.own, 'own-files', signature)) return []
  const record = readInstallRecord(gitDirs.own)
  if (record.kind !== 'read' && !wasRecorded(root)) return []
  const restored = [
    ...(record.kind === 'read'
      ? [...restoreFiles(root, gitDirs.own, record.value), ...removeStrangeCaches(root, record.value)]
      : [{ path: join(gitDirs.own, installRecordPath), what: 'could not be put back' as const }]),
    ...(await restoreCompiled(root, gitDirs.own)),
    ...restoreSettings(root, gitDirs.own),
  ]
  if (restored.length === 0) {
    rememberSeen(gitDirs.own, 'own-files', signature)
    return []
  }
  if (readApproval(root).kind !== 'absent')
    await withLock(root, () => endCycle(root, { why: 'a command changed what decides whether the gate holds' }), {
      waitMs: 10_000,
    })
  await appendEvent(root, { type: 'control-plane-restored', paths: restored.map(({ path }) => path) })
  return restored
}

/** Whatever is compared below: while none of it was touched since it was last found whole, nothing is read. */
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

/** Says the compiled configuration, which is compared next: whoever forges one file has to forge the other too. */
function wasRecorded(root: string): boolean {
  const compiled = readCompiledConfig(root)
  return compiled.kind === 'read' && compiled.value.recorded
}

/** A compiled configuration that nobody here wrote is made anew from plan-gate.yaml. */
async function restoreCompiled(root: string, gitDir: string): Promise<Restored[]> {
  if (isCompiledConfigOurs(root, gitDir)) return []
  removePath(root, compiledConfigPath)
  const { recompileConfig } = await loadCompiler()
  recompileConfig(root)
  return [{ path: compiledConfigPath, what: 'put back' }]
}

function restoreFiles(root: string, gitDir: string, record: InstallRecord): Restored[] {
  return record.files.flatMap(({ path, sha256: digest, mode }) => {
    const found = readRegular(root, path)
    if (found.kind === 'read' && sha256(found.bytes) === digest) return []
    const copy = readRegular(gitDir, ownFileCopy(digest))
    const bytes = copy.kind === 'read' ? inflateOrNull(copy.bytes) : null
    return [
      {
        path,
        what:
          bytes !== null && sha256(bytes) === digest && putBack(root, path, bytes, mode)
            ? 'put back'
            : 'could not be put back',
      },
    ]
  })
}

/** V8 runs what a code cache holds, whatever its program says; one that no install made is not ours. */
function removeStrangeCaches(root: string, { files }: InstallRecord): Restored[] {
  const known = new Set(files.map(({ path }) => path))
  return cachedFiles
    .map((name) => `${hooksDir}/${name}.mjs.cache`)
    .filter((path) => !known.has(path) && readRegular(root, path).kind !== 'absent')
    .map((path) => ({ path, what: putBack(root, path, null, 0o644) ? 'put back' : 'could not be put back' }))
}

/** Only files of this worktree; those of the main checkout and the user's own are theirs, and `doctor` tells of them. */
function restoreSettings(root: string, gitDir: string): Restored[] {
  const threats = new Map(readThreats(root).map((threat) => [threat.file, threat]))
  const baseline = readSettingsBaseline(gitDir)
  return [...threats.values()]
    .filter(({ whose }) => whose === 'project' || whose === 'local')
    .map(({ file, dir, path }) => {
      const known = baseline.kind === 'read' ? baseline.value.files[file] : undefined
      if (known === undefined) return { path: file, what: 'could not be put back' }
      keepReplaced(root, dir, path)
      const done = putBack(dir, path, known === null ? null : Buffer.from(known), 0o644)
      return { path: file, what: done ? 'put back' : 'could not be put back' }
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
function putBack(root: string, path: string, bytes: Buffer | null, mode: number): boolean {
  try {
    const found = readRegular(root, path)
    if (found.kind === 'refused' || bytes === null) removePath(root, path)
    if (bytes !== null) putFile(root, path, bytes, mode)
    return true
  } catch {
    return false
  }
}

function inflateOrNull(bytes: Buffer): Buffer | null {
  try {
    return process.getBuiltinModule('node:zlib').inflateRawSync(bytes, { maxOutputLength: 16 * 1024 * 1024 })
  } catch {
    return null
  }
}

/** What Claude and the user are told. */
export const describeRestored = (restored: readonly Restored[]): string =>
  [
    'plan-gate: the command changed what decides whether the gate holds:',
    ...restored.map(({ path, what }) => `  ${path}: ${what}`),
    'Any approval has ended. Stop here and tell the user; they can look with `plan-gate doctor`.',
  ].join('\n')
