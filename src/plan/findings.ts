import { isAboutLines, isBlocking, isUsers, plainTitle } from '../review/findings.ts'
import {
  comparableText,
  type FindingLocation,
  locateFinding,
  type PlanText,
  readPlanText,
} from '../review/locate-finding.ts'
import type { Settle } from '../review/request.ts'
import { reconcileFindings } from '../review/settle.ts'
import type { EarlierFinding, Finding, Verdict } from '../schemas/review.ts'
import { splitLines, trimLineEnds } from '../text/clean.ts'
import { diffLines, type LineDiff } from '../text/diff.ts'
import type { LineRange, Outline } from '../text/markdown.ts'

export type Reviewed = {
  readonly revision: number
  readonly plan: string
  readonly verdict: Verdict
  readonly findings: readonly Finding[]
  readonly previous: readonly EarlierFinding[]
}

/**
 * Points where revising goes in circles, in words, which may quote the reviewer. `history`: the reviews of this cycle, in the
 * order of their revisions.
 */
export function findStuck(history: readonly Reviewed[]): readonly string[] {
  const last = history.at(-1)
  if (last === undefined) return []
  const former = history.slice(0, -1)
  const same = former.findLast(({ plan }) => plan === last.plan)
  const repeated = `Revision ${last.revision} of the plan is the same text as revision ${same?.revision}.`
  return [...(same === undefined ? [] : [repeated]), ...findUnfixed(last, history), ...findUndone(last, former)]
}

/** Reported as not fixed this often. Minor findings may stay. */
const stuckAfter = 2

const findUnfixed = (last: Reviewed, history: readonly Reviewed[]): readonly string[] =>
  last.findings.filter(isBlocking).flatMap(({ id, section }) => {
    const isOpenIn = ({ previous }: Reviewed) =>
      previous.some((entry) => entry.id === id && entry.status === 'not_fixed')
    const times = history.filter(isOpenIn).length
    const words = `${id} (${section}) came back unfixed ${times} times, last in revision ${last.revision}.`
    return times < stuckAfter ? [] : [words]
  })

/**
 * A finding was about a passage, the passage was removed, another finding was about its replacement, and now the
 * passage is back: the two findings undo each other. Text that comes back is not enough by itself; an author may take
 * back a bad idea.
 */
function findUndone(last: Reviewed, former: readonly Reviewed[]): readonly string[] {
  const read = (reviewed: Reviewed): ReadReview => ({ ...reviewed, text: readPlanText(reviewed.plan) })
  const [end, reviews] = [read(last), former.map(read)]
  const points = new Map<string, string>()
  for (const [index, review] of reviews.entries()) {
    for (const finding of review.findings) {
      for (const passage of passagesOf(finding, review.text)) {
        const opposite = passage.isIn(end.text) ? oppositeOf(finding, passage, reviews.slice(index + 1)) : undefined
        if (opposite !== undefined)
          points.set(
            [finding.id, opposite].sort().join(),
            `${finding.id} and ${opposite} undo each other in "${passage.section}": text that was changed for ${finding.id} is back as it was.`,
          )
      }
    }
  }
  return [...points.values()]
}

type ReadReview = Reviewed & { readonly text: PlanText }
type Passage = { readonly section: string; readonly isIn: (text: PlanText) => boolean }

/** The whole section, and the paragraph or item in it: another part of the section may have changed for good. */
function passagesOf(finding: Finding, text: PlanText): readonly Passage[] {
  const place = locateFinding(text, finding)
  const section = place?.section ?? null
  if (place === null || section === null) return []
  const whole = wordsAt(text, section)
  const passages = [{ section: section.title, isIn: (other: PlanText) => sectionWords(other, section.title) === whole }]
  const [line] = place.lines
  const block = line === undefined ? '' : wordsAt(text, text.outline.blockAt(line))
  if (block.length >= minBlockLength)
    passages.push({ section: section.title, isIn: (other) => other.find(block, null).length > 0 })
  return passages
}

/** Shorter blocks, such as "None.", are in many places. */
const minBlockLength = 20

const wordsAt = ({ outline }: PlanText, { from, to }: LineRange): string =>
  outline.lines
    .slice(from - 1, to)
    .map(comparableText)
    .filter((line) => line !== '')
    .join(' ')

function sectionWords(text: PlanText, title: string): string | null {
  const section = text.outline.sections.find((other) => other.title === title)
  return section === undefined ? null : wordsAt(text, section)
}

const oppositeOf = (finding: Finding, passage: Passage, later: readonly ReadReview[]): string | undefined =>
  later
    .filter(({ text }) => !passage.isIn(text))
    .flatMap(({ findings, text }) => findings.filter((other) => isAbout(other, passage.section, text)))
    .find(({ id }) => id !== finding.id)?.id

const isAbout = (finding: Finding, section: string, text: PlanText): boolean =>
  locateFinding(text, finding)?.section?.title === section

export type PlanReviewContext = {
  /** The last review of this cycle, or of the text that was approved last; null: there was none. */
  readonly before: { readonly verdict: Verdict; readonly findings: readonly Finding[]; readonly plan: string } | null
  /** What the user has written since. */
  readonly users?: readonly Finding[]
  /** Ids of those of both that the user has waived. */
  readonly waived?: readonly string[]
  /** Of this cycle, from 1; the review of the text that is amended does not count. */
  readonly round: number
  readonly plan: string
  /** That review was by the checklist. */
  readonly byChecklist: boolean
}

/**
 * What counts after a review of the plan. Three rules beside those of `reconcileFindings` make sure that the cycle ends:
 *
 * - A first major finding in text that the reviewer has seen before and that has not changed is late, and recorded as
 *   advice; from the third round on every first major finding is, unless the plan was written anew. A critical one is
 *   never late.
 * - Where changes are required and nothing that is open may block, the reviewer is asked once whether that stands.
 * - If it does, the author gets one more turn, since a late finding may be right; the second time in a row, the user
 *   decides.
 *
 * The figures behind them: `npm run simulate`.
 */
export const settlePlanReview =
  (context: PlanReviewContext): Settle =>
  (reported, stage) => {
    const { before, byChecklist, users = [], waived = [] } = context
    const earlier = [...(before?.findings ?? []), ...users]
    const late = before === null ? [] : lateFindings(reported.findings, before, context)
    const settled = reconcileFindings(reported, { earlier, byChecklist, late, waived })
    const isUnfounded = settled.verdict === 'CHANGES_REQUIRED' && !settled.findings.some(isBlocking)
    const notices = [
      ...settled.findings.flatMap(({ id, raised_as }) =>
        late.includes(id) ? [`${id} (${raised_as}) came late and does not block the plan: recorded as advice.`] : [],
      ),
      ...settled.notices,
    ]
    const question = settled.verdict === 'DECISION_NEEDED' ? reported.question : null
    const asReported = { ...settled, notices, question, isUnfounded }
    const wasUnfounded = before?.verdict === 'CHANGES_REQUIRED' && !before.findings.some(isBlocking)
    return stage === 'final' && isUnfounded && wasUnfounded
      ? { ...asReported, verdict: 'DECISION_NEEDED', question: questionFor(settled.findings) }
      : asReported
  }

const questionFor = (findings: readonly Finding[]): string =>
  [
    'Twice in a row the reviewer has not approved the plan, and named nothing that has to be fixed.',
    findings.length === 0 ? '' : `What is open is minor or came late: ${findings.map(({ id }) => id).join(', ')}.`,
    'Should the plan be revised once more, or do you approve it as it is (plan-gate approve --force --reason "…")?',
  ]
    .filter((sentence) => sentence !== '')
    .join(' ')

/** In later rounds only what was open before, or is critical, holds a plan up; not so for one that was written anew. */
const lastNewRound = 2

/** The share of removed and added lines up to which a plan was revised, and not written anew. */
const maxRework = 0.5

/**
 * Also one that was minor so far: unchanged text does not become worse. One about no place of the plan ("Overall", a file
 * that it does not name) is late unless it is about what changed.
 */
function lateFindings(
  findings: readonly Finding[],
  before: NonNullable<PlanReviewContext['before']>,
  { plan, round }: PlanReviewContext,
): readonly string[] {
  const wasBlocking = new Set(before.findings.filter(isBlocking).map(({ id }) => id))
  const suspects = findings.filter(
    (finding) => finding.severity === 'major' && !wasBlocking.has(finding.id) && !isUsers(finding),
  )
  if (suspects.length === 0) return []
  const [text, now] = [readPlanText(plan), trimLineEnds(plan)]
  const changes = diffLines(trimLineEnds(before.plan), now)
  const changed = changes.flatMap(({ removed, added }) => [...removed, ...added])
  const added = new Set(changes.flatMap((change) => change.added))
  const others = splitLines(now).filter((line) => !added.has(line))
  const isUnchanged = (finding: Finding): boolean => {
    const place = locateFinding(text, finding)
    if (place !== null) return !isAmbiguous(place, text) && !isChanged(place, text.outline, changes)
    const { section, problem, evidence } = finding
    return !isAboutLines(`${section} ${problem} ${evidence}`, changed, others)
  }
  const isNearTheEnd = round > lastNewRound && changed.length <= splitLines(now).length * maxRework
  return suspects.filter((finding) => isNearTheEnd || isUnchanged(finding)).map(({ id }) => id)
}

/** Of several sections of one name, any may be meant. */
const isAmbiguous = ({ section, lines }: FindingLocation, { titles }: PlanText): boolean =>
  section !== null && lines.length === 0 && titles.filter(({ title }) => title === plainTitle(section.title)).length > 1

/** A quotation counts with the paragraph or the item around it, a named section as a whole. */
function isChanged({ section, lines }: FindingLocation, outline: Outline, changes: LineDiff): boolean {
  if (lines.length === 0) return section === null || changes.some((change) => touches(change, section, section.from))
  const blocks = lines.map(outline.blockAt)
  return blocks.some((block) => changes.some((change) => touches(change, block, block.from - 1)))
}

/** Where nothing came in place of what went, the change lies after a line: at the earliest after `first`. */
const touches = ({ after, added }: LineDiff[number], { from, to }: LineRange, first: number): boolean =>
  added.length === 0 ? after - 1 >= first && after - 1 <= to : after <= to && after + added.length > from
