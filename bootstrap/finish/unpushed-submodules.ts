import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { git, gitOrThrow } from '../../src/system/git.ts'

/** Commits in submodules that are in no other repository: those of a worktree have a git directory of their own. */
export async function unpushedInSubmodules(root: string, above = ''): Promise<string[]> {
  const listed = await gitOrThrow(root, ['ls-files', '--stage', '-z'])
  const paths = listed
    .split('\0')
    .flatMap((entry) => (entry.startsWith('160000 ') ? [entry.slice(entry.indexOf('\t') + 1)] : []))
  const found: string[] = []
  for (const path of paths) {
    const dir = join(root, path)
    if (!existsSync(join(dir, '.git'))) continue
    const commits = await git(dir, [
      'log',
      '--format=%h %s',
      '--max-count=20',
      ...everything,
      '--not',
      '--remotes',
      '--',
    ])
    const lines =
      commits.kind === 'ok' ? commits.stdout.split('\n').filter((line) => line !== '') : ['(it cannot be read)']
    found.push(
      ...lines.map((line) => `${above}${path}: ${line}`),
      ...(await unpushedInSubmodules(dir, `${above}${path}/`)),
    )
  }
  return found
}

const everything = ['HEAD', '--branches', '--glob=refs/stash'] as const
