import type { EffectiveConfig } from '../config/schema.ts'
import { readRouteTable, routeFacts } from '../reviewers/create.ts'
import { describeServing } from '../reviewers/describe-route.ts'
import { cacheFolder } from '../reviewers/program-cache.ts'
import { openPassTimes } from '../state/pass-times.ts'
import { userEnvironment } from '../system/environment.ts'
import { readGitDirs } from '../system/git-dirs.ts'

/** Who would review in this worktree now, as `status` and `doctor` tell it. */
export function servingHere(root: string, config: EffectiveConfig): ReturnType<typeof describeServing> {
  const { review, built } = readRouteTable(root, config, process.env)
  const routes = built.kind === 'table' ? built.table.routes : []
  const times = openPassTimes(readGitDirs(root)?.own ?? null, cacheFolder(userEnvironment(process.env)))
  return describeServing({ routes }, review, routeFacts(config, process.env, root), times)
}
