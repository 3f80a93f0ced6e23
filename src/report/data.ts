import { locateFinding, readPlanText } from '../review/locate-finding.ts'
import type { Approval, Denial, LedgerEvent } from '../schemas/records.ts'
import type { Finding, KeptPass, ReviewResult } from '../schemas/review.ts'
import { diffLines } from '../text/line-diff.ts'
import { counted, formatCount, formatDuration } from './html.ts'

export type ApprovalFate = {
  readonly at: string | null
  readonly cycle: number
  readonly revision: number | null
  readonly hash: string
  /** The backend, or `manual`. */
  readonly route: string
  readonly verification: string | null
  readonly reason: string | null
  /** How it ended; null: it stands. */
  readonly ended: string | null
}

/** By the ledger; and the one that was put there by hand, of which the ledger has not heard yet. */
export function listApprovals({ cycles, gate }: Pick<ReportData, 'cycles' | 'gate'>): readonly ApprovalFate[] {
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
  { cycle, revisions }: Cycle,
  later: readonly LedgerEvent[],
): readonly ApprovalFate[] {
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
      ended: next?.type === 'approval-revoked' ? textOr(next.why, 'it was revoked') : null,
    },
  ]
}

function unrecordedIn({ cycle, approval, revisions }: Cycle, recorded: readonly ApprovalFate[]): ApprovalFate | null {
  if (approval === null || !approval.is_optimal || recorded.some(({ hash }) => hash === approval.plan_hash)) return null
  return {
    at: approval.approved_at ?? null,
    cycle,
    revision: revisionOf(revisions, approval.plan_hash),
    hash: approval.plan_hash,
    route: approval.route ?? 'manual',
    verification: approval.verification ?? null,
    reason: approval.reason ?? 'not on record yet',
    ended: null,
  }
}

const revisionOf = (revisions: Cycle['revisions'], planHash: unknown): number | null =>
  revisions.findLast(({ plan_hash: hash }) => hash === planHash)?.revision ?? null

const textOr = (value: unknown, other: string): string => (typeof value === 'string' ? value : other)

export type Fact = {
  readonly name: string
  readonly value: string
  readonly note: string
  readonly tone: 'good' | 'bad' | 'plain'
}

/** The numbers that a reader asks for first. */
export function listFacts(data: ReportData, views: readonly CycleView[]): readonly Fact[] {
  const revisions = views.flatMap((view) => view.revisions)
  const { ms, tokens } = sumCosts(revisions.map(({ revision }) => costOf(revision)))
  const denials = data.sessions.reduce((sum, session) => sum + session.denials.length, 0)
  return [
    revisionsFact(data, views),
    findingsFact(views),
    plain('Time in review', formatDuration(ms), counted(revisions.length, 'revision')),
    tokens === null
      ? plain('Tokens', '–', 'nobody counted any')
      : plain('Tokens', formatCount(tokens), 'in and out, all passes'),
    ...secondLooks(data),
    plain('Calls denied', formatCount(denials), `in ${counted(data.sessions.length, 'session')}`),
    recordFact(data),
  ]
}

const plain = (name: string, value: string, note: string): Fact => ({ name, value, note, tone: 'plain' })

function revisionsFact({ limit }: ReportData, views: readonly CycleView[]): Fact {
  const current = views.at(-1)
  const reviewed = (current?.revisions ?? []).filter(({ revision }) => revision.result !== null).length
  const all = views.reduce((sum, view) => sum + view.revisions.length, 0)
  const value = limit === null ? formatCount(reviewed) : `${formatCount(reviewed)} of ${formatCount(limit)}`
  const note =
    views.length > 1 ? `in cycle ${current?.cycle.cycle ?? 0}; ${formatCount(all)} in all cycles` : 'in this cycle'
  return plain('Revisions reviewed', value, note)
}

function findingsFact(views: readonly CycleView[]): Fact {
  const fates = views.flatMap(({ traces }) => traces.map(({ fate }) => fate))
  const open = (views.at(-1)?.traces ?? []).filter(({ fate }) => fate === 'open').length
  const fixed = fates.filter((fate) => fate === 'fixed').length
  return plain('Findings open', formatCount(open), `${formatCount(fates.length)} in all, ${formatCount(fixed)} fixed`)
}

/** Of the reviewer that follows the implementation, where there is one. */
function secondLooks({ cycles }: ReportData): readonly Fact[] {
  const looks = cycles.flatMap(({ events }) => events.filter(({ type }) => type === 'reflected'))
  if (looks.length === 0) return []
  const failed = looks.filter(({ verdict }) => verdict === 'FAIL').length
  const tokens = looks.reduce((sum, look) => sum + (typeof look.tokens === 'number' ? look.tokens : 0), 0)
  return [
    plain('Second looks', formatCount(looks.length), `${formatCount(failed)} FAIL, ${formatCount(tokens)} tokens`),
  ]
}

function recordFact({ checks }: ReportData): Fact {
  const broken = checks.filter(({ holds }) => !holds).length
  return broken === 0
    ? { name: 'Record', value: 'holds', note: counted(checks.length, 'check'), tone: 'good' }
    : {
        name: 'Record',
        value: 'does not hold',
        note: `${formatCount(broken)} of ${counted(checks.length, 'check')}`,
        tone: 'bad',
      }
}

/** What a revision's review took. `tokens` is null where nobody counted them. */
export type Cost = { readonly ms: number; readonly tokens: number | null }

/** By the passes that were kept; where there are none, by what the result says of all of them together. */
export function costOf({ passes, result }: Pick<Revision, 'passes' | 'result'>): Cost {
  if (passes.length > 0) return sumCosts(passes.map(({ duration_ms: ms, tokens }) => ({ ms, tokens })))
  const said = result?.pass_metadata
  if (said === undefined) return { ms: 0, tokens: null }
  const tokens = [said.pass1_tokens, said.pass2_tokens, said.pass3_tokens].map((count) => count ?? null)
  return { ms: said.total_duration_ms, tokens: sumCosts(tokens.map((count) => ({ ms: 0, tokens: count }))).tokens }
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

export type Part = Cost & { readonly kind: PartKind; readonly words: string }

/** What a review's time and tokens went into: its passes, or where none were kept, all of it as one. */
export function listParts(revision: Pick<Revision, 'passes' | 'result'>): readonly Part[] {
  if (revision.passes.length > 0) return revision.passes.map(partOf)
  const cost = costOf(revision)
  return cost.ms === 0 && cost.tokens === null
    ? []
    : [{ kind: 'combined', ...cost, words: describe('all passes', cost) }]
}

function partOf({ does, backend, outcome, duration_ms: ms, tokens }: KeptPass): Part {
  const isValid = outcome === 'valid'
  const name = `${does} by ${backend}${isValid ? '' : ` (${outcome})`}`
  return { kind: isValid ? kindOf(does) : 'failed', ms, tokens, words: describe(name, { ms, tokens }) }
}

const kindOf = (does: string): PartKind => (Object.hasOwn(partKinds, does) ? (does as PartKind) : 'combined')

const describe = (name: string, { ms, tokens }: Cost): string =>
  `${name}: ${formatDuration(ms)}${tokens === null ? '' : `, ${formatCount(tokens)} tokens`}`

/** `gone`: a later review says nothing about it any more. */
export type FindingState = 'raised' | 'not-fixed' | 'fixed' | 'rejected' | 'gone'

/** In these revisions, the first and the last included, it was in this state. */
export type FindingStep = {
  readonly state: FindingState
  readonly from: number
  readonly to: number
  readonly reason: string
}

export type FindingTrace = {
  /** As it was said last. */
  readonly finding: Finding
  readonly steps: readonly FindingStep[]
  readonly fate: 'open' | 'fixed' | 'rejected' | 'gone'
  /** It came too late to hold the plan up. */
  readonly late: boolean
}

type Tracing = { finding: Finding; steps: FindingStep[]; fate: FindingTrace['fate']; late: boolean }

/** What became of each finding of a cycle, in the order in which they were raised. */
export function traceFindings(revisions: readonly Revision[]): readonly FindingTrace[] {
  const traces = new Map<string, Tracing>()
  for (const { revision, result } of revisions) {
    if (result === null) continue
    const open = new Map(result.findings.map((finding) => [finding.id, finding]))
    const said = new Map((result.previous_findings ?? []).map((entry) => [entry.id, entry]))
    for (const [id, trace] of traces) {
      const entry = said.get(id)
      const finding = open.get(id)
      if (finding !== undefined) trace.finding = finding
      else if (trace.fate !== 'open') continue
      addStep(trace, stateOf(finding !== undefined, entry?.status), revision, entry?.reason ?? '')
    }
    for (const [id, finding] of open)
      if (!traces.has(id)) {
        const steps: FindingStep[] = [{ state: 'raised', from: revision, to: revision, reason: '' }]
        traces.set(id, { finding, steps, fate: 'open', late: false })
      }
    for (const id of result.late ?? []) {
      const trace = traces.get(id)
      if (trace !== undefined) trace.late = true
    }
  }
  return [...traces.values()]
}

function stateOf(isReported: boolean, status: 'fixed' | 'rejected' | 'not_fixed' | undefined): FindingState {
  if (isReported || status === 'not_fixed') return 'not-fixed'
  return status ?? 'gone'
}

function addStep(trace: Tracing, state: FindingState, revision: number, reason: string): void {
  trace.fate = state === 'fixed' || state === 'rejected' || state === 'gone' ? state : 'open'
  const last = trace.steps.at(-1)
  if (last?.state === state)
    trace.steps[trace.steps.length - 1] = { ...last, to: revision, reason: reason || last.reason }
  else trace.steps.push({ state, from: revision, to: revision, reason })
}

/** Everything that a report says, as one value. */
export type ReportData = {
  /** Of the worktree, or of the folder that the reviews were kept in. */
  readonly name: string
  readonly place: string
  readonly made_at: string
  readonly version: string
  readonly gate: Gate
  /** How many revisions of this cycle are reviewed before the decision is the user's; null where nobody knows. */
  readonly limit: number | null
  /** In their order; the last one is the current one. */
  readonly cycles: readonly Cycle[]
  /** The one that was last heard of first. */
  readonly sessions: readonly SessionDenials[]
  readonly checks: readonly { readonly name: string; readonly holds: boolean; readonly detail: string }[]
  /** What there was and could not be read. */
  readonly problems: readonly string[]
}

/** `kept`: reviews that were kept of a worktree, where no gate stands any more. */
export type Gate = {
  readonly kind: 'open' | 'closed' | 'no-plan' | 'reviewing' | 'kept'
  readonly words: string
}

export type Cycle = {
  readonly cycle: number
  /** `lost`: the ledger tells of it, but its files are gone. */
  readonly kind: 'current' | 'archived' | 'lost'
  readonly revisions: readonly Revision[]
  readonly approval: Approval | null
  readonly events: readonly LedgerEvent[]
}

export type Revision = {
  readonly revision: number
  /** Without secrets; null where it cannot be read. */
  readonly text: string | null
  /** Of the very bytes. */
  readonly plan_hash: string | null
  readonly bytes: number
  readonly submitted_at: string | null
  readonly reviewed_at: string | null
  readonly result: ReviewResult | null
  /** Why there is no result; null where there is one. */
  readonly why_none: string | null
  readonly passes: readonly KeptPass[]
}

export type SessionDenials = {
  readonly session: string
  readonly client_version: string | null
  readonly started_at: string | null
  readonly last_seen_at: string | null
  readonly denials: readonly Denial[]
}

/** A cycle with what follows from its record. */
export type CycleView = {
  readonly cycle: Cycle
  readonly anchor: string
  readonly revisions: readonly RevisionView[]
  readonly traces: readonly FindingTrace[]
}

export type RevisionView = {
  readonly revision: Revision
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

/** `line`: under which it stands in the plan; null: nobody knows. */
export type PlacedFinding = { readonly finding: Finding; readonly line: number | null; readonly anchor: string }

export function viewCycles(cycles: readonly Cycle[]): readonly CycleView[] {
  let index = 0
  let before: RevisionView | null = null
  return cycles.map((cycle) => {
    const anchor = `c${cycle.cycle}`
    const traces = traceFindings(cycle.revisions)
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

function placeFindings({ text, result }: Revision, anchorOf: (id: string) => string): readonly PlacedFinding[] {
  if (result === null) return []
  const plan = text === null ? null : readPlanText(text)
  return result.findings.map((finding) => {
    const place = plan === null ? null : locateFinding(plan, finding)
    return { finding, line: place?.lines[0] ?? place?.section?.from ?? null, anchor: anchorOf(finding.id) }
  })
}
