import { join } from 'node:path'
import { findUntrusted, type RepositorySetup } from '../gate/repository/find-untrusted.ts'
import { readInstallRecord } from '../store/install-record.ts'
import { areAsSeen, rememberSeen, signatureOf } from '../store/seen-files.ts'
import { readRepositoryBaseline } from '../store/worktree-baseline.ts'
import type { GitDirs } from '../system/git-dirs.ts'
import { readRepositorySetup, userGitConfigs } from '../system/read-repository-setup.ts'

/** What changed in git's configuration and hooks since the worktree was opened; nothing where nobody kept watch. */
export function changedGitConfigKeys(root: string, gitDirs: GitDirs): string[] {
  const signature = signatureOf(placesOf(gitDirs))
  if (areAsSeen(gitDirs.own, 'repository', signature)) return []
  const baseline = readRepositoryBaseline(gitDirs.own)
  if (baseline.kind === 'refused') return [`(the record of what was configured cannot be used: ${baseline.why})`]
  if (baseline.kind === 'absent') return isInstalled(gitDirs) ? ['(the record of what was configured is gone)'] : []
  const setup = readRepositorySetup(root, gitDirs)
  const untrusted = findUntrusted(baseline.value, setup)
  if (untrusted.length === 0 && isPlain(setup, gitDirs)) rememberSeen(gitDirs.own, 'repository', signature)
  return untrusted
}

/** Where the gate came with the repository and was never installed here, nobody kept watch. */
const isInstalled = ({ own }: GitDirs): boolean => readInstallRecord(own).kind !== 'absent'

/** In most repositories nothing else can tell git what to run. The folders change when something is put into them. */
const placesOf = ({ own, common }: GitDirs): string[] => [
  join(common, 'config'),
  join(own, 'config.worktree'),
  join(common, 'hooks'),
  join(common, 'modules'),
  join(own, 'modules'),
  ...userGitConfigs(),
]

/** No hooks, whose content may change in place, and no files that others include. */
const isPlain = (setup: RepositorySetup, gitDirs: GitDirs): boolean =>
  Object.keys(setup.hooks).length === 0 && Object.keys(setup.configs).every((path) => placesOf(gitDirs).includes(path))
