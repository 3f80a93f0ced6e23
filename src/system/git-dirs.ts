import { lstatSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { isNotFound, systemErrorCode } from './errors.ts'

/** `own`: this worktree's; `common`: of all worktrees, the same in the main checkout; `mainRoot`: null where there is none. */
export type GitDirs = { own: string; common: string; mainRoot: string | null }

/**
 * What `git rev-parse --git-dir --git-common-dir` prints, without starting git. Null where there is no repository; one
 * that cannot be read throws, because its configuration would otherwise not be checked.
 */
export function readGitDirs(root: string): GitDirs | null {
  const own = ownGitDir(join(root, '.git'))
  if (own === null) return null
  const common = firstLine(join(own, 'commondir'))
  const commonDir = common === null ? own : resolve(own, common)
  return { own, common: commonDir, mainRoot: basename(commonDir) === '.git' ? dirname(commonDir) : null }
}

function ownGitDir(dotGit: string): string | null {
  const found = lstatSync(dotGit, { throwIfNoEntry: false })
  if (found === undefined) return null
  if (found.isDirectory()) return dotGit
  const line = firstLine(dotGit)
  return line?.startsWith('gitdir: ') ? resolve(dirname(dotGit), line.slice('gitdir: '.length)) : null
}

/** Null: it is absent, or no file. */
export function firstLine(path: string): string | null {
  try {
    // A named pipe would block.
    if (!statSync(path).isFile()) return null
    return readFileSync(path, 'utf8').split('\n', 1)[0]?.trimEnd() || null
  } catch (error) {
    if (isNotFound(systemErrorCode(error))) return null
    throw error
  }
}
