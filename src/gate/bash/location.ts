import { type Refusal, refuse } from './refusal.ts'

/** A folder in which a command may run. */
export type Location = {
  /** As it is named, and as it really is. */
  readonly directories: readonly string[]
  /** Relative operands are looked at from here, too; not in the worktree's root, where they are what they say. */
  readonly isRoot: boolean
  /** Why git must not run here; null in this worktree. It has to look at the disk. */
  readonly gitProblem: () => string | null
}

/** Where a `cd` leads. */
export type Enter = (from: Location, path: string) => Location

const maxLocations = 8

type Reached = { readonly kind: 'reached'; readonly locations: readonly Location[] }

/** Where `cd <folder>` and `git -C <folder>` lead. */
export function changeDirectory(
  operands: readonly string[],
  from: readonly Location[],
  enter: Enter,
): Reached | Refusal {
  const [path = ''] = operands
  if (operands.length !== 1 || /^[-+]|^$/.test(path) || /[\u0000-\u001f]/.test(path))
    return refuse('operand', operands.join(' '), 'is not one folder', 'Name one folder, in full.')
  const locations = from.map((location) => enter(location, path))
  return from.length + locations.length > maxLocations
    ? refuse('too-long', path, 'is one change of folder too many', 'Name paths instead.')
    : { kind: 'reached', locations }
}

export function refuseGitHere(locations: readonly Location[], part: string): Refusal | undefined {
  for (const { directories, gitProblem } of locations) {
    const problem = gitProblem()
    if (problem !== null)
      return refuse(
        'git-place',
        part,
        `would run in ${directories[0]}, ${problem}: its configuration can name programs`,
        'Run git in this worktree. Its paths can follow the subcommand.',
      )
  }
  return undefined
}
