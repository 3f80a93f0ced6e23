import { applyEnvironment } from '../review/apply-environment.ts'
import { type BuiltTable, buildRouteTable } from '../routes/build-route-table.ts'
import type { EffectiveConfig } from '../schemas/config.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { isReviewerPinned } from './reviewer-was-chosen.ts'

/** Who may be asked in this worktree, by its configuration, the environment and what its install chose. */
export function readRouteTable(
  root: string,
  config: EffectiveConfig,
  env: NodeJS.ProcessEnv,
): { readonly review: EffectiveConfig['review']; readonly built: BuiltTable } {
  const { review } = applyEnvironment(config.review, env)
  const gitDir = readGitDirs(root)?.own
  const chosenByUser = gitDir !== undefined && isReviewerPinned(gitDir)
  return { review, built: buildRouteTable(review, env, { chosenByUser }) }
}
