type ScopeMark = 'new' | 'changed' | 'deleted' | 'renamed' | 'unstated'

/** A file, a folder (ending in `/`) or a pattern that the plan names under `## Changes`, and the line where it does. */
export type ScopeEntry = { readonly pattern: string; readonly mark: ScopeMark; readonly line: number }

/**
 * What the approved plan says it will change. Plans are prose: paths stand in backticks, at the head of list items, in
 * table cells, on both sides of an arrow. Whatever looks like a path counts; a word too many opens nothing that exists.
 */
export function readPlanScope(plan: string): ScopeEntry[] {
  const entries = new Map<string, ScopeEntry>()
  for (const { text, line } of changesSection(plan)) {
    const mark = markIn(text)
    for (const pattern of pathsIn(text)) if (!entries.has(pattern)) entries.set(pattern, { pattern, mark, line })
  }
  return [...entries.values()]
}

type Line = { text: string; line: number }

/** From the heading to the next of its rank; a `#` inside a code block is no heading. */
function changesSection(plan: string): Line[] {
  const section: Line[] = []
  let [inside, fence] = [false, '']
  for (const [index, text] of plan.split(/\r?\n/).entries()) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(text)?.[1] ?? ''
    if (fence === '') fence = mark
    else if (mark.startsWith(fence)) fence = ''
    const heading = fence === '' ? /^ {0,3}(#{1,2})(?!#)\s*(.*)$/.exec(text) : null
    if (heading !== null) inside = heading[1] === '##' && /^changes\b/i.test(heading[2] ?? '')
    else if (inside) section.push({ text, line: index + 1 })
  }
  return section
}

const marks: readonly (readonly [RegExp, ScopeMark])[] = [
  [/\brenam|\u2192|->|=>|\bmove/i, 'renamed'],
  [/\bdelet|\bremov|\bdrop\b/i, 'deleted'],
  [/\bnew\b|\bcreat|\badd(?:ed|s)?\b/i, 'new'],
  [/\bchang|\bmodif|\bedit|\bupdat|\bextend|\brewrit/i, 'changed'],
]

/** By what stands outside the backticks: a file may well be called `new-user.ts`. */
const markIn = (text: string): ScopeMark => {
  const words = text.replace(/`[^`]*`/g, ' ')
  return marks.find(([pattern]) => pattern.test(words))?.[1] ?? 'unstated'
}

function pathsIn(text: string): string[] {
  const quoted = [...text.matchAll(/`([^`]+)`/g)].flatMap(([, span = '']) => asPath(span, isQuotedPath))
  const linked = [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => asPath(target, isQuotedPath))
  const bare = text
    .replace(/`[^`]*`|\]\([^)]*\)/g, ' ')
    .split(/[\s|,;()"'\u2192]+|->|=>/)
    .filter((word) => word.length <= longestPath)
    .flatMap((word) => asPath(word.replace(/^[*_[]+|[*_\]:.]+$/g, ''), isBarePath))
  return [...quoted, ...linked, ...bare]
}

/** With the signs around it. What is longer is none, and to look at it closely would take its time. */
const longestPath = 400

function asPath(word: string, looksLikeOne: (path: string) => boolean): string[] {
  if (word.length > longestPath) return []
  const path = word
    .trim()
    .replace(/^\.\//, '')
    .replace(/:\d+(?:[-:,]\d+)*$/, '')
  const isOutside =
    path.startsWith('/') || path.startsWith('~') || path.split('/').includes('..') || path.includes('://')
  return path === '' || path.length > 300 || isOutside || !looksLikeOne(path) ? [] : [path]
}

const isPlain = (path: string): boolean => /^[\p{L}\p{N}_@+.,=*?{}[\]!%$ /-]+$/u.test(path)
const named = /^(?:Makefile|Dockerfile|Gemfile|Rakefile|Procfile|Jenkinsfile|LICENSE|CODEOWNERS|BUILD|WORKSPACE)$/
const ending = /\.[A-Za-z][A-Za-z0-9]{0,9}$|\.\{[^}]+\}$/

/** In backticks a folder or a name without an ending may be meant; a call, an option or a command is not. */
const isQuotedPath = (path: string): boolean =>
  isPlain(path) &&
  !path.startsWith('-') &&
  !/^[^/]* /.test(path) &&
  (path.includes('/') || ending.test(path) || /^\.[\w-]+/.test(path) || named.test(path) || /[*]/.test(path))

/** Without them only what can hardly be anything else. */
const isBarePath = (path: string): boolean =>
  isPlain(path) &&
  !path.startsWith('-') &&
  (path.includes('/')
    ? ending.test(path) || path.endsWith('/') || path.includes('*')
    : named.test(path) || /^[\w-]+\.(?:[cm]?[jt]sx?|json|ya?ml|toml|md|css|html|py|go|rs|java|rb|sh|sql)$/.test(path))
