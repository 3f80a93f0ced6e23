import type { EffectiveConfig } from '../config/schema.ts'
import { type Finding, severities } from '../schemas/review.ts'
import { clipEnd, countLines, pluralize, safeCut } from '../text/clean.ts'
import { type DiffFile, parseDiff } from '../text/diff.ts'
import { parseJson } from '../text/json.ts'
import { headingText, scanMarkdown } from '../text/markdown.ts'
import { isSecurityPath } from './complexity.ts'
import type { PassKind } from './prompts.ts'
import type { Material } from './request.ts'
import { type CountTokens, countUpTo, fitsBudget, mayExceedBudget } from './tokens.ts'

type Budgets = EffectiveConfig['review']['multipass']['budgets']

type Fitting = {
  readonly question: { readonly does: PassKind; readonly large: boolean; readonly handedOn: string | null }
  readonly material: Material
  readonly budgets: Budgets
  readonly tokenizer: () => Promise<CountTokens>
  readonly notice: (text: string) => void
}

/** The parts of the prompt, each within its budget; a notice says what was left out. */
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
  const { type, iteration, rounds } = material
  // Only what was read is approved: a plan that is too long is refused before it is sent.
  const content =
    type === 'plan' ? material.content : await cut('The content', material.content, forContent, kindOf(material))
  const intentName = type === 'code' ? 'The approved plan' : 'The request'
  return {
    type,
    iteration,
    rounds,
    content: content ?? '',
    expertise: await cut('The expertise', material.expertise, pass1_output, 'document'),
    guidelines: await cut('The guidelines', material.guidelines, pass1_output, 'document'),
    intent: await cut(intentName, material.intent, forContent, 'document'),
    context: await cut('The context', material.context, pass3_input, 'document'),
    changes: await cut('The diff since the last review', material.changes, pass3_input, 'diff'),
    // Part of the approved bytes, and of what plan.max_tokens counts.
    replies:
      type === 'plan' ? material.replies : await cut("The author's replies", material.replies, pass3_input, 'document'),
    earlier: await fitFindings(material.earlier, forContent, tokenizer, notice),
    handedOn: await cut(
      'The notes of the previous pass',
      question.handedOn,
      forHandedOn,
      handedOnKind(question.handedOn),
    ),
  }
}

/** Each finding stays, since each needs a status: the gravest whole, the others shortened where they do not fit. */
async function fitFindings(
  findings: readonly Finding[],
  budget: number,
  tokenizer: Fitting['tokenizer'],
  notice: Fitting['notice'],
): Promise<readonly Finding[]> {
  if (!mayExceedBudget(JSON.stringify(findings), budget)) return findings
  const count = await tokenizer()
  const fitted = new Map(findings.map((finding) => [finding, shortened(finding)]))
  let left = budget - count(JSON.stringify([...fitted.values()]))
  const gravestFirst = [...findings].sort((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity))
  for (const finding of gravestFirst) {
    const more = count(JSON.stringify(finding)) - count(JSON.stringify(fitted.get(finding)))
    if (more > left) continue
    left -= more
    fitted.set(finding, finding)
  }
  const cut = findings.filter((finding) => fitted.get(finding) !== finding).length
  if (cut > 0)
    notice(
      `The earlier findings are longer than their budget of ${budget} tokens: ${cut} of ${findings.length} are shortened.`,
    )
  return [...fitted.values()]
}

const shortened = ({ section, problem, ...finding }: Finding): Finding => ({
  ...finding,
  section: clipEnd(section, 100),
  problem: clipEnd(problem, 200),
  evidence: '',
  fix: '',
})

const kindOf = ({ type, content }: Material): TextKind => {
  if (type !== 'code') return 'document'
  return parseDiff(content) === null ? 'text' : 'diff'
}

const handedOnKind = (text: string | null): TextKind => (text?.startsWith('{') === true ? 'json' : 'text')

/** Shortens a text to a number of tokens: whole sections or hunks, the most important ones first. */

/** `dropped`: a sentence for the notice; null where nothing is missing. */
type Fitted = { readonly text: string; readonly dropped: string | null }

/** How one kind of text is cut. The result may exceed the budget a little; `fitText` retries with less. */
type Fit = (text: string, budget: number, count: CountTokens) => Fitted

export type TextKind = 'document' | 'diff' | 'json' | 'text'

const fits: { readonly [kind in TextKind]: Fit } = {
  document: fitDocument,
  diff: fitDiff,
  json: fitJson,
  text: fitLines,
}

/** The text, or its most important parts, within the budget. */
export function fitText(text: string, budget: number, kind: TextKind, count: CountTokens): Fitted {
  const limit = Math.max(0, Math.floor(budget))
  if (!mayExceedBudget(text, limit) || fitsBudget(text, limit, count)) return { text, dropped: null }
  // Parts are counted one by one, and together may have a few tokens more.
  for (let target = limit, tries = 0; target > 0 && tries < 5; tries++) {
    const fitted = fits[kind](text, target, count)
    const over = fitsBudget(fitted.text, limit, count) ? 0 : count(fitted.text) - limit
    if (over <= 0) return fitted
    target = Math.floor(target * 0.97) - over
  }
  // Not even a mark fits.
  const rest = kind === 'json' ? smallestJson(text) : beginning(text, limit, count)
  return { text: count(rest) <= limit ? rest : '', dropped: 'Next to nothing of it fits.' }
}

/** A section of a document, or a hunk of a diff. */
type Part = {
  /** The heading, or the head of the file, which stands once before its hunks. */
  readonly head: string
  /** What of the body is never cut: the line of a hunk that starts with @@. */
  readonly lead: string
  readonly body: string
  /** In place of the part where it is left out. */
  readonly stub: string
  /** 0 is the most important. */
  readonly rank: number
  readonly file?: DiffFile
}

type Chosen = { readonly whole: ReadonlySet<Part>; readonly cut: { readonly part: Part; readonly body: string } | null }

/**
 * By rank; of one rank the shorter go first, so that most of them stay whole. The first section that does not fit is cut;
 * a hunk only if it is too long by itself, or if nothing else fits.
 */
function chooseParts(parts: readonly Part[], available: number, count: CountTokens): Chosen {
  const whole = new Set<Part>()
  const shownFiles = new Set<DiffFile>()
  const ordered = parts.toSorted((a, b) => a.rank - b.rank || a.body.length - b.body.length)
  const headOf = ({ head, file, lead }: Part): string => (file && shownFiles.has(file) ? '' : head) + lead
  let left = available
  let fullRank: number | null = null
  let tooLong: Part | undefined
  for (const part of ordered) {
    // Those of this rank that follow are longer.
    if (part.rank === fullRank) continue
    const saved = part.stub === '' ? 0 : count(part.stub)
    const cost = countUpTo(headOf(part) + part.body, left + saved, count) - saved
    if (cost <= left) {
      left -= cost
      whole.add(part)
      if (part.file) shownFiles.add(part.file)
      continue
    }
    if (!part.file) {
      tooLong = part
      break
    }
    fullRank = part.rank
    if (countUpTo(part.body, available, count) > available) tooLong ??= part
  }
  const toCut = whole.size === 0 ? ordered[0] : tooLong?.file && left <= available / 4 ? undefined : tooLong
  if (toCut === undefined) return { whole, cut: null }
  const room = left + count(toCut.stub) - count(headOf(toCut))
  return { whole, cut: room < minCutTokens ? null : { part: toCut, body: fitLines(toCut.body, room, count).text } }
}

/** Less of a part is of no use. */
const minCutTokens = 60

function showParts(parts: readonly Part[], { whole, cut }: Chosen, eol: string): string {
  const shown = new Set<DiffFile>()
  return parts
    .map((part) => {
      const isCut = cut?.part === part
      if (!isCut && !whole.has(part)) return part.stub
      const head = part.file && shown.has(part.file) ? '' : part.head
      if (part.file) shown.add(part.file)
      const body = isCut ? cut.body : part.body
      return head + part.lead + (body === '' || body.endsWith('\n') ? body : body + (isCut || part.file ? eol : ''))
    })
    .join('')
}

/** Of the sections that are left out the heading stays, so that the reviewer does not report them as missing. */
function fitDocument(text: string, budget: number, count: CountTokens): Fitted {
  const eol = lineEndOf(text)
  const sections = readSections(text, eol)
  if (sections.length < 2) return fitLines(text, budget, count)
  // Where the headings alone are too many, the deeper ones go.
  const outlined = [6, 3, 2, 1, 0]
    .map((deepest) => sections.map((section) => (section.level <= deepest ? section : { ...section, stub: '' })))
    .find((parts) => sum(parts.map(({ stub }) => count(stub))) <= budget / 2)
  const parts = outlined ?? sections
  const stubs = sum(parts.map(({ stub }) => count(stub)))
  const chosen = chooseParts(parts, budget - stubs - endTokens, count)
  const omitted = parts.filter((part) => !chosen.whole.has(part) && chosen.cut?.part !== part)
  const unnamed = omitted.filter(({ stub }) => stub === '').length
  const end = unnamed === 0 ? '' : `${leftOut(pluralize(unnamed, 'section'))}${eol}`
  const names = omitted.slice(0, 3).map(({ title }) => `"${title.slice(0, 60) || 'the beginning'}"`)
  const more = omitted.length > 3 ? ` and ${omitted.length - 3} more` : ''
  const cut = parts.find((part) => part === chosen.cut?.part)
  const dropped = asSentence([
    omitted.length > 0 &&
      `${omitted.length} of ${pluralize(parts.length, 'section')} left out (${names.join(', ')}${more})`,
    cut && `the section "${cut.title.slice(0, 60)}" shortened`,
  ])
  return { text: showParts(parts, chosen, eol) + end, dropped }
}

/** At most, of the last line, which counts the missing headings. */
const endTokens = 15

type DocumentSection = Part & { readonly title: string; readonly level: number }

/** A heading with the text under it up to the next one. Without the deeper headings where there are thousands. */
function readSections(text: string, eol: string): readonly DocumentSection[] {
  const headings = headingsIn(text)
  const documentTitles = headings.filter(({ level }) => level === 1).length
  const open: { level: number; rank: number }[] = []
  const section = (title: string, level: number, rank: number, [start, bodyStart, end = text.length]: number[]) => {
    const body = text.slice(bodyStart, end)
    const mark = body.trim() === '' ? '' : `${leftOut(amountOf(body.trim()))}${eol}${eol}`
    const stub = title === '' ? mark : `${'#'.repeat(level)} ${title}${eol}${mark}`
    return { title, level, rank, head: text.slice(start, bodyStart), lead: '', body, stub }
  }
  const sections = headings.map(({ title, level, start, bodyStart }, index) => {
    while ((open.at(-1)?.level ?? 0) >= level) open.pop()
    const rank = rankOfTitle(title, open.at(-1)?.rank ?? 2)
    // The title of the document names all of it, and so ranks none of its parts.
    open.push({ level, rank: level === 1 && documentTitles === 1 ? 2 : rank })
    return section(title, level, rank, [start, bodyStart, headings[index + 1]?.start ?? text.length])
  })
  const first = headings[0]?.start ?? text.length
  return first === 0 ? sections : [section('', 1, 2, [0, 0, first]), ...sections]
}

const maxSections = 20_000

function headingsIn(text: string) {
  const headings: { title: string; level: number; start: number; bodyStart: number }[] = []
  for (const line of scanMarkdown(text)) {
    const title = line.level === 0 ? '' : headingText(line)
    if (title !== '') headings.push({ title, level: line.level, start: line.start, bodyStart: line.end })
  }
  return (
    [6, 2, 1]
      .map((deepest) => headings.filter(({ level }) => level <= deepest))
      .find(({ length }) => length <= maxSections) ?? []
  )
}

/** By the words of a heading; the first row that matches holds. */
const titleRanks: readonly { readonly rank: number; readonly title: RegExp }[] = [
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

function rankOfTitle(title: string, above: number): number {
  const own = titleRanks.find((row) => row.title.test(title))?.rank ?? above
  return own === 3 || above === 3 ? 3 : Math.min(own, above)
}

/** Names every file with the size of its change; security-sensitive files go first, generated ones last. */
export function fitDiff(text: string, budget: number, count: CountTokens): Fitted {
  const files = parseDiff(text)?.files ?? []
  const parts = files.flatMap((file) => {
    const head = text.slice(file.start, file.headEnd)
    return file.hunks.map(({ start, end }): Part => {
      const bodyStart = text.indexOf('\n', start) + 1 || end
      return {
        head,
        lead: text.slice(start, bodyStart),
        body: text.slice(bodyStart, end),
        stub: '',
        rank: rankOf(file),
        file,
      }
    })
  })
  if (parts.length === 0) return fitLines(text, budget, count)
  const eol = lineEndOf(text)
  const list = listFiles(files, budget / 2, eol, count)
  const chosen = chooseParts(parts, budget - count(list) - headTokens, count)
  const omitted = parts.filter((part) => !chosen.whole.has(part) && chosen.cut?.part !== part)
  const hunks = pluralize(parts.length, 'hunk')
  const touched = new Set(omitted.map(({ file }) => file)).size
  const dropped = asSentence([
    omitted.length > 0 && `${omitted.length} of ${hunks} left out, in ${touched} of ${pluralize(files.length, 'file')}`,
    chosen.cut && 'one hunk, too long by itself, shortened',
  ])
  const head = leftOut(`${omitted.length} of ${hunks}`)
  return { text: `${head}${eol}${list}${eol}${showParts(parts, chosen, eol)}`, dropped }
}

/** At most, of the first line and the empty ones. */
const headTokens = 30

/** As many names as fit, in the order of the diff; where not all of them fit, those of the larger changes. */
function listFiles(files: readonly DiffFile[], available: number, eol: string, count: CountTokens): string {
  const rowOf = ({ path, added, removed }: DiffFile): string => `${path} +${added} -${removed}${eol}`
  const kept = new Set<DiffFile>()
  let left = available - 20
  for (const file of files.toSorted((a, b) => rankOf(a) - rankOf(b) || sizeOf(b) - sizeOf(a))) {
    left -= count(rowOf(file))
    if (left < 0) break
    kept.add(file)
  }
  const rest = files.filter((file) => !kept.has(file))
  const [added, removed] = [sum(rest.map((file) => file.added)), sum(rest.map((file) => file.removed))]
  const names = files.filter((file) => kept.has(file)).map(rowOf)
  const more = rest.length === 0 ? '' : `and ${rest.length} more +${added} -${removed}${eol}`
  return `${pluralize(files.length, 'file')} in all:${eol}${names.join('')}${more}`
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
const sizeOf = ({ added, removed }: DiffFile): number => added + removed

/** Long files that nobody reviews. */
const generated = [
  /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|go\.sum)$/,
  /(^|\/)(dist|build|vendor|node_modules|__snapshots__|generated)\//,
  /\.(lock|min\.js|min\.css|map|snap|svg)$/,
]

function rankOf({ path }: DiffFile): number {
  if (generated.some((pattern) => pattern.test(path))) return 2
  return isSecurityPath(path) ? 0 : 1
}

/** Keeps the beginning and the end, in whole lines where possible. */
function fitLines(text: string, budget: number, count: CountTokens): Fitted {
  const available = budget - markTokens
  if (available < markTokens) {
    const head = beginning(text, budget, count)
    return { text: head, dropped: `All but the beginning was left out: ${amountOf(text.slice(head.length))}.` }
  }
  const head = beginning(text, available * 0.6, count)
  const tail = ending(text.slice(head.length), available * 0.4, count)
  const amount = amountOf(text.slice(head.length, text.length - tail.length))
  const eol = lineEndOf(text)
  const before = head === '' || head.endsWith('\n') ? '' : eol
  return { text: `${head}${before}${leftOut(amount)}${eol}${tail}`, dropped: `The middle was left out: ${amount}.` }
}

/** At most, of the mark and the line ends around it. */
const markTokens = 20

/** The longest beginning within the budget, up to the end of a line or a word if one is near. */
function beginning(text: string, budget: number, count: CountTokens): string {
  const fitting = text.slice(
    0,
    safeCut(
      text,
      longest(text.length, budget, (n) => count(text.slice(0, safeCut(text, n)))),
    ),
  )
  if (fitting === text) return text
  const lineEnd = fitting.slice(-snapDistance(fitting.length)).includes('\n') ? fitting.lastIndexOf('\n') + 1 : 0
  const wordEnd = fitting.slice(-100).includes(' ') ? fitting.lastIndexOf(' ') + 1 : 0
  return lineEnd > 0 || wordEnd > 0 ? text.slice(0, safeCut(text, lineEnd || wordEnd)) : fitting
}

/** The longest end within the budget, from the start of a line if one is near. */
function ending(text: string, budget: number, count: CountTokens): string {
  const from = (length: number): number => text.length - length
  const length = longest(text.length, budget, (n) => count(text.slice(safeCut(text, from(n) + 1))))
  const start = from(length)
  if (start <= 0 || text[start - 1] === '\n') return text.slice(start)
  const lineEnd = text.slice(start, start + snapDistance(length)).indexOf('\n')
  return text.slice(lineEnd === -1 ? safeCut(text, start + 1) : start + lineEnd + 1)
}

/** How far a cut may move to the edge of a line. */
const snapDistance = (length: number): number => Math.max(400, Math.ceil(length * 0.1))

/** Few texts have more characters to a token. */
const maxCharactersPerToken = 12

function longest(length: number, budget: number, tokensOf: (length: number) => number): number {
  let [low, high] = [0, Math.min(length, Math.ceil(budget * maxCharactersPerToken))]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (tokensOf(middle) <= budget) low = middle
    else high = middle - 1
  }
  return low
}

/** JSON stays JSON: white space goes first, then the longest texts and lists become shorter, each with a mark. */
function fitJson(text: string, budget: number, count: CountTokens): Fitted {
  if (isTooDeep(text))
    return { text: JSON.stringify([leftOut(amountOf(text))]), dropped: 'It is nested too deeply, and all left out.' }
  const value = parseJson(text)
  if (value === undefined) return fitLines(text, budget, count)
  const whole = shorten(value, Number.POSITIVE_INFINITY)
  if (fitsBudget(whole.text, budget, count)) return { text: whole.text, dropped: null }
  let [low, high] = [0, 16_000]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (fitsBudget(shorten(value, middle).text, budget, count)) low = middle
    else high = middle - 1
  }
  const { text: written, cuts } = shorten(value, low)
  return { text: written, dropped: `The longest texts and lists were shortened, in ${pluralize(cuts, 'place')}.` }
}

/** For a budget that nothing else fits. */
function smallestJson(text: string): string {
  if (isTooDeep(text)) return '[]'
  const value = parseJson(text)
  if (value === undefined) return ''
  if (Array.isArray(value)) return '[]'
  return typeof value === 'object' ? '{}' : '""'
}

/** Parsing millions of levels takes hundreds of megabytes. */
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

/** Texts to `longest` characters, lists to an eighth as many items. The depth is limited since this is recursive. */
function shorten(value: unknown, longest: number): { readonly text: string; readonly cuts: number } {
  const maxItems = Math.floor(longest / 8)
  const maxKeys = Math.floor(longest / 4)
  const maxDepth = Math.min(500, Math.ceil(longest / 20))
  let cuts = 0
  const cut = (amount: number, thing: string): string => {
    cuts += 1
    return leftOut(pluralize(amount, thing))
  }
  const shortenAt = (inner: unknown, depth: number): unknown => {
    if (typeof inner === 'string') {
      // The mark itself has some length.
      if (inner.length <= longest + 40) return inner
      const end = safeCut(inner, longest)
      return inner.slice(0, end) + cut(inner.length - end, 'character')
    }
    if (typeof inner !== 'object' || inner === null) return inner
    if (Array.isArray(inner)) {
      const kept = inner.slice(0, depth < maxDepth ? maxItems : 0).map((item) => shortenAt(item, depth + 1))
      return kept.length === inner.length ? kept : [...kept, cut(inner.length - kept.length, 'item')]
    }
    const entries = Object.entries(inner)
    const kept = entries
      .slice(0, depth < maxDepth ? maxKeys : 0)
      .map(([key, one]): [string, unknown] => [key, shortenAt(one, depth + 1)])
    const gone = entries.length - kept.length
    return Object.fromEntries(gone === 0 ? kept : [...kept, ['…', cut(gone, 'key')]])
  }
  return { text: JSON.stringify(shortenAt(value, 0)), cuts }
}

/** The mark in place of omitted text. */
const leftOut = (what: string): string => `[… ${what} left out …]`

/** In lines, or in characters for a part of one line. */
function amountOf(text: string): string {
  const lines = countLines(text)
  return lines > 1 ? pluralize(lines, 'line') : pluralize(text.length, 'character')
}

const lineEndOf = (text: string): string => (/\r?\n/.exec(text.slice(0, 20_000))?.[0] === '\r\n' ? '\r\n' : '\n')

/** "3 of 9 sections left out and the section "Goals" shortened." */
function asSentence(parts: readonly (string | false | null | undefined)[]): string {
  const joined = parts.filter(Boolean).join(' and ') || 'what is between its parts was left out'
  return `${joined.slice(0, 1).toUpperCase()}${joined.slice(1)}.`
}
