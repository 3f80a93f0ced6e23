import { existsSync, lstatSync, readdirSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { reflectSettings } from '../config/reflect-settings.ts'
import type { EffectiveConfig } from '../config/schema.ts'
import type { InstallRecord } from '../schemas/records.ts'
import { ensureReviewDir, putFile, readRegular, sha256, sweepTemporaries, throwIfUnreadable } from '../state/files.ts'
import { appendEvent } from '../state/ledger.ts'
import { holdLock } from '../state/lock.ts'
import { reviewPaths } from '../state/own-paths.ts'
import {
  installRecordPath,
  ownFileCopy,
  readInstallRecord,
  readRepositoryBaseline,
  writeInstallRecord,
  writeRepositoryBaseline,
} from '../state/records.ts'
import { UserError, unlessAbsent } from '../system/errors.ts'
import { type GitDirs, readGitDirs } from '../system/git.ts'
import { readRepositorySetup } from '../system/git-state.ts'
import { packageRoot, packageVersion } from '../system/package.ts'
import { findRepository } from '../system/repository.ts'
import { checkReviewer, type Reviewer } from './check-reviewer.ts'
import { recompileConfig } from './compile-config.ts'
import { type ProgressListener, readConfigIn, step } from './context.ts'
import type { HookEntries } from './hook-entries.ts'
import {
  foldersOf,
  type InstallOptions,
  type InstallPlan,
  ignorePath,
  ownFiles,
  planInstall,
  type Survey,
  surveyInstall,
  toBase64,
} from './plan.ts'
import { assertPrerequisites, checkGit, checkNode, checkSettings } from './prerequisites.ts'
import { rememberSettings, sweepLeftovers } from './repair.ts'
import { selfTest, type Trial } from './self-test.ts'
import { readThreats } from './settings-audit.ts'

export type InstalledHere = { kind: 'dry-run' | 'installed'; root: string; plan: InstallPlan }

/** The checkout that a folder belongs to. */
export async function findCheckout(cwd: string): Promise<{ root: string; gitDirs: GitDirs }> {
  const { checkout } = await findRepository(cwd)
  const gitDirs = checkout === null ? null : readGitDirs(checkout)
  if (checkout !== null && gitDirs !== null) return { root: checkout, gitDirs }
  throw new UserError(
    'This is a bare repository: it has no checkout to work in.',
    'Open a worktree of it: plan-gate bootstrap --name <name>.',
  )
}

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
  prove: () => Promise<Trial[]>
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

async function prove(root: string, plan: InstallPlan): Promise<Trial[]> {
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

/**
 * Makes our block in the repository's `info/exclude` name just what its worktrees have installed now. All worktrees
 * share the file, so it is rewritten under a lock from their records, and goes away with the last of them.
 */
export async function refreshExcludes({ common }: GitDirs): Promise<void> {
  const rewrite = (): void => {
    sweepTemporaries(common, 'info', 'exclude')
    rewriteExclude(common)
  }
  const held = await holdLock(join(common, 'plan-gate-exclude.lock'), rewrite, { waitMs: 30_000 })
  if (held.kind === 'busy')
    throw new UserError(
      `${join(common, 'info/exclude')} was being changed for 30 s by another plan-gate.`,
      'Try again when that has ended.',
      1,
    )
}

function rewriteExclude(common: string): void {
  const read = readRegular(common, 'info/exclude')
  if (read.kind === 'refused')
    throw new UserError(
      `plan-gate cannot hide its files from git: ${read.why}.`,
      'Make it a plain file, then try again.',
    )
  // latin1 keeps every byte of a file in an encoding of its own.
  const text = read.kind === 'read' ? read.bytes.toString('latin1') : null
  const wanted = withExcludeBlock(text, livePatterns(common))
  if (wanted === text) return
  if (wanted === null) return removeExclude(common)
  const mode = text === null ? 0o644 : statSync(join(common, 'info/exclude')).mode & 0o7777
  putFile(common, 'info/exclude', Buffer.from(wanted, 'latin1'), mode)
}

function livePatterns(common: string): string[] {
  const worktrees = join(common, 'worktrees')
  const names = unlessAbsent(() => readdirSync(worktrees), [])
  const gitDirs = [common, ...names.map((name) => join(worktrees, name))]
  const patterns = gitDirs.flatMap((gitDir) => {
    const record = readInstallRecord(gitDir)
    // What it hides would show up there.
    throwIfUnreadable(join(gitDir, installRecordPath), record)
    return record.kind === 'read' ? record.value.excluded : []
  })
  return [...new Set(patterns)].sort()
}

function removeExclude(common: string): void {
  rmSync(join(common, 'info/exclude'), { force: true })
  if (readdirSync(join(common, 'info')).length === 0) rmdirSync(join(common, 'info'))
}

const begin = '# >>> plan-gate: its files in a worktree, so that they do not show up in `git status`'
const end = '# <<< plan-gate'

/** Which notes the block carries, so that taking it out gives back the very bytes that stood here before. */
type Origin = 'plain' | 'line-end-added' | 'file-created'

const markOf: { readonly [origin in Origin]: string } = {
  plain: '',
  'line-end-added': ' (the line end before this is ours)',
  'file-created': ' (the file is ours)',
}

/** `info/exclude` with our block holding these patterns; null stands for a file that is not there. */
function withExcludeBlock(text: string | null, patterns: readonly string[]): string | null {
  const bare = withoutExcludeBlock(text)
  if (patterns.length === 0) return bare
  const origin: Origin =
    bare === null ? 'file-created' : bare === '' || bare.endsWith('\n') ? 'plain' : 'line-end-added'
  const block = [`${begin}${markOf[origin]}`, ...patterns, end, ''].join('\n')
  return `${bare ?? ''}${origin === 'line-end-added' ? '\n' : ''}${block}`
}

function withoutExcludeBlock(text: string | null): string | null {
  if (text === null) return null
  const start = text.indexOf(begin)
  const stop = text.indexOf(`\n${end}\n`, start)
  if (start === -1 || stop === -1) return text
  const mark = text.slice(start + begin.length, text.indexOf('\n', start))
  const head = text.slice(0, mark === markOf['line-end-added'] ? start - 1 : start)
  const rest = head + text.slice(stop + end.length + 2)
  return rest === '' && mark === markOf['file-created'] ? null : rest
}
