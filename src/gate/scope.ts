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

type Token =
  | { kind: 'character'; character: string }
  | { kind: 'set'; set: RegExp }
  | { kind: 'any-of-a-name' }
  | { kind: 'names'; across: boolean }
  /** Any number of whole folders; `inside`: currently within one. */
  | { kind: 'folders' }
  | { kind: 'inside' }

/**
 * Whether a glob, as people write them in plans, names a path or a folder above it. All alternatives are matched in
 * parallel, one character at a time (linear time). An invalid glob names nothing.
 */
const matchesGlob = (glob: string, path: string): boolean =>
  alternatives(glob).some((one) => matchTokens(tokensOf(one), path))

const maxAlternatives = 100

/** Expands `{a,b}/c` to `a/c` and `b/c`; too many alternatives count as none. */
function alternatives(glob: string): readonly string[] {
  let globs: readonly string[] = [glob]
  while (globs.length <= maxAlternatives && globs.some((one) => group.test(one)))
    globs = globs.flatMap(expandFirstGroup)
  return globs.length > maxAlternatives ? [] : globs.filter((one) => !/[{}]/.test(one))
}

const group = /\{([^{}]*)\}/

function expandFirstGroup(glob: string): readonly string[] {
  const [whole, inner] = group.exec(glob) ?? []
  if (whole === undefined || inner === undefined) return [glob]
  return inner.split(',').map((choice) => glob.replace(whole, () => choice))
}

function tokensOf(glob: string): readonly Token[] {
  const tokens: Token[] = []
  for (const [text] of glob.matchAll(/\*\*\/?|\*|\?|\[!?[^\]/]+\]|[\s\S]/gu)) {
    if (text === '**/') tokens.push({ kind: 'folders' }, { kind: 'inside' })
    else if (text === '**' || text === '*') tokens.push({ kind: 'names', across: text === '**' })
    else if (text === '?') tokens.push({ kind: 'any-of-a-name' })
    else tokens.push(setOf(text) ?? { kind: 'character', character: text })
  }
  return tokens
}

function setOf(text: string): Token | null {
  if (!/^\[.+\]$/su.test(text)) return null
  try {
    return { kind: 'set', set: new RegExp(text.replace('[!', '[^').replaceAll('\\', '\\\\'), 'u') }
  } catch {
    // Such as [z-a].
    return null
  }
}

function matchTokens(tokens: readonly Token[], path: string): boolean {
  let places = withOptionalSkipped(tokens, new Set([0]))
  for (const character of path) {
    if (character === '/' && places.has(tokens.length)) return true
    const next = new Set<number>()
    for (const place of places) {
      const token = tokens[place]
      const to = token === undefined ? null : statesAfter(token, place, character)
      if (to !== null) next.add(to)
    }
    if (next.size === 0) return false
    places = withOptionalSkipped(tokens, next)
  }
  return places.has(tokens.length)
}

/** The state after this character; null where it does not match. */
function statesAfter(token: Token, place: number, character: string): number | null {
  const isSlash = character === '/'
  switch (token.kind) {
    case 'character':
      return token.character === character ? place + 1 : null
    case 'set':
      return !isSlash && token.set.test(character) ? place + 1 : null
    case 'any-of-a-name':
      return isSlash ? null : place + 1
    case 'names':
      return isSlash && !token.across ? null : place
    case 'folders':
      return isSlash ? null : place + 1
    case 'inside':
      return isSlash ? place - 1 : place
  }
}

/** Adds the states that are reached without consuming a character. */
function withOptionalSkipped(tokens: readonly Token[], places: Set<number>): Set<number> {
  for (const place of places) {
    const kind = tokens[place]?.kind
    if (kind === 'names') places.add(place + 1)
    if (kind === 'folders') places.add(place + 2)
  }
  return places
}

type ScopeMark = 'new' | 'changed' | 'deleted' | 'renamed' | 'unstated'

/** A file, a folder (ending in `/`) or a pattern that the plan names under `## Changes`, and the line where it does. */
export type ScopeEntry = { readonly pattern: string; readonly mark: ScopeMark; readonly line: number }

/**
 * The paths that the plan says it changes. Plans are prose: paths stand in backticks, at the start of list items, in
 * table cells, on both sides of an arrow. Everything that looks like a path counts; a word too many names nothing that
 * exists.
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
  const linked = [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => parsePath(target, isQuotedPath))
  const bare = text
    .replace(/`[^`]*`|\]\([^)]*\)/g, ' ')
    .split(/[\s|,;()"'\u2192]+|->|=>/)
    .filter((word) => word.length <= maxPathLength)
    .flatMap((word) => parsePath(word.replace(/^[*_[]+|[*_\]:.]+$/g, ''), isBarePath))
  return [...quoted, ...linked, ...bare]
}

/** Includes the characters around the path; longer texts are skipped. */
const maxPathLength = 400

function parsePath(word: string, looksLikeOne: (path: string) => boolean): string[] {
  if (word.length > maxPathLength) return []
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

/** In backticks a folder or a name without an extension counts; a call, an option or a command does not. */
const isQuotedPath = (path: string): boolean =>
  isPlain(path) &&
  !path.startsWith('-') &&
  !/^[^/]* /.test(path) &&
  (path.includes('/') || ending.test(path) || /^\.[\w-]+/.test(path) || named.test(path) || /[*]/.test(path))

/** Without backticks only what can hardly be anything else. */
const isBarePath = (path: string): boolean =>
  isPlain(path) &&
  !path.startsWith('-') &&
  (path.includes('/')
    ? ending.test(path) || path.endsWith('/') || path.includes('*')
    : named.test(path) || /^[\w-]+\.(?:[cm]?[jt]sx?|json|ya?ml|toml|md|css|html|py|go|rs|java|rb|sh|sql)$/.test(path))
