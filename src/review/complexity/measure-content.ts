import type { ReviewType } from '../../schemas/backend.ts'
import type { Complexity } from '../../schemas/review-result.ts'
import { isSecurityPath } from './is-security-path.ts'
import { readDiff } from './read-diff.ts'

/** What can be said about the size of a review before anybody is asked. */
export type Measure = {
  readonly level: Complexity
  readonly files: number
  readonly lines: number
  readonly securityPaths: readonly string[]
}

/** `readChanges`: the paths that a plan names under `## Changes`. */
export function measureContent(
  type: ReviewType,
  content: string,
  readChanges: (plan: string) => readonly { readonly pattern: string }[],
): Measure {
  if (type === 'plan') return measurePlan(readChanges(content).map(({ pattern }) => pattern))
  const diff = readDiff(content)
  if (diff === null) return judge({ files: [], names: [], lines: countLines(content) })
  const { files, stray } = diff
  return judge({
    files: files.map(({ path }) => path),
    names: files.flatMap(({ names }) => names),
    lines: files.reduce((sum, { added, removed }) => sum + added + removed, stray),
  })
}

/** A plan that names no file, or a folder without saying which of its files, has not said that it is small. */
function measurePlan(patterns: readonly string[]): Measure {
  const measure = judge({ files: patterns, names: patterns, lines: 0 })
  const isVague = patterns.length === 0 || patterns.some((pattern) => pattern.includes('*') || pattern.endsWith('/'))
  return isVague && measure.level === 'low' ? { ...measure, level: 'medium' } : measure
}

type Counted = { readonly files: readonly string[]; readonly names: readonly string[]; readonly lines: number }

function judge({ files: paths, names, lines }: Counted): Measure {
  const securityPaths = [...new Set(names)].filter(isSecurityPath)
  const files = new Set(paths).size
  return { level: levelOf(files, lines, securityPaths.length > 0), files, lines, securityPaths }
}

function levelOf(files: number, lines: number, security: boolean): Complexity {
  if (security || files > 15 || lines > 2000) return 'high'
  return files > 3 || lines > 200 ? 'medium' : 'low'
}

function countLines(text: string): number {
  let lines = text === '' || text.endsWith('\n') ? 0 : 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1
  return lines
}
