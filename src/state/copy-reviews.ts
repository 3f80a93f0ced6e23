import { cpSync, lstatSync } from 'node:fs'
import { basename, join } from 'node:path'
import { reviewDir, reviewPaths } from './own-paths.ts'

/** Everything in `.claude/review` except locks and temporary files. */
export function copyReviews(root: string, destination: string): void {
  const locks = [reviewPaths.lock, reviewPaths.ledgerLock].map((path) => join(root, path))
  cpSync(join(root, reviewDir), destination, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => !locks.includes(source) && !/^\..*\.tmp$/.test(basename(source)) && isCopied(source),
  })
}

/** Pipes and sockets cannot be copied. */
function isCopied(source: string): boolean {
  const stat = lstatSync(source)
  return stat.isFile() || stat.isDirectory() || stat.isSymbolicLink()
}
