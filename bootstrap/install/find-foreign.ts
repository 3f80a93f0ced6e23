import { cachedFiles, hooksDir } from '../../src/protocol/hook-entries.ts'
import { compiledConfigPath } from '../../src/store/compiled-config.ts'
import { reviewDir, reviewPaths } from '../../src/store/review-paths.ts'
import type { Survey } from './plan-install.ts'

export type Foreign = { readonly what: string; readonly remedy: string }

/**
 * What a repository must not bring along, since it would count as if it had been made here: a verdict on a plan, or
 * what the hooks believe without another look. Our own `.gitignore` files keep all of it out of every commit.
 */
export function findForeign({ record, isTracked, read }: Survey): Foreign | null {
  if (isTracked(`${reviewDir}/`))
    return {
      what: `${reviewDir} is committed in this repository, and a review or an approval counts only where it was given`,
      remedy: `Take it out (git rm -r --cached ${reviewDir}) and commit that; then run the command again.`,
    }
  const made = [compiledConfigPath, ...cachedFiles.map((name) => `${hooksDir}/${name}.mjs.cache`)].find(isTracked)
  if (made !== undefined)
    return {
      what: `${made} is committed in this repository, and each machine makes its own`,
      remedy: `Take it out (git rm --cached ${made}) and commit that; then run the command again.`,
    }
  if (record === null && read(reviewPaths.approval) !== null)
    return {
      what: `${reviewPaths.approval} lies here, and no plan-gate was installed that could have asked anybody`,
      remedy: `Look at ${reviewDir} and remove it; then run the command again.`,
    }
  return null
}
