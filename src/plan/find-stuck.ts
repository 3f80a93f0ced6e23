import type { EarlierFinding, Finding, Verdict } from '../schemas/review-result.ts'
import { isBlocking } from './is-blocking.ts'
import { locateFinding } from './locate-finding.ts'
import type { Lines } from './read-outline.ts'
import { type PlanText, readPlanText, squeezed } from './read-plan-text.ts'

/** A revision of this cycle with what its review came to. */
export type Reviewed = {
  readonly revision: number
  readonly plan: string
  readonly verdict: Verdict
  readonly findings: readonly Finding[]
  readonly previous: readonly EarlierFinding[]
}

/** Where revising goes round in circles; `words` are for people, and may quote the reviewer. */
export type StuckPoint =
  | { readonly kind: 'unfixed'; readonly id: string; readonly times: number; readonly words: string }
  | { readonly kind: 'undone'; readonly ids: readonly string[]; readonly section: string; readonly words: string }
  | { readonly kind: 'same-plan'; readonly revision: number; readonly words: string }

/** Judged at the last of these reviews, which come in the order of their revisions. */
export function findStuck(history: readonly Reviewed[]): readonly StuckPoint[] {
  const last = history.at(-1)
  if (last === undefined) return []
  const former = history.slice(0, -1)
  return [...samePlan(last, former), ...unfixed(last, history), ...undone(last, former)]
}

function samePlan(last: Reviewed, former: readonly Reviewed[]): readonly StuckPoint[] {
  const same = former.findLast(({ plan }) => plan === last.plan)
  if (same === undefined) return []
  const words = `Revision ${last.revision} of the plan is the same text as revision ${same.revision}.`
  return [{ kind: 'same-plan', revision: same.revision, words }]
}

/** Found, not mended, and again not mended; what need not be mended may stay as long as the author likes. */
const tooOften = 2

function unfixed(last: Reviewed, history: readonly Reviewed[]): readonly StuckPoint[] {
  return last.findings.filter(isBlocking).flatMap(({ id, section }) => {
    const times = history.filter(({ previous }) =>
      previous.some((entry) => entry.id === id && entry.status === 'not_fixed'),
    )
    if (times.length < tooOften) return []
    const words = `${id} (${section}) came back unfixed ${times.length} times, last in revision ${last.revision}.`
    return [{ kind: 'unfixed', id, times: times.length, words }]
  })
}

/**
 * A finding was about a passage, the passage went, another finding was about what stood in its place, and now the
 * passage is back: to follow the one is to undo the other. That some text comes back is no sign by itself, since an
 * author may well take back what was a bad idea.
 */
function undone(last: Reviewed, former: readonly Reviewed[]): readonly StuckPoint[] {
  const read = (reviewed: Reviewed): Read => ({ ...reviewed, text: readPlanText(reviewed.plan) })
  const [end, reviews] = [read(last), former.map(read)]
  const points = new Map<string, StuckPoint>()
  for (const [index, review] of reviews.entries()) {
    for (const finding of review.findings) {
      for (const passage of passagesOf(finding, review.text)) {
        const opposite = passage.isIn(end.text) ? oppositeOf(finding, passage, reviews.slice(index + 1)) : undefined
        if (opposite !== undefined)
          points.set([finding.id, opposite].sort().join(), pointOf(finding.id, opposite, passage))
      }
    }
  }
  return [...points.values()]
}

type Read = Reviewed & { readonly text: PlanText }
type Passage = { readonly section: string; readonly isIn: (text: PlanText) => boolean }

/** The section as a whole, and the paragraph or item in it: something else in the section may have changed for good. */
function passagesOf(finding: Finding, text: PlanText): readonly Passage[] {
  const place = locateFinding(text, finding)
  const section = place?.section ?? null
  if (place === null || section === null) return []
  const whole = wordsAt(text, section)
  const passages = [{ section: section.title, isIn: (other: PlanText) => sectionWords(other, section.title) === whole }]
  const [line] = place.lines
  const block = line === undefined ? '' : wordsAt(text, text.outline.blockAt(line))
  if (block.length >= fewestLetters)
    passages.push({ section: section.title, isIn: (other) => other.find(block, null).length > 0 })
  return passages
}

/** "None." is everywhere. */
const fewestLetters = 20

const wordsAt = ({ outline }: PlanText, { from, to }: Lines): string =>
  outline.lines
    .slice(from - 1, to)
    .map(squeezed)
    .filter((line) => line !== '')
    .join(' ')

function sectionWords(text: PlanText, title: string): string | null {
  const section = text.outline.sections.find((other) => other.title === title)
  return section === undefined ? null : wordsAt(text, section)
}

/** A finding of a later review, in the same section, on a plan without the passage. */
const oppositeOf = (finding: Finding, passage: Passage, later: readonly Read[]): string | undefined =>
  later
    .filter(({ text }) => !passage.isIn(text))
    .flatMap(({ findings, text }) => findings.filter((other) => isAbout(other, passage.section, text)))
    .find(({ id }) => id !== finding.id)?.id

const isAbout = (finding: Finding, section: string, text: PlanText): boolean =>
  locateFinding(text, finding)?.section?.title === section

const pointOf = (first: string, second: string, { section }: Passage): StuckPoint => ({
  kind: 'undone',
  ids: [first, second],
  section,
  words: `${first} and ${second} undo each other in "${section}": text that was changed for ${first} is back as it was.`,
})
