import { resolve } from 'node:path'
import type { ProgressListener } from '../src/install/context.ts'
import { step } from '../src/install/context.ts'
import { assertPrerequisites, checkClaude, checkGit, checkNode } from '../src/install/prerequisites.ts'
import { selfTest } from '../src/install/self-test.ts'
import type { InstalledSettings } from '../src/install/settings-audit.ts'
import { readInstallRecord } from '../src/state/records.ts'
import { UserError } from '../src/system/errors.ts'
import { gitOrNull } from '../src/system/git.ts'
import { type GitDirs, readGitDirs } from '../src/system/git-dirs.ts'
import { findRepository, listWorktrees, resolveLinks } from '../src/system/repository.ts'
import { type Ask, askTrust } from './ask-trust.ts'
import { assertFlags, type Ended, start, startAgain } from './launch.ts'

export type OpenOptions = {
  /** A worktree's folder, the last part of its name or of its branch; null: the one of the current folder, or the only one. */
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

type Gated = { root: string; gitDirs: GitDirs; settings: InstalledSettings }

async function findGated(cwd: string, name: string | null): Promise<Gated> {
  const { dir, checkout } = await findRepository(cwd)
  const here = checkout === null ? null : gatedAt(checkout)
  if (name === null && here !== null) return here
  const gated = (await listWorktrees(dir)).flatMap(({ path, branch }) => {
    const found = gatedAt(resolveLinks(path))
    return found === null ? [] : [{ ...found, names: [path, branch ?? ''] }]
  })
  const chosen = name === null ? gated : gated.filter((each) => answersTo(each, cwd, name))
  const [only] = chosen
  if (only !== undefined && chosen.length === 1) return only
  const list = gated.map(({ root }) => `  ${root}`).join('\n')
  if (gated.length === 0)
    throw new UserError('There is no worktree with a gate here.', 'Open one: plan-gate bootstrap --name <name>.')
  throw new UserError(
    `${name === null ? 'There are several worktrees with a gate' : chosen.length === 0 ? `No worktree with a gate is called ${JSON.stringify(name)}` : `Several worktrees are called ${JSON.stringify(name)}`}:\n${list}`,
    'Name the folder of one: plan-gate open <folder>.',
  )
}

const answersTo = ({ root, names }: Gated & { names: readonly string[] }, cwd: string, name: string): boolean =>
  root === resolveLinks(resolve(cwd, name)) ||
  names.some((known) => known === name || known.endsWith(`/${name}`) || known.endsWith(`-${name}`))

function gatedAt(root: string): Gated | null {
  const gitDirs = readGitDirs(root)
  const record = gitDirs === null ? null : readInstallRecord(gitDirs.own)
  return gitDirs === null || record?.kind !== 'read' ? null : { root, gitDirs, settings: record.value.settings }
}
