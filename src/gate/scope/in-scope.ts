import { compileGlob } from './compile-glob.ts'
import type { ScopeEntry } from './read-plan-scope.ts'

/** Whether the plan names a path of the worktree: itself, a folder above it, or a pattern that covers it. */
export const inScope = (path: string, scope: readonly ScopeEntry[]): boolean =>
  scope.some((entry) => {
    const covers = tests.get(entry) ?? testOf(entry.pattern)
    tests.set(entry, covers)
    return covers(path)
  })

type Test = (path: string) => boolean

/** The changes of a whole worktree are held against one plan, and most of the time goes into its patterns. */
const tests = new WeakMap<ScopeEntry, Test>()

function testOf(pattern: string): Test {
  if (!/[*?{[]/.test(pattern)) {
    const [whole, below] = [pattern.replace(/\/$/, ''), pattern.endsWith('/') ? pattern : `${pattern}/`]
    return (path) => path === whole || path.startsWith(below)
  }
  const parts = literalParts(pattern)
  let glob: ReturnType<typeof compileGlob> | undefined
  return (path) => {
    if (path.length > longestPath || !parts.every((part) => path.includes(part))) return false
    if (glob === undefined) glob = compileGlob(pattern)
    return glob?.(path) ?? false
  }
}

/** Of a path that a pattern covers. Nobody has longer ones, and a plan may have a thousand patterns. */
const longestPath = 500

/** What every path has that the pattern covers. It settles nearly all of them. */
const literalParts = (pattern: string): readonly string[] =>
  /[{[]/.test(pattern) ? pattern.split(/[*?{[]/, 1) : pattern.split(/(?:\*\*\/)+|[*?]+/)
