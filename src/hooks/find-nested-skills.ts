import type { Dirent } from 'node:fs'
import { join } from 'node:path'
import { systemFailure } from '../system/system-failure.ts'
import { folderThroughLinks } from './folder-through-links.ts'
import { entriesOf, type Looking } from './read-loaded-texts.ts'

/**
 * The folders `.claude/skills` below a worktree but its own: Claude Code finds them as it reads files beside them, and
 * the folders themselves may be links. It leaves out what git ignores; nobody here asks git.
 */
export function findNestedSkills(root: string, looking: Looking): string[] {
  const found: string[] = []
  const waiting = [root]
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop())
    for (const { name, isLink } of foldersIn(folder, looking)) {
      const path = join(folder, name)
      if (name === '.claude' && folder !== root) found.push(...folderAt(join(path, 'skills')))
      // Where a link leads is not searched: within the worktree it is anyway, and beyond it is not the repository's.
      if (isLink) found.push(...folderAt(join(path, '.claude/skills')))
      else waiting.push(path)
    }
  return found
}

const foldersIn = (folder: string, looking: Looking): { name: string; isLink: boolean }[] =>
  entriesIfOpen(folder, looking)
    .filter((entry) => entry.name !== '.git' && (entry.isDirectory() || entry.isSymbolicLink()))
    .map((entry) => ({ name: entry.name, isLink: entry.isSymbolicLink() }))

/** Data that a repository keeps from everybody is no reason to deny: Claude Code cannot look into it either. */
function entriesIfOpen(folder: string, looking: Looking): Dirent[] {
  try {
    return entriesOf(folder, looking)
  } catch (error) {
    if (systemFailure(error) === 'EACCES') return []
    throw error
  }
}

const folderAt = (path: string): string[] => (folderThroughLinks(path) === null ? [] : [path])
