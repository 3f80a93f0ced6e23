/**
 * The globs that people write in plans: `*`, `**`, `?`, `[abc]`, `{a,b}`. They are followed character by character, all
 * possibilities side by side: with a regular expression, a few wildcards and a long name would take for ever. Null for
 * one that is not well formed; it covers nothing.
 */
export function compileGlob(glob: string): ((path: string) => boolean) | null {
  const tokens = readTokens(glob)
  if (tokens === null) return null
  return (path) => {
    const characters = [...path]
    const start = new Uint8Array(characters.length + 1)
    start[0] = 1
    const ends = follow(tokens, start, characters)
    // What is below a folder that is covered is covered.
    return ends.some((reached, at) => reached === 1 && (at === characters.length || characters[at] === '/'))
  }
}

type Token =
  | { readonly kind: 'one'; readonly is: (character: string) => boolean }
  /** `*`, `**` and `**` with a slash: within a name, anything, and folders. */
  | { readonly kind: 'run' | 'all' | 'folders' }
  | { readonly kind: 'choice'; readonly choices: readonly (readonly Token[])[] }

const piece = /\*\*\/?|\*|\?|[{},]|\[!?[^\]/]+\]|[\s\S]/gu

function readTokens(glob: string): readonly Token[] | null {
  const open: Token[][][] = [[[]]]
  for (const [text] of glob.matchAll(piece)) {
    const choices = open.at(-1) ?? []
    if (text === '{') open.push([[]])
    else if (text === '}' && open.length > 1) {
      open.pop()
      open.at(-1)?.at(-1)?.push({ kind: 'choice', choices })
    } else if (text === ',' && open.length > 1) choices.push([])
    else {
      const token = text === '}' ? null : tokenOf(text)
      if (token === null) return null
      choices.at(-1)?.push(token)
    }
  }
  return open.length === 1 ? (open[0]?.[0] ?? []) : null
}

function tokenOf(text: string): Token | null {
  if (text === '**/') return { kind: 'folders' }
  if (text === '**') return { kind: 'all' }
  if (text === '*') return { kind: 'run' }
  if (text === '?') return { kind: 'one', is: (character) => character !== '/' }
  if (!text.startsWith('[') || text === '[') return { kind: 'one', is: (character) => character === text }
  const isOneOf = classOf(text)
  return isOneOf === null ? null : { kind: 'one', is: (character) => character !== '/' && isOneOf.test(character) }
}

function classOf(text: string): RegExp | null {
  try {
    return new RegExp(`^${text.replaceAll('\\', '\\\\').replace('[!', '[^')}$`, 'u')
  } catch {
    return null
  }
}

/** Which places in the path are reached, from those that were. */
const follow = (tokens: readonly Token[], from: Uint8Array, characters: readonly string[]): Uint8Array =>
  tokens.reduce((reached, token) => step(token, reached, characters), from)

function step(token: Token, from: Uint8Array, characters: readonly string[]): Uint8Array {
  switch (token.kind) {
    case 'one':
      return from.map((_, at) => (at > 0 && from[at - 1] === 1 && token.is(characters[at - 1] ?? '') ? 1 : 0))
    case 'run':
      return spread(from, (at) => characters[at] !== '/')
    case 'all':
      return spread(from, () => true)
    case 'folders':
      return belowFolders(from, characters)
    case 'choice': {
      const all = token.choices.map((tokens) => follow(tokens, from, characters))
      return from.map((_, at) => (all.some((reached) => reached[at] === 1) ? 1 : 0))
    }
  }
}

/** On from each place that was reached, as long as the character there may be passed. */
function spread(from: Uint8Array, mayPass: (at: number) => boolean): Uint8Array {
  const reached = from.slice()
  for (let at = 0; at + 1 < reached.length; at += 1) if (reached[at] === 1 && mayPass(at)) reached[at + 1] = 1
  return reached
}

/** Any number of names, each with its slash. */
function belowFolders(from: Uint8Array, characters: readonly string[]): Uint8Array {
  const reached = from.slice()
  let isInName = false
  for (const [at, character] of characters.entries()) {
    if (character !== '/') isInName ||= reached[at] === 1
    else {
      if (isInName) reached[at + 1] = 1
      isInName = false
    }
  }
  return reached
}
