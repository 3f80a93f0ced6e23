import type { EffectiveConfig } from '../config/schema.ts'
import { type CountTokens, cutHead, cutTail, type Fit, type Fitted, safeCut } from '../text/cut.ts'
import { headingText, scanMarkdown } from '../text/markdown.ts'
import { type DiffFile, type Hunk, parseDiff } from '../text/unified-diff.ts'
import { isSecurityPath } from './complexity.ts'
import type { PassKind } from './prompts.ts'
import type { Material } from './review.ts'
import { amountOf, asSentence, counted, countUpTo, fitsBudget, leftOut, lineEndOf, mayExceedBudget } from './tokens.ts'

type Budgets = EffectiveConfig['review']['multipass']['budgets']

type Fitting = {
  readonly question: { readonly does: PassKind; readonly large: boolean; readonly handedOn: string | null }
  readonly material: Material
  readonly budgets: Budgets
  readonly tokenizer: () => Promise<CountTokens>
  readonly notice: (text: string) => void
}

/** What goes into the prompt, each part within its budget. What had to be left out is told to everybody. */
export async function fitMaterial({ question, material, budgets, tokenizer, notice }: Fitting) {
  const cut = async (name: string, text: string | null, budget: number, kind: TextKind): Promise<string | null> => {
    if (text === null || !mayExceedBudget(text, budget)) return text
    const fitted = fitText(text, budget, kind, await tokenizer())
    if (fitted.dropped !== null) notice(`${name} is longer than its budget of ${budget} tokens: ${fitted.dropped}`)
    return fitted.text
  }
  const { pass1_output, pass2_input, pass2_output, pass3_input, high_complexity } = budgets
  const more = (usual: number, forComplex: number): number => (question.large ? Math.max(usual, forComplex) : usual)
  const forContent = more(pass2_input, high_complexity.pass2_input)
  const forFindings = more(Math.min(pass2_output, pass3_input), high_complexity.pass2_output)
  const forHandedOn = question.does === 'verify' ? forFindings : pass1_output
  const content = await cut('The content', material.content, forContent, kindOf(material))
  return {
    type: material.type,
    content: content ?? '',
    expertise: await cut('The expertise', material.expertise, pass1_output, 'document'),
    context: await cut('The context', material.context, pass3_input, 'document'),
    changes: await cut('The diff since the last review', material.changes, pass3_input, 'diff'),
    earlier: material.earlier,
    handedOn: await cut(
      'What the pass before handed on',
      question.handedOn,
      forHandedOn,
      handedOnKind(question.handedOn),
    ),
  }
}

const kindOf = ({ type, content }: Material): TextKind => {
  if (type !== 'code') return 'document'
  return parseDiff(content) === null ? 'text' : 'diff'
}

const handedOnKind = (text: string | null): TextKind => (text?.startsWith('{') === true ? 'json' : 'text')

export type TextKind = 'document' | 'diff' | 'json' | 'text'

const fits: { readonly [kind in TextKind]: Fit } = {
  document: fitDocument,
  diff: fitDiff,
  json: fitJson,
  text: fitLines,
}

/** The text, or what matters most in it, in no more tokens than the budget has. */
export function fitText(text: string, budget: number, kind: TextKind, count: CountTokens): Fitted {
  const limit = Math.max(0, Math.floor(budget))
  if (!mayExceedBudget(text, limit) || fitsBudget(text, limit, count)) return { text, dropped: null }
  // Parts are counted one by one, and together they may come to a little more.
  for (let target = limit, tries = 0; target > 0 && tries < 5; tries++) {
    const fitted = fits[kind](text, target, count)
    const over = fitsBudget(fitted.text, limit, count) ? 0 : count(fitted.text) - limit
    if (over <= 0) return fitted
    target = Math.floor(target * 0.97) - over
  }
  return { text: bare(text, limit, kind, count), dropped: 'There was room for next to nothing.' }
}

/** Too little room even for a mark. */
const bare = (text: string, limit: number, kind: TextKind, count: CountTokens): string => {
  const part = kind === 'json' ? smallestJson(text) : text.slice(0, cutHead(text, limit, count))
  return count(part) <= limit ? part : ''
}

/**
 * Every file by its name and the size of its change, and of the hunks as many as there is room for: of
 * security-sensitive files first, of generated ones last, and the smaller before the larger.
 */
export function fitDiff(text: string, budget: number, count: CountTokens): Fitted {
  const files = parseDiff(text)?.files ?? []
  const hunks = files.reduce((sum, file) => sum + file.hunks.length, 0)
  if (hunks === 0) return fitLines(text, budget, count)
  const eol = lineEndOf(text)
  const list = listFiles(files, budget / 2, eol, count)
  const room = budget - count(list) - headRoom
  const chosen = choose({ text, files, room, count })
  const shown = files.filter((file) => chosen.kept.has(file))
  const body = shown.map((file) => text.slice(file.start, file.headEnd) + hunksOf(text, file, chosen, eol)).join('')
  const keptHunks = [...chosen.kept.values()].reduce((sum, kept) => sum + kept.size, 0)
  const head = leftOut(`${hunks - keptHunks} of ${counted(hunks, 'hunk')}`)
  return {
    text: `${head}${eol}${list}${eol}${body}`,
    dropped: describe(files, chosen),
  }
}

/** What the first line and the empty ones cost at most. */
const headRoom = 30

/** As many names as there is room for, in the order of the diff; where that is not all of them, the larger changes. */
function listFiles(files: readonly DiffFile[], room: number, eol: string, count: CountTokens): string {
  const rows = files.map((file) => ({ file, row: `${file.path} +${file.added} -${file.removed}${eol}` }))
  const kept = new Set<DiffFile>()
  let left = room - 20
  const ordered = [...rows].sort((a, b) => rankOf(a.file) - rankOf(b.file) || sizeOf(b.file) - sizeOf(a.file))
  for (const { file, row } of ordered) {
    left -= count(row)
    if (left < 0) break
    kept.add(file)
  }
  const names = rows.filter(({ file }) => kept.has(file)).map(({ row }) => row)
  const gone = rows.filter(({ file }) => !kept.has(file)).map(({ file }) => file)
  if (gone.length === 0) return `${counted(files.length, 'file')} in all:${eol}${names.join('')}`
  const [added, removed] = [sum(gone, 'added'), sum(gone, 'removed')]
  const rest = `and ${gone.length} more +${added} -${removed}`
  return `${counted(files.length, 'file')} in all:${eol}${names.join('')}${rest}${eol}`
}

const sum = (files: readonly DiffFile[], key: 'added' | 'removed'): number =>
  files.reduce((total, file) => total + file[key], 0)
const sizeOf = ({ added, removed }: DiffFile): number => added + removed

/** Nobody reads these, and they are long. */
const generated = [
  /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|go\.sum)$/,
  /(^|\/)(dist|build|vendor|node_modules|__snapshots__|generated)\//,
  /\.(lock|min\.js|min\.css|map|snap|svg)$/,
]

const rankOf = ({ path }: DiffFile): number => {
  if (generated.some((pattern) => pattern.test(path))) return 2
  return isSecurityPath(path) ? 0 : 1
}

type Choice = {
  readonly text: string
  readonly files: readonly DiffFile[]
  readonly room: number
  readonly count: CountTokens
}
type Chosen = {
  readonly kept: ReadonlyMap<DiffFile, ReadonlySet<Hunk>>
  /** A hunk that is too long by itself, as much of it as there is room for. */
  readonly cut: { readonly hunk: Hunk; readonly text: string } | null
}

function choose({ text, files, room, count }: Choice): Chosen {
  const kept = new Map<DiffFile, Set<Hunk>>()
  const ordered = byImportance(files)
  let left = room
  let full: number | null = null
  let tooLong: Ranked | null = null
  for (const ranked of ordered) {
    const { file, hunk, rank } = ranked
    // What follows in its rank is longer still.
    if (rank === full) continue
    const content = text.slice(hunk.start, hunk.end)
    const cost = headCost(text, file, kept, count) + countUpTo(content, left, count)
    if (cost <= left) {
      left -= cost
      kept.set(file, (kept.get(file) ?? new Set()).add(hunk))
      continue
    }
    full = rank
    if (countUpTo(content, room, count) > room) tooLong ??= ranked
  }
  const toCut = kept.size === 0 ? ordered[0] : left > room / 4 ? tooLong : null
  if (toCut === undefined || toCut === null) return { kept, cut: null }
  const { file, hunk } = toCut
  const content = text.slice(hunk.start, hunk.end)
  const bodyStart = content.indexOf('\n') + 1
  const head = content.slice(0, bodyStart)
  left -= headCost(text, file, kept, count) + count(head)
  if (left < leastToCut) return { kept, cut: null }
  kept.set(file, (kept.get(file) ?? new Set()).add(hunk))
  return { kept, cut: { hunk, text: head + fitLines(content.slice(bodyStart), left, count).text } }
}

/** Less than this of a hunk tells nobody anything. */
const leastToCut = 60

/** The lines that name a file are paid for by the first of its hunks. */
const headCost = (text: string, file: DiffFile, kept: ReadonlyMap<DiffFile, unknown>, count: CountTokens): number =>
  kept.has(file) ? 0 : count(text.slice(file.start, file.headEnd))

type Ranked = { readonly file: DiffFile; readonly hunk: Hunk; readonly rank: number }

const byImportance = (files: readonly DiffFile[]): Ranked[] =>
  files
    .flatMap((file) => file.hunks.map((hunk): Ranked => ({ file, hunk, rank: rankOf(file) })))
    .sort((a, b) => a.rank - b.rank || lengthOf(a.hunk) - lengthOf(b.hunk) || a.hunk.start - b.hunk.start)

const lengthOf = ({ start, end }: Hunk): number => end - start

const hunksOf = (text: string, file: DiffFile, { kept, cut }: Chosen, eol: string): string =>
  file.hunks
    .filter((hunk) => kept.get(file)?.has(hunk))
    .map((hunk) => (hunk === cut?.hunk ? cut.text : text.slice(hunk.start, hunk.end)))
    .map((hunk) => (hunk.endsWith('\n') ? hunk : `${hunk}${eol}`))
    .join('')

function describe(files: readonly DiffFile[], { kept, cut }: Chosen): string {
  const gone = files.map((file) => file.hunks.length - (kept.get(file)?.size ?? 0))
  const hunks = files.reduce((total, file) => total + file.hunks.length, 0)
  const [missing, touched] = [gone.reduce((a, b) => a + b, 0), gone.filter((number) => number > 0).length]
  const parts = [
    ...(missing > 0
      ? [`${missing} of ${counted(hunks, 'hunk')} left out, in ${touched} of ${counted(files.length, 'file')}`]
      : []),
    ...(cut === null ? [] : ['one hunk, too long by itself, shortened']),
  ]
  return asSentence(parts.length === 0 ? ['what is no hunk was left out'] : parts)
}

/** The beginning says what a text is about and the end what came of it, so what goes is between them. */
function fitLines(text: string, budget: number, count: CountTokens): Fitted {
  const room = budget - markRoom
  if (room < markRoom) {
    const end = cutHead(text, budget, count)
    return { text: text.slice(0, end), dropped: `All but the beginning was left out: ${amountOf(text.slice(end))}.` }
  }
  const end = cutHead(text, Math.floor(room * 0.6), count)
  const start = Math.max(end, cutTail(text, Math.floor(room * 0.4), count))
  const amount = amountOf(text.slice(end, start))
  const [head, tail] = [text.slice(0, end), text.slice(start)]
  const eol = lineEndOf(text)
  const before = head === '' || head.endsWith('\n') ? '' : eol
  return {
    text: `${head}${before}${leftOut(amount)}${eol}${tail}`,
    dropped: `The middle was left out: ${amount}.`,
  }
}

/** What the mark and the line ends around it cost at most. */
const markRoom = 20

/**
 * Whole sections, the most important ones first, in the order of the document. Of the others the heading stays, so
 * that the reader knows what there is and does not take it for missing.
 */
function fitDocument(text: string, budget: number, count: CountTokens): Fitted {
  const sections = readSections(text)
  if (sections.length < 2) return fitLines(text, budget, count)
  const { outlines, reserved } = outlineWithin(sections, text, budget / 2, count)
  const { whole, cut } = chooseFitDocument({ sections, text, outlines, room: budget - reserved - endRoom, count })
  const eol = lineEndOf(text)
  const parts = sections.map((section, index) => {
    if (whole.has(index)) return text.slice(section.start, section.end)
    if (cut?.index === index) return text.slice(section.start, section.bodyStart) + closed(cut.body, eol)
    return outlines[index]?.text ?? ''
  })
  const silent = sections.filter((_, index) => parts[index] === '').length
  if (silent > 0) parts.push(`${leftOut(counted(silent, 'section'))}${eol}`)
  return { text: parts.join(''), dropped: describeFitDocument(sections, whole, cut?.index ?? null) }
}

/** A heading and the text under it up to the next heading; the text before the first one has none. */
type DocumentSection = {
  readonly heading: string
  readonly title: string
  readonly level: number
  readonly start: number
  readonly bodyStart: number
  readonly end: number
  readonly rank: Rank
}

/** In the order of the document; without the deeper headings where there are thousands. */
function readSections(text: string): readonly DocumentSection[] {
  const headings = headingsIn(text)
  const documentTitles = headings.filter(({ level }) => level === 1).length
  const open: { level: number; rank: Rank }[] = []
  const sections = headings.map((heading, index): DocumentSection => {
    while ((open.at(-1)?.level ?? 0) >= heading.level) open.pop()
    const rank = rankOfTitle(heading.title, open.at(-1)?.rank ?? 2)
    // The title of the document names all of it, and so ranks none of its parts.
    open.push({ level: heading.level, rank: heading.level === 1 && documentTitles === 1 ? 2 : rank })
    return { ...heading, rank, end: headings[index + 1]?.start ?? text.length }
  })
  const first = headings[0]?.start ?? text.length
  if (first === 0) return sections
  return [{ heading: '', title: '', level: 1, start: 0, bodyStart: 0, end: first, rank: 2 }, ...sections]
}

const maxSections = 20_000

function headingsIn(text: string): readonly Omit<DocumentSection, 'rank' | 'end'>[] {
  const headings: Omit<DocumentSection, 'rank' | 'end'>[] = []
  for (const line of scanMarkdown(text)) {
    const title = line.level === 0 ? '' : headingText(line)
    if (title === '') continue
    const { level, start, end } = line
    headings.push({ heading: `${'#'.repeat(level)} ${title}`, title, level, start, bodyStart: end })
  }
  return (
    [6, 2, 1]
      .map((deepest) => headings.filter(({ level }) => level <= deepest))
      .find(({ length }) => length <= maxSections) ?? []
  )
}

/** 0 is what must not be missing. */
type Rank = 0 | 1 | 2 | 3

/** By the words of a heading; the first row that matches holds. */
const titleRanks: readonly { readonly rank: Rank; readonly title: RegExp }[] = [
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

function rankOfTitle(title: string, above: Rank): Rank {
  const own = titleRanks.find((row) => row.title.test(title))?.rank
  if (own === undefined || own === 3 || above === 3) return own === 3 ? 3 : above
  return own < above ? own : above
}

/** What the line at the end costs that says how many headings are missing. */
const endRoom = 15

const closed = (body: string, eol: string): string => (body.endsWith('\n') ? body : `${body}${eol}`)

type Outline = { readonly text: string; readonly tokens: number }

/** What stands for each section when it is left out. Where the headings alone are too many, the deeper ones go. */
function outlineWithin(sections: readonly DocumentSection[], text: string, most: number, count: CountTokens) {
  const eol = lineEndOf(text)
  const all = sections.map((section): Outline => {
    const body = text.slice(section.bodyStart, section.end)
    const mark = body.trim() === '' ? '' : `${leftOut(amountOf(body.trim()))}${eol}${eol}`
    const line = section.heading === '' ? '' : `${section.heading}${eol}`
    return { text: line + mark, tokens: count(line + mark) }
  })
  const none: Outline = { text: '', tokens: 0 }
  for (const deepest of [6, 3, 2, 1]) {
    const outlines = all.map((outline, index) => ((sections[index]?.level ?? 1) <= deepest ? outline : none))
    const reserved = outlines.reduce((sum, { tokens }) => sum + tokens, 0)
    if (reserved <= most) return { outlines, reserved }
  }
  return { outlines: all.map(() => none), reserved: 0 }
}

type ChoiceFitDocument = {
  readonly sections: readonly DocumentSection[]
  readonly text: string
  readonly outlines: readonly Outline[]
  readonly room: number
  readonly count: CountTokens
}
type ChosenFitDocument = { whole: Set<number>; cut: { index: number; body: string } | null }

/** Of one rank the shorter go first, so that most of them stay whole; the first that does not fit is cut. */
function chooseFitDocument({ sections, text, outlines, room, count }: ChoiceFitDocument): ChosenFitDocument {
  const whole = new Set<number>()
  let left = room
  for (const { section, index } of byImportanceFitDocument(sections)) {
    const instead = outlines[index]?.tokens ?? 0
    const content = text.slice(section.start, section.end)
    const cost = countUpTo(content, left + instead, count)
    if (cost <= left + instead) {
      whole.add(index)
      left -= cost - instead
      continue
    }
    if (left + instead < leastToCutFitDocument) return { whole, cut: null }
    const { text: body } = fitLines(
      text.slice(section.bodyStart, section.end),
      left + instead - count(`${section.heading}\n`),
      count,
    )
    return { whole, cut: { index, body } }
  }
  return { whole, cut: null }
}

/** Less than this of a section tells nobody anything. */
const leastToCutFitDocument = 80

const byImportanceFitDocument = (sections: readonly DocumentSection[]): { section: DocumentSection; index: number }[] =>
  sections
    .map((section, index) => ({ section, index }))
    .sort(
      ({ section: a, index: i }, { section: b, index: j }) =>
        a.rank - b.rank || a.end - a.start - (b.end - b.start) || i - j,
    )

function describeFitDocument(
  sections: readonly DocumentSection[],
  whole: ReadonlySet<number>,
  cut: number | null,
): string {
  const gone = sections.filter((_, index) => !whole.has(index) && index !== cut)
  const names = gone.slice(0, 3).map(({ title }) => `"${title.slice(0, 60) || 'the beginning'}"`)
  const which = gone.length > 3 ? `${names.join(', ')} and ${gone.length - 3} more` : names.join(', ')
  const parts = [
    ...(gone.length > 0 ? [`${gone.length} of ${counted(sections.length, 'section')} left out (${which})`] : []),
    ...(cut === null ? [] : [`the section "${sections[cut]?.title.slice(0, 60)}" shortened`]),
  ]
  return asSentence(parts)
}

type Limits = { readonly text: number; readonly items: number; readonly keys: number; readonly depth: number }

/** First the longest texts become shorter, then the lists, then all of it, level by level. */
const stepsFrom = (unlimited: Limits): readonly Limits[] => [
  unlimited,
  ...[8000, 4000, 2000, 1000, 600, 400, 250].map((text) => ({ ...unlimited, text })),
  ...[1000, 300, 100, 50, 25, 12, 6].map((items) => ({ text: 250, items, keys: 1000, depth: 100 })),
  { text: 150, items: 5, keys: 100, depth: 30 },
  { text: 100, items: 4, keys: 50, depth: 12 },
  { text: 80, items: 3, keys: 25, depth: 8 },
  { text: 60, items: 2, keys: 15, depth: 5 },
  { text: 40, items: 1, keys: 10, depth: 3 },
  { text: 30, items: 1, keys: 5, depth: 2 },
  { text: 20, items: 1, keys: 3, depth: 1 },
  { text: 10, items: 0, keys: 0, depth: 0 },
]

/** JSON stays JSON: what is in it becomes shorter, and says so where it does. White space goes first of all. */
function fitJson(text: string, budget: number, count: CountTokens): Fitted {
  if (isTooDeep(text))
    return { text: JSON.stringify([leftOut(amountOf(text))]), dropped: 'It is nested too deeply, and all left out.' }
  const parsed = parse(text)
  if (parsed === null) return fitLines(text, budget, count)
  const write = (limits: Limits): Shortened => shortenAll(parsed.value, limits)
  const fits = (limits: Limits): boolean => fitsBudget(write(limits).text, budget, count)
  // `JSON.stringify` goes down by recursion.
  const { text: written, cuts } = write(
    loosest(stepsFrom({ text: text.length, items: text.length, keys: text.length, depth: 500 }), fits),
  )
  return {
    text: written,
    dropped: cuts === 0 ? null : `The longest texts and lists were shortened, in ${counted(cuts, 'place')}.`,
  }
}

/** What is left of a JSON text of which nothing fits. */
const smallestJson = (text: string): string => {
  if (isTooDeep(text)) return '[]'
  const parsed = parse(text)
  if (parsed === null) return ''
  if (Array.isArray(parsed.value)) return '[]'
  return typeof parsed.value === 'object' ? '{}' : '""'
}

/** A value of millions of levels takes hundreds of megabytes, and nobody means it. */
function isTooDeep(json: string): boolean {
  let depth = 0
  let inText = false
  for (let at = 0; at < json.length && depth <= 10_000; at++) {
    const code = json.charCodeAt(at)
    if (inText && code === 92) at++
    else if (code === 34) inText = !inText
    else if (!inText && (code === 91 || code === 123)) depth++
    else if (!inText && (code === 93 || code === 125)) depth--
  }
  return depth > 10_000
}

function parse(text: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return null
  }
}

/** The steps are ordered, so half of those left can be ruled out each time. */
function loosest(steps: readonly Limits[], fits: (limits: Limits) => boolean): Limits {
  const stepAt = (index: number): Limits => steps[index] ?? { text: 0, items: 0, keys: 0, depth: 0 }
  let [low, high] = [0, steps.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if (fits(stepAt(middle))) high = middle
    else low = middle + 1
  }
  if (low === 0) return stepAt(0)
  // Between a step that fits and the one before it there is often room for much more.
  let [loose, tight] = [stepAt(low - 1), stepAt(low)]
  for (let tries = 0; tries < 8; tries++) {
    const middle = between(loose, tight)
    if (fits(middle)) tight = middle
    else loose = middle
  }
  return tight
}

const between = (a: Limits, b: Limits): Limits => ({
  text: mean(a.text, b.text),
  items: mean(a.items, b.items),
  keys: mean(a.keys, b.keys),
  depth: mean(a.depth, b.depth),
})
const mean = (a: number, b: number): number => Math.floor(Math.sqrt(a * b))

type Shortened = { readonly text: string; readonly cuts: number }

function shortenAll(value: unknown, limits: Limits): Shortened {
  let cuts = 0
  const cut = (amount: number, thing: string): string => {
    cuts += 1
    return leftOut(counted(amount, thing))
  }
  const shorten = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return shortenText(value, limits.text, cut)
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) {
      const kept = value.slice(0, depth < limits.depth ? limits.items : 0).map((item) => shorten(item, depth + 1))
      const gone = value.length - kept.length
      return gone === 0 ? kept : [...kept, cut(gone, 'item')]
    }
    const entries = Object.entries(value)
    const kept = entries.slice(0, depth < limits.depth ? limits.keys : 0)
    const gone = entries.length - kept.length
    const shorter = kept.map(([key, inner]) => [key, shorten(inner, depth + 1)] as const)
    return Object.fromEntries(gone === 0 ? shorter : [...shorter, ['…', cut(gone, 'key')]])
  }
  return { text: JSON.stringify(shorten(value, 0)), cuts }
}

function shortenText(text: string, limit: number, cut: (amount: number, thing: string) => string): string {
  // The mark itself has some length.
  if (text.length <= limit + 40) return text
  const end = safeCut(text, limit)
  return text.slice(0, end) + cut(text.length - end, 'character')
}
