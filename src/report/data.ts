import { describeReviewer, userFindingsIn } from '../review/findings.ts'
import { locateFinding, readPlanText } from '../review/locate-finding.ts'
import type { reportSchema } from '../schemas/output.ts'
import type { Approval, LedgerEvent } from '../schemas/records.ts'
import type { EarlierFinding, Finding } from '../schemas/review.ts'
import type { FromSchema } from '../schemas/schema.ts'
import { diffLines } from '../text/diff.ts'
import { countOf, formatCount, formatDuration, type LabelTone } from './html.ts'

/** Everything that a report says, as one value, and what follows from it. */

type Report = FromSchema<typeof reportSchema>

export type ReportData = Omit<Report, 'cycles'> & { readonly cycles: readonly Cycle[] }

/** `kept`: reviews archived from a worktree that no longer has a gate. */
export type Gate = Report['gate']

/** `lost`: it is in the ledger, but its files are gone. */
export type Cycle = Omit<Report['cycles'][number], 'events'> & { readonly events: readonly LedgerEvent[] }
export type ReportedRevision = Cycle['revisions'][number]
export type SessionDenials = Report['sessions'][number]

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
  readonly index: number
  /** The one that it is compared with: the one before, of an earlier cycle for the first; null: there is none. */
  readonly before: RevisionView | null
  readonly added: number
  readonly removed: number
  readonly findings: readonly PlacedFinding[]
}

/** `line`: under which it stands in the plan; null: not known. */
export type PlacedFinding = {
  readonly finding: Finding
  readonly trace: FindingTrace
  readonly line: number | null
  readonly anchor: string
}

export function viewCycles(cycles: readonly Cycle[]): readonly CycleView[] {
  let index = 0
  let before: RevisionView | null = null
  return cycles.map((cycle) => {
    const anchor = `c${cycle.cycle}`
    const traces = traceFindings(cycle.revisions, cycle.events.flatMap(userFindingsIn))
    const revisions = cycle.revisions.map((revision): RevisionView => {
      const changes =
        before === null || revision.text === null ? [] : diffLines(before.revision.text ?? '', revision.text)
      const view: RevisionView = {
        revision,
        anchor: `${anchor}-v${revision.revision}`,
        cycle: cycle.cycle,
        index,
        before,
        added: changes.reduce((sum, { added }) => sum + added.length, 0),
        removed: changes.reduce((sum, { removed }) => sum + removed.length, 0),
        findings: placeFindings(revision, traces, anchor),
      }
      index += 1
      if (revision.text !== null) before = view
      return view
    })
    return { cycle, anchor, revisions, traces }
  })
}

function placeFindings(
  { text, result }: ReportedRevision,
  traces: readonly FindingTrace[],
  anchor: string,
): readonly PlacedFinding[] {
  const plan = text === null ? null : readPlanText(text)
  return (result?.findings ?? []).flatMap((finding) => {
    const index = traces.findIndex((trace) => trace.finding.id === finding.id)
    const place = plan === null ? null : locateFinding(plan, finding)
    const line = place?.lines[0] ?? place?.section?.from ?? null
    const trace = traces[index]
    return trace === undefined ? [] : [{ finding, trace, line, anchor: `${anchor}-f${index + 1}` }]
  })
}

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
  readonly finding: Finding
  readonly steps: readonly FindingStep[]
  readonly outcome: 'open' | 'fixed' | 'rejected' | 'withdrawn' | 'gone'
  readonly late: boolean
}

type Tracing = { finding: Finding; steps: FindingStep[]; outcome: FindingTrace['outcome']; late: boolean }

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
      addStep(trace, finding === undefined ? stateOf(entry?.status) : 'not-fixed', revision, entry?.reason ?? '')
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

const stateOf = (status: EarlierFinding['status'] | undefined): Exclude<FindingState, 'raised'> =>
  status === 'not_fixed' ? 'not-fixed' : (status ?? 'gone')

function addStep(trace: Tracing, state: Exclude<FindingState, 'raised'>, revision: number, reason: string): void {
  trace.outcome = state === 'not-fixed' ? 'open' : state
  const last = trace.steps.at(-1)
  if (last?.state === state)
    trace.steps[trace.steps.length - 1] = { ...last, to: revision, reason: reason || last.reason }
  else trace.steps.push({ state, from: revision, to: revision, reason })
}

export type ApprovalEntry = {
  readonly at: string | null
  readonly cycle: number
  readonly revision: number | null
  readonly hash: string
  readonly route: string
  /** The user's reason; else who looked, and what the user waived, as far as it is kept. */
  readonly why: string
  readonly ended: string | null
}

/** From the ledger, and an approval that was written by hand and is not in the ledger yet. */
export function listApprovals({ cycles, gate }: Pick<ReportData, 'cycles' | 'gate'>): readonly ApprovalEntry[] {
  return cycles.flatMap((cycle) => {
    const recorded = cycle.events.flatMap((event, index) => approvalIn(event, index, cycle))
    const all = [...recorded, ...unrecordedIn(cycle, recorded)]
    const stands = cycle.kind === 'current' && gate.kind === 'open' ? all.at(-1) : undefined
    return all.map((approval, index) =>
      approval.ended !== null || approval === stands
        ? approval
        : { ...approval, ended: index < all.length - 1 ? 'another one followed' : 'it holds no longer' },
    )
  })
}

function approvalIn(event: LedgerEvent, index: number, cycle: Cycle): readonly ApprovalEntry[] {
  if (event.type !== 'approved' && event.type !== 'approved-manually') return []
  const { revisions, approval, events } = cycle
  const next = events.slice(index + 1).find(({ type }) => type === 'approval-revoked' || type.startsWith('approved'))
  const isKept = approval !== null && event.plan_hash === (approval.carried_from ?? approval.plan_hash)
  const verification = textOf(event.verification)
  return [
    {
      at: event.at,
      cycle: cycle.cycle,
      revision: typeof event.revision === 'number' ? event.revision : revisionOf(revisions, event.plan_hash),
      hash: textOf(event.plan_hash),
      route: event.type === 'approved' ? textOf(event.route) || 'unknown' : 'manual',
      why:
        textOf(event.reason) ||
        (isKept ? lookedAt(approval) : '') ||
        (verification === '' ? '' : `verification ${verification}`),
      ended: next?.type === 'approval-revoked' ? textOf(next.why) || 'it was revoked' : null,
    },
  ]
}

function lookedAt({ route = null, waived = [], ...looked }: Approval): string {
  const ids = waived.map(({ id, reason }) => `${id} (${reason})`)
  const by = route === 'manual' ? '' : describeReviewer({ route, ...looked })
  return [by, ids.length === 0 ? '' : `waived: ${ids.join(', ')}`].filter((part) => part !== '').join('; ')
}

function unrecordedIn({ cycle, approval, revisions }: Cycle, recorded: readonly ApprovalEntry[]): ApprovalEntry[] {
  const isRecorded = recorded.some(({ hash }) => [approval?.plan_hash, approval?.carried_from].includes(hash))
  if (approval === null || !approval.is_optimal || isRecorded) return []
  const { approved_at: at = null, plan_hash: hash, route, reason } = approval
  const revision = revisionOf(revisions, hash)
  return [{ at, cycle, revision, hash, route: route ?? 'manual', why: reason ?? 'not on record yet', ended: null }]
}

const revisionOf = (revisions: Cycle['revisions'], planHash: unknown): number | null =>
  revisions.findLast(({ plan_hash: hash }) => hash === planHash)?.revision ?? null

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

export type KeyFigure = readonly [name: string, value: string, note: string, tone?: LabelTone]

export function listKeyFigures({ cycles, limit, sessions, checks }: ReportData, views: readonly CycleView[]) {
  const current = views.at(-1)
  const revisions = views.flatMap((view) => view.revisions)
  const reviewed = (current?.revisions ?? []).filter(({ revision }) => revision.result !== null).length
  const outcomes = views.flatMap(({ traces }) => traces.map(({ outcome }) => outcome))
  const open = (current?.traces ?? []).filter(({ outcome }) => outcome === 'open').length
  const fixed = outcomes.filter((outcome) => outcome === 'fixed').length
  const { ms, tokens } = sumCosts(revisions.map(({ revision }) => costOf(revision)))
  const reflections = cycles.flatMap(({ events }) => events.filter(({ type }) => type === 'reflected'))
  const failed = reflections.filter(({ verdict }) => verdict === 'FAIL').length
  const reflected = reflections.reduce((sum, event) => sum + (typeof event.tokens === 'number' ? event.tokens : 0), 0)
  const denials = sessions.reduce((sum, session) => sum + session.denials.length, 0)
  const broken = checks.filter(({ holds }) => !holds).length
  const figures: KeyFigure[] = [
    [
      'Revisions reviewed',
      limit === null ? formatCount(reviewed) : `${formatCount(reviewed)} of ${formatCount(limit)}`,
      views.length > 1
        ? `in cycle ${current?.cycle.cycle ?? 0}; ${formatCount(revisions.length)} in all cycles`
        : 'in this cycle',
    ],
    ['Findings open', formatCount(open), `${formatCount(outcomes.length)} in all, ${formatCount(fixed)} fixed`],
    ['Time in review', formatDuration(ms), countOf(revisions.length, 'revision')],
    ['Tokens', formatTokens(tokens), tokens === null ? 'not counted' : 'in and out, all passes'],
  ]
  // Of the second reviewer, where it is on.
  if (reflections.length > 0)
    figures.push([
      'Reflections',
      formatCount(reflections.length),
      `${formatCount(failed)} FAIL, ${formatCount(reflected)} tokens`,
    ])
  figures.push(['Calls denied', formatCount(denials), `in ${countOf(sessions.length, 'session')}`])
  const all = countOf(checks.length, 'check')
  if (broken === 0) figures.push(['Record', 'holds', all, 'good'])
  else figures.push(['Record', 'does not hold', `${formatCount(broken)} of ${all}`, 'bad'])
  return figures
}

/** The time and tokens of a revision's review; `tokens` is null where they were not counted. */
export type Cost = { readonly ms: number; readonly tokens: number | null }

export const formatTokens = (tokens: number | null): string => (tokens === null ? '–' : formatCount(tokens))

export const costOf = (revision: Pick<ReportedRevision, 'passes' | 'result'>): Cost => sumCosts(costParts(revision))

export const sumCosts = (costs: readonly Cost[]): Cost => ({
  ms: costs.reduce((sum, { ms }) => sum + ms, 0),
  tokens: costs.reduce<number | null>((sum, { tokens }) => (tokens === null ? sum : (sum ?? 0) + tokens), null),
})

export const partKinds = {
  plan: 'understands',
  review: 'reviews',
  verify: 'verifies',
  combined: 'all in one pass',
  failed: 'gave no verdict',
} as const

type PartKind = keyof typeof partKinds
export type CostPart = Cost & { readonly kind: PartKind; readonly words: string }

/** The cost of each pass, or the totals in the result where no passes were saved. */
export function costParts({ passes, result }: Pick<ReportedRevision, 'passes' | 'result'>): readonly CostPart[] {
  const totals = result?.pass_metadata
  if (passes.length === 0 && totals !== undefined) {
    const counts = [totals.pass1_tokens, totals.pass2_tokens, totals.pass3_tokens]
    const { tokens } = sumCosts(counts.map((count) => ({ ms: 0, tokens: count ?? null })))
    return [costPart('combined', 'all passes', { ms: totals.total_duration_ms, tokens })]
  }
  return passes.map(({ does, backend, outcome, duration_ms: ms, tokens }) => {
    const isValid = outcome === 'valid'
    const kind = Object.hasOwn(partKinds, does) ? (does as PartKind) : 'combined'
    const name = `${does} by ${backend}${isValid ? '' : ` (${outcome})`}`
    return costPart(isValid ? kind : 'failed', name, { ms, tokens })
  })
}

const costPart = (kind: PartKind, name: string, { ms, tokens }: Cost): CostPart => {
  const words = `${name}: ${formatDuration(ms)}${tokens === null ? '' : `, ${formatCount(tokens)} tokens`}`
  return { kind, ms, tokens, words }
}
