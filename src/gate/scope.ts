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

/**
 * Whether a glob, as people write them in plans, names a path or a folder above it. All alternatives are matched in
 * parallel, one character at a time (linear time). An invalid glob names nothing.
 */
const matchesGlob = (glob: string, path: string): boolean =>
  alternatives(glob).some((one) => isSpecific(one) && matchTokens(tokensOf(one), path))

/** `*` in a sentence about wildcards is not meant to name every file: something of a pattern has to be a name. */
const isSpecific = (glob: string): boolean => /[\p{L}\p{N}_]/u.test(glob.replace(/\[[^\]]*\]/g, ''))

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

/** How far a character leads on, null where it does not fit; and how many tokens may be left out. */
type Token = { readonly step: (character: string) => number | null; readonly skips: number }

const inName = (step: number) => (character: string) => (character === '/' ? null : step)

const tokensOf = (glob: string): readonly Token[] =>
  [...glob.matchAll(/\*\*\/?|\*|\?|\[!?[^\]/]+\]|[\s\S]/gu)].flatMap(([text]): Token | Token[] => {
    switch (text) {
      case '**/':
        // Any number of whole folders: from the beginning of one into it, and back to the beginning of the next.
        return [
          { step: inName(1), skips: 2 },
          { step: (character) => (character === '/' ? -1 : 0), skips: 0 },
        ]
      case '**':
        return { step: () => 0, skips: 1 }
      case '*':
        return { step: inName(0), skips: 1 }
      case '?':
        return { step: inName(1), skips: 0 }
      default: {
        const set = setOf(text)
        const fits = (character: string) =>
          set === null ? character === text : character !== '/' && set.test(character)
        return { step: (character) => (fits(character) ? 1 : null), skips: 0 }
      }
    }
  })

function setOf(text: string): RegExp | null {
  if (!/^\[.+\]$/su.test(text)) return null
  try {
    return new RegExp(text.replace('[!', '[^').replaceAll('\\', '\\\\'), 'u')
  } catch {
    // Such as [z-a].
    return null
  }
}

function matchTokens(tokens: readonly Token[], path: string): boolean {
  let places = withSkipped(tokens, [0])
  for (const character of path) {
    if (character === '/' && places.has(tokens.length)) return true
    const next = [...places].flatMap((place) => {
      const step = tokens[place]?.step(character) ?? null
      return step === null ? [] : [place + step]
    })
    if (next.length === 0) return false
    places = withSkipped(tokens, next)
  }
  return places.has(tokens.length)
}

/** With the places that are reached without a character. */
function withSkipped(tokens: readonly Token[], from: readonly number[]): ReadonlySet<number> {
  const places = new Set(from)
  for (const place of places) places.add(place + (tokens[place]?.skips ?? 0))
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
