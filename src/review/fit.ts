import type { EffectiveConfig } from '../config/schema.ts'
import type { Finding } from '../schemas/review.ts'
import { clipEnd, countLines, pluralize, safeCut } from '../text/clean.ts'
import { type DiffFile, parseDiff } from '../text/diff.ts'
import { parseJson } from '../text/json.ts'
import { headingText, scanMarkdown } from '../text/markdown.ts'
import { isSecurityPath } from './complexity.ts'
import { bySeverity } from './findings.ts'
import type { PassKind } from './prompts.ts'
import type { Material } from './request.ts'
import { type CountTokens, fitsBudget, mayExceedBudget } from './tokens.ts'

type Fitting = {
  readonly question: { readonly does: PassKind; readonly large: boolean; readonly handedOn: string | null }
  readonly material: Material
  readonly budgets: EffectiveConfig['review']['multipass']['budgets']
  readonly tokenizer: () => Promise<CountTokens>
  readonly notice: (text: string) => void
}

/** The parts of the prompt, each within its budget; a notice says what was left out. */
export async function fitMaterial({ question, material, budgets, tokenizer, notice }: Fitting) {
  const cut = async (name: string, text: string | null, budget: number, kind: TextKind = 'document') => {
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
  const { type, iteration, rounds, content, replies } = material
  const { handedOn } = question
  // Only what was read is approved: a plan that is too long is refused before it is sent, replies included.
  const isPlan = type === 'plan'
  const contentKind = type !== 'code' ? 'document' : parseDiff(content) === null ? 'text' : 'diff'
  const notesKind = handedOn?.startsWith('{') === true ? 'json' : 'text'
  return {
    ...{ type, iteration, rounds },
    content: isPlan ? content : ((await cut('The content', content, forContent, contentKind)) ?? ''),
    expertise: await cut('The expertise', material.expertise, pass1_output),
    guidelines: await cut('The guidelines', material.guidelines, pass1_output),
    intent: await cut(type === 'code' ? 'The approved plan' : 'The request', material.intent, forContent),
    context: await cut('The context', material.context, pass3_input),
    changes: await cut('The diff since the last review', material.changes, pass3_input, 'diff'),
    replies: isPlan ? replies : await cut("The author's replies", replies, pass3_input),
    earlier: await fitFindings(material.earlier, forContent, tokenizer, notice),
    handedOn: await cut('The notes of the previous pass', handedOn, forHandedOn, notesKind),
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
  for (const finding of bySeverity(findings)) {
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

const shortened = (finding: Finding): Finding => ({
  ...finding,
  section: clipEnd(finding.section, 100),
  problem: clipEnd(finding.problem, 200),
  evidence: '',
  fix: '',
})

/** `dropped`: a sentence for the notice; null where nothing is missing. */
type Fitted = { readonly text: string; readonly dropped: string | null }
export type TextKind = 'document' | 'diff' | 'json' | 'text'

/** The text, or its most important parts, within the budget: whole sections, whole hunks, or JSON that stays JSON. */
export function fitText(text: string, budget: number, kind: TextKind, count: CountTokens): Fitted {
  const limit = Math.max(0, Math.floor(budget))
  if (!mayExceedBudget(text, limit) || fitsBudget(text, limit, count)) return { text, dropped: null }
  const json = kind === 'json' ? fitJson(parseJson(text), limit, count) : null
  if (json !== null) return json
  // Parts are counted one by one, and together may have a few tokens more.
  for (let target = limit, tries = 0; target > 2 * markTokens && tries < 5; tries++) {
    const fitted = fitParts(text, target, kind, count)
    const over = fitsBudget(fitted.text, limit, count) ? 0 : count(fitted.text) - limit
    if (over <= 0) return fitted
    target = Math.floor(target * 0.97) - over
  }
  return { text: longestEdge(text, limit, 'head', count), dropped: 'Next to nothing of it fits.' }
}

/** A section of a document, or a hunk of a diff. */
type Part = {
  readonly title: string
  /** Never cut: the heading; the head of the file, which stands once before its hunks, and the line with @@. */
  readonly head: string
  readonly lead: string
  readonly body: string
  readonly stub: string
  /** 0 is the most important. */
  readonly rank: number
}

/** Its sections or hunks in their order; in place of those that do not fit a mark, and a diff begins with its files. */
function fitParts(text: string, budget: number, kind: TextKind, count: CountTokens): Fitted {
  const files = kind === 'diff' ? (parseDiff(text)?.files ?? []) : []
  const isDiff = files.length > 0
  const all = isDiff ? files.flatMap((file) => hunksOf(text, file)) : kind === 'document' ? sectionsOf(text) : []
  const eol = lineEndOf(text)
  if (all.length < 2 && !isDiff) return cutMiddle(text, budget, count)
  const list = isDiff ? listFiles(files, budget / 2, eol, count) : ''
  // Of the sections that are left out the heading stays, so that the reviewer does not report them as missing.
  const outline = all.reduce((sum, { stub }) => sum + (stub === '' ? 0 : count(stub)), 0)
  const isOutlined = outline <= budget / 2
  const parts = isOutlined ? all : all.map((part) => ({ ...part, stub: '' }))
  const available = budget - (isDiff ? count(list) + 30 : isOutlined ? outline : 15)
  const { shown, cut } = chooseParts(parts, available, isDiff, count)
  const omitted = parts.filter((part) => !shown.has(part))
  let lastHead = ''
  const body = parts.map((part) => {
    const kept = shown.get(part)
    if (kept === undefined) return part.stub
    const head = isDiff && lastHead === part.head ? '' : part.head
    lastHead = part.head
    return head + part.lead + (kept === '' || kept.endsWith('\n') ? kept : kept + eol)
  })
  const unnamed = omitted.filter(({ stub }) => stub === '').length
  const gone = `${omitted.length} of ${pluralize(parts.length, isDiff ? 'hunk' : 'section')}`
  const mark = unnamed === 0 ? '' : `${leftOut(isDiff ? gone : pluralize(unnamed, 'section'))}${eol}`
  const names = omitted.slice(0, 3).map(({ title }) => `"${title.slice(0, 60) || 'the beginning'}"`)
  const where = isDiff
    ? `, in ${new Set(omitted.map(({ title }) => title)).size} of ${pluralize(files.length, 'file')}`
    : ` (${names.join(', ')}${omitted.length > 3 ? ` and ${omitted.length - 3} more` : ''})`
  const dropped = [
    ...(omitted.length === 0 ? [] : [`${gone} left out${where}`]),
    ...(cut === null ? [] : [isDiff ? 'one hunk, too long by itself, shortened' : `the section "${cut}" shortened`]),
  ]
  const sentence = dropped.join(' and ') || 'what is between its parts was left out'
  return {
    text: isDiff ? `${mark}${list}${eol}${body.join('')}` : `${body.join('')}${mark}`,
    dropped: `${sentence.slice(0, 1).toUpperCase()}${sentence.slice(1)}.`,
  }
}

/**
 * By rank, and of one rank the shorter first, so that most of them stay whole. The first section that does not fit is cut;
 * a hunk only where it is too long by itself.
 */
function chooseParts(parts: readonly Part[], available: number, isDiff: boolean, count: CountTokens) {
  const shown = new Map<Part, string>()
  let [left, fullRank] = [available, -1]
  for (const part of parts.toSorted((a, b) => a.rank - b.rank || a.body.length - b.body.length)) {
    // Those of a rank that follow are longer.
    if (part.rank === fullRank) continue
    const { head, lead, body, stub, title } = part
    const saved = stub === '' ? 0 : count(stub)
    const isHuge = body.length > (available + saved) * maxCharactersPerToken
    const cost = isHuge ? Number.POSITIVE_INFINITY : count(head + lead + body) - saved
    if (cost <= left) {
      left -= cost
      shown.set(part, body)
      continue
    }
    const room = left + saved - count(head + lead)
    if (room >= minCutTokens && (!isDiff || cost > available)) {
      shown.set(part, cutMiddle(body, room, count).text)
      return { shown, cut: title.slice(0, 60) }
    }
    if (!isDiff) break
    fullRank = part.rank
  }
  return { shown, cut: null }
}

/** At most, of the mark and the line ends around it. */
const markTokens = 20

/** Less of a part is of no use. */
const minCutTokens = 60

/** Few texts have more. */
const maxCharactersPerToken = 12

/** More headings are no outline. */
const maxSections = 20_000

/** Each heading with the text under it up to the next one; a heading ranks those below it, unless it names all of the text. */
function sectionsOf(text: string): readonly Part[] {
  const headings: { title: string; level: number; start: number; bodyStart: number }[] = []
  for (const line of scanMarkdown(text)) {
    const title = line.level === 0 ? '' : headingText(line)
    if (title !== '') headings.push({ title, level: line.level, start: line.start, bodyStart: line.end })
    if (headings.length > maxSections) return []
  }
  const eol = lineEndOf(text)
  const hasOneTitle = headings.filter(({ level }) => level === 1).length === 1
  const open: { level: number; rank: number }[] = []
  const first = { title: '', level: 1, start: 0, bodyStart: 0 }
  const all = headings[0]?.start === 0 ? headings : [first, ...headings]
  return all.map(({ title, level, start, bodyStart }, index) => {
    while ((open.at(-1)?.level ?? 0) >= level) open.pop()
    const rank = rankOfTitle(title, open.at(-1)?.rank ?? 2)
    if (title !== '') open.push({ level, rank: level === 1 && hasOneTitle ? 2 : rank })
    const body = text.slice(bodyStart, all[index + 1]?.start ?? text.length)
    const mark = body.trim() === '' ? '' : `${leftOut(amountOf(body.trim()))}${eol}${eol}`
    const stub = title === '' ? mark : `${'#'.repeat(level)} ${title}${eol}${mark}`
    return { title, rank, head: text.slice(start, bodyStart), lead: '', body, stub }
  })
}

/** By the words of a heading; the first row that matches holds. */
const titleRanks: readonly (readonly [rank: number, title: RegExp])[] = [
  [3, /\b(appendix|appendices|references?|bibliography|glossary|change ?log|history|further reading|see also)\b/i],
  [0, /\b(requirements?|acceptance|criteria|goals?|objectives?|scope|constraints?|user stor(y|ies)|problem)\b/i],
  [1, /\b(architecture|design|approach|changes?|solution|implementation|interfaces?|components?|steps?|tasks?)\b/i],
]

function rankOfTitle(title: string, above: number): number {
  const own = titleRanks.find(([, words]) => words.test(title))?.[0] ?? above
  return own === 3 || above === 3 ? 3 : Math.min(own, above)
}

function hunksOf(text: string, file: DiffFile): Part[] {
  const [head, rank] = [text.slice(file.start, file.headEnd), rankOfFile(file)]
  return file.hunks.map(({ start, end }) => {
    const bodyStart = text.indexOf('\n', start) + 1 || end
    const [lead, body] = [text.slice(start, bodyStart), text.slice(bodyStart, end)]
    return { title: file.path, head, lead, body, stub: '', rank }
  })
}

/** Every file with the size of its change, as many as fit. */
function listFiles(files: readonly DiffFile[], available: number, eol: string, count: CountTokens): string {
  const sorted = files.toSorted((a, b) => rankOfFile(a) - rankOfFile(b))
  const rows = sorted.map(({ path, added, removed }) => `${path} +${added} -${removed}${eol}`)
  let left = available - markTokens
  const end = rows.findIndex((row) => {
    left -= count(row)
    return left < 0
  })
  const rest = end === -1 ? [] : sorted.slice(end)
  const sum = (key: 'added' | 'removed'): number => rest.reduce((total, file) => total + file[key], 0)
  const more = rest.length === 0 ? '' : `and ${rest.length} more +${sum('added')} -${sum('removed')}${eol}`
  return `${pluralize(files.length, 'file')} in all:${eol}${rows.slice(0, rows.length - rest.length).join('')}${more}`
}

/** Long files that nobody reviews. */
const generated =
  /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|go\.sum)$|(^|\/)(dist|build|vendor|node_modules|__snapshots__|generated)\/|\.(lock|min\.js|min\.css|map|snap|svg)$/

const rankOfFile = ({ path }: DiffFile): number => (generated.test(path) ? 2 : isSecurityPath(path) ? 0 : 1)

function cutMiddle(text: string, budget: number, count: CountTokens): Fitted {
  const available = budget - markTokens
  const head = longestEdge(text, available * 0.6, 'head', count)
  const tail = longestEdge(text.slice(head.length), available * 0.4, 'tail', count)
  const amount = amountOf(text.slice(head.length, text.length - tail.length))
  const eol = lineEndOf(text)
  const before = head === '' || head.endsWith('\n') ? '' : eol
  return { text: `${head}${before}${leftOut(amount)}${eol}${tail}`, dropped: `The middle was left out: ${amount}.` }
}

/** The longest beginning or end within the budget, to the edge of a line or a word if one is near. */
function longestEdge(text: string, budget: number, side: 'head' | 'tail', count: CountTokens): string {
  const edge = (length: number): string =>
    side === 'head' ? text.slice(0, safeCut(text, length)) : text.slice(safeCut(text, text.length - length + 1))
  let [low, high] = [0, Math.min(text.length, Math.ceil(budget * maxCharactersPerToken))]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (count(edge(middle)) <= budget) low = middle
    else high = middle - 1
  }
  const longest = edge(low)
  if (longest.length === text.length) return text
  const near = Math.max(400, Math.ceil(low * 0.1))
  if (side === 'tail') {
    const lineEnd = longest.slice(0, near).indexOf('\n') + 1
    return longest.slice(lineEnd)
  }
  const lineEnd = longest.slice(-near).includes('\n') ? longest.lastIndexOf('\n') + 1 : 0
  const wordEnd = longest.slice(-100).includes(' ') ? longest.lastIndexOf(' ') + 1 : 0
  return lineEnd || wordEnd ? longest.slice(0, lineEnd || wordEnd) : longest
}

/** null: it is none, or nested too deeply to be written again, which goes by recursion. */
function fitJson(value: unknown, budget: number, count: CountTokens): Fitted | null {
  try {
    return value === undefined ? null : shortenJson(value, budget, count)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/** White space goes first, then the longest texts and lists become shorter, each with a mark. */
function shortenJson(value: unknown, budget: number, count: CountTokens): Fitted {
  let cuts = 0
  const cut = (amount: number, thing: string): string => {
    cuts += 1
    return leftOut(pluralize(amount, thing))
  }
  const shorten = (longest: number): string => {
    cuts = 0
    return JSON.stringify(value, (_, inner: unknown) => {
      // The mark itself has some length.
      if (typeof inner === 'string' && inner.length > longest + 40) {
        const end = safeCut(inner, longest)
        return inner.slice(0, end) + cut(inner.length - end, 'character')
      }
      const items = Array.isArray(inner) ? inner.slice(0, longest / 8) : []
      return Array.isArray(inner) && items.length < inner.length
        ? [...items, cut(inner.length - items.length, 'item')]
        : inner
    })
  }
  const whole = JSON.stringify(value)
  if (fitsBudget(whole, budget, count)) return { text: whole, dropped: null }
  let [low, high] = [0, 16_000]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (fitsBudget(shorten(middle), budget, count)) low = middle
    else high = middle - 1
  }
  const text = shorten(low)
  if (count(text) <= budget)
    return { text, dropped: `The longest texts and lists were shortened, in ${pluralize(cuts, 'place')}.` }
  const smallest = Array.isArray(value) ? '[]' : typeof value === 'object' ? '{}' : '""'
  return { text: count(smallest) <= budget ? smallest : '', dropped: 'Next to nothing of it fits.' }
}

const leftOut = (what: string): string => `[… ${what} left out …]`

function amountOf(text: string): string {
  const lines = countLines(text)
  return lines > 1 ? pluralize(lines, 'line') : pluralize(text.length, 'character')
}

const lineEndOf = (text: string): string => (/\r?\n/.exec(text.slice(0, 20_000))?.[0] === '\r\n' ? '\r\n' : '\n')
