import { join } from 'node:path'
import type { EffectiveConfig } from '../config/schema.ts'
import { readThroughLinks } from '../gate/loaded-commands.ts'
import { localSettings } from '../state/own-paths.ts'
import { UserError } from '../system/errors.ts'
import { locateProgram } from '../system/find-program.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { runCommand } from '../system/run-command.ts'
import { type CheckResult, failed, isAtLeast, ok, parseVersion, warning } from './check-result.ts'
import type { ProgressListener } from './context.ts'
import { findThreatsIn, readThreats } from './settings-audit.ts'

/**
 * What a plan-gate.yaml runs on this machine, or allows before a plan is approved. It comes with the repository and takes
 * effect without a question, like the scripts of a package.json, so it is at least reported.
 */
export function checkConfig({ gate, hounfour, review, worktree }: EffectiveConfig): CheckResult[] {
  const usesHounfour =
    hounfour.flatline_routing || review.routes?.some(({ backend }) => backend === 'hounfour') === true
  const details = [
    ...(worktree.setup.length === 0 ? [] : [`runs in a new worktree: ${listed(worktree.setup)}`]),
    ...(gate.bash.allow.length === 0 ? [] : [`allows commands before an approval: ${listed(gate.bash.allow)}`]),
    ...(gate.tools.allow.length === 0 ? [] : [`allows tools before an approval: ${listed(gate.tools.allow)}`]),
    ...(usesHounfour && hounfour.model_invoke.includes('/') ? [`plans are reviewed by ${hounfour.model_invoke}`] : []),
    ...(review.routes?.some(({ backend }) => backend === 'checklist') === true
      ? ['the checklist may approve a plan; it checks form, not content']
      : []),
  ]
  return details.map((detail) => ok('plan-gate.yaml', detail))
}

const listed = (texts: readonly string[]): string => {
  const shown = texts.slice(0, 10).map((text) => (text.length > 200 ? `${text.slice(0, 200)}…` : text))
  return [...shown, ...(texts.length > 10 ? [`and ${texts.length - 10} more`] : [])].join(', ')
}

/**
 * Settings outside of the worktree that would switch its gate off. The main checkout's local file applies in each of its
 * worktrees. The user's own settings only get a warning.
 */
export function checkSettings(root: string): CheckResult[] {
  const mainRoot = readGitDirs(root)?.mainRoot ?? null
  const shared = mainRoot === null ? [] : threatsIn(join(mainRoot, localSettings))
  const own = readThreats(root).filter(({ whose }) => whose === 'user')
  return [
    ...shared.map(({ file, what, remedy }) => failed('settings', `${file}: ${what}`, remedy)),
    ...own.map(({ file, what, remedy }) => warning('settings', `${file}: ${what}`, remedy)),
  ]
}

function threatsIn(file: string) {
  const read = readThroughLinks(file)
  return findThreatsIn(read.kind === 'read' ? read.bytes.toString('utf8') : '').map((threat) => ({ ...threat, file }))
}

const minNode = [20, 19, 0] as const

/** For `rev-parse --path-format`, and for locked and prunable worktrees in `worktree list`. */
const minGit = [2, 31, 0] as const

/** The oldest version in the test suite. */
const minClaude = [2, 1, 200] as const

/** Since this version a hook that times out blocks (`onFailure`); before, only our own deadline prevents that. */
export const timeoutBlocksSince = [2, 1, 295] as const

export function checkNode(): CheckResult {
  const version = parseVersion(process.version) ?? [0, 0, 0]
  return isAtLeast(version, minNode)
    ? ok('node', `${process.version} at ${process.execPath}`)
    : failed('node', `${process.version} is too old`, `Install Node ${minNode.join('.')} or newer.`)
}

export async function checkGit(): Promise<CheckResult> {
  const program = locateProgram('git')
  const install = 'Install git (https://git-scm.com/downloads).'
  if (program.path === null) return failed('git', program.why, install)
  const version = await versionOf(program.path)
  if (typeof version === 'string') return failed('git', version, install)
  return isAtLeast(version, minGit)
    ? ok('git', version.join('.'))
    : failed('git', `${version.join('.')} is too old`, `Install git ${minGit.join('.')} or newer.`)
}

/** Only required if it is about to be launched: a session can also be started later, with another installation. */
export async function checkClaude(isRequired: boolean): Promise<CheckResult> {
  const install = 'Install it: npm i -g @anthropic-ai/claude-code'
  const program = locateProgram('claude')
  if (program.path === null)
    return isRequired
      ? failed('Claude Code', program.why, `${install}; or use --no-launch.`)
      : warning('Claude Code', program.why, install)
  const version = await versionOf(program.path)
  if (typeof version === 'string') return failed('Claude Code', version, install)
  const name = version.join('.')
  if (!isAtLeast(version, minClaude))
    return failed(
      'Claude Code',
      `${name} is too old`,
      `The gate is tested with ${minClaude.join('.')} and newer. Update: claude update`,
    )
  return isAtLeast(version, timeoutBlocksSince)
    ? ok('Claude Code', name)
    : warning(
        'Claude Code',
        `${name} allows a call whose hook times out`,
        `The gate has a shorter deadline of its own; from ${timeoutBlocksSince.join('.')} on Claude Code blocks by itself: claude update`,
      )
}

/** A string says why the version is unknown. */
async function versionOf(program: string): Promise<readonly [number, number, number] | string> {
  const outcome = await runCommand(program, ['--version'], { timeoutMs: 15_000 })
  switch (outcome.kind) {
    case 'ended':
      return (outcome.exitCode === 0 ? parseVersion(outcome.stdout) : null) ?? `${program} --version prints no version`
    case 'not-found':
      return `${program} cannot be started (ENOENT)`
    case 'not-started':
      return outcome.why
    case 'timed-out':
      return `${program} --version did not end within ${outcome.afterMs / 1000} s`
    case 'killed':
      return `${program} --version was killed by ${outcome.signal}`
  }
}

/** Reports each result, and throws for the first that failed: nothing has been created yet. */
export async function assertPrerequisites(
  onProgress: ProgressListener,
  results: readonly CheckResult[],
): Promise<void> {
  for (const result of results) onProgress({ event: 'prerequisite', ...result })
  const failure = results.find(({ status }) => status === 'failed')
  if (failure !== undefined)
    throw new UserError(`${failure.name}: ${failure.detail}.`, failure.remedy ?? 'See `plan-gate doctor`.')
}
