import { isBlocking } from '../review/findings.ts'
import {
  comparableText,
  type FindingLocation,
  locateFinding,
  type PlanText,
  readPlanText,
} from '../review/locate-finding.ts'
import { findingStatus } from '../review/number-findings.ts'
import type { EarlierFinding, Finding, Verdict } from '../schemas/review.ts'
import type { LineDiff } from '../text/line-diff.ts'
import type { LineRange, Outline } from '../text/outline.ts'

/** A reviewed revision of this cycle. */
export type Reviewed = {
  readonly revision: number
  readonly plan: string
  readonly verdict: Verdict
  readonly findings: readonly Finding[]
  readonly previous: readonly EarlierFinding[]
}

/** A point where revising goes in circles. `words` are for people, and may quote the reviewer. */
type StuckPoint =
  | { readonly kind: 'unfixed'; readonly id: string; readonly times: number; readonly words: string }
  | { readonly kind: 'undone'; readonly ids: readonly string[]; readonly section: string; readonly words: string }
  | { readonly kind: 'same-plan'; readonly revision: number; readonly words: string }

/** `history`: the reviews of this cycle, in the order of their revisions. */
export function findStuck(history: readonly Reviewed[]): readonly StuckPoint[] {
  const last = history.at(-1)
  if (last === undefined) return []
  const former = history.slice(0, -1)
  return [...findSamePlan(last, former), ...findUnfixed(last, history), ...findUndone(last, former)]
}

function findSamePlan(last: Reviewed, former: readonly Reviewed[]): readonly StuckPoint[] {
  const same = former.findLast(({ plan }) => plan === last.plan)
  if (same === undefined) return []
  const words = `Revision ${last.revision} of the plan is the same text as revision ${same.revision}.`
  return [{ kind: 'same-plan', revision: same.revision, words }]
}

/** Reported as not fixed this often. Minor findings may stay. */
const stuckAfter = 2

function findUnfixed(last: Reviewed, history: readonly Reviewed[]): readonly StuckPoint[] {
  return last.findings.filter(isBlocking).flatMap(({ id, section }) => {
    const times = history.filter(({ previous }) =>
      previous.some((entry) => entry.id === id && entry.status === 'not_fixed'),
    )
    if (times.length < stuckAfter) return []
    const words = `${id} (${section}) came back unfixed ${times.length} times, last in revision ${last.revision}.`
    return [{ kind: 'unfixed', id, times: times.length, words }]
  })
}

/**
 * A finding was about a passage, the passage was removed, another finding was about its replacement, and now the
 * passage is back: the two findings undo each other. Text that comes back is not enough by itself; an author may take
 * back a bad idea.
 */
function findUndone(last: Reviewed, former: readonly Reviewed[]): readonly StuckPoint[] {
  const read = (reviewed: Reviewed): ReadReview => ({ ...reviewed, text: readPlanText(reviewed.plan) })
  const [end, reviews] = [read(last), former.map(read)]
  const points = new Map<string, StuckPoint>()
  for (const [index, review] of reviews.entries()) {
    for (const finding of review.findings) {
      for (const passage of passagesOf(finding, review.text)) {
        const opposite = passage.isIn(end.text) ? oppositeOf(finding, passage, reviews.slice(index + 1)) : undefined
        if (opposite !== undefined)
          points.set([finding.id, opposite].sort().join(), undonePoint(finding.id, opposite, passage))
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

/** A finding of a later review, in the same section, on a plan without the passage. */
const oppositeOf = (finding: Finding, passage: Passage, later: readonly ReadReview[]): string | undefined =>
  later
    .filter(({ text }) => !passage.isIn(text))
    .flatMap(({ findings, text }) => findings.filter((other) => isAbout(other, passage.section, text)))
    .find(({ id }) => id !== finding.id)?.id

const isAbout = (finding: Finding, section: string, text: PlanText): boolean =>
  locateFinding(text, finding)?.section?.title === section

const undonePoint = (first: string, second: string, { section }: Passage): StuckPoint => ({
  kind: 'undone',
  ids: [first, second],
  section,
  words: `${first} and ${second} undo each other in "${section}": text that was changed for ${first} is back as it was.`,
})

export type ToSettle = {
  readonly verdict: Verdict
  readonly question: string | null
  /** With their ids. */
  readonly findings: readonly Finding[]
  readonly statuses: readonly EarlierFinding[]
  /** What the last review of this cycle came to; null: there was none. */
  readonly before: { readonly verdict: Verdict; readonly findings: readonly Finding[] } | null
  readonly plan: string
  /** How the plan differs from what that review saw. */
  readonly changes: LineDiff
  /**
   * What it means that the reviewer says nothing about an earlier finding. `settled` is only for one that was made by
   * the same checks, each of which is made again; a model that forgets a finding has not looked.
   */
  readonly whenSilent: 'open' | 'settled'
}

export type Settled = {
  readonly verdict: Verdict
  readonly question: string | null
  /** All that are open now: the reviewer's, then those of before that it did not repeat. */
  readonly findings: readonly Finding[]
  /** What became of each finding of before. */
  readonly previous: readonly EarlierFinding[]
  /** The ids of those that were recorded as advice because they came too late. */
  readonly late: readonly string[]
  /** What was judged otherwise than the reviewer did, and why. */
  readonly notices: readonly string[]
}

/**
 * What counts after a review, so that the loop comes to an end and never to an approval that the reviewer did not give:
 *
 * - An earlier finding is open until the reviewer says that it is fixed, or gives a reason for dropping it. One that is
 *   reported again is open whatever its status says.
 * - What the reviewer calls major for the first time, in text that it has seen before and that has not changed, comes too
 *   late and is recorded as advice. What is critical is never too late.
 * - An approval stands only if nothing is open that keeps a plan from being approved.
 * - Changes may be required without a finding that requires them: then all of them came late, or are minor. The author
 *   gets one more turn, since what came late may well be right. Twice in a row, the reviewer is not going to be content,
 *   and the decision is the user's.
 */
export function reconcileFindings(input: ToSettle): Settled {
  const { verdict, question, before } = input
  const earlier = before?.findings ?? []
  if (verdict === 'SKIPPED') return { verdict, question, findings: earlier, previous: [], late: [], notices: [] }
  const previous = earlier.map((finding) => fateOf(finding, input))
  const late = before === null ? [] : lateFindings(input, earlier)
  const said = input.findings.map((finding) => (late.includes(finding.id) ? asAdvice(finding) : finding))
  const repeated = new Set(said.map(({ id }) => id))
  const isOpen = new Set(previous.filter(({ status }) => status === 'not_fixed').map(({ id }) => id))
  const carried = earlier.filter(({ id }) => isOpen.has(id) && !repeated.has(id))
  const findings = [...said, ...carried]
  return { ...verdictOn(input, findings), findings, previous, late, notices: noticesOn(input, findings, late) }
}

function fateOf({ id }: Finding, { findings, statuses, whenSilent }: ToSettle): EarlierFinding {
  const inSilence: Omit<EarlierFinding, 'id'> =
    whenSilent === 'settled'
      ? { status: 'fixed', reason: 'It is not found any more.' }
      : { status: 'not_fixed', reason: 'The reviewer did not say what became of it.' }
  return findingStatus(id, { findings, statuses, inSilence })
}

/** Also one that was harmless so far: the same unchanged text does not become worse. */
function lateFindings(input: ToSettle, earlier: readonly Finding[]): readonly string[] {
  const wasBlocking = new Set(earlier.filter(isBlocking).map(({ id }) => id))
  const suspects = input.findings.filter(({ id, severity }) => severity === 'major' && !wasBlocking.has(id))
  if (suspects.length === 0) return []
  const plan = readPlanText(input.plan)
  const isUnchanged = (finding: Finding): boolean => {
    const place = locateFinding(plan, finding)
    return place !== null && !isChanged(place, plan.outline, input.changes)
  }
  return suspects.filter(isUnchanged).map(({ id }) => id)
}

const asAdvice = (finding: Finding): Finding => ({ ...finding, severity: 'advice' })

/** What is quoted counts with the paragraph or the item around it, what is only named with the whole section. */
function isChanged({ section, lines }: FindingLocation, outline: Outline, changes: LineDiff): boolean {
  if (lines.length === 0) return section === null || changes.some((change) => touches(change, section, section.from))
  const blocks = lines.map(outline.blockAt)
  return blocks.some((block) => changes.some((change) => touches(change, block, block.from - 1)))
}

/** Where nothing came in place of what went, the change lies after a line: at the earliest after `first`. */
const touches = ({ after, added }: LineDiff[number], { from, to }: LineRange, first: number): boolean =>
  added.length === 0 ? after - 1 >= first && after - 1 <= to : after <= to && after + added.length > from

function verdictOn(input: ToSettle, findings: readonly Finding[]): Pick<Settled, 'verdict' | 'question'> {
  const { verdict, question, before } = input
  switch (verdict) {
    case 'APPROVED':
      return { verdict: findings.some(isBlocking) ? 'CHANGES_REQUIRED' : 'APPROVED', question: null }
    case 'CHANGES_REQUIRED': {
      const wasHollow = before?.verdict === 'CHANGES_REQUIRED' && !before.findings.some(isBlocking)
      return findings.some(isBlocking) || !wasHollow
        ? { verdict, question: null }
        : { verdict: 'DECISION_NEEDED', question: questionFor(findings) }
    }
    case 'DECISION_NEEDED':
    case 'SKIPPED':
      return { verdict, question }
  }
}

const questionFor = (findings: readonly Finding[]): string =>
  [
    'Twice in a row the reviewer has not approved the plan, and named nothing that has to be mended.',
    findings.length === 0 ? '' : `What is open is minor or came late: ${ids(findings)}.`,
    'Should the plan be revised once more, or do you approve it as it is (plan-gate approve --force --reason "…")?',
  ]
    .filter((sentence) => sentence !== '')
    .join(' ')

const ids = (findings: readonly Pick<Finding, 'id'>[]): string => findings.map(({ id }) => id).join(', ')

function noticesOn(input: ToSettle, findings: readonly Finding[], late: readonly string[]): readonly string[] {
  const notices = late.map(
    (id) => `${id} is new and concerns text that has not changed since the last review: recorded as advice.`,
  )
  const open = findings.filter(isBlocking)
  if (input.verdict === 'APPROVED' && open.length > 0)
    notices.push(`The reviewer approved while ${ids(open)} ${open.length === 1 ? 'is' : 'are'} open: not approved.`)
  return notices
}
