import { readThreats } from '../../src/hooks/read-threats.ts'
import type { HookEntries } from '../../src/protocol/hook-entries.ts'
import { reflectSettings } from '../../src/reflect/reflect-settings.ts'
import type { EffectiveConfig } from '../../src/schemas/config.ts'
import type { InstallRecord } from '../../src/schemas/install-record.ts'
import type { GitDirs } from '../../src/system/git-dirs.ts'
import { UserError } from '../../src/system/user-error.ts'
import type { Reviewer } from '../prerequisites/check-reviewer.ts'
import { readConfigIn } from '../read-config-here.ts'
import { selfTest, type Trial } from '../self-test.ts'
import { applyInstall } from './apply-install.ts'
import { ownFiles } from './own-files.ts'
import { type InstallOptions, type InstallPlan, planInstall } from './plan-install.ts'
import { surveyInstall } from './survey-install.ts'

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
