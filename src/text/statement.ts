import { indentOf, type MarkdownLine } from './markdown.ts'

export type Statement = 'new' | 'changed' | 'deleted' | 'renamed'

/** What a line says of its file in so many words: in brackets, after a dash, in a table's cell, or before the path. */
export function readStatement(line: MarkdownLine | undefined): Statement | null {
  const prose = line?.prose ?? ''
  const word = (aside.exec(prose) ?? order.exec(prose))?.[1] ?? ''
  return statements.find(({ whole }) => whole.test(word))?.says ?? null
}

const forms = {
  new: 'new|created?|added?|add',
  changed: 'changed?|modif(?:y|ied)|edit(?:ed)?|updated?',
  deleted: 'deleted?|removed?',
  renamed: 'renamed?|moved?',
} as const satisfies { [statement in Statement]: string }

const statements = (['new', 'changed', 'deleted', 'renamed'] as const).map((says) => ({
  says,
  whole: new RegExp(`^(?:${forms[says]})$`, 'i'),
}))

const anyForm = Object.values(forms).join('|')

const aside = new RegExp(
  `[([|*_\u2013\u2014-]\\s*(${anyForm})(?=\\s*(?:[)\\]|,;:.*_\u2013\u2014-]|$|file\\b|module\\b|test\\b))`,
  'i',
)

/** Followed by what was code, which is the path. */
const order = new RegExp(
  `^\\s*(?:[-*+]|\\d{1,9}[.)])?\\s*(?:\\[[ xX]\\]\\s*)?(${anyForm})\\s+(?:the\\s+)?(?:files?\\s+)?\ufffc`,
  'i',
)

/**
 * Whether anything speaks of newness: in the line, in what leads to it, in what follows, or wherever else the section
 * names the same path.
 */
export function mayBeNew(line: MarkdownLine | undefined, pattern: string, section: readonly MarkdownLine[]): boolean {
  const at = section.findIndex(({ number }) => number === line?.number)
  const near = at === -1 ? [] : [...leadsTo(at, section), ...followsOf(at, section)]
  return [...near, ...section.filter(({ raw }) => raw.includes(pattern))].some(({ prose }) =>
    /\bnew\b|\bcreat|\badd|\bintroduc|\bgenerat|\bwrite\b/i.test(prose),
  )
}

/** The subheading, the sentence that ends in a colon and the items above that a line belongs to. */
function leadsTo(at: number, section: readonly MarkdownLine[]): MarkdownLine[] {
  const leads: MarkdownLine[] = []
  let indent = indentOf(section[at])
  const above = section.slice(Math.max(0, at - 200), at).reverse()
  for (const line of above.filter(({ kind }) => kind !== 'blank')) {
    if (line.kind === 'heading') return [...leads, line]
    if (/(?::|\*\*|__)$/.test(line.prose) || indentOf(line) < indent) leads.push(line)
    indent = Math.min(indent, indentOf(line))
  }
  return leads
}

/** What is said of a file below its line: deeper items, or the text under a heading. */
function followsOf(at: number, section: readonly MarkdownLine[]): MarkdownLine[] {
  const line = section[at]
  const below = section.slice(at, at + 9)
  const end = below.findIndex(
    (other) =>
      other !== line &&
      (other.kind === 'heading' ||
        (line?.kind !== 'heading' && other.kind !== 'blank' && indentOf(other) <= indentOf(line))),
  )
  return end === -1 ? below : below.slice(0, end)
}
