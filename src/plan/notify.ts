import { spawnSync } from 'node:child_process'
import { closeSync, constants, openSync, readlinkSync, writeSync } from 'node:fs'
import type { EffectiveConfig } from '../config/schema.ts'
import { runInGroup } from '../reviewers/process.ts'
import { userEnvironment } from '../system/environment.ts'
import { orElse } from '../system/errors.ts'
import { formatForUser, type PlanOutcome } from './messages.ts'

const maxMs = 5_000

/** Tells the user that a review has ended, as `plan.notify` says. Returns what went wrong, in words. */
export async function notifyUser(
  notify: EffectiveConfig['plan']['notify'],
  root: string,
  outcome: PlanOutcome,
): Promise<string | null> {
  const isCancelled = outcome.kind === 'unavailable' && outcome.failure === 'cancelled'
  if (isCancelled) return null
  switch (notify) {
    case 'off':
      return null
    case 'bell':
      return ringBell()
    case 'command':
      return runNotifier(root, outcome)
  }
}

/** A hook has no terminal of its own, so it uses the one that Claude Code writes to. */
function ringBell(): string | null {
  const terminal = terminalOf(process.env.CLAUDE_PID ?? '')
  if (terminal === null) return null
  try {
    const fd = openSync(terminal, constants.O_WRONLY | constants.O_NOCTTY | constants.O_NONBLOCK)
    try {
      writeSync(fd, '\u0007')
    } finally {
      closeSync(fd)
    }
    return null
  } catch (error) {
    return `The bell of ${terminal} could not be rung: ${error instanceof Error ? error.message : String(error)}.`
  }
}

/** Null where its output goes elsewhere. */
function terminalOf(pid: string): string | null {
  if (!/^\d+$/.test(pid)) return null
  const path = process.platform === 'linux' ? stdoutOf(pid) : `/dev/${ttyOf(pid)}`
  return /^\/dev\/(?:pts\/\d+|tty\w+)$/.test(path) ? path : null
}

const stdoutOf = (pid: string): string => orElse(() => readlinkSync(`/proc/${pid}/fd/1`), '')

const ttyOf = (pid: string): string =>
  String(spawnSync('ps', ['-o', 'tty=', '-p', pid], { timeout: maxMs, encoding: 'utf8' }).stdout).trim()

/**
 * The command is the user's own: a repository can ask for it, and not say what it is. What it is about goes into its
 * environment, never into the command line, because some of it is the reviewer's text.
 */
async function runNotifier(root: string, outcome: PlanOutcome): Promise<string | null> {
  const env = userEnvironment(process.env)
  const command = env.PLAN_GATE_NOTIFY ?? ''
  if (command.trim() === '') return 'plan.notify is command, and PLAN_GATE_NOTIFY is not set in your environment.'
  const ended = await runInGroup('/bin/sh', ['-c', command], {
    cwd: root,
    env: { ...env, PLAN_GATE_EVENT: outcome.kind, PLAN_GATE_MESSAGE: formatForUser(outcome), PLAN_GATE_WORKTREE: root },
    input: '',
    timeoutMs: maxMs,
    silenceMs: null,
    signal: new AbortController().signal,
    maxOutputBytes: 4_096,
  })
  if (ended.kind === 'ended' && ended.exitCode === 0) return null
  const why = ended.kind === 'ended' ? `exit code ${ended.exitCode}` : ended.kind
  return `The command in PLAN_GATE_NOTIFY failed (${why}).`
}
