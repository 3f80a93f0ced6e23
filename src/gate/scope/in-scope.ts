import { matchesGlob } from './matches-glob.ts'
import type { ScopeEntry } from './read-plan-scope.ts'

/** Whether the plan names a path of the worktree: itself, a folder above it, or a pattern that covers it. */
export const inScope = (path: string, scope: readonly ScopeEntry[]): boolean =>
  scope.some(({ pattern }) => covers(pattern, path))

const covers = (pattern: string, path: string): boolean =>
  /[*?{[]/.test(pattern)
    ? mayCover(pattern, path) && matchesGlob(pattern, path)
    : path === pattern.replace(/\/$/, '') || path.startsWith(pattern.endsWith('/') ? pattern : `${pattern}/`)

/** What stands before and between wildcards is in every path that they cover; that settles it for nearly all. */
const mayCover = (pattern: string, path: string): boolean =>
  path.length <= longestPath && literalParts(pattern).every((part) => path.includes(part))

/** Nobody has longer ones, and a plan may have a thousand patterns. */
const longestPath = 500

const literalParts = (pattern: string): readonly string[] =>
  /[{[]/.test(pattern) ? pattern.split(/[*?{[]/, 1) : pattern.split(/(?:\*\*\/)+|[*?]+/)
