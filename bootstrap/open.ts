import type { ProgressListener } from '../src/install/context.ts'
import { step } from '../src/install/context.ts'
import { assertPrerequisites, checkClaude, checkGit, checkNode } from '../src/install/prerequisites.ts'
import { selfTest } from '../src/install/self-test.ts'
import type { InstalledSettings } from '../src/install/settings-audit.ts'
import { recordStartCommand } from '../src/state/start-command.ts'
import { UserError } from '../src/system/errors.ts'
import { gitOrNull } from '../src/system/git.ts'
import { packageRoot } from '../src/system/package.ts'
import { type Ask, askTrust } from './ask-trust.ts'
import { findGated } from './find-worktree.ts'
import { assertFlags, type Ended, start, startAgain } from './launch.ts'

export type OpenOptions = {
  /** A worktree's folder, its name or its branch; null: the one of the current folder, or the only one. */
  name: string | null
  trust: boolean
  ask: Ask
  allowOldClient: boolean
  claudeFlags: readonly string[]
}

/** Starts Claude Code again in a worktree that has a gate. */
export async function open(cwd: string, options: OpenOptions, onProgress: ProgressListener): Promise<Ended> {
  assertFlags(options.claudeFlags)
  await assertPrerequisites(onProgress, [checkNode(), await checkGit()])
  const { root, gitDirs, settings } = await findGated(cwd, options.name)
  recordStartCommand(root, gitDirs.own, packageRoot())
  const allowOld = options.allowOldClient
  await assertPrerequisites(onProgress, [await checkClaude({ isRequired: true, allowOld })])
  await step(
    onProgress,
    'self-test',
    'the installed hooks',
    () => prove(root, settings),
    (checks) => `passed (${checks} checks)`,
  )
  const branch = (await gitOrNull(root, ['symbolic-ref', '--short', '--quiet', 'HEAD']))?.trim() ?? null
  const trust = await askTrust(root, gitDirs, options, onProgress)
  return start(root, gitDirs, branch, trust, startAgain(root, gitDirs, options.claudeFlags), onProgress)
}

async function prove(root: string, settings: InstalledSettings): Promise<number> {
  const { checks, problems } = await selfTest(root, settings)
  if (problems.length === 0) return checks
  throw new UserError(
    `The gate in ${root} does not hold: ${problems.join('; ')}.`,
    'Run `plan-gate install` there to restore it; `plan-gate doctor` says more.',
    1,
  )
}
