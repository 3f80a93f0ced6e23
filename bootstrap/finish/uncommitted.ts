import { planPath } from '../../src/gate/place-of.ts'
import { readRegular } from '../../src/store/read-regular.ts'
import { gitOrThrow } from '../../src/system/git.ts'

/** As much as the archive takes. */
export const maxPlanBytes = 64 * 1024 * 1024

/**
 * The files that would be lost, as `git status` marks them. The plan is not among them: it goes into the archive byte
 * for byte.
 */
export async function uncommitted(root: string): Promise<string[]> {
  const flags = ['--porcelain', '-z', '--untracked-files=all', '--no-renames', '--ignore-submodules=none']
  const listed = await gitOrThrow(root, ['status', ...flags], 300_000)
  const isArchived = readRegular(root, planPath, maxPlanBytes).kind === 'read'
  const records = listed.split('\0').filter((record) => record !== '')
  return isArchived ? records.filter((record) => record.slice(3) !== planPath) : records
}

/** What git ignores and nobody would miss, or nobody would notice: folders as a whole, our own left out. */
export async function ignoredIn(root: string): Promise<string[]> {
  const flags = ['--others', '--ignored', '--exclude-standard', '--directory', '-z']
  const listed = await gitOrThrow(root, ['ls-files', ...flags])
  return listed.split('\0').filter((path) => path !== '' && !path.startsWith('.claude/'))
}
