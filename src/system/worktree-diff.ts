import { copyFileSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import type { GitDirs } from './git-dirs.ts'
import { withTemporaryFolder } from './temporary-folder.ts'

/** `from`: what a renamed file was called before. */
export type ChangedFile = {
  readonly path: string
  readonly from: string | null
  readonly status: 'added' | 'changed' | 'deleted' | 'renamed'
}

/** Runs git in the worktree with these variables, and throws where it fails. The hooks and the commands have each their own. */
type RunGit = (args: readonly string[], env: { readonly [name: string]: string }) => string | Promise<string>

/** `without`: a file that is no part of the change. */
type Comparison = { readonly commit: string; readonly without: string }

const pathsOf = ({ commit, without }: Comparison): readonly string[] => [commit, '--', '.', `:(exclude,top)${without}`]

/**
 * What differs between a commit and the worktree, files that git does not track included, with as many lines around a
 * change as `fits`; the index stays as it is.
 */
export const worktreeDiff = (
  gitDirs: GitDirs,
  compared: Comparison,
  runGit: RunGit,
  fits: (diff: string) => boolean,
): Promise<string> =>
  withScratchIndex(gitDirs, runGit, async (run) => {
    const diffWith = async (lines: number) => run(['diff', ...diffFlags, `--unified=${lines}`, ...pathsOf(compared)])
    const plain = await diffWith(3)
    for (const lines of plain === '' ? [] : [200, 60, 20, 8]) {
      const diff = await diffWith(lines)
      if (fits(diff)) return diff
    }
    return plain
  })

export const worktreeChanges = (
  gitDirs: GitDirs,
  compared: Comparison,
  runGit: RunGit,
): Promise<{ readonly diff: string; readonly files: readonly ChangedFile[] }> =>
  withScratchIndex(gitDirs, runGit, async (run) => ({
    diff: await run(['diff', ...diffFlags, ...pathsOf(compared)]),
    files: parseNames(await run(['diff', ...diffFlags, '--name-status', '-z', ...pathsOf(compared)])),
  }))

/** Untracked files only show up in a diff once they are in an index, so they are added to a copy of it. */
const withScratchIndex = <T>(
  gitDirs: GitDirs,
  runGit: RunGit,
  work: (run: (args: readonly string[]) => string | Promise<string>) => Promise<T>,
): Promise<T> =>
  withTemporaryFolder('diff', async (folder) => {
    const index = join(folder, 'index')
    copyIndex(join(gitDirs.own, 'index'), index)
    const run = (args: readonly string[]): string | Promise<string> => runGit(args, { GIT_INDEX_FILE: index })
    await run(['add', '--intent-to-add', '--', '.'])
    return await work(run)
  })

const diffFlags = [
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--find-renames',
  '--submodule=short',
  '--src-prefix=a/',
  '--dst-prefix=b/',
]

/** `M`, a path; `R90`, the old path, the new one. */
function parseNames(text: string): ChangedFile[] {
  const parts = text.split('\0')
  const files: ChangedFile[] = []
  for (let at = 0; at + 1 < parts.length; ) {
    const letter = parts[at]?.[0] ?? ''
    const isPair = letter === 'R' || letter === 'C'
    const path = parts[at + (isPair ? 2 : 1)] ?? ''
    files.push({ path, from: letter === 'R' ? (parts[at + 1] ?? null) : null, status: statuses[letter] ?? 'changed' })
    at += isPair ? 3 : 2
  }
  return files
}

const statuses: { readonly [letter: string]: ChangedFile['status'] } = {
  A: 'added',
  C: 'added',
  D: 'deleted',
  R: 'renamed',
}

/**
 * Keeps the modification time: git re-reads a file that is as old as the index, since it may have changed within the
 * same second. With a younger copy it would miss such a change.
 */
function copyIndex(own: string, copy: string): void {
  const stat = statSync(own, { throwIfNoEntry: false })
  if (stat === undefined) return
  copyFileSync(own, copy)
  const seconds = Math.floor(stat.mtimeMs / 1000)
  utimesSync(copy, seconds, seconds)
}
