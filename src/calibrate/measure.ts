import { isSameLocation, similarity } from '../review/findings.ts'
import type { CalibrationLine, CellResult, ReviewLine } from '../schemas/calibration.ts'
import type { Case, DefectClass } from './cases.ts'
import { judgeFinding, type Reported } from './hit.ts'
import type { Cell, Task } from './run.ts'
import { medianOf, shareOf, type Tally } from './statistics.ts'

/** From the journal to figures: what each cell found, what it held up, and what it cost. */

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

export type Answers = ReadonlyMap<string, readonly boolean[]>

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

export type Measured = {
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

/** null: of one review it is not known. */
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
