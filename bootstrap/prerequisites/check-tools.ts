import { lookForProgram } from '../../src/system/find-program.ts'
import { runCommand } from '../../src/system/run-command.ts'
import { type CheckResult, failed, isAtLeast, ok, versionIn, warning } from './row.ts'

const leastNode = [20, 19, 0] as const
/** `rev-parse --path-format`, and worktrees that are told as locked or prunable. */
const leastGit = [2, 31, 0] as const
/** The oldest Claude Code that the test-suite runs the gate in. */
const leastClaude = [2, 1, 200] as const
/** From here on a hook that hangs blocks (`onFailure`); before, only our own deadline stands between. */
const hangsBlockSince = [2, 1, 295] as const

export function checkNode(): CheckResult {
  const version = versionIn(process.version) ?? [0, 0, 0]
  return isAtLeast(version, leastNode)
    ? ok('node', `${process.version} at ${process.execPath}`)
    : failed('node', `${process.version} is too old`, `Install Node ${leastNode.join('.')} or newer.`)
}

export async function checkGit(): Promise<CheckResult> {
  const look = lookForProgram('git')
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
  const look = lookForProgram('claude')
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
        (outcome.exitCode === 0 ? versionIn(outcome.stdout) : null) ?? `${program} --version does not tell a version`
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
