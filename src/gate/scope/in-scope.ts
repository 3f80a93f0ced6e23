import { matchesGlob } from './matches-glob.ts'
import type { ScopeEntry } from './read-plan-scope.ts'

/** Whether the plan names a path of the worktree: itself, a folder above it, or a pattern that covers it. */
export const inScope = (path: string, scope: readonly ScopeEntry[]): boolean =>
  scope.some(({ pattern }) => covers(pattern, path))

const covers = (pattern: string, path: string): boolean =>
  /[*?{[]/.test(pattern)
    ? matchesGlob(pattern, path)
    : path === pattern.replace(/\/$/, '') || path.startsWith(pattern.endsWith('/') ? pattern : `${pattern}/`)
