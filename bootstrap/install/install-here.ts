import type { EffectiveConfig } from '../../src/schemas/config.ts'
import { type GitDirs, readGitDirs } from '../../src/system/git-dirs.ts'
import { UserError } from '../../src/system/user-error.ts'
import { findRepository } from '../find-repository.ts'
import { checkReviewer } from '../prerequisites/check-reviewer.ts'
import { checkSettings } from '../prerequisites/check-settings.ts'
import { checkGit, checkNode } from '../prerequisites/check-tools.ts'
import { assertPrerequisites } from '../prerequisites/require-all.ts'
import { type ProgressListener, step } from '../progress.ts'
import { readConfigIn } from '../read-config-here.ts'
import { type Choices, installOptions, installWorktree } from './install-worktree.ts'
import { ownFiles } from './own-files.ts'
import { type InstallPlan, planInstall, type Survey } from './plan-install.ts'
import { surveyInstall } from './survey-install.ts'

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
