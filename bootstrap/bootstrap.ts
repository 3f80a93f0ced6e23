import { join } from 'node:path'
import type { PlanState } from '../src/gate/plan-state.ts'
import { readPlanState } from '../src/gate/read-plan-state.ts'
import { installOptions, installWorktree } from '../src/install/apply.ts'
import { checkReviewer, type Reviewer } from '../src/install/check-reviewer.ts'
import { inheritedConfig, type ProgressListener, parseConfigOf, readConfigHere, step } from '../src/install/context.ts'
import { type InstallPlan, ownFiles, planInstall, surveyCommit, surveyInstall } from '../src/install/plan.ts'
import {
  assertPrerequisites,
  checkClaude,
  checkConfig,
  checkGit,
  checkNode,
  checkSettings,
} from '../src/install/prerequisites.ts'
import { hooksDir, ignorePath } from '../src/state/own-paths.ts'
import { endSessions } from '../src/state/sessions.ts'
import { UserError } from '../src/system/errors.ts'
import { readGitDirs } from '../src/system/git-dirs.ts'
import { findRepository, type Repository, resolveBase } from '../src/system/repository.ts'
import {
  claudeArgs,
  claudeSettings,
  copyIncluded,
  copyStrategy,
  findStrategy,
  launchClaude,
  nameFor,
  runSetup,
} from './steps.ts'
import { branchPrefix, openWorktree, planWorktree, recordOpened, type WorktreePlan, worktreeDir } from './worktree.ts'

export type BootstrapOptions = {
  strategy: string | null
  name: string | null
  branch: string | null
  base: string | null
  dir: string | null
  reviewer: Reviewer | null
  reflect: boolean
  /** Whether the commands of `worktree.setup` are run. */
  setup: boolean
  launch: boolean
  dryRun: boolean
  claudeFlags: readonly string[]
}

export type Bootstrapped =
  | { kind: 'dry-run'; worktree: string; branch: string | null }
  | { kind: 'ready'; worktree: string; branch: string | null; plan: PlanState; prompt: string }
  | { kind: 'ended'; worktree: string; branch: string | null; plan: PlanState; exitCode: number }

/**
 * From a repository to a Claude Code that cannot write code before its plan is approved. Everything that can be wrong
 * is looked at before the first change; every step may be cut short and is finished by the next run with the same name.
 */
export async function bootstrap(cwd: string, options: BootstrapOptions, tell: ProgressListener): Promise<Bootstrapped> {
  await assertPrerequisites(tell, [checkNode(), await checkGit()])
  const repository = await findRepository(cwd)
  const config = readConfigHere(repository)
  const strategy = findStrategy(cwd, options.strategy, repository.checkout)
  const base = options.base ?? config.worktree.base ?? 'HEAD'
  const commit = await resolveBase(repository, base)
  await assertPrerequisites(tell, [
    await checkClaude(options.launch),
    await checkReviewer(options.reviewer, config),
    ...checkSettings(repository.dir),
    ...checkConfig(config),
  ])

  const name = nameFor(options.name, strategy, new Date())
  const request = {
    name,
    dir: options.dir ?? worktreeDir(repository, config.worktree.dir, name),
    branch: options.branch ?? `${branchPrefix}${name}`,
    base: commit,
    branchIsGiven: options.branch !== null,
  }
  const carried = await inheritedConfig(repository, commit)
  const worktreePlan = await planWorktree(repository, request)
  if (options.dryRun) return dryRun(repository, worktreePlan, commit, options, tell)
  if (worktreePlan.kind !== 'reuse') await precheckInstall(repository, commit, options)

  const worktree = await step(
    tell,
    'worktree',
    worktreePlan.dir,
    () => openWorktree(repository, worktreePlan, commit),
    (dir) => (worktreePlan.kind === 'reuse' ? `${dir}, already there` : `${dir} on ${worktreePlan.branch}`),
  )
  const gitDirs = readGitDirs(worktree)
  if (gitDirs === null)
    throw new UserError(`${worktree} is no git worktree any more.`, 'Run the same bootstrap again.', 1)
  await recordOpened(repository, gitDirs.own, worktreePlan, { base, commit })
  const { checkout } = repository
  if (checkout !== null)
    await step(
      tell,
      'include',
      '.worktreeinclude',
      () => copyIncluded(checkout, worktree),
      (files) => `${files.length} files copied`,
    )
  const installed = await step(
    tell,
    'install',
    'hooks, skills and settings',
    () => installWorktree(worktree, gitDirs, { ...options, config: carried }),
    ({ record }) => `${record.files.length} files, ${record.settings.path}`,
  )
  const prompt = copyStrategy(worktree, strategy)
  await runSetup(worktree, gitDirs.own, options.setup ? config.worktree.setup : [], (command) =>
    tell({ event: 'started', step: 'setup', detail: command }),
  )
  await step(
    tell,
    'self-test',
    'the installed hooks',
    () => installed.prove(),
    (trials) => `${trials.length} canary events answered as they must be`,
  )

  const branch = worktreePlan.branch
  if (!options.launch) return { kind: 'ready', worktree, branch, plan: readPlanState(worktree), prompt }
  tell({ event: 'started', step: 'launch', detail: `claude ${JSON.stringify(prompt)}` })
  const launchedAt = new Date()
  const exitCode = await launchClaude(
    worktree,
    claudeArgs(prompt, claudeSettings(worktree, installed.entries), options.claudeFlags),
  )
  endSessions(worktree, launchedAt, new Date())
  return { kind: 'ended', worktree, branch, plan: readPlanState(worktree), exitCode }
}

/** What would stand in the way of the install later is found in the commit, while nothing has been created. */
async function precheckInstall(repository: Repository, commit: string, options: BootstrapOptions): Promise<void> {
  const survey = await surveyCommit(repository.dir, commit)
  const config = parseConfigOf(
    survey.read('plan-gate.yaml')?.toString('utf8') ?? '',
    `plan-gate.yaml of ${commit.slice(0, 8)}`,
  )
  const chosen = installOptions(options, config)
  planInstall(survey, await ownFiles({ ...chosen, track: true }, survey), chosen)
}

/** The same decisions, told instead of carried out. */
async function dryRun(
  repository: Repository,
  plan: WorktreePlan,
  commit: string,
  options: BootstrapOptions,
  tell: ProgressListener,
): Promise<Bootstrapped> {
  const gitDirs = plan.kind === 'reuse' ? readGitDirs(plan.dir) : null
  const survey =
    plan.kind === 'reuse' && gitDirs !== null
      ? await surveyInstall(plan.dir, gitDirs)
      : await surveyCommit(repository.dir, commit)
  const config = readConfigHere(repository)
  if (plan.kind !== 'reuse')
    tell({
      event: 'would',
      action: 'create',
      path: plan.dir,
      detail: `worktree on ${plan.newBranch ? 'the new branch' : 'the branch'} ${plan.branch}`,
    })
  const chosen = installOptions(options, config)
  const install = planInstall(survey, await ownFiles(chosen, survey), chosen)
  reportInstallPlan(install, plan.dir, tell)
  for (const command of options.setup ? config.worktree.setup : [])
    tell({ event: 'would', action: 'run', path: plan.dir, detail: command })
  return { kind: 'dry-run', worktree: plan.dir, branch: plan.branch }
}

/** What an install will do, a line for each file and setting. */
export function reportInstallPlan(install: InstallPlan, root: string, tell: ProgressListener): void {
  const words = { create: 'create', replace: 'change', keep: 'keep', 'the repository has it': 'keep' } as const
  for (const file of install.files)
    tell({
      event: 'would',
      action: words[file.change],
      path: join(root, file.path),
      detail: `${file.bytes.length} bytes`,
    })
  const isFirst = install.files.every((file) => file.change === 'create')
  for (const path of generatedFiles)
    tell({ event: 'would', action: isFirst ? 'create' : 'keep', path: join(root, path), detail: 'kept by plan-gate' })
  const { settings } = install
  const action = settings.current === null ? 'create' : settings.current === settings.after ? 'keep' : 'change'
  for (const event of Object.keys(install.entries))
    tell({ event: 'would', action, path: join(root, settings.path), detail: `hooks.${event}` })
  for (const rule of install.denied)
    tell({ event: 'would', action, path: join(root, settings.path), detail: `permissions.deny ${rule}` })
  if (install.statusLine !== null)
    tell({ event: 'would', action, path: join(root, settings.path), detail: 'statusLine' })
  if (install.ignore !== null)
    tell({
      event: 'would',
      action: settings.current === null ? 'create' : 'keep',
      path: join(root, ignorePath),
      detail: 'keeps the settings out of git status',
    })
  for (const line of install.excluded) tell({ event: 'would', action: 'change', path: 'info/exclude', detail: line })
}

/** The compiled configuration, and the beginning of the record. */
const generatedFiles = [`${hooksDir}/config.json`, '.claude/review/.gitignore', '.claude/review/events.jsonl']
