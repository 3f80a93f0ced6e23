/** Globs as people write them: `*` and `?` within a name, `**` for any folders, `[a-z]`, `{one,other}`. */
const maxAlternatives = 1_000

/** Expands `{a,b}/c` to `a/c` and `b/c`; too many alternatives count as none. */
export function globAlternatives(glob: string): readonly string[] {
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

/**
 * Whether a glob without groups names a path, or a folder above it. All that it may mean is matched in parallel, one character
 * at a time, so that no pattern is slow.
 */
export function globNames(glob: string, path: string, orBelow = true): boolean {
  const tokens = tokensOf(glob)
  let places = withSkipped(tokens, [0])
  for (const character of path) {
    if (orBelow && character === '/' && places.has(tokens.length)) return true
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
