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
 * What a plan-gate.yaml has run on this machine or lets through before a plan is approved. It comes with the repository,
 * like the scripts of a package.json, and like those it is run without a question: so at least it is said.
 */
export function checkConfig({ gate, hounfour, review, worktree }: EffectiveConfig): CheckResult[] {
  const asks = hounfour.flatline_routing || review.routes?.some(({ backend }) => backend === 'hounfour') === true
  const said = [
    ...(worktree.setup.length === 0 ? [] : [`runs in a new worktree: ${listed(worktree.setup)}`]),
    ...(gate.bash.allow.length === 0 ? [] : [`lets commands through before an approval: ${listed(gate.bash.allow)}`]),
    ...(gate.tools.allow.length === 0 ? [] : [`lets tools through before an approval: ${listed(gate.tools.allow)}`]),
    ...(asks && hounfour.model_invoke.includes('/') ? [`has plans reviewed by ${hounfour.model_invoke}`] : []),
    ...(review.routes?.some(({ backend }) => backend === 'checklist') === true
      ? ['lets the checklist approve a plan, which sees form and not sense']
      : []),
  ]
  return said.map((detail) => ok('plan-gate.yaml', detail))
}

const listed = (texts: readonly string[]): string => {
  const shown = texts.slice(0, 10).map((text) => (text.length > 200 ? `${text.slice(0, 200)}…` : text))
  return [...shown, ...(texts.length > 10 ? [`and ${texts.length - 10} more`] : [])].join(', ')
}

/**
 * Settings from beyond the worktree that would switch its gate off; none is the usual case. The main checkout's local
 * file counts in each of its worktrees. What users have in their own settings is theirs to decide.
 */
export function checkSettings(root: string): CheckResult[] {
  const mainRoot = readGitDirs(root)?.mainRoot ?? null
  const lent = mainRoot === null ? [] : threatsIn(join(mainRoot, localSettings))
  const own = readThreats(root).filter(({ whose }) => whose === 'user')
  return [
    ...lent.map(({ file, what, remedy }) => failed('settings', `${file}: ${what}`, remedy)),
    ...own.map(({ file, what, remedy }) => warning('settings', `${file}: ${what}`, remedy)),
  ]
}

function threatsIn(file: string) {
  const read = readThroughLinks(file)
  return findThreatsIn(read.kind === 'read' ? read.bytes.toString('utf8') : '').map((threat) => ({ ...threat, file }))
}

const leastNode = [20, 19, 0] as const

/** `rev-parse --path-format`, and worktrees that are told as locked or prunable. */
const leastGit = [2, 31, 0] as const

/** The oldest Claude Code that the test-suite runs the gate in. */
const leastClaude = [2, 1, 200] as const

/** From here on a hook that hangs blocks (`onFailure`); before, only our own deadline stands between. */
const hangsBlockSince = [2, 1, 295] as const

export function checkNode(): CheckResult {
  const version = parseVersion(process.version) ?? [0, 0, 0]
  return isAtLeast(version, leastNode)
    ? ok('node', `${process.version} at ${process.execPath}`)
    : failed('node', `${process.version} is too old`, `Install Node ${leastNode.join('.')} or newer.`)
}

export async function checkGit(): Promise<CheckResult> {
  const look = locateProgram('git')
  const install = 'Install git (https://git-scm.com/downloads).'
  if (look.path === null) return failed('git', look.why, install)
  const version = await versionOf(look.path)
  if (typeof version === 'string') return failed('git', version, install)
  return isAtLeast(version, leastGit)
    ? ok('git', version.join('.'))
    : failed('git', `${version.join('.')} is too old`, `Install git ${leastGit.join('.')} or newer.`)
}

/** `wanted`: whether it is about to be launched; a session can also be opened later, with another installation. */
export async function checkClaude(wanted: boolean): Promise<CheckResult> {
  const install = 'Install it: npm i -g @anthropic-ai/claude-code'
  const look = locateProgram('claude')
  if (look.path === null)
    return wanted
      ? failed('Claude Code', look.why, `${install}; or use --no-launch.`)
      : warning('Claude Code', look.why, install)
  const version = await versionOf(look.path)
  if (typeof version === 'string') return failed('Claude Code', version, install)
  const name = version.join('.')
  if (!isAtLeast(version, leastClaude))
    return failed(
      'Claude Code',
      `${name} is too old`,
      `Version ${leastClaude.join('.')} is the oldest that the gate is tested with. Update: claude update`,
    )
  return isAtLeast(version, hangsBlockSince)
    ? ok('Claude Code', name)
    : warning(
        'Claude Code',
        `${name} lets a call through when a hook hangs past its time-out`,
        `The gate ends itself well before that; from ${hangsBlockSince.join('.')} on Claude Code blocks by itself: claude update`,
      )
}

/** In words where it has none to tell. */
async function versionOf(program: string): Promise<readonly [number, number, number] | string> {
  const outcome = await runCommand(program, ['--version'], { timeoutMs: 15_000 })
  switch (outcome.kind) {
    case 'ended':
      return (
        (outcome.exitCode === 0 ? parseVersion(outcome.stdout) : null) ?? `${program} --version does not tell a version`
      )
    case 'not-found':
      return `${program} cannot be started (ENOENT)`
    case 'not-started':
      return outcome.why
    case 'timed-out':
      return `${program} --version has not ended after ${outcome.afterMs / 1000} s`
    case 'killed':
      return `${program} --version was killed by ${outcome.signal}`
  }
}

/** Tells each row, and stops at the first that failed: nothing has been created yet. */
export async function assertPrerequisites(tell: ProgressListener, rows: readonly CheckResult[]): Promise<void> {
  for (const row of rows) tell({ event: 'prerequisite', ...row })
  const failure = rows.find((row) => row.status === 'failed')
  if (failure !== undefined)
    throw new UserError(`${failure.name}: ${failure.detail}.`, failure.remedy ?? 'See `plan-gate doctor`.')
}
