import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** Where a user's own caches belong, after the XDG rules: a path that is not absolute is not meant. */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  const xdg = env.XDG_CACHE_HOME ?? ''
  if (isAbsolute(xdg)) return join(xdg, 'plan-gate')
  const home = env.HOME ?? ''
  return join(isAbsolute(home) ? home : homedir(), '.cache', 'plan-gate')
}
