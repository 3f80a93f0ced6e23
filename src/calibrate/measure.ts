import { isSameLocation, similarity, wordsIn } from '../review/findings.ts'
import { locateFinding, readPlanText } from '../review/locate-finding.ts'
import type { CalibrationLine, CellResult, ReviewLine } from '../schemas/calibration.ts'
import type { Finding } from '../schemas/review.ts'
import type { Case, Defect, DefectClass } from './cases.ts'
import type { Cell, Task } from './run.ts'
import { medianOf, shareOf, type Tally } from './statistics.ts'
import vocabulary from './vocabulary.json'

type Reviewed = { readonly task: Task; readonly line: ReviewLine }

/** The reviews with a verdict; of a task that failed first, the one that did not. */
export function reviewedTasks(tasks: readonly Task[], lines: readonly CalibrationLine[]): readonly Reviewed[] {
  const ended = new Map(
    lines.flatMap((line) => (line.kind === 'review' && line.failure === null ? [[line.key, line] as const] : [])),
  )
  return tasks.flatMap((task) => {
    const line = ended.get(task.key)
    return line === undefined ? [] : [{ task, line }]
  })
}

type Found = 'hit' | 'miss' | 'unsure'

/** What code leaves open in a review: nothing, where one of its findings is a hit. */
export function unsureFindings({ task, line }: Reviewed): readonly Reported[] {
  const { defect, content } = task.case
  if (defect === null) return []
  const judged = line.findings.map((finding) => ({ finding, judged: judgeFinding(finding, defect, content) }))
  if (judged.some((each) => each.judged === 'hit')) return []
  return judged.filter((each) => each.judged === 'unsure').map(({ finding }) => finding)
}

type Answers = ReadonlyMap<string, readonly boolean[]>

export const answersIn = (lines: readonly CalibrationLine[]): Answers =>
  new Map(lines.flatMap((line) => (line.kind === 'judgement' ? [[line.key, line.answers] as const] : [])))

export const judgementKey = (judge: string, task: Task): string => `${judge} | ${task.key}`

/** Models rephrase what they say of one text; what they say of several in the same words, they say of any. */
const [sameWords, sameSentence, otherBases] = [0.6, 0.85, 2]

/** Whether a cell says it of copies without the defect as well: then it has not told them apart. */
function remarksOf(controls: readonly Reviewed[]): (finding: Reported, one: Case) => boolean {
  const said = controls.flatMap(({ task, line }) =>
    line.findings.map((finding) => ({ ...finding, base: task.case.base.id })),
  )
  return ({ section, problem }, { base: { id } }) => {
    const alike = said
      .filter((other) => isSameLocation(other.section, section))
      .map((other) => ({ base: other.base, score: similarity(other.problem, problem) }))
    const elsewhere = alike.filter((other) => other.base !== id && other.score >= sameSentence)
    return (
      alike.some((other) => other.base === id && other.score >= sameWords) ||
      new Set(elsewhere.map((other) => other.base)).size >= otherBases
    )
  }
}

function foundIn(
  reviewed: Reviewed,
  judge: string | null,
  answers: Answers,
  isSaidAnyway: ReturnType<typeof remarksOf>,
): { readonly found: Found; readonly isHeld: boolean } {
  const { task, line } = reviewed
  const { defect, content } = task.case
  if (defect === null) return { found: 'miss', isHeld: false }
  const open = unsureFindings(reviewed)
  const said = judge === null ? undefined : answers.get(judgementKey(judge, task))
  const isHit = (finding: Reported): boolean =>
    judgeFinding(finding, defect, content) === 'hit' || said?.[open.indexOf(finding)] === true
  const hits = line.findings.filter((finding) => isHit(finding) && !isSaidAnyway(finding, task.case))
  const left = open.filter((finding) => !isSaidAnyway(finding, task.case))
  const isHeld =
    line.verdict !== 'APPROVED' && hits.some(({ severity }) => severity === 'critical' || severity === 'major')
  if (hits.length > 0) return { found: 'hit', isHeld }
  return { found: left.length > 0 && said === undefined ? 'unsure' : 'miss', isHeld: false }
}

type Measured = {
  readonly tasks: readonly Task[]
  readonly lines: readonly CalibrationLine[]
  /** The row that was asked about what code cannot decide; null: none. */
  readonly judge: string | null
}

export function measureCell(cell: Cell, { tasks, lines, judge }: Measured): CellResult {
  const own = tasks.filter((task) => task.cell === cell)
  const reviewed = reviewedTasks(own, lines)
  const answers = answersIn(lines)
  const controls = reviewed.filter(({ task }) => task.case.control !== null)
  const isSaidAnyway = remarksOf(controls)
  const defects = reviewed.flatMap((each) => {
    const { defect } = each.task.case
    return defect === null
      ? []
      : [{ case: each.task.case, class: defect.class, ...foundIn(each, judge, answers, isSaidAnyway) }]
  })
  const keys = new Set(own.map(({ key }) => key))
  const failed = lines.filter((line) => line.kind === 'review' && line.failure !== null && keys.has(line.key)).length
  const classes = [...new Set(own.flatMap(({ case: one }) => one.defect?.class ?? []))]
  const share = (rows: typeof defects, counts: (row: (typeof defects)[number]) => boolean) =>
    shareOf(tallies(rows.map((row) => ({ case: row.case, counts: counts(row) }))))
  const of = (name: DefectClass | null) => defects.filter((row) => name === null || row.class === name)
  const isHit = (row: (typeof defects)[number]): boolean => row.found === 'hit'
  const isHeld = (row: (typeof defects)[number]): boolean => row.isHeld
  return {
    name: cell.name,
    route: cell.route.name,
    model: reviewed.findLast(({ line }) => line.model !== null)?.line.model ?? cell.route.model,
    effort: cell.effort ?? 'auto',
    readers: cell.readers,
    reviews: reviewed.length,
    failed,
    recall: share(of(null), isHit),
    held: share(of(null), isHeld),
    false_blocks: shareOf(
      tallies(controls.map(({ task, line }) => ({ case: task.case, counts: line.verdict !== 'APPROVED' }))),
    ),
    unsure: defects.filter(({ found }) => found === 'unsure').length,
    classes: classes.map((name) => ({ class: name, recall: share(of(name), isHit), held: share(of(name), isHeld) })),
    seconds: medianOf(reviewed.map(({ line }) => line.seconds)),
    tokens: medianOf(
      reviewed.map(({ line }) => (line.input === null || line.output === null ? null : line.input + line.output)),
    ),
    calls: medianOf(reviewed.map(({ line }) => line.calls)),
    dollars: costOf(reviewed.map(({ line }) => line)),
  }
}

function tallies(rows: readonly { readonly case: Case; readonly counts: boolean }[]): readonly Tally[] {
  const byCase = new Map<string, Tally>()
  for (const row of rows) {
    const tally = byCase.get(row.case.id) ?? { hits: 0, of: 0, base: row.case.base.id }
    byCase.set(row.case.id, { ...tally, hits: tally.hits + Number(row.counts), of: tally.of + 1 })
  }
  return [...byCase.values()]
}

const costOf = (lines: readonly ReviewLine[]): number | null =>
  lines.length === 0 || lines.some(({ dollars }) => dollars === null)
    ? null
    : lines.reduce((sum, { dollars }) => sum + (dollars ?? 0), 0)

/** Bases whose unchanged copy is held up in most reviews of every cell. */
export function heldBases(tasks: readonly Task[], lines: readonly CalibrationLine[]): ReadonlySet<string> {
  const unchanged = reviewedTasks(tasks, lines).filter(({ task }) => task.case.control === 'unchanged')
  const cells = new Set(unchanged.map(({ task }) => task.cell.name))
  const bases = new Set(unchanged.map(({ task }) => task.case.base.id))
  const isMostly = (base: string, cell: string): boolean => {
    const own = unchanged.filter(({ task }) => task.case.base.id === base && task.cell.name === cell)
    return own.length > 0 && own.filter(({ line }) => line.verdict !== 'APPROVED').length > own.length / 2
  }
  return new Set([...bases].filter((base) => [...cells].every((cell) => isMostly(base, cell))))
}

export type Judged = 'hit' | 'miss' | 'unsure'
export type Reported = Pick<Finding, 'section' | 'problem' | 'evidence' | 'fix'>

/**
 * `hit`: it stands where the defect is and speaks of it. `miss`: it does not speak of it, or is about another place and
 * says little of it. What is left is for a judge.
 */
export function judgeFinding(finding: Reported, defect: Defect, text: string): Judged {
  const place = defect.file === null ? placeInPlan(finding, defect, text) : placeInCode(finding, defect)
  const said = speaksOf(finding, defect, text)
  if (said === 'clearly') return place === 'elsewhere' ? 'unsure' : 'hit'
  if (said === 'partly') return place === 'there' ? 'unsure' : 'miss'
  return 'miss'
}

type Place = 'there' | 'near' | 'elsewhere'

function placeInPlan(finding: Reported, defect: Defect, text: string): Place {
  const plan = readPlanText(text)
  const located = locateFinding(plan, finding)
  if (located === null) return 'elsewhere'
  if (located.lines.some((line) => defect.lines.includes(line))) return 'there'
  const titles = [...defect.sections, ...(classes[defect.class].sections ?? [])].map((title) => title.toLowerCase())
  const sections = plan.outline.sections.filter(({ from, to }) => {
    const at = located.lines[0] ?? located.section?.from ?? 0
    return from <= at && at <= to
  })
  return sections.some(({ title }) => titles.some((each) => title.toLowerCase().startsWith(each)))
    ? 'near'
    : 'elsewhere'
}

/** A line or two beside it is the same place: reviewers count from the hunk. */
const near = 3

function placeInCode({ section, evidence }: Reported, { file, lines }: Defect): Place {
  const name = file ?? ''
  const path = [section, evidence].find((text) => text.includes(name) || text.includes(name.split('/').at(-1) ?? name))
  if (path === undefined) return 'elsewhere'
  const numbers = [...path.matchAll(/(?::|\bL|\blines? )(\d{1,6})(?:\s?[-\u2013]\s?(\d{1,6}))?/g)].map(
    ([, from, to]) => [Number(from), Number(to ?? from)] as const,
  )
  const isThere = numbers.some(([from, to]) => lines.some((line) => line >= from - near && line <= to + near))
  return isThere ? 'there' : 'near'
}

/**
 * `said`: a group of words for each thing that is said of a defect of that class; each group has to be met. `sections`:
 * where a reader may as well place what is missing.
 */
const classes: { readonly [name in DefectClass]: { said: readonly string[]; sections?: readonly string[] } } =
  vocabulary.defects

const spokenOf = (name: DefectClass): readonly RegExp[] =>
  classes[name].said.map((words) => new RegExp(`\\b(?:${words})`, 'g'))

/** The defects whose words are enough: what they are about is gone from the plan as a whole. */
const ofWholePlan: readonly DefectClass[] = ['rollback-removed', 'test-dropped']

/** The defects that are about one file; a finding that does not name it is about something else. */
const ofOneFile: readonly DefectClass[] = ['path-missing', 'caller-not-listed']

/** By its path or its own name, and not as a part of another one. */
const isNamed = (words: string, path: string): boolean =>
  [path, path.split('/').at(-1) ?? path].some((name) =>
    words.split(/[^\w./-]+/).some((word) => word.replace(/[.:]+$/, '') === name),
  )

type Said = 'clearly' | 'partly' | 'not'

function speaksOf(finding: Reported, defect: Defect, text: string): Said {
  const words = `${finding.section} ${finding.problem} ${finding.evidence} ${finding.fix}`.toLowerCase()
  // Who quotes the place has not said anything of it yet; who knows what stood there has.
  const isKnown = knowsWhatWas(words, defect, text)
  const said = (words: string): string => (isKnown ? words : withoutQuotes(words, text, defect))
  const evidence = finding.evidence.toLowerCase()
  const isQuoted = !isKnown && defect.is.length >= 6
  const problem = `${said(finding.problem.toLowerCase())} ${said(isQuoted ? evidence.replaceAll(defect.is.toLowerCase(), ' ') : evidence)}`
  const own = `${problem} ${said(finding.fix.toLowerCase())}`
  const groups = spokenOf(defect.class)
  const isOfClass = groups.every((group) => own.search(group) !== -1)
  const names = namesIn(`${defect.was}\n${defect.is}`)
  const stems = ownStems(defect, text)
  const weightOf = (said: string): number => {
    const known = new Set(wordsIn(said).map(stemOf))
    return (
      Math.min(2, names.filter((name) => said.includes(name)).length) + stems.filter((stem) => known.has(stem)).length
    )
  }
  const isExact = defect.is.length >= 6 && words.includes(defect.is.toLowerCase())
  const weight = weightOf(words) + (isExact ? 2 : 0)
  const isAboutAbsence = ofWholePlan.includes(defect.class) && isOfClass
  if (isAboutAbsence)
    return /\b(?:no|not|none|without|missing|lacks?|nothing|never|absent|cannot|n't|irreversibl\w*|untested|unclear|omits?|neither|any)\b/.test(
      problem,
    )
      ? 'clearly'
      : 'partly'
  const [path] = names.filter((name) => /[/.]\w+$/.test(name))
  const isKeyed = !ofOneFile.includes(defect.class) || path === undefined || isNamed(words, path) || isExact
  // Words of the class are met by chance; what else it says of the place, or that it knows what stood there, is its own.
  const beside = groups.reduce((left, group) => left.replace(group, ' '), own)
  const isOwn = weightOf(beside) >= 1 || isKnown || defect.is === ''
  if (isOfClass && weight >= 2) return isKeyed && isOwn && !approves(finding) ? 'clearly' : 'partly'
  return isOfClass && weight >= 1 ? 'partly' : weight >= 3 ? 'partly' : 'not'
}

const inOneLine = (text: string): string => text.toLowerCase().replace(/\s+/g, ' ').trim()

/** A number or a name may stand elsewhere in the text: beside the new one it was compared with it. */
const knowsWhatWas = (words: string, { was, is }: Defect, text: string): boolean =>
  was.length < 6
    ? was !== '' && [was, is].every((value) => wordsIn(words).includes(value.toLowerCase()))
    : inOneLine(words).includes(inOneLine(was)) && !inOneLine(text).includes(inOneLine(was))

const run = 4

/** Without passages of some words that stand in the text: in those nobody says what is wrong with them. */
function withoutQuotes(said: string, text: string, { is }: Defect): string {
  const plain = (word: string): string => word.replace(/[^\p{L}\p{N}]/gu, '')
  const splitUp = (passage: string): readonly string[] => passage.split(/\s+/).filter((word) => plain(word) !== '')
  const runsOf = (passage: readonly string[]): readonly string[] =>
    passage.slice(run - 1).map((_, at) =>
      passage
        .slice(at, at + run)
        .map(plain)
        .join(' '),
    )
  const known = new Set(runsOf(splitUp(`${text}\n${is}`.toLowerCase())))
  const words = splitUp(said)
  const quoted = runsOf(words).map((each) => known.has(each))
  return words.filter((_, at) => !quoted.slice(Math.max(0, at - run + 1), at + 1).includes(true)).join(' ')
}

const approves = ({ problem, fix }: Reported): boolean =>
  /^\W*(?:nothing|none|no change|n\/a)\b.{0,20}$/i.test(fix) ||
  /\b(?:this|that|it|which) is (?:right|correct|fine|good|ok|okay|sound)\b|\bwell (?:put|said|done)\b/i.test(problem) ||
  /\b(?:wording|(?:sentence|paragraph|passage|step|line) (?:is|reads) (?:too |rather |very )?(?:long|wordy|clumsy|awkward|hard to read))\b/i.test(
    problem,
  )

/** Names of the changed text: code in backticks, of code itself its identifiers. */
function namesIn(text: string): readonly string[] {
  const code = [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
  const plain = text.match(/[\w-]+(?:[/.][\w-]+)+|\b[a-z]+[A-Z]\w+|\b\w+_\w+\b/g) ?? []
  return [...new Set([...code, ...plain].map((name) => name.replace(/\(.*$/, '').toLowerCase()))].filter(
    (name) => name.length >= 3,
  )
}

/** The stems of what was there and of what is there now, without those that a plan or a change is full of. */
function ownStems(defect: Defect, text: string): readonly string[] {
  const counts = new Map<string, number>()
  for (const stem of wordsIn(text).map(stemOf)) counts.set(stem, (counts.get(stem) ?? 0) + 1)
  const own = wordsIn(`${defect.was} ${defect.is}`)
    .map(stemOf)
    .filter((stem) => stem.length >= 4 || /^\d+$/.test(stem))
  return [...new Set(own)].filter((stem) => !common.has(stem) && (counts.get(stem) ?? 0) <= 8)
}

const stemOf = (word: string): string =>
  word.length <= 4 ? word : word.replace(/(?:ations?|ings?|edly|ed|ies|es|s|ly|e|y|ment|ness)$/, '')

const common: ReadonlySet<string> = new Set(vocabulary.common.split(' ').map(stemOf))
