import { compileConfig } from '../../src/hooks/compile-config.ts'
import { readThreats } from '../../src/hooks/read-threats.ts'
import type { EffectiveConfig } from '../../src/schemas/config.ts'
import { type InstallRecordRead, readInstallRecord } from '../../src/store/install-record.ts'
import type { GitDirs } from '../../src/system/git-dirs.ts'
import { checkConfig } from '../prerequisites/check-config.ts'
import { checkReviewer, type Reviewer } from '../prerequisites/check-reviewer.ts'
import { checkClaude, checkGit, checkNode } from '../prerequisites/check-tools.ts'
import { type CheckResult, failed, ok } from '../prerequisites/row.ts'
import { selfTest } from '../self-test.ts'
import { checkDeadline } from './check-deadline.ts'
import { checkEnvironment } from './check-environment.ts'
import { checkForeign } from './check-foreign.ts'
import { checkInstalledFiles } from './check-installed-files.ts'
import { checkSessions } from './check-sessions.ts'
import { checkTrust } from './check-trust.ts'

/** Everything that could keep the gate from holding, a row each, with its remedy. Changes nothing. */
export async function examine(root: string, gitDirs: GitDirs): Promise<CheckResult[]> {
  const compiled = compileConfig(root)
  const config = compiled.config as unknown as EffectiveConfig
  const record = readInstallRecord(gitDirs.own)
  const reviewer = record.kind === 'read' ? (record.value.reviewer as Reviewer | null) : null
  const tools = [checkNode(), await checkGit(), await checkClaude(false), await checkReviewer(reviewer, config)]
  const configuration = compiled.problems.map((problem) => failed('plan-gate.yaml', problem, 'Mend that line.'))
  return [
    ...tools,
    ...configuration,
    // Routes that `--reviewer` chose are no doing of the file.
    ...checkConfig(reviewer === null ? config : { ...config, review: { ...config.review, routes: [] } }),
    ...checkEnvironment(process.env),
    ...(await checkInstall(root, gitDirs, record, config)),
    checkTrust(gitDirs.mainRoot ?? root),
  ]
}

async function checkInstall(
  root: string,
  gitDirs: GitDirs,
  record: InstallRecordRead,
  config: EffectiveConfig,
): Promise<CheckResult[]> {
  if (record.kind === 'absent')
    return [
      failed(
        'install',
        `there is no gate in ${root}`,
        'Run `plan-gate install` here, or `plan-gate bootstrap` for a worktree of its own.',
      ),
    ]
  if (record.kind === 'refused')
    return [failed('install', record.why, 'Run `plan-gate uninstall`, then `plan-gate install`.')]
  const threats = readThreats(root).map(({ file, what, remedy, whose }) =>
    failed(`settings (${whose})`, `${file}: ${what}`, remedy),
  )
  const files = checkInstalledFiles(root, record.value)
  const settings = record.value.settings.path
  return [
    ...files,
    ...(await checkForeign(root, gitDirs)),
    ...(threats.length > 0 ? threats : [ok('settings', 'nothing in them switches the gate off')]),
    ...checkDeadline(root, record.value, config.plan.deadline_seconds),
    ...(await tryCanaries(root, settings)),
    ...checkSessions(root, record.value),
  ]
}

async function tryCanaries(root: string, settings: string): Promise<CheckResult[]> {
  const trials = await selfTest(root, settings).catch((error: Error) => error)
  if (trials instanceof Error)
    return [failed('self-test', trials.message, 'Run `plan-gate install` to put things back.')]
  const wrong = trials.filter((trial) => !trial.passed)
  if (wrong.length === 0) return [ok('self-test', `${trials.length} canary events answered as they must be`)]
  return wrong.map((trial) =>
    failed('self-test', `${trial.name} was ${trial.detail}`, 'Run `plan-gate install` to put things back.'),
  )
}

export const worst = (rows: readonly CheckResult[]): CheckResult['status'] =>
  rows.some((row) => row.status === 'failed')
    ? 'failed'
    : rows.some((row) => row.status === 'warning')
      ? 'warning'
      : 'ok'
