import { Argument, Command } from 'commander'
import type { Drift } from '../gate/drift.ts'
import {
  changedGitConfigKeys,
  checkDrift,
  type DriftCheck,
  printablePath,
  readWorkingTree,
  rebaseline,
} from '../gate/working-tree.ts'
import type { DriftOutput } from '../schemas/output.ts'
import { appendEvent } from '../state/ledger.ts'
import { writeRepositoryBaseline } from '../state/records.ts'
import { UserError } from '../system/errors.ts'
import { findCheckout } from '../system/repository.ts'
import { readRepositorySetup } from '../system/repository-setup.ts'
import { helpText, openTerminal } from './terminal.ts'

export const driftCommand = (): Command =>
  new Command('drift')
    .description('Show what changed in this worktree without an approved plan; `drift accept` accepts it.')
    .addArgument(new Argument('[action]', 'what to do with it').choices(['show', 'accept']).default('show'))
    .option('--json', 'the result as JSON on stdout')
    .addHelpText(
      'after',
      helpText(
        [
          ['plan-gate drift', 'what changed'],
          ['plan-gate drift accept', 'accept it'],
        ],
        `Accepting includes changes of git’s configuration and hooks.
Exit code of show: 0 no drift, 1 drift.`,
      ),
    )
    .action(run)

async function run(action: 'show' | 'accept', flags: { json?: boolean }): Promise<void> {
  const terminal = openTerminal(flags.json === true)
  const { root, gitDirs } = await findCheckout(process.cwd())
  const keys = changedGitConfigKeys(root, gitDirs)
  // Also accepts changes to git's configuration, without which git is not run. Recorded first.
  if (action === 'accept') {
    if (keys.length > 0) await appendEvent(root, { type: 'drift-accepted', paths: keys })
    writeRepositoryBaseline(gitDirs.own, readRepositorySetup(root, gitDirs))
  }
  const now = readWorkingTree(root, gitDirs)
  const drift = keys.length > 0 && action === 'show' ? [] : driftIn(await checkDrift(root, gitDirs.own, now))
  const lines = [
    ...drift.map(({ path, what }) => `${printablePath(path)}: ${what}`),
    ...keys.map((key) => `git configuration: ${key}`),
  ]
  if (action === 'accept') {
    if (drift.length > 0)
      await appendEvent(root, { type: 'drift-accepted', paths: drift.map(({ path }) => printablePath(path)) })
    driftIn(rebaseline(gitDirs.own, now))
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

function driftIn(check: DriftCheck): readonly Drift[] {
  switch (check.kind) {
    case 'none':
      return []
    case 'found':
      return check.drift
    case 'unknown':
      throw new UserError(`The worktree cannot be read: ${check.why}.`, 'Fix what git reports, then try again.', 1)
  }
}
