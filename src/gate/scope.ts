import { globAlternatives, globNames } from '../text/glob.ts'

/** Whether the plan names a path of the worktree: itself, a folder above it, or a pattern that covers it. */
export const inScope = (path: string, scope: readonly ScopeEntry[]): boolean =>
  scope.some(({ pattern }) => covers(pattern, path))

const covers = (pattern: string, path: string): boolean =>
  /[*?{[]/.test(pattern)
    ? couldCover(pattern, path) && matchesGlob(pattern, path)
    : path === pattern.replace(/\/$/, '') || path.startsWith(pattern.endsWith('/') ? pattern : `${pattern}/`)

/** Whether two patterns may name the same file; two globs may where one begins as the other. */
export const mayOverlap = (a: string, b: string): boolean => {
  if (covers(a, b) || covers(b, a)) return true
  const [one, other] = [beginning(a), beginning(b)]
  return one !== null && other !== null && (one.startsWith(other) || other.startsWith(one))
}

/** Of a glob or a folder, what stands before the first wildcard; null for the name of one file. */
const beginning = (pattern: string): string | null =>
  /[*?{[]/.test(pattern) ? (pattern.split(/[*?{[]/, 1)[0] ?? '') : pattern.endsWith('/') ? pattern : null

/** The literal parts of a glob are in every path that it covers; a cheap check for nearly all. */
const couldCover = (pattern: string, path: string): boolean =>
  path.length <= maxGlobLength && literalParts(pattern).every((part) => path.includes(part))

/** Longer than any real path; a plan may have a thousand patterns. */
const maxGlobLength = 500

const literalParts = (pattern: string): readonly string[] =>
  /[{[]/.test(pattern) ? pattern.split(/[*?{[]/, 1) : pattern.split(/(?:\*\*\/)+|[*?]+/)

/** Whether a glob, as people write them in plans, names a path or a folder above it. An invalid glob names nothing. */
const matchesGlob = (glob: string, path: string): boolean =>
  globAlternatives(glob).some((one) => isSpecific(one) && globNames(one, path))

/** `*` in a sentence about wildcards is not meant to name every file: something of a pattern has to be a name. */
const isSpecific = (glob: string): boolean => /[\p{L}\p{N}_]/u.test(glob.replace(/\[[^\]]*\]/g, ''))

type ScopeMark = 'new' | 'changed' | 'deleted' | 'renamed' | 'unstated'

/** A file, a folder (ending in `/`) or a pattern that the plan names under `## Changes`, and the line where it does. */
export type ScopeEntry = { readonly pattern: string; readonly mark: ScopeMark; readonly line: number }

/** Plans are prose: everything that looks like a path counts; a word too many names nothing that exists. */
export function readPlanScope(plan: string): ScopeEntry[] {
  const entries = new Map<string, ScopeEntry>()
  for (const { text, line } of changesSection(plan)) {
    const mark = markIn(text)
    for (const pattern of pathsIn(text)) if (!entries.has(pattern)) entries.set(pattern, { pattern, mark, line })
  }
  return [...entries.values()]
}

type Line = { text: string; line: number }

/** From the heading to the next one of its level; a `#` inside a code block is no heading. */
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

/** By the text outside the backticks: a file may be called `new-user.ts`. */
const markIn = (text: string): ScopeMark => {
  const words = text.replace(/`[^`]*`/g, ' ')
  return marks.find(([pattern]) => pattern.test(words))?.[1] ?? 'unstated'
}

function pathsIn(text: string): string[] {
  const quoted = [...text.matchAll(/`([^`]+)`/g)].flatMap(([, span = '']) => parsePath(span, isQuotedPath))
  const linked = [...text.matchAll(/\]\(([^)\s]{1,400})\)/g)].flatMap(([, target = '']) =>
    parsePath(target, isQuotedPath),
  )
  const bare = text
    .replace(/`[^`]*`|\]\([^)]{0,400}\)/g, ' ')
    .split(/[\s|,;()"'\u2192]+|->|=>/)
    .filter((word) => word.length <= maxPathLength)
    .flatMap((word) => parsePath(word.replace(/^[*_[]+|[*_\]:.]+$/g, ''), isBarePath))
  return [...quoted, ...linked, ...bare]
}

/** Includes the characters around the path; longer texts are skipped. As in the patterns above. */
const maxPathLength = 400

function parsePath(word: string, looksLikeOne: (path: string) => boolean): string[] {
  if (word.length > maxPathLength) return []
  const path = word
    .trim()
    .replace(/^\.\//, '')
    .replace(/:\d+(?:[-:,]\d+)*$/, '')
  const isOutside =
    path.startsWith('/') || path.startsWith('~') || path.split('/').includes('..') || path.includes('://')
  return path === '' || path.length > 300 || isOutside || !isSpecific(path) || !looksLikeOne(path) ? [] : [path]
}

const isPlain = (path: string): boolean => /^(?!-)[\p{L}\p{N}_@+.,=*?{}[\]!%$ /-]+$/u.test(path)
const named = /^(?:Makefile|Dockerfile|Gemfile|Rakefile|Procfile|Jenkinsfile|LICENSE|CODEOWNERS|BUILD|WORKSPACE)$/
const ending = /\.[A-Za-z][A-Za-z0-9]{0,9}$|\.\{[^}]+\}$/

/** In backticks a folder or a name without an extension counts; a call, an option or a command does not. */
const isQuotedPath = (path: string): boolean =>
  isPlain(path) &&
  !/^[^/]* /.test(path) &&
  (path.includes('/') || ending.test(path) || /^\.[\w-]+/.test(path) || named.test(path) || /[*]/.test(path))

/** Without backticks only what can hardly be anything else. */
const isBarePath = (path: string): boolean =>
  isPlain(path) &&
  (path.includes('/')
    ? ending.test(path) || path.endsWith('/') || path.includes('*')
    : named.test(path) || /^[\w-]+\.(?:[cm]?[jt]sx?|json|ya?ml|toml|md|css|html|py|go|rs|java|rb|sh|sql)$/.test(path))
