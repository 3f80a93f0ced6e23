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
  let glob: RegExp | 'none' | undefined
  return (path) => {
    if (!parts.every((part) => path.includes(part))) return false
    glob ??= globOf(pattern) ?? 'none'
    return glob !== 'none' && glob.test(path)
  }
}

/** What every path has that the pattern covers. It settles nearly all of them. */
const literalParts = (pattern: string): readonly string[] =>
  /[{[]/.test(pattern) ? pattern.split(/[*?{[]/, 1) : pattern.split(/(?:\*\*\/)+|[*?]+/)

function globOf(pattern: string): RegExp | null {
  const source = globSource(pattern)
  return source === null ? null : new RegExp(`^${source}(?:/.*)?$`, 'u')
}

/**
 * The globs that people write in plans. Null for one that is not well formed, or has so many wildcards that matching
 * could take for ever; it then covers nothing.
 */
function globSource(glob: string): string | null {
  if ((glob.match(/\*+/g) ?? []).length > 6) return null
  let [source, depth] = ['', 0]
  for (let rest = glob; rest !== ''; ) {
    const token = /^(?:\*\*\/?|\*|\?|\{|\}|,|\[!?[^\]/]+\]|[\s\S])/u.exec(rest)?.[0] ?? ''
    rest = rest.slice(token.length)
    if (token === '{') depth += 1
    if (token === '}') depth -= 1
    if (depth < 0) return null
    source += tokenSource(token, depth)
  }
  return depth === 0 ? source : null
}

function tokenSource(token: string, depth: number): string {
  if (token === '**/') return '(?:[^/]+/)*'
  if (token === '**') return '.*'
  if (token === '*') return '[^/]*'
  if (token === '?') return '[^/]'
  if (token === '{') return '(?:'
  if (token === '}') return ')'
  if (token === ',' && depth > 0) return '|'
  if (token.length > 1 && token.startsWith('[')) return token.replace('[!', '[^').replaceAll('\\', '\\\\')
  return token
    .replace(/[.+^$()|[\]\\/-]/g, '\\$&')
    .replace('\\/', '/')
    .replace('\\-', '-')
}
