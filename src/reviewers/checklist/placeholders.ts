import { codeMark, linesUnder, type Markdown, type MarkdownLine } from '../../text/markdown.ts'
import { atLine, type ChecklistFinding, finding, limitFindings } from './finding.ts'

/** Every line that is still to be written. A section that is nothing else is reported as a whole, by its name. */
export function checkPlaceholders(
  markdown: Markdown,
  reportedSections: readonly string[],
): readonly ChecklistFinding[] {
  const reported = new Set(
    markdown.headings
      .filter(
        ({ level, title }) =>
          level === 2 && reportedSections.some((name) => title.toLowerCase().startsWith(name.toLowerCase())),
      )
      .flatMap((heading) => placeholdersAlone(linesUnder(markdown, heading)))
      .map(({ number }) => number),
  )
  const sectionAt = sectionsByLine(markdown)
  const found = markdown.lines.flatMap((line) => {
    const section = sectionAt(line.number)
    const mark = reported.has(line.number) ? null : findPlaceholder(line, /^open\b|questions?$/i.test(section))
    if (mark === null) return []
    const fix = 'Write it, or take the line out; what only the user can decide belongs under Open Questions.'
    return [finding('major', section, { problem: `"${mark}" is a placeholder.`, evidence: atLine(line), fix })]
  })
  return limitFindings(found, 12, (count) => `${count} more places are still to be written.`)
}

/** The heading that a line stands under; to be called in the order of the lines. */
function sectionsByLine({ headings }: Markdown): (number: number) => string {
  let at = 0
  return (number) => {
    while ((headings[at]?.number ?? Number.POSITIVE_INFINITY) <= number) at += 1
    return headings[at - 1]?.title ?? 'Beginning'
  }
}

/**
 * A mark for text that is still to be written. Plans also mention TODO comments and `<br>`, so a word counts only where it
 * is unambiguous.
 */
function findPlaceholder(line: MarkdownLine, isOpenQuestion: boolean): string | null {
  if (line.kind !== 'text') return null
  // An open question may call something undecided, unless the line is nothing else.
  const items = isOpenQuestion && !isOnlyPlaceholder(line) ? [] : itemsIn(line.prose)
  const inProse = rules.filter((rule) => !isOpenQuestion || rule !== findUndecided).map((find) => find(line.prose))
  return [...items.map(wholeMark), ...inProse].find((mark) => mark !== null) ?? null
}

const isOnlyPlaceholder = (line: MarkdownLine): boolean => {
  const items = itemsIn(line.prose).filter((item) => item !== '')
  return line.kind === 'text' && items.length > 0 && items.every((item) => wholeMark(item) !== null)
}

/** The cells of a table row, or the text of the line without its list marker. */
function itemsIn(prose: string): string[] {
  const text = prose.trim()
  if (text.startsWith('|')) return text.split('|').map((cell) => cell.trim())
  return [text.replace(/^(?:>\s?){0,5}(?:[-*+]\s+|\d{1,9}[.)]\s+)?(?:\[[ xX]\]\s+)?/, '').trim()]
}

const placeholderTexts: ReadonlySet<string> = new Set([
  ...['todo', 'tbd', 'tbc', 'tba', 'fixme', 'xxx', '???', 'lorem ipsum', 'placeholder', 'coming soon'],
  ...['to be done', 'to be decided', 'to be defined', 'to be determined', 'to be written', 'to do', 'fill in'],
])

/** The text itself if it is nothing but a placeholder. */
function wholeMark(item: string): string | null {
  if (/^(?:\.{3,}|\u2026+)$/.test(item)) return item
  const bare = withoutMarks(item)
  if (placeholderTexts.has(bare.toLowerCase())) return bare
  if (/^\[[\p{L}\p{N}][^\][]{0,120}\][.:]?$/u.test(item) && bare.split(/\s+/).length > 2) return item
  return /^<[\p{L}\u2026.][^<>=]{0,80}>[.:]?$/u.test(item) && !isTag(item.slice(1)) ? item : null
}

/** Without emphasis, brackets and full stops around it. */
function withoutMarks(item: string): string {
  const around = '*_~([{<>}]).:! '
  let [start, end] = [0, item.length]
  while (start < end && around.includes(item.charAt(start))) start += 1
  while (end > start && around.includes(item.charAt(end - 1))) end -= 1
  return item.slice(start, end)
}

const firstMatch =
  (pattern: RegExp) =>
  (prose: string): string | null =>
    pattern.exec(prose)?.[1] ?? null

const rules: readonly ((prose: string) => string | null)[] = [
  findAtStart,
  firstMatch(/(?<![\w./\\-])(TODO|FIXME|XXX|TBD)(?=[:(])/),
  firstMatch(/[[({<](TODO|TBD|TBC|FIXME|XXX)[\])}>]/),
  firstMatch(/[:=\u2013\u2014|]\s{0,3}\**(TODO|FIXME|XXX)\**[.!]?\s*$/),
  findUndecided,
  firstMatch(/(?<!\w)(lorem ipsum dolor)\b/i),
  firstMatch(/(\[(?:insert|describe|fill in|placeholder|your)\b[^\][]{0,80}\])(?![([:])/i),
  findFillIn,
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

/** The lines of a section that holds nothing but placeholders; otherwise none. */
export function placeholdersAlone(lines: readonly MarkdownLine[]): MarkdownLine[] {
  const content = lines.filter(({ kind }) => kind === 'text' || kind === 'code')
  return content.every(isOnlyPlaceholder) ? content : []
}
