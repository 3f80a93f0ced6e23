import { existsSync, lstatSync } from 'node:fs'
import { join } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { recompileConfig } from '../../src/hooks/compile-config.ts'
import { rememberSettings } from '../../src/hooks/settings-baseline.ts'
import { sweepLeftovers } from '../../src/hooks/sweep-leftovers.ts'
import type { InstallRecord } from '../../src/schemas/install-record.ts'
import { appendEvent } from '../../src/store/append-event.ts'
import { ensureReviewDir } from '../../src/store/ensure-review-dir.ts'
import { ownFileCopy, writeInstallRecord } from '../../src/store/install-record.ts'
import { putFile } from '../../src/store/put-file.ts'
import { readRegular } from '../../src/store/read-regular.ts'
import { reviewPaths } from '../../src/store/review-paths.ts'
import { sha256 } from '../../src/store/sha256.ts'
import { readRepositoryBaseline, writeRepositoryBaseline } from '../../src/store/worktree-baseline.ts'
import type { GitDirs } from '../../src/system/git-dirs.ts'
import { packageRoot, packageVersion } from '../../src/system/package-files.ts'
import { readRepositorySetup } from '../../src/system/read-repository-setup.ts'
import { foldersOf } from './own-folders.ts'
import { type InstallOptions, type InstallPlan, ignorePath, toBase64 } from './plan-install.ts'
import { refreshExcludes } from './refresh-excludes.ts'

/**
 * Carries out a plan in an order that may stop anywhere: first the record of what was there, then the files, and the
 * settings that point at them last. Whatever is cut short is finished by the next run, or undone by `uninstall`.
 */
export async function applyInstall(
  root: string,
  gitDirs: GitDirs,
  plan: InstallPlan,
  options: InstallOptions,
  previous: InstallRecord | null,
): Promise<InstallRecord> {
  sweepLeftovers(root, gitDirs)
  const record = recordOf(root, plan, options, previous)
  writeInstallRecord(gitDirs.own, record)
  await refreshExcludes(gitDirs)
  if (plan.ignore !== null) putFile(root, ignorePath, plan.ignore, 0o644)
  keepCopies(gitDirs.own, plan)
  for (const file of plan.files)
    if (file.change !== 'the repository has it') putFile(root, file.path, file.bytes, file.mode)
  ensureReviewDir(root)
  recompileConfig(root)
  if (plan.settings.after !== plan.settings.current)
    putFile(root, plan.settings.path, Buffer.from(plan.settings.after), record.settings.before_mode ?? 0o644)
  rememberSettings(root)
  // What can make git run a program is the user's own as it is now; a later install does not forgive what came since.
  if (readRepositoryBaseline(gitDirs.own).kind !== 'read')
    writeRepositoryBaseline(gitDirs.own, readRepositorySetup(root, gitDirs))
  if (previous?.complete !== true || previous.package_version !== record.package_version)
    await appendEvent(root, { type: 'installed', version: record.package_version })
  // Complete is what has nothing left to do: a crash in between has the next run do it all again.
  const done = { ...record, complete: true }
  writeInstallRecord(gitDirs.own, done)
  return done
}

/** Out of the worktree, deflated: what `restoreControlPlane` puts back from. */
function keepCopies(gitDir: string, plan: InstallPlan): void {
  for (const { bytes } of plan.files) {
    const path = ownFileCopy(sha256(bytes))
    if (readRegular(gitDir, path).kind !== 'read') putFile(gitDir, path, deflateRawSync(bytes), 0o600)
  }
}

function recordOf(
  root: string,
  plan: InstallPlan,
  options: InstallOptions,
  previous: InstallRecord | null,
): InstallRecord {
  const { settings } = plan
  const own = plan.files.filter((file) => file.change !== 'the repository has it')
  const created = foldersOf([...own.map((file) => file.path), settings.path, reviewPaths.ledger]).filter(
    (folder) => !existsSync(join(root, folder)),
  )
  return {
    version: 1,
    package_version: packageVersion(),
    package_root: packageRoot(),
    installed_at: new Date().toISOString(),
    complete: false,
    track: options.track,
    reviewer: options.reviewer,
    reflect: options.reflect,
    config: options.config,
    settings: {
      path: settings.path,
      before: settings.before === null ? null : toBase64(settings.before),
      before_mode: modeBefore(root, settings.path, previous),
      after: toBase64(settings.after),
      denied: plan.denied,
    },
    files: plan.files.map(({ path, bytes, mode }) => ({
      path,
      sha256: sha256(bytes),
      mode,
    })),
    created_dirs: [...new Set([...(previous?.created_dirs ?? []), ...created])],
    excluded: plan.excluded,
  }
}

function modeBefore(root: string, path: string, previous: InstallRecord | null): number | null {
  if (previous?.settings.path === path) return previous.settings.before_mode
  const found = lstatSync(join(root, path), { throwIfNoEntry: false })
  return found === undefined ? null : found.mode & 0o7777
}
