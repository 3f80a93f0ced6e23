import type { PassKind } from '../../../src/review/prompts.ts'
import type { AnsweredFinding, EarlierFinding, Finding, Question, ReviewerAnswer } from '../../../src/schemas/review.ts'
import {
  type Assumptions,
  type Cell,
  type Chance,
  type Issue,
  passages,
  planOf,
  sectionOf,
  severityOf,
  textOf,
} from './world.ts'

/** One plan with what is wrong in it, the reviewer who reads it, and the author who revises it. */
export function startCycle(cell: Cell, chance: Chance, given: Assumptions) {
  const versions: number[] = Array.from({ length: passages }, () => 0)
  const issues = new Map<string, Issue>()
  /** The keys of defects that are in the plan now. */
  const present = new Set<string>()
  const changed = new Set<number>()
  let opposites: readonly Issue[] = []
  /** How often the author has contested a finding, by key. */
  const contests = new Map<string, number>()
  let round = 1
  let reported = new Set<string>()

  const issueOf = ({ problem }: Pick<Finding, 'problem'>): Issue | undefined => issues.get(problem.split(' ')[0] ?? '')

  function add(key: string, passage: number, isTrue: boolean): Issue {
    const known = issues.get(key)
    if (known !== undefined) return known
    const severity = severityOf(chance, key)
    const isHard = chance.below(cell.hard, key, 'hard')
    const isInflated = severity === 'major' && chance.below(cell.inflates, key, 'inflated')
    const issue = { key, passage, isTrue, severity, isHard, isInflated }
    issues.set(key, issue)
    if (isTrue) present.add(key)
    return issue
  }
  for (let n = 0; n < chance.count(cell.defects, 'defects'); n += 1)
    add(`D${n}`, chance.pick(passages, 'defect', n), true)

  /** What one reader finds by reading the whole; `attention` is a share of the recall. */
  function read(reader: string, attention: number): readonly Issue[] {
    const found = [...present]
      .flatMap((key) => issues.get(key) ?? [])
      .filter(({ key, isHard, passage }) => {
        const recall = isHard ? cell.recallHard : cell.recall
        const seen = round === 1 || changed.has(passage) ? attention : attention * given.rereads
        return chance.below(recall * seen, 'found', reader, round, key)
      })
    const all = Array.from({ length: passages }, (_, passage) => passage)
    const wrong = (kind: string, mean: number, places: readonly number[]): readonly Issue[] =>
      Array.from({ length: places.length === 0 ? 0 : chance.count(mean * attention, kind, reader, round) }, (_, n) => {
        const key = `${kind}${n}r${round}${reader}`
        return add(key, places[chance.pick(places.length, key)] ?? 0, false)
      })
    if (round === 1) return [...found, ...wrong('A', cell.falseFirst, all)]
    return [
      ...found,
      ...wrong('B', (cell.falseFirst * changed.size) / passages, [...changed]),
      ...wrong(
        'C',
        cell.falseLater * given.rereads,
        all.filter((passage) => !changed.has(passage)),
      ),
      ...opposites,
    ]
  }

  /** What a pass reports that was not open before. */
  function findings(does: PassKind, { user, thread }: Question): readonly Issue[] {
    switch (does) {
      case 'plan':
      case 'combined':
        return read('one', 1)
      case 'review':
        if (round === 1 && thread.kind === 'none') return read('two', 1)
        return [...read('one', 1), ...(round === 1 ? read('again', given.secondLook) : [])]
      case 'verify': {
        const upheld = [...reported]
          .flatMap((key) => issues.get(key) ?? [])
          .filter(
            ({ key, isTrue }) =>
              user.includes(`${key} fails`) &&
              !chance.below(isTrue ? dropsTrue : cell.dropsFalse, 'dropped', key, round, verifications),
          )
        verifications += 1
        return [...upheld, ...(user.includes('add each') ? read(`verify${verifications}`, given.verifier) : [])]
      }
      case 'settle':
      case 'arbitrate':
        return []
    }
  }
  let verifications = 0

  function statusOf({ key, isTrue }: Issue, does: PassKind): EarlierFinding['status'] {
    if (does === 'arbitrate') {
      const isDropped = chance.below(isTrue ? dropsTrue : Math.max(0.5, cell.dropsFalse), 'arbitrated', key)
      return isDropped ? 'withdrawn' : 'not_fixed'
    }
    if (isTrue) return present.has(key) && chance.below(given.seesAgain, 'again', key, round) ? 'not_fixed' : 'fixed'
    return chance.below(cell.heeds, 'heeds', key, round) ? 'rejected' : 'not_fixed'
  }

  function findingOf({ key, passage, severity, isInflated }: Issue, id: string | null): AnsweredFinding {
    const isExact = chance.below(0.8, 'exact', key)
    return {
      id,
      severity: isInflated ? 'critical' : severity,
      section: sectionOf(passage),
      problem: `${key} fails.`,
      evidence: isExact ? `"${textOf(passage, versions[passage] ?? 0)}"` : 'What the plan says about it.',
      fix: `Change ${key}.`,
    }
  }

  function answer(question: Question, earlier: readonly Finding[]): Partial<ReviewerAnswer> {
    const does = passOf(question)
    const open = earlier.flatMap((finding) => {
      const issue = issueOf(finding)
      return issue === undefined ? [] : [{ id: finding.id, issue, status: statusOf(issue, does) }]
    })
    const statuses = open
      .filter(({ issue }) => does === 'settle' || !chance.below(given.silent, 'silent', issue.key, round))
      .map(({ id, status }) => ({ id, status, reason: 'It stands so in the plan.' }))
    const rest = { previous_findings: statuses, complexity: { risk_area_count: 4, files_affected: 9 } }
    if (does === 'settle') {
      const yields = chance.below(given.yields, 'yields', round)
      return { ...rest, verdict: yields ? 'APPROVED' : 'CHANGES_REQUIRED' }
    }
    if (does === 'arbitrate') return { ...rest, verdict: 'APPROVED' }
    const known = new Set(open.map(({ issue }) => issue.key))
    const fresh = [...new Set(findings(does, question))].filter(({ key }) => !known.has(key))
    for (const { key } of fresh) reported.add(key)
    const repeated = open.filter(({ status }) => status === 'not_fixed').map(({ issue, id }) => findingOf(issue, id))
    const all = [...repeated, ...fresh.map((issue) => findingOf(issue, null))]
    return { ...rest, findings: all, verdict: all.some(isBlocking) ? 'CHANGES_REQUIRED' : 'APPROVED' }
  }

  /** The author fixes what is true and contests what is not, and the next round begins. */
  function revise(open: readonly Finding[]): void {
    round += 1
    reported = new Set()
    verifications = 0
    changed.clear()
    const isOnlyLate = !open.some(isBlocking)
    const isActedOn = ({ id, severity }: Finding): boolean => {
      if (isBlocking({ severity }) || (severity === 'advice' && isOnlyLate)) return true
      return chance.below(severity === 'advice' ? given.fixesLate : given.fixesMinor, 'acts', id, round)
    }
    const handled = open.filter(isActedOn).flatMap((finding) => issueOf(finding) ?? [])
    for (const { key, isTrue } of handled) if (!isTrue) contests.set(key, (contests.get(key) ?? 0) + 1)
    const fixed = handled.filter(({ isTrue }) => isTrue)
    for (const { key, passage } of fixed) {
      versions[passage] = (versions[passage] ?? 0) + 1
      changed.add(passage)
      if (chance.below(cell.fixWorks, 'works', key, round)) present.delete(key)
      if (chance.below(cell.fixBreaks, 'breaks', key, round)) add(`N${key}r${round}`, passage, true)
    }
    opposites = fixed
      .filter(({ key }) => chance.below(cell.opposite, 'opposite', key, round))
      .map(({ key, passage }) => add(`X${key}r${round}`, passage, false))
  }

  const isTrueBlocking = (issue: Issue | undefined): boolean =>
    issue !== undefined && present.has(issue.key) && issue.severity !== 'minor'
  return {
    plan: () => planOf(versions),
    answer,
    revise,
    /** Ids of findings that the author has contested twice. */
    contested: (open: readonly Finding[]) =>
      open.filter((finding) => (contests.get(issueOf(finding)?.key ?? '') ?? 0) === 2).map(({ id }) => id),
    /** True critical and major defects that are in the plan, and those among these findings. */
    left: () => [...issues.values()].filter(isTrueBlocking).length,
    known: (open: readonly Finding[]) => open.filter((finding) => isTrueBlocking(issueOf(finding))).length,
  }
}

/** The verifier takes this share of the true findings for false. */
const dropsTrue = 0.08

const isBlocking = ({ severity }: Pick<Finding, 'severity'>): boolean => severity === 'critical' || severity === 'major'

const passHeadings: readonly (readonly [string, PassKind])[] = [
  ['## This pass: understand', 'plan'],
  ['## This pass: verify', 'verify'],
  ['## This pass: decide', 'arbitrate'],
  ['## This pass: everything', 'combined'],
  ['## One more question', 'settle'],
]

const passOf = ({ user }: Question): PassKind =>
  passHeadings.find(([heading]) => user.includes(heading))?.[1] ?? 'review'
