/** Everything that a report says, as one value, and what follows from it. */

import { describeReviewer } from '../review/describe.ts'
import { locateFinding, readPlanText } from '../review/locate-finding.ts'
import { userFindingsIn } from '../review/user-finding.ts'
import type { reportSchema } from '../schemas/output.ts'
import type { Approval, LedgerEvent } from '../schemas/records.ts'
import type { EarlierFinding, Finding, KeptPass } from '../schemas/review.ts'
import type { FromSchema } from '../schemas/schema.ts'
import { diffLines } from '../text/line-diff.ts'
import { countOf, formatCount, formatDuration } from './html.ts'

export type ApprovalEntry = {
  readonly at: string | null
  readonly cycle: number
  readonly revision: number | null
  readonly hash: string
  /** The backend, or `manual`. */
  readonly route: string
  readonly verification: string | null
  readonly reason: string | null
  /** Who looked, and what the user waived, where approval.json is kept. */
  readonly looked: string | null
  /** How it ended; null: it stands. */
  readonly ended: string | null
}

/** From the ledger, and an approval that was written by hand and is not in the ledger yet. */
export function listApprovals({ cycles, gate }: Pick<ReportData, 'cycles' | 'gate'>): readonly ApprovalEntry[] {
  return cycles.flatMap((cycle) => {
    const recorded = cycle.events.flatMap((event, index) => approvalIn(event, cycle, cycle.events.slice(index + 1)))
    const unrecorded = unrecordedIn(cycle, recorded)
    const all = unrecorded === null ? recorded : [...recorded, unrecorded]
    const stands = cycle.kind === 'current' && gate.kind === 'open'
    return all.map((approval, index) =>
      approval.ended !== null || (stands && index === all.length - 1)
        ? approval
        : { ...approval, ended: index < all.length - 1 ? 'another one followed' : 'it holds no longer' },
    )
  })
}

function approvalIn(
  event: LedgerEvent,
  { cycle, revisions, approval }: Cycle,
  later: readonly LedgerEvent[],
): readonly ApprovalEntry[] {
  const isManual = event.type === 'approved-manually'
  if (!isManual && event.type !== 'approved') return []
  const next = later.find(({ type }) => type === 'approval-revoked' || type.startsWith('approved'))
  return [
    {
      at: event.at,
      cycle,
      revision: typeof event.revision === 'number' ? event.revision : revisionOf(revisions, event.plan_hash),
      hash: textOr(event.plan_hash, ''),
      route: isManual ? 'manual' : textOr(event.route, 'unknown'),
      verification: typeof event.verification === 'string' ? event.verification : null,
      reason: typeof event.reason === 'string' ? event.reason : null,
      looked:
        approval !== null && event.plan_hash === (approval.carried_from ?? approval.plan_hash)
          ? lookedAt(approval)
          : null,
      ended: next?.type === 'approval-revoked' ? textOr(next.why, 'it was revoked') : null,
    },
  ]
}

function lookedAt({ route = null, waived = [], ...looked }: Approval): string | null {
  const ids = waived.map(({ id, reason }) => `${id} (${reason})`)
  const by = route === 'manual' ? '' : describeReviewer({ route, ...looked })
  return [by, ids.length === 0 ? '' : `waived: ${ids.join(', ')}`].filter((part) => part !== '').join('; ') || null
}

function unrecordedIn({ cycle, approval, revisions }: Cycle, recorded: readonly ApprovalEntry[]): ApprovalEntry | null {
  const isRecorded = recorded.some(({ hash }) => [approval?.plan_hash, approval?.carried_from].includes(hash))
  if (approval === null || !approval.is_optimal || isRecorded) return null
  return {
    at: approval.approved_at ?? null,
    cycle,
    revision: revisionOf(revisions, approval.plan_hash),
    hash: approval.plan_hash,
    route: approval.route ?? 'manual',
    verification: approval.verification ?? null,
    reason: approval.reason ?? 'not on record yet',
    looked: null,
    ended: null,
  }
}

const revisionOf = (revisions: Cycle['revisions'], planHash: unknown): number | null =>
  revisions.findLast(({ plan_hash: hash }) => hash === planHash)?.revision ?? null

const textOr = (value: unknown, other: string): string => (typeof value === 'string' ? value : other)

export type KeyFigure = {
  readonly name: string
  readonly value: string
  readonly note: string
  readonly tone: 'good' | 'bad' | 'plain'
}

/** The numbers at the top of the page. */
export function listKeyFigures(data: ReportData, views: readonly CycleView[]): readonly KeyFigure[] {
  const revisions = views.flatMap((view) => view.revisions)
  const { ms, tokens } = sumCosts(revisions.map(({ revision }) => costOf(revision)))
  const denials = data.sessions.reduce((sum, session) => sum + session.denials.length, 0)
  return [
    revisionsFact(data, views),
    findingsFact(views),
    plain('Time in review', formatDuration(ms), countOf(revisions.length, 'revision')),
    tokens === null
      ? plain('Tokens', '–', 'not counted')
      : plain('Tokens', formatCount(tokens), 'in and out, all passes'),
    ...reflectionFact(data),
    plain('Calls denied', formatCount(denials), `in ${countOf(data.sessions.length, 'session')}`),
    recordFact(data),
  ]
}

const plain = (name: string, value: string, note: string): KeyFigure => ({ name, value, note, tone: 'plain' })

function revisionsFact({ limit }: ReportData, views: readonly CycleView[]): KeyFigure {
  const current = views.at(-1)
  const reviewed = (current?.revisions ?? []).filter(({ revision }) => revision.result !== null).length
  const all = views.reduce((sum, view) => sum + view.revisions.length, 0)
  const value = limit === null ? formatCount(reviewed) : `${formatCount(reviewed)} of ${formatCount(limit)}`
  const note =
    views.length > 1 ? `in cycle ${current?.cycle.cycle ?? 0}; ${formatCount(all)} in all cycles` : 'in this cycle'
  return plain('Revisions reviewed', value, note)
}

function findingsFact(views: readonly CycleView[]): KeyFigure {
  const outcomes = views.flatMap(({ traces }) => traces.map(({ outcome }) => outcome))
  const open = (views.at(-1)?.traces ?? []).filter(({ outcome }) => outcome === 'open').length
  const fixed = outcomes.filter((outcome) => outcome === 'fixed').length
  return plain(
    'Findings open',
    formatCount(open),
    `${formatCount(outcomes.length)} in all, ${formatCount(fixed)} fixed`,
  )
}

/** Of the second reviewer, where it is on. */
function reflectionFact({ cycles }: ReportData): readonly KeyFigure[] {
  const reflections = cycles.flatMap(({ events }) => events.filter(({ type }) => type === 'reflected'))
  if (reflections.length === 0) return []
  const failed = reflections.filter(({ verdict }) => verdict === 'FAIL').length
  const tokens = reflections.reduce(
    (sum, reflection) => sum + (typeof reflection.tokens === 'number' ? reflection.tokens : 0),
    0,
  )
  return [
    plain('Reflections', formatCount(reflections.length), `${formatCount(failed)} FAIL, ${formatCount(tokens)} tokens`),
  ]
}

function recordFact({ checks }: ReportData): KeyFigure {
  const broken = checks.filter(({ holds }) => !holds).length
  return broken === 0
    ? { name: 'Record', value: 'holds', note: countOf(checks.length, 'check'), tone: 'good' }
    : {
        name: 'Record',
        value: 'does not hold',
        note: `${formatCount(broken)} of ${countOf(checks.length, 'check')}`,
        tone: 'bad',
      }
}

/** The time and tokens of a revision's review; `tokens` is null where they were not counted. */
export type Cost = { readonly ms: number; readonly tokens: number | null }

/** From the saved passes; without any, from the totals in the result. */
export function costOf({ passes, result }: Pick<ReportedRevision, 'passes' | 'result'>): Cost {
  if (passes.length > 0) return sumCosts(passes.map(({ duration_ms: ms, tokens }) => ({ ms, tokens })))
  const totals = result?.pass_metadata
  if (totals === undefined) return { ms: 0, tokens: null }
  const tokens = [totals.pass1_tokens, totals.pass2_tokens, totals.pass3_tokens].map((count) => count ?? null)
  return { ms: totals.total_duration_ms, tokens: sumCosts(tokens.map((count) => ({ ms: 0, tokens: count }))).tokens }
}

export const sumCosts = (costs: readonly Cost[]): Cost => ({
  ms: costs.reduce((sum, { ms }) => sum + ms, 0),
  tokens: costs.reduce<number | null>((sum, { tokens }) => (tokens === null ? sum : (sum ?? 0) + tokens), null),
})

/** What a part of a bar stands for. */
export const partKinds = {
  plan: 'understands',
  review: 'reviews',
  verify: 'verifies',
  combined: 'all in one pass',
  failed: 'gave no verdict',
} as const

export type PartKind = keyof typeof partKinds
export type CostPart = Cost & { readonly kind: PartKind; readonly words: string }

/** The cost of each pass, or of all together where no passes were saved. */
export function listCostParts(revision: Pick<ReportedRevision, 'passes' | 'result'>): readonly CostPart[] {
  if (revision.passes.length > 0) return revision.passes.map(partOf)
  const cost = costOf(revision)
  return cost.ms === 0 && cost.tokens === null
    ? []
    : [{ kind: 'combined', ...cost, words: describe('all passes', cost) }]
}

function partOf({ does, backend, outcome, duration_ms: ms, tokens }: KeptPass): CostPart {
  const isValid = outcome === 'valid'
  const name = `${does} by ${backend}${isValid ? '' : ` (${outcome})`}`
  return { kind: isValid ? kindOf(does) : 'failed', ms, tokens, words: describe(name, { ms, tokens }) }
}

const kindOf = (does: string): PartKind => (Object.hasOwn(partKinds, does) ? (does as PartKind) : 'combined')

const describe = (name: string, { ms, tokens }: Cost): string =>
  `${name}: ${formatDuration(ms)}${tokens === null ? '' : `, ${formatCount(tokens)} tokens`}`

/** `gone`: a later review says nothing about it any more. */
export type FindingState = 'raised' | 'not-fixed' | 'fixed' | 'rejected' | 'withdrawn' | 'gone'

/** In these revisions, the first and the last included, it was in this state. */
export type FindingStep = {
  readonly state: FindingState
  readonly from: number
  readonly to: number
  readonly reason: string
}

export type FindingTrace = {
  /** As it was reported last. */
  readonly finding: Finding
  readonly steps: readonly FindingStep[]
  readonly outcome: 'open' | 'fixed' | 'rejected' | 'withdrawn' | 'gone'
  /** It came too late to hold the plan up. */
  readonly late: boolean
}

type Tracing = { finding: Finding; steps: FindingStep[]; outcome: FindingTrace['outcome']; late: boolean }

/** The states of each finding of a cycle, in the order in which they were raised. */
export function traceFindings(
  revisions: readonly Pick<ReportedRevision, 'revision' | 'result'>[],
  /** What the user wrote after the review of a revision. */
  users: readonly { readonly revision: number; readonly finding: Finding }[] = [],
): readonly FindingTrace[] {
  const traces = new Map<string, Tracing>()
  const raise = (finding: Finding, revision: number): void => {
    const steps: FindingStep[] = [{ state: 'raised', from: revision, to: revision, reason: '' }]
    if (!traces.has(finding.id)) traces.set(finding.id, { finding, steps, outcome: 'open', late: false })
  }
  const raiseUsers = (before: number): void => {
    for (const user of users) if (user.revision < before) raise(user.finding, user.revision)
  }
  for (const { revision, result } of revisions) {
    if (result === null) continue
    raiseUsers(revision)
    const open = new Map(result.findings.map((finding) => [finding.id, finding]))
    const statuses = new Map((result.previous_findings ?? []).map((entry) => [entry.id, entry]))
    for (const [id, trace] of traces) {
      const entry = statuses.get(id)
      const finding = open.get(id)
      if (finding !== undefined) trace.finding = finding
      else if (trace.outcome !== 'open') continue
      addStep(trace, stateOf(finding !== undefined, entry?.status), revision, entry?.reason ?? '')
    }
    for (const finding of open.values()) raise(finding, revision)
    for (const id of result.late ?? []) {
      const trace = traces.get(id)
      if (trace !== undefined) trace.late = true
    }
  }
  raiseUsers(Number.POSITIVE_INFINITY)
  return [...traces.values()]
}

function stateOf(isReported: boolean, status: EarlierFinding['status'] | undefined): FindingState {
  if (isReported || status === 'not_fixed') return 'not-fixed'
  return status ?? 'gone'
}

function addStep(trace: Tracing, state: FindingState, revision: number, reason: string): void {
  trace.outcome = state === 'raised' || state === 'not-fixed' ? 'open' : state
  const last = trace.steps.at(-1)
  if (last?.state === state)
    trace.steps[trace.steps.length - 1] = { ...last, to: revision, reason: reason || last.reason }
  else trace.steps.push({ state, from: revision, to: revision, reason })
}

type Report = FromSchema<typeof reportSchema>

export type ReportData = Omit<Report, 'cycles'> & {
  /** In their order; the last one is the current one. */
  readonly cycles: readonly Cycle[]
}

/** `kept`: reviews archived from a worktree that no longer has a gate. */
export type Gate = Report['gate']

/** `lost`: it is in the ledger, but its files are gone. */
export type Cycle = Omit<Report['cycles'][number], 'events'> & { readonly events: readonly LedgerEvent[] }
export type ReportedRevision = Cycle['revisions'][number]
export type SessionDenials = Report['sessions'][number]

/** A cycle with what follows from its record. */
export type CycleView = {
  readonly cycle: Cycle
  readonly anchor: string
  readonly revisions: readonly RevisionView[]
  readonly traces: readonly FindingTrace[]
}

export type RevisionView = {
  readonly revision: ReportedRevision
  readonly anchor: string
  readonly cycle: number
  /** Its place among all revisions of the report. */
  readonly index: number
  /** The one that it is compared with: the one before, of an earlier cycle for the first; null: there is none. */
  readonly before: RevisionView | null
  readonly added: number
  readonly removed: number
  readonly findings: readonly PlacedFinding[]
}

/** `line`: under which it stands in the plan; null: not known. */
export type PlacedFinding = { readonly finding: Finding; readonly line: number | null; readonly anchor: string }

export function viewCycles(cycles: readonly Cycle[]): readonly CycleView[] {
  let index = 0
  let before: RevisionView | null = null
  return cycles.map((cycle) => {
    const anchor = `c${cycle.cycle}`
    const traces = traceFindings(cycle.revisions, cycle.events.flatMap(userFindingsIn))
    const anchorOf = (id: string): string => `${anchor}-f${traces.findIndex(({ finding }) => finding.id === id) + 1}`
    const revisions = cycle.revisions.map((revision): RevisionView => {
      const view: RevisionView = {
        revision,
        anchor: `${anchor}-v${revision.revision}`,
        cycle: cycle.cycle,
        index,
        before,
        ...countChanges(before?.revision.text ?? null, revision.text),
        findings: placeFindings(revision, anchorOf),
      }
      index += 1
      if (revision.text !== null) before = view
      return view
    })
    return { cycle, anchor, revisions, traces }
  })
}

function countChanges(before: string | null, after: string | null): { added: number; removed: number } {
  if (before === null || after === null) return { added: 0, removed: 0 }
  const changes = diffLines(before, after)
  return {
    added: changes.reduce((sum, change) => sum + change.added.length, 0),
    removed: changes.reduce((sum, change) => sum + change.removed.length, 0),
  }
}

function placeFindings({ text, result }: ReportedRevision, anchorOf: (id: string) => string): readonly PlacedFinding[] {
  if (result === null) return []
  const plan = text === null ? null : readPlanText(text)
  return result.findings.map((finding) => {
    const place = plan === null ? null : locateFinding(plan, finding)
    return { finding, line: place?.lines[0] ?? place?.section?.from ?? null, anchor: anchorOf(finding.id) }
  })
}
