import { findGatedCheckout } from '../../bootstrap/find-worktree.ts'
import { assertNoToolCall } from '../gate/call-notes.ts'
import {
  checkDrift,
  type Drift,
  type DriftCheck,
  printablePath,
  readGitKeys,
  readWorkingTree,
  rebaseline,
} from '../gate/working-tree.ts'
import type { DriftOutput } from '../schemas/output.ts'
import { appendEvent } from '../state/ledger.ts'
import { writeRepositoryBaseline } from '../state/records.ts'
import { UserError } from '../system/errors.ts'
import type { TreeStateRead } from '../system/hook-git.ts'
import { findCheckout } from '../system/repository.ts'
import { readRepositorySetup } from '../system/repository-setup.ts'
import type { Run } from './command.ts'

export const driftCommand: Run<'drift'> = async (_, terminal, [operand]) => {
  const action = operand === 'accept' ? 'accept' : 'show'
  const { root, gitDirs } = await (action === 'accept' ? findGatedCheckout : findCheckout)(process.cwd())
  if (action === 'accept') assertNoToolCall(gitDirs.own)
  const keys = readGitKeys(root, gitDirs).changed
  // Also accepts changes to git's configuration, without which git is not run. Recorded first.
  if (action === 'accept') {
    if (keys.length > 0) await appendEvent(root, { type: 'drift-accepted', paths: keys })
    writeRepositoryBaseline(gitDirs.own, readRepositorySetup(root, gitDirs))
  }
  const now = readWorkingTree(root, gitDirs)
  const drift = keys.length > 0 && action === 'show' ? [] : driftIn(checkDrift(gitDirs.own, now), now, action)
  const lines = [
    ...drift.map(({ path, what }) => `${printablePath(path)}: ${what}`),
    ...keys.map((key) => `git configuration: ${key}`),
  ]
  if (action === 'accept') {
    if (drift.length > 0)
      await appendEvent(root, { type: 'drift-accepted', paths: drift.map(({ path }) => printablePath(path)) })
    rebaseline(gitDirs.own, now)
  } else process.exitCode = lines.length > 0 ? 1 : 0
  if (terminal.json)
    return terminal.out(
      JSON.stringify({
        action,
        drift: drift.map(({ path, what }) => ({ path: printablePath(path), what })),
        git_configuration: keys,
      } satisfies DriftOutput),
    )
  if (lines.length === 0) return terminal.out('No unapproved changes.')
  terminal.out(lines.join('\n'))
  terminal.note(action === 'accept' ? 'Accepted.' : '\nRevert it, or accept it with `plan-gate drift accept`.')
}

/** Where no baseline is known, everything that differs from the commit is accepted. */
function driftIn(check: DriftCheck, now: TreeStateRead, action: 'show' | 'accept'): readonly Drift[] {
  if (check.kind === 'none') return []
  if (check.kind === 'found') return check.drift
  if (now.kind === 'failed')
    throw new UserError(`The worktree cannot be read: ${now.why}.`, 'Fix what git reports, then try again.', 1)
  if (action === 'accept') return Object.keys(now.paths).map((path) => ({ path, what: 'differs from the commit' }))
  throw new UserError(
    `What changed is not known: ${check.why}.`,
    'Look at `git status`; then `plan-gate drift accept` records what is there.',
    1,
  )
}
