import type { ScopeEntry } from './read-plan-scope.ts'

/** Whether the plan names a path of the worktree: itself, a folder above it, or a pattern that covers it. */
export const inScope = (path: string, scope: readonly ScopeEntry[]): boolean =>
  scope.some(({ pattern }) => covers(pattern, path))

function covers(pattern: string, path: string): boolean {
  if (!/[*?{[]/.test(pattern))
    return path === pattern.replace(/\/$/, '') || path.startsWith(pattern.endsWith('/') ? pattern : `${pattern}/`)
  const source = globSource(pattern)
  return source !== null && new RegExp(`^${source}(?:/.*)?$`, 'u').test(path)
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
