import { join } from 'node:path'
import { defaultConfig, type EffectiveConfig } from '../src/config/schema.ts'
import type { PlanState } from '../src/gate/plan-state.ts'
import { readPlanState } from '../src/gate/read-plan-state.ts'
import { checkDrift, readWorkingTree, rebaseline } from '../src/gate/working-tree.ts'
import { installOptions, installWorktree, reportInstalled } from '../src/install/apply.ts'
import { parseConfigOf, readConfigIn } from '../src/install/compile-config.ts'
import { ownFiles } from '../src/install/own-files.ts'
import { type InstallPlan, planInstall, surveyCommit, surveyInstall } from '../src/install/plan.ts'
import {
  assertPrerequisites,
  checkClaude,
  checkConfig,
  checkGit,
  checkNode,
  checkReviewer,
  checkSettings,
  type ProgressLine,
  type ProgressListener,
  type Reviewer,
  selfTestStep,
  step,
} from '../src/install/prerequisites.ts'
import { prefixVariable } from '../src/install/settings.ts'
import { readRegular } from '../src/state/files.ts'
import { compiledConfigPath, configFile, ignorePath, reviewPaths } from '../src/state/own-paths.ts'
import { readOpenedWorktree, writeOpenedWorktree } from '../src/state/records.ts'
import { UserError } from '../src/system/errors.ts'
import { gitOrNull } from '../src/system/git.ts'
import { readGitDirs } from '../src/system/git-dirs.ts'
import { findRepository, type Repository, resolveBase } from '../src/system/repository.ts'
import { pluralize } from '../src/text/clean.ts'
import { type Ask, askTrust, assertFlags, type Ended, openCommand, start, startWith } from './launch.ts'
import {
  copiedStrategy,
  copyIncluded,
  copyStrategy,
  describeLeftBehind,
  filesToInclude,
  findStrategy,
  hasInclude,
  nameFor,
  runSetup,
  type Strategy,
  strategyPath,
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
  setup: boolean
  launch: boolean
  allowOldClient: boolean
  dryRun: boolean
  /** Load what the repository brings without a question. */
  trust: boolean
  ask: Ask
  claudeFlags: readonly string[]
}

export type Bootstrapped =
  | { kind: 'dry-run'; worktree: string; branch: string | null }
  | { kind: 'ready'; worktree: string; branch: string | null; plan: PlanState; prompt: string; command: string }
  | Ended

/** Prerequisites are checked before the first change; an interrupted run is finished by the next one of that name. */
export async function bootstrap(
  cwd: string,
  options: BootstrapOptions,
  onProgress: ProgressListener,
): Promise<Bootstrapped> {
  assertFlags(options.claudeFlags)
  await assertPrerequisites(onProgress, [checkNode(), await checkGit()])
  const repository = await findRepository(cwd)
  const config = readConfigHere(repository)
  const strategy = findStrategy(cwd, options.strategy, repository.checkout)
  const base = options.base ?? config.worktree.base ?? 'HEAD'
  const commit = await resolveBase(repository, base)
  await assertPrerequisites(onProgress, [
    await checkClaude({ isRequired: options.launch, allowOld: options.allowOldClient }),
    await checkReviewer(options.reviewer, config),
    ...checkSettings(repository.dir),
    ...checkConfig(config),
  ])

  const name = nameFor(options.name, strategy, new Date())
  const request = {
    dir: options.dir ?? worktreeDir(repository, config.worktree.dir, name),
    branch: options.branch ?? `${branchPrefix}${name}`,
    branchIsGiven: options.branch !== null,
  }
  const inherited = await inheritedConfig(repository, commit)
  const planned = await planWorktree(repository, request)
  const left =
    planned.kind === 'reuse' || repository.checkout === null
      ? null
      : await describeLeftBehind(repository.checkout, strategy)
  if (left !== null) onProgress({ event: 'notice', detail: left })
  if (options.dryRun) return dryRun(repository, planned, commit, strategy, options, onProgress)
  if (planned.kind !== 'reuse') await precheckInstall(repository, commit, options)

  const opened = await step(
    onProgress,
    'worktree',
    planned.dir,
    () => openWorktree(repository, request, commit),
    ({ kind, dir, branch }) => (kind === 'reuse' ? `${dir} (reused)` : `${dir} on ${branch}`),
  )
  const { dir: worktree, branch } = opened
  const gitDirs = readGitDirs(worktree)
  if (gitDirs === null)
    throw new UserError(`${worktree} is not a git worktree any more.`, 'Run the same bootstrap again.', 1)
  await recordOpened(repository, gitDirs.own, opened, { base, commit })
  const hadDrift = checkDrift(gitDirs.own, readWorkingTree(worktree, gitDirs)).kind === 'found'
  const { checkout } = repository
  if (checkout !== null && hasInclude(checkout))
    await step(
      onProgress,
      'include',
      '.worktreeinclude',
      () => copyIncluded(checkout, worktree),
      (files) => `${pluralize(files.length, 'file')} copied`,
    )
  const installed = await step(
    onProgress,
    'install',
    'hooks, skills and settings',
    () => installWorktree(worktree, gitDirs, { ...options, config: inherited }),
    ({ record }) => `${record.files.length} files, ${record.settings.path}`,
  )
  reportInstalled(installed, onProgress)
  const document = strategy === null ? null : copyStrategy(worktree, strategy)
  if (document !== null) rememberRequest(gitDirs.own, document)
  await runSetup(worktree, gitDirs.own, options.setup ? config.worktree.setup : [], (command) =>
    onProgress({ event: 'started', step: 'setup', detail: command }),
  )
  // After all that bootstrap itself has put there. Drift of an earlier session stays drift.
  if (!hadDrift) rebaseline(gitDirs.own, readWorkingTree(worktree, gitDirs))
  await selfTestStep(onProgress, installed.prove)

  const begin = startWith(worktree, document ?? requestOf(gitDirs.own), options.claudeFlags)
  const trust = await askTrust(worktree, gitDirs, options, onProgress)
  if (options.launch) return start(worktree, gitDirs, branch, trust, begin, onProgress)
  return {
    kind: 'ready',
    worktree,
    branch,
    plan: readPlanState(worktree),
    prompt: begin.prompt ?? '',
    command: openCommand(worktree),
  }
}

/** The configuration of the current checkout; without one, or in a bare repository, the defaults. */
const readConfigHere = ({ checkout }: Repository): EffectiveConfig =>
  checkout === null ? defaultConfig : readConfigIn(checkout)

/** The checkout's file if it is not committed, and so would not be in a new worktree. */
async function inheritedConfig({ checkout, dir }: Repository, commit: string): Promise<string | null> {
  const read = checkout === null ? null : readRegular(checkout, configFile)
  if (read?.kind !== 'read') return null
  const isCommitted = (await gitOrNull(dir, ['cat-file', '-e', `${commit}:${configFile}`])) !== null
  return isCommitted ? null : read.bytes.toString('utf8')
}

const requestOf = (gitDir: string): string | null => {
  const opened = readOpenedWorktree(gitDir)
  return opened.kind === 'read' ? (opened.value.request ?? null) : null
}

/** `open` continues with the document of the last bootstrap. */
function rememberRequest(gitDir: string, request: string): void {
  const opened = readOpenedWorktree(gitDir)
  if (opened.kind === 'read') writeOpenedWorktree(gitDir, { ...opened.value, request })
}

/** Finds in the commit what would make the install fail, before anything is created. */
async function precheckInstall(repository: Repository, commit: string, options: BootstrapOptions): Promise<void> {
  const survey = await surveyCommit(repository.dir, commit)
  const config = parseConfigOf(
    survey.read('plan-gate.yaml')?.toString('utf8') ?? '',
    `plan-gate.yaml of ${commit.slice(0, 8)}`,
  )
  const chosen = installOptions(options, config)
  planInstall(survey, await ownFiles({ ...chosen, track: true }, survey), chosen)
}

/** Reports the same decisions instead of carrying them out. */
async function dryRun(
  repository: Repository,
  plan: WorktreePlan,
  commit: string,
  strategy: Strategy | null,
  options: BootstrapOptions,
  onProgress: ProgressListener,
): Promise<Bootstrapped> {
  const gitDirs = plan.kind === 'reuse' ? readGitDirs(plan.dir) : null
  const survey =
    plan.kind === 'reuse' && gitDirs !== null
      ? await surveyInstall(plan.dir, gitDirs)
      : await surveyCommit(repository.dir, commit)
  const config = readConfigHere(repository)
  if (plan.kind !== 'reuse')
    onProgress({
      event: 'would',
      action: 'create',
      path: plan.dir,
      detail: `worktree on ${plan.newBranch ? 'the new branch' : 'the branch'} ${plan.branch}`,
    })
  const chosen = installOptions(options, config)
  const install = planInstall(survey, await ownFiles(chosen, survey), chosen)
  reportInstallPlan(install, plan.dir, onProgress)
  const create = (path: string, detail: string): void =>
    onProgress({ event: 'would', action: 'create', path: join(plan.dir, path), detail })
  if (strategy !== null && strategyPath(strategy, survey.read) === copiedStrategy)
    create(copiedStrategy, `a copy of ${strategy.path}`)
  const { checkout } = repository
  const included = checkout === null ? [] : await filesToInclude(checkout, plan.kind === 'reuse' ? plan.dir : null)
  for (const path of included) create(path, 'copied, because .worktreeinclude names it')
  for (const command of options.setup ? config.worktree.setup : [])
    onProgress({ event: 'would', action: 'run', path: plan.dir, detail: command })
  return { kind: 'dry-run', worktree: plan.dir, branch: plan.branch }
}

export function reportInstallPlan(install: InstallPlan, root: string, onProgress: ProgressListener): void {
  type Action = Extract<ProgressLine, { event: 'would' }>['action']
  const report = (action: Action, path: string, detail: string): void =>
    onProgress({ event: 'would', action, path, detail })
  const actions = { create: 'create', replace: 'change', keep: 'keep', 'the repository has it': 'keep' } as const
  const { files, settings } = install
  for (const { change, path, bytes } of files) report(actions[change], join(root, path), `${bytes.length} bytes`)
  const isFirst = files.every((file) => file.change === 'create')
  for (const path of generatedFiles) report(isFirst ? 'create' : 'keep', join(root, path), 'kept by plan-gate')
  const action = settings.current === null ? 'create' : settings.current === settings.after ? 'keep' : 'change'
  const entries = [
    ...Object.keys(install.entries).map((event) => `hooks.${event}`),
    ...install.denied.map((rule) => `permissions.deny ${rule}`),
    ...(install.statusLine === null ? [] : ['statusLine']),
    ...(install.wraps ? [`env.${prefixVariable}`] : []),
  ]
  for (const entry of entries) report(action, join(root, settings.path), entry)
  if (install.ignore !== null)
    report(
      settings.current === null ? 'create' : 'keep',
      join(root, ignorePath),
      'keeps the settings out of git status',
    )
  for (const line of install.excluded) report('change', 'info/exclude', line)
}

const generatedFiles = [compiledConfigPath, reviewPaths.ignore, reviewPaths.ledger]
