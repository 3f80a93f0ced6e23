/** What may come next in a path. */
type Token =
  | { kind: 'character'; character: string }
  | { kind: 'set'; set: RegExp }
  | { kind: 'any-of-a-name' }
  | { kind: 'names'; across: boolean }
  /** Any number of whole folders; `inside` is the place within one. */
  | { kind: 'folders' }
  | { kind: 'inside' }

/**
 * Whether a glob as people write them in plans names a path, or a folder above it. All ways to match are followed at
 * once, a character at a time, so that no pattern takes longer for being clever. One that is not well formed names nothing.
 */
export const matchesGlob = (glob: string, path: string): boolean =>
  alternatives(glob).some((one) => follow(tokensOf(one), path))

const mostAlternatives = 100

/** `{a,b}/c` is `a/c` and `b/c`; more of them than anybody writes are none. */
function alternatives(glob: string): readonly string[] {
  let globs: readonly string[] = [glob]
  while (globs.length <= mostAlternatives && globs.some((one) => group.test(one))) globs = globs.flatMap(chooseOnce)
  return globs.length > mostAlternatives ? [] : globs.filter((one) => !/[{}]/.test(one))
}

const group = /\{([^{}]*)\}/

function chooseOnce(glob: string): readonly string[] {
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

function follow(tokens: readonly Token[], path: string): boolean {
  let places = withSkipped(tokens, new Set([0]))
  for (const character of path) {
    if (character === '/' && places.has(tokens.length)) return true
    const next = new Set<number>()
    for (const place of places) {
      const token = tokens[place]
      const to = token === undefined ? null : after(token, place, character)
      if (to !== null) next.add(to)
    }
    if (next.size === 0) return false
    places = withSkipped(tokens, next)
  }
  return places.has(tokens.length)
}

/** Where one goes on after this character; null: nowhere. */
function after(token: Token, place: number, character: string): number | null {
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

/** With the places that are reached without a character. */
function withSkipped(tokens: readonly Token[], places: Set<number>): Set<number> {
  for (const place of places) {
    const kind = tokens[place]?.kind
    if (kind === 'names') places.add(place + 1)
    if (kind === 'folders') places.add(place + 2)
  }
  return places
}
