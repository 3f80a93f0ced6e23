import { ownHooksOf, parseSettings } from '../../src/protocol/settings.ts'
import type { InstallRecord } from '../../src/schemas/install-record.ts'
import { readRegular } from '../../src/store/read-regular.ts'
import { marginSeconds } from '../install/install-worktree.ts'
import { type CheckResult, warning } from '../prerequisites/row.ts'

/** The time-out of a hook is written at install: a deadline that was raised since would be cut off by Claude Code. */
export function checkDeadline(root: string, { settings }: InstallRecord, deadlineSeconds: number): CheckResult[] {
  const read = readRegular(root, settings.path)
  const parsed = parseSettings(read.kind === 'read' ? read.bytes.toString('utf8') : '')
  const hooks = parsed.kind === 'settings' ? ownHooksOf(parsed.settings) : []
  const given = hooks.find(({ event }) => event === 'PostToolUse')?.timeout
  const needed = deadlineSeconds + marginSeconds
  if (typeof given !== 'number' || given >= needed) return []
  return [
    warning(
      'deadline',
      `plan.deadline_seconds (${deadlineSeconds}) is more than the hook was installed with: Claude Code ends it after ${given} s`,
      'Run `plan-gate install` to give it the time.',
    ),
  ]
}
