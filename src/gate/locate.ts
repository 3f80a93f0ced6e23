import { lstatSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { resolvePath } from '../system/paths.ts'
import type { BashPolicy } from './bash/check-command.ts'
import type { Location } from './bash/policy.ts'

/** The folder in which a command starts, and those that a `cd` reaches from there. */
export function locate(root: string, directory: string): { start: Location; enter: BashPolicy['enter'] } {
  const at = (path: string, written: string): Location => {
    const real = realPath(path)
    const isRoot = written === root
    return {
      directories: real === null || real === path ? [path] : [path, real],
      isRoot,
      gitProblem: () => (isRoot ? null : problemWithGit(root, real, written)),
    }
  }
  return {
    start: at(resolve(root, directory), resolve(root, directory)),
    enter: ({ directories: [from = root] }, path) =>
      at(resolve(from, path), path.startsWith('/') ? path : `${from}/${path}`),
  }
}

function realPath(path: string): string | null {
  const target = resolvePath(path)
  return target.kind === 'resolved' ? target.real : null
}

/**
 * Git takes its configuration from the nearest repository above, which has to be this worktree. A folder with a `HEAD`
 * may be a repository by itself. `written` still has its `..`, which a shell and the kernel may follow to different places.
 */
function problemWithGit(root: string, real: string | null, written: string): string | null {
  const base = realPath(root)
  try {
    if (real === null || base === null || realpathSync.native(written) !== real) return 'which cannot be resolved'
    for (let at = real; at !== base; at = dirname(at)) {
      if (exists(join(at, '.git')) || exists(join(at, 'HEAD'))) return `which belongs to another repository (${at})`
      if (at === dirname(at)) return 'which is not in this worktree'
    }
    return null
  } catch {
    return 'which cannot be read'
  }
}

const exists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined
