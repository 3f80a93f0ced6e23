import type { MarkdownLine } from './read-markdown.ts'
import { codeMark } from './read-prose.ts'

export type Placeholder = { readonly line: MarkdownLine; readonly mark: string }

/**
 * Text that stands for text still to be written. Plans also speak of TODO comments and of `<br>`, so a word counts only
 * where it can hardly be meant otherwise; what is doubtful is left alone.
 */
export function findPlaceholder(line: MarkdownLine, isOpenQuestion = false): Placeholder | null {
  if (line.kind !== 'text') return null
  // That something is undecided is what a question is about; a line that says nothing else asks nothing.
  const items = isOpenQuestion && !isOnlyPlaceholder(line) ? [] : itemsIn(line.prose)
  const mark =
    items.map(wholeMark).find(isFound) ??
    rules
      .filter(({ isQuestion }) => !(isQuestion && isOpenQuestion))
      .map(({ find }) => find(line.prose))
      .find(isFound)
  return mark === undefined ? null : { line, mark }
}

/** Whether a line says nothing besides. */
export const isOnlyPlaceholder = (line: MarkdownLine): boolean => {
  const items = itemsIn(line.prose).filter((item) => item !== '')
  return line.kind === 'text' && items.length > 0 && items.every((item) => isFound(wholeMark(item)))
}

const isFound = (mark: string | null): mark is string => mark !== null

/** The cells of a table row, or the text of the line without what makes it an item of a list. */
function itemsIn(prose: string): string[] {
  const text = prose.trim()
  if (text.startsWith('|')) return text.split('|').map((cell) => cell.trim())
  return [text.replace(/^(?:>\s?){0,5}(?:[-*+]\s+|\d{1,9}[.)]\s+)?(?:\[[ xX]\]\s+)?/, '').trim()]
}

const wholes: ReadonlySet<string> = new Set([
  ...['todo', 'tbd', 'tbc', 'tba', 'fixme', 'xxx', '???', 'lorem ipsum', 'placeholder', 'coming soon'],
  ...['to be done', 'to be decided', 'to be defined', 'to be determined', 'to be written', 'to do', 'fill in'],
])

/** For text that is nothing but a placeholder. */
function wholeMark(item: string): string | null {
  if (/^(?:\.{3,}|\u2026+)$/.test(item)) return item
  const bare = stripped(item)
  if (wholes.has(bare.toLowerCase())) return bare
  if (/^\[[\p{L}\p{N}][^\][]{0,120}\][.:]?$/u.test(item) && bare.split(/\s+/).length > 2) return item
  return /^<[\p{L}\u2026.][^<>=]{0,80}>[.:]?$/u.test(item) && !isTag(item.slice(1)) ? item : null
}

/** Without emphasis, brackets and full stops around it. */
function stripped(item: string): string {
  const around = '*_~([{<>}]).:! '
  let [start, end] = [0, item.length]
  while (start < end && around.includes(item.charAt(start))) start += 1
  while (end > start && around.includes(item.charAt(end - 1))) end -= 1
  return item.slice(start, end)
}

type Rule = {
  readonly find: (prose: string) => string | null
  /** A question that is open may say so. */
  readonly isQuestion?: true
}

const first =
  (pattern: RegExp) =>
  (prose: string): string | null =>
    pattern.exec(prose)?.[1] ?? null

const rules: readonly Rule[] = [
  { find: findAtStart },
  { find: first(/(?<![\w./\\-])(TODO|FIXME|XXX|TBD)(?=[:(])/) },
  { find: first(/[[({<](TODO|TBD|TBC|FIXME|XXX)[\])}>]/) },
  { find: first(/[:=\u2013\u2014|]\s{0,3}\**(TODO|FIXME|XXX)\**[.!]?\s*$/) },
  { find: findUndecided, isQuestion: true },
  { find: first(/(?<!\w)(lorem ipsum dolor)\b/i) },
  { find: first(/(\[(?:insert|describe|fill in|placeholder|your)\b[^\][]{0,80}\])(?![([:])/i) },
  { find: findFillIn },
]

/** "TODO write this" is one, "TODO comments are removed" is none. */
function findAtStart(prose: string): string | null {
  const [, mark = null, rest = ''] =
    /^[\s>*_+\-\d.)[\]]*(?:[xX]\]\s)?(TODO|FIXME|XXX)(?![\w./-])(.*)$/.exec(prose) ?? []
  return /^\s*(?:'?s\b|comment|list|item|app\b|marker|file|note|entr|tag)/i.test(rest) ? null : mark
}

/** "The timeout is TBD" is a gap; "no TBD is left" and "each TBD" speak of one. */
function findUndecided(prose: string): string | null {
  for (const match of prose.matchAll(/(?<![\w./\\-])(?:TBD|TBC)(?![\w/\\-])/g)) {
    const before = /(\p{L}+)\s+$/u.exec(prose.slice(Math.max(0, match.index - 20), match.index))?.[1] ?? ''
    if (!determiners.has(before.toLowerCase())) return match[0]
  }
  return null
}

const determiners: ReadonlySet<string> = new Set(
  'a all an any each every existing no of old or remaining stale such that the these this those with'.split(' '),
)

/** `<describe the goal>`: two words or more, none of which can be HTML, a type or an address. */
function findFillIn(prose: string): string | null {
  for (const [whole, inside = ''] of prose.matchAll(/(?<![\p{L}\p{N}_)\]])<([\p{L}\u2026.][^<>=/"{}@]{0,80})>/gu)) {
    const words = inside.trim().split(/\s+/)
    const reads = inside.trim() === '...' || inside.trim() === '\u2026' || words.length > 2 || /^\p{Ll}/u.test(inside)
    const isLong = words.length > 1 || /^[.\u2026]+$/.test(inside)
    if (reads && isLong && !isTag(inside) && !whole.includes(codeMark)) return whole
  }
  return null
}

const tags: ReadonlySet<string> = new Set(
  (
    'a abbr address article aside audio b bdi bdo blockquote body br button canvas caption center circle cite code ' +
    'col colgroup data datalist dd del details dfn dialog div dl dt em embed fieldset figcaption figure font footer ' +
    'form g h1 h2 h3 h4 h5 h6 head header hr html i iframe img input ins kbd label legend li line link main map mark ' +
    'menu meta meter nav noscript object ol optgroup option output p path picture pre progress q rect rp rt ruby s ' +
    'samp script section select slot small source span strike strong style sub summary sup svg table tbody td ' +
    'template textarea tfoot th thead time title tr track tt u ul use var video wbr'
  ).split(' '),
)

/** Custom elements and generic types are no fill-ins either. */
const isTag = (inside: string): boolean => {
  const name = /^[\p{L}\p{N}]*/u.exec(inside)?.[0].toLowerCase() ?? ''
  return tags.has(name) || /^[\w-]+:/.test(inside) || /^[a-z]+-[a-z-]+>?$/.test(inside)
}
