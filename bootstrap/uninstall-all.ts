import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { removeSandbox } from '../src/gate/sandbox/prepare.ts'
import { refreshExcludes, removeShared } from '../src/install/excludes.ts'
import { uninstall } from '../src/install/uninstall.ts'
import { cacheFolder } from '../src/reviewers/program-cache.ts'
import { forgetGone } from '../src/state/gates.ts'
import { gitDirFolder } from '../src/state/own-paths.ts'
import { readInstallRecord } from '../src/state/records.ts'
import { userEnvironment } from '../src/system/environment.ts'
import { UserError, unlessAbsent } from '../src/system/errors.ts'
import { readGitDirs } from '../src/system/git-dirs.ts'
import { findRepository, listWorktrees, resolveLinks } from '../src/system/repository.ts'
import { throwIfAnyMoved } from './find-worktree.ts'
import { listPendingRemovals } from './worktree.ts'

/** Everything of plan-gate in a repository and in the user's home, as it is told before anything is removed. */
export type EverythingOfOurs = Awaited<ReturnType<typeof findEverything>>

export async function findEverything(cwd: string) {
  const repository = await findRepository(cwd)
  const { home, commonDir } = repository
  const all = await listWorktrees(repository.dir)
  throwIfAnyMoved(repository, all)
  const [pending] = listPendingRemovals(commonDir)
  if (pending !== undefined)
    throw new UserError(
      `An interrupted finish has left ${pending.dir} half removed.`,
      `Let it do the rest: plan-gate finish ${pending.dir}`,
    )
  const worktrees = all.flatMap(({ path }) => {
    const root = resolveLinks(path)
    const gitDirs = readGitDirs(root)
    return gitDirs === null || readInstallRecord(gitDirs.own).kind === 'absent' ? [] : [{ root, gitDirs }]
  })
  const entries = unlessAbsent(() => readdirSync(join(commonDir, 'worktrees')), [])
  const known = worktrees.map(({ gitDirs }) => join(gitDirs.own, gitDirFolder))
  // Of worktrees whose folder somebody has deleted.
  const left = entries
    .map((name) => join(commonDir, 'worktrees', name, gitDirFolder))
    .filter((folder) => existsSync(folder) && !known.includes(folder))
  const present = (paths: readonly string[]): string[] => paths.filter((path) => existsSync(path))
  return {
    home,
    commonDir,
    worktrees,
    left,
    shared: present([join(commonDir, gitDirFolder)]),
    caches: present([cacheFolder(userEnvironment(process.env))]),
    kept: present([join(commonDir, 'plan-gate-archive')]),
  }
}

export type Removed = { removed: string[]; restored: string[]; notes: string[] }

/** May be interrupted anywhere; the next run does the rest. */
export async function removeEverything(found: EverythingOfOurs): Promise<Removed> {
  const done: Removed = { removed: [], restored: [], notes: [] }
  for (const { root, gitDirs } of found.worktrees) {
    const each = await uninstall(root, gitDirs, null)
    done.removed.push(...each.removed.map((path) => join(root, path)))
    done.restored.push(...each.restored.map((path) => join(root, path)))
    done.notes.push(...each.notes.map((note) => `${root}: ${note}`))
  }
  forgetGone()
  for (const folder of found.left) {
    removeSandbox(dirname(folder))
    removeFolder(folder, done)
  }
  await refreshExcludes({ own: found.commonDir, common: found.commonDir, mainRoot: null })
  removeShared(found.commonDir)
  for (const folder of found.shared) if (existsSync(folder)) removeFolder(folder, done)
  for (const folder of found.caches) {
    removeFolder(folder, done)
    // `~/.cache`, if it was made for this one.
    if (readdirSync(dirname(folder)).length === 0) rmdirSync(dirname(folder))
  }
  done.notes.push(...found.kept.map((folder) => `The reviews of finished worktrees are kept in ${folder}.`))
  return done
}

function removeFolder(folder: string, done: Removed): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  done.removed.push(`${folder}/`)
}
