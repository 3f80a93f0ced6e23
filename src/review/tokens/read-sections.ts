/** A heading and what stands under it up to the next heading; the text before the first one has none. */
export type Section = {
  readonly heading: string
  readonly title: string
  readonly level: number
  readonly start: number
  readonly bodyStart: number
  readonly end: number
  readonly rank: Rank
}

/** 0 is what must not be missing. */
type Rank = 0 | 1 | 2 | 3

/** By the words of a heading; the first row that matches holds. */
const ranks: readonly { readonly rank: Rank; readonly title: RegExp }[] = [
  {
    rank: 3,
    title: /\b(appendix|appendices|references?|bibliography|glossary|change ?log|history|further reading|see also)\b/i,
  },
  {
    rank: 0,
    title: /\b(requirements?|acceptance|criteria|goals?|objectives?|scope|constraints?|user stor(y|ies)|problem)\b/i,
  },
  {
    rank: 1,
    title: /\b(architecture|design|approach|changes?|solution|implementation|interfaces?|components?|steps?|tasks?)\b/i,
  },
]

/** The sections of a Markdown document, in its order; without the deeper headings where there are thousands. */
export function readSections(text: string): readonly Section[] {
  const headings = findHeadings(text, 6) ?? findHeadings(text, 2) ?? findHeadings(text, 1) ?? []
  const starts = headings.map(({ start }) => start)
  const titles = headings.filter(({ level }) => level === 1).length
  const open: { level: number; rank: Rank }[] = []
  const sections = headings.map((found, index): Section => {
    while ((open.at(-1)?.level ?? 0) >= found.level) open.pop()
    const rank = rankOf(found.title, open.at(-1)?.rank ?? 2)
    // The title of the document names all of it, and so tells nothing about its parts.
    open.push({ level: found.level, rank: found.level === 1 && titles === 1 ? 2 : rank })
    return { ...found, rank, end: starts[index + 1] ?? text.length }
  })
  const first = starts[0] ?? text.length
  if (first === 0) return sections
  return [{ heading: '', title: '', level: 1, start: 0, bodyStart: 0, end: first, rank: 2 }, ...sections]
}

function rankOf(title: string, above: Rank): Rank {
  const own = ranks.find((row) => row.title.test(title))?.rank
  if (own === undefined || own === 3 || above === 3) return own === 3 ? 3 : above
  return own < above ? own : above
}

type Heading = Omit<Section, 'rank' | 'end'>

const most = 20_000

function findHeadings(text: string, deepest: number): Heading[] | null {
  const found: Heading[] = []
  let fence: string | null = null
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start)
    const next = end === -1 ? text.length : end + 1
    // No heading is longer, and a line may have megabytes.
    const line = next - start > 400 ? text.slice(start, start + 40) : text.slice(start, next)
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (mark !== undefined) fence = fenceAfter(fence, mark)
    const heading = fence === null && next - start <= 400 ? /^ {0,3}(#{1,6})[ \t]+(\S.*)/.exec(line) : null
    if (heading !== null) {
      const [, signs = '', title = ''] = heading
      const level = signs.length
      if (level <= deepest) found.push({ heading: line.trimEnd(), title: title.trim(), level, start, bodyStart: next })
      if (found.length > most) return null
    }
    start = next
  }
  return found
}

/** In a block of code a `#` is a comment; a block ends with at least as many of the same signs. */
const fenceAfter = (fence: string | null, mark: string): string | null => {
  if (fence === null) return mark
  return mark.startsWith(fence) ? null : fence
}
