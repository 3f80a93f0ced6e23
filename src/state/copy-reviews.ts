import { cpSync, lstatSync } from 'node:fs'
import { basename, join } from 'node:path'
import { reviewDir, reviewPaths } from './own-paths.ts'

/** Everything in `.claude/review` but what is there only while somebody works in it. */
export function copyReviews(root: string, destination: string): void {
  const locks = [reviewPaths.lock, reviewPaths.ledgerLock].map((path) => join(root, path))
  cpSync(join(root, reviewDir), destination, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => !locks.includes(source) && !/^\..*\.tmp$/.test(basename(source)) && isCopied(source),
  })
}

/** Nobody can copy a pipe or a socket. */
function isCopied(source: string): boolean {
  const stat = lstatSync(source)
  return stat.isFile() || stat.isDirectory() || stat.isSymbolicLink()
}
