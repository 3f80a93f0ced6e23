import { existsSync, lstatSync } from 'node:fs'
import { join } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { reflectSettings } from '../config/environment.ts'
import type { EffectiveConfig } from '../config/schema.ts'
import type { InstallRecord } from '../schemas/records.ts'
import { ensureReviewDir, putFile, readRegular } from '../state/files.ts'
import { appendEvent } from '../state/ledger.ts'
import { ignorePath, reviewPaths } from '../state/own-paths.ts'
import {
  readRepositoryBaseline,
  storedFilePath,
  writeInstallRecord,
  writeRepositoryBaseline,
} from '../state/records.ts'
import { UserError } from '../system/errors.ts'
import type { GitDirs } from '../system/git-dirs.ts'
import { packageRoot, packageVersion } from '../system/package.ts'
import { findCheckout } from '../system/repository.ts'
import { readRepositorySetup } from '../system/repository-setup.ts'
import { sha256 } from '../system/sha256.ts'
import { checkReviewer, type Reviewer } from './check-reviewer.ts'
import { recompileConfig } from './compile-config.ts'
import { type ProgressListener, readConfigIn, step } from './context.ts'
import { refreshExcludes } from './excludes.ts'
import type { HookEntries } from './hook-entries.ts'
import {
  foldersOf,
  type InstallOptions,
  type InstallPlan,
  ownFiles,
  planInstall,
  type Survey,
  surveyInstall,
  toBase64,
} from './plan.ts'
import { assertPrerequisites, checkGit, checkNode, checkSettings } from './prerequisites.ts'
import { rememberSettings, sweepLeftovers } from './repair.ts'
import { type CanaryResult, selfTest } from './self-test.ts'
import { readThreats } from './settings-audit.ts'

export type InstalledHere = { kind: 'dry-run' | 'installed'; root: string; plan: InstallPlan }

/** The gate in a checkout as it is, without a worktree of its own. */
export async function installHere(
  cwd: string,
  choices: Choices & { dryRun: boolean },
  tell: ProgressListener,
): Promise<InstalledHere> {
  await assertPrerequisites(tell, [checkNode(), await checkGit()])
  const { root, gitDirs } = await findCheckout(cwd)
  const config = readConfigIn(root)
  const survey = await surveyInstall(root, gitDirs)
  await assertPrerequisites(tell, [
    await checkReviewer(
      choices.reviewer ?? (survey.record?.reviewer as Choices['reviewer'] | undefined) ?? null,
      config,
    ),
    ...checkSettings(root),
  ])
  if (choices.dryRun) return { kind: 'dry-run', root, plan: await planHere(survey, choices, config) }
  const installed = await step(
    tell,
    'install',
    root,
    () => installWorktree(root, gitDirs, choices),
    ({ record }) => `${record.files.length} files, ${record.settings.path}`,
  )
  await step(
    tell,
    'self-test',
    'the installed hooks',
    () => installed.prove(),
    (trials) => `${trials.length} canary events answered as they must be`,
  )
  return { kind: 'installed', root, plan: installed.plan }
}

async function planHere(survey: Survey, choices: Choices, config: EffectiveConfig): Promise<InstallPlan> {
  const options = installOptions(choices, config)
  return planInstall(survey, await ownFiles(options, survey), options)
}

export type Choices = { reviewer: Reviewer | null; reflect: boolean; track?: boolean; config?: string | null }

export type Installed = {
  plan: InstallPlan
  record: InstallRecord
  entries: HookEntries
  /** Runs the canaries; throws when the gate does not answer as it must. */
  prove: () => Promise<CanaryResult[]>
}

/** The hook's time-out is the review's deadline and a margin in which it can still answer. */
export const marginSeconds = 60

export function installOptions(choices: Choices, config: EffectiveConfig): InstallOptions {
  if (choices.reflect && choices.reviewer === 'checklist')
    throw new UserError(
      '--reflect needs a reviewer that reads code, and the checklist does not.',
      'Leave --reflect out, or choose another reviewer: --reviewer codex.',
    )
  return {
    track: choices.track ?? false,
    reviewer: choices.reviewer,
    config: choices.config ?? null,
    reflect: choices.reflect || reflectSettings(config, process.env) !== null,
    node: process.execPath,
    planTimeoutSeconds: config.plan.deadline_seconds + marginSeconds,
  }
}

/** Installs or repairs; what an earlier install chose stays unless this one says otherwise. */
export async function installWorktree(root: string, gitDirs: GitDirs, choices: Choices): Promise<Installed> {
  const survey = await surveyInstall(root, gitDirs)
  const kept: Choices = {
    reviewer: choices.reviewer ?? (survey.record?.reviewer as Reviewer | null | undefined) ?? null,
    reflect: choices.reflect || (survey.record?.reflect ?? false),
    track: choices.track ?? survey.record?.track ?? false,
    config: choices.config ?? survey.record?.config ?? null,
  }
  const options = installOptions(kept, readConfigIn(root, kept.config))
  const plan = planInstall(survey, await ownFiles(options, survey), options)
  const record = await applyInstall(root, gitDirs, plan, { ...options, reflect: kept.reflect }, survey.record)
  return { plan, record, entries: plan.entries, prove: () => prove(root, plan) }
}

async function prove(root: string, plan: InstallPlan): Promise<CanaryResult[]> {
  const threat = readThreats(root).find(({ whose }) => whose !== 'user')
  if (threat !== undefined)
    throw new UserError(`The installed gate does not hold: ${threat.file}: ${threat.what}.`, threat.remedy, 1)
  const trials = await selfTest(root, plan.settings.path)
  const wrong = trials.filter((trial) => !trial.passed)
  if (wrong.length === 0) return trials
  throw new UserError(
    `The installed gate does not hold: ${wrong.map((trial) => `${trial.name} was ${trial.detail}`).join('; ')}.`,
    'Do not start Claude Code here. Run `plan-gate doctor`; if it finds nothing, please report this.',
    1,
  )
}

/**
 * Carries out a plan in an order that may stop anywhere: first the record of what was there, then the files, and the
 * settings that point at them last. Whatever is cut short is finished by the next run, or undone by `uninstall`.
 */
async function applyInstall(
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
    const path = storedFilePath(sha256(bytes))
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
