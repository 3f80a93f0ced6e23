import { existsSync, lstatSync } from 'node:fs'
import { join } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { reflectSettings } from '../config/environment.ts'
import type { EffectiveConfig } from '../config/schema.ts'
import { setUpSandbox } from '../gate/sandbox/set-up.ts'
import { recordFirstBaseline } from '../gate/working-tree.ts'
import type { InstallRecord } from '../schemas/records.ts'
import { ensureFolder, ensureReviewDir, putFile, readRegular, removePath } from '../state/files.ts'
import { registerGate } from '../state/gates.ts'
import { appendEvent } from '../state/ledger.ts'
import { gitDirFolder, ignorePath, reviewPaths, settingsFiles } from '../state/own-paths.ts'
import {
  readRepositoryBaseline,
  storedFilePath,
  writeInstallRecord,
  writeRepositoryBaseline,
} from '../state/records.ts'
import { recordStartCommand } from '../state/start-command.ts'
import { UserError } from '../system/errors.ts'
import type { GitDirs } from '../system/git-dirs.ts'
import { packageRoot, packageVersion } from '../system/package.ts'
import { findCheckout } from '../system/repository.ts'
import { readRepositorySetup } from '../system/repository-setup.ts'
import { sha256 } from '../system/sha256.ts'
import { asRecord } from '../text/json.ts'
import { readConfigIn, recompileConfig } from './compile-config.ts'
import { refreshExcludes } from './excludes.ts'
import { ownFiles } from './own-files.ts'
import {
  foldersOf,
  fromBase64,
  type InstallOptions,
  type InstallPlan,
  marginSeconds,
  planInstall,
  type Survey,
  surveyInstall,
  toBase64,
} from './plan.ts'
import {
  assertPrerequisites,
  checkGit,
  checkNode,
  checkReviewer,
  checkSettings,
  inInstall,
  type ProgressListener,
  type Reviewer,
  selfTestStep,
  step,
} from './prerequisites.ts'
import { rememberSettings, saveReplaced, sweepLeftovers } from './repair.ts'
import { selfTest } from './self-test.ts'
import {
  findThreatsIn,
  formatSettings,
  parseSettings,
  readThreats,
  type Settings,
  settingsThreats,
} from './settings.ts'

export type InstalledHere = { kind: 'dry-run' | 'installed'; root: string; gitDirs: GitDirs; plan: InstallPlan }

/** Installs into the current checkout, without a worktree of its own. */
export async function installHere(
  cwd: string,
  choices: Choices & { dryRun: boolean },
  onProgress: ProgressListener,
): Promise<InstalledHere> {
  await assertPrerequisites(onProgress, [checkNode(), await checkGit()])
  const { root, gitDirs } = await findCheckout(cwd)
  const config = readConfigIn(root)
  const survey = await surveyInstall(root, gitDirs)
  await assertPrerequisites(onProgress, [
    inInstall(
      await checkReviewer(choices.reviewer ?? (survey.record?.reviewer as Reviewer | undefined) ?? null, config),
    ),
    ...checkSettings(root),
  ])
  if (choices.dryRun) return { kind: 'dry-run', root, gitDirs, plan: (await planFor(survey, choices)).plan }
  const installed = await step(
    onProgress,
    'install',
    root,
    () => installWorktree(root, gitDirs, choices),
    ({ record }) => `${record.files.length} files, ${record.settings.path}`,
  )
  reportInstalled(installed, onProgress)
  recordFirstBaseline(root, gitDirs)
  await selfTestStep(onProgress, installed.prove)
  return { kind: 'installed', root, gitDirs, plan: installed.plan }
}

export type Choices = { reviewer: Reviewer | null; reflect: boolean; track?: boolean; config?: string | null }

export type Installed = Awaited<ReturnType<typeof installWorktree>>

export function installOptions(choices: Choices, config: EffectiveConfig): InstallOptions {
  if (choices.reflect && choices.reviewer === 'checklist')
    throw new UserError(
      '--reflect needs a reviewer that reads code, which the checklist does not.',
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

/** Options of an earlier install apply unless overridden. */
async function planFor(survey: Survey, choices: Choices) {
  const { record } = survey
  const merged: Choices = {
    reviewer: choices.reviewer ?? (record?.reviewer as Reviewer | null | undefined) ?? null,
    reflect: choices.reflect || (record?.reflect ?? false),
    track: choices.track ?? record?.track ?? false,
    config: choices.config ?? record?.config ?? null,
  }
  const config = readConfigIn(survey.root, merged.config)
  const options = installOptions(merged, config)
  return { merged, config, options, plan: planInstall(survey, await ownFiles(options, survey), options) }
}

/** Installs or repairs. */
export async function installWorktree(root: string, gitDirs: GitDirs, choices: Choices) {
  const found = await surveyInstall(root, gitDirs)
  const repaired = repairSettings(root, found)
  const survey = repaired.length === 0 ? found : await surveyInstall(root, gitDirs)
  const { merged, config, options, plan } = await planFor(survey, choices)
  const record = await applyInstall(root, gitDirs, plan, { ...options, reflect: merged.reflect }, survey.record)
  const sandbox = await setUpSandbox(root, gitDirs, config.gate.sandbox)
  return { plan, record, entries: plan.entries, sandbox, repaired, prove: () => prove(root, gitDirs, record) }
}

/** What an install has done besides, or could not do. */
export function reportInstalled({ sandbox, repaired }: Installed, onProgress: ProgressListener): void {
  for (const { path, copy } of repaired)
    onProgress({ event: 'notice', detail: `${path} was written anew, for the gate to hold; what it was is in ${copy}` })
  onProgress(
    sandbox.kind === 'fails'
      ? { event: 'notice', detail: `sandbox: none, so the list of commands that only read decides: ${sandbox.why}` }
      : {
          event: 'done',
          step: 'sandbox',
          detail: sandbox.rehearsal ? 'proven' : 'proven; no rehearsals',
          ms: sandbox.ms,
        },
  )
}

/** Runs the self-test and returns the number of its checks. Throws if the gate does not hold. */
async function prove(root: string, gitDirs: GitDirs, record: InstallRecord): Promise<number> {
  const threat = readThreats(root).find(({ whose }) => whose !== 'user')
  if (threat !== undefined)
    throw new UserError(`The installed gate does not hold: ${threat.file}: ${threat.what}.`, threat.remedy, 1)
  const { checks, problems } = await selfTest(root, record.settings)
  if (problems.length === 0) {
    registerGate(root, gitDirs, record)
    return checks
  }
  throw new UserError(
    `The installed gate does not hold: ${problems.join('; ')}.`,
    'Do not start Claude Code here. Run `plan-gate doctor`; if it finds nothing, report this as a bug.',
    1,
  )
}

/** First the record, last the settings that refer to the files: the next run or `uninstall` finishes it. */
async function applyInstall(
  root: string,
  gitDirs: GitDirs,
  plan: InstallPlan,
  options: InstallOptions,
  previous: InstallRecord | null,
): Promise<InstallRecord> {
  sweepLeftovers(root, gitDirs)
  // The sandbox protects what is there: the user's consent, which may come later.
  ensureFolder(gitDirs.common, gitDirFolder)
  const record = recordOf(root, plan, options, previous)
  writeInstallRecord(gitDirs.own, record)
  recordStartCommand(root, gitDirs.own, packageRoot())
  await refreshExcludes(gitDirs)
  if (plan.ignore !== null) putFile(root, ignorePath, plan.ignore, 0o644)
  keepCopies(gitDirs.own, plan)
  for (const file of plan.files)
    if (file.change !== 'the repository has it') putFile(root, file.path, file.bytes, file.mode)
  ensureReviewDir(root)
  recompileConfig(root)
  if (plan.settings.after !== plan.settings.current)
    putFile(root, plan.settings.path, Buffer.from(plan.settings.after), record.settings.before_mode ?? 0o644)
  for (const { path } of previous?.files ?? [])
    if (!record.files.some((file) => file.path === path)) removePath(root, path)
  rememberSettings(root)
  // Written once: a later install must not accept changes to git's configuration since the first.
  if (readRepositoryBaseline(gitDirs.own).kind !== 'read')
    writeRepositoryBaseline(gitDirs.own, readRepositorySetup(root, gitDirs))
  if (previous?.complete !== true || previous.package_version !== record.package_version)
    await appendEvent(root, { type: 'installed', version: record.package_version })
  // Last: after a crash before this, the next run repeats everything.
  const done = { ...record, complete: true }
  writeInstallRecord(gitDirs.own, done)
  return done
}

/** Compressed copies in the git directory, for `restoreControlPlane`. */
function keepCopies(gitDir: string, plan: InstallPlan): void {
  for (const { bytes } of plan.files) {
    const path = storedFilePath(sha256(bytes))
    if (readRegular(gitDir, path).kind !== 'read') putFile(gitDir, path, deflateRawSync(bytes), 0o600)
  }
}

function recordOf(root: string, plan: InstallPlan, options: InstallOptions, previous: InstallRecord | null) {
  const { settings } = plan
  const own = plan.files.filter((file) => file.change !== 'the repository has it')
  const created = foldersOf([...own.map((file) => file.path), settings.path, reviewPaths.ledger]).filter(
    (folder) => !existsSync(join(root, folder)),
  )
  return {
    version: 1 as const,
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
      brought_env: JSON.stringify(plan.broughtEnv),
    },
    files: plan.files.map(({ path, bytes, mode }) => ({ path, sha256: sha256(bytes), mode })),
    created_dirs: [...new Set([...(previous?.created_dirs ?? []), ...created])],
    excluded: plan.excluded,
  }
}

function modeBefore(root: string, path: string, previous: InstallRecord | null): number | null {
  if (previous?.settings.path === path) return previous.settings.before_mode
  const found = lstatSync(join(root, path), { throwIfNoEntry: false })
  return found === undefined ? null : found.mode & 0o7777
}

/** What holds is kept; the text before stays in `.claude/review/replaced`. Returns what was rewritten, and its copy. */
function repairSettings(root: string, { record, isTracked }: Survey): { path: string; copy: string }[] {
  if (record === null) return []
  return settingsFiles.flatMap((path) => {
    const read = readRegular(root, path)
    if (read.kind !== 'read' || isTracked(path)) return []
    const text = read.bytes.toString('utf8')
    const skips = settingsThreats(text, { kind: 'others', installed: {} }, false).some(({ skipsFile }) => skipsFile)
    if (!skips && findThreatsIn(text).length === 0) return []
    const isOurs = record.settings.path === path
    const copy = saveReplaced(root, root, path)
    const kept = keepWhatHolds(text) ?? (isOurs ? fromBase64(record.settings.after) : null)
    if (kept === null) removePath(root, path)
    else putFile(root, path, kept, record.settings.before_mode ?? 0o644)
    return [{ path, copy }]
  })
}

/** Without each entry that would keep the gate from holding; null: it is no JSON. */
function keepWhatHolds(text: string): string | null {
  const parsed = parseSettings(text)
  if (parsed.kind === 'invalid') return null
  let { settings } = parsed
  const keepIfSafer = (other: Settings): void => {
    if (threatsIn(other) < threatsIn(settings)) settings = other
  }
  for (const key of Object.keys(settings)) {
    for (const inner of Object.keys(asRecord(settings[key])))
      keepIfSafer({ ...settings, [key]: without(asRecord(settings[key]), inner) })
    keepIfSafer(without(settings, key))
  }
  return formatSettings(settings, text)
}

const threatsIn = (settings: Settings): number => findThreatsIn(JSON.stringify(settings)).length

const without = (settings: Settings, key: string): Settings =>
  Object.fromEntries(Object.entries(settings).filter(([name]) => name !== key))
