import { parseArgs } from 'node:util'
import { type PlanReviewContext, settlePlanReview } from '../../../src/plan/findings.ts'
import { isBlocking } from '../../../src/review/findings.ts'
import type { Settle } from '../../../src/review/request.ts'
import type { ReviewResult } from '../../../src/schemas/review.ts'
import { unifiedDiff } from '../../../src/text/diff.ts'
import { resultOf, reviewWith } from '../../unit/review/review-with.ts'
import { startCycle } from './plan-cycle.ts'
import { type Assumptions, assumptions, type Cell, type CellName, cells, chanceOf } from './world.ts'

/** What plan-gate does, and what it could do instead. */
export const policies = {
  chosen: settlePlanReview,
  /** Only what is new in unchanged text is late, in each round. */
  'late-if-unchanged': (context) => settlePlanReview({ ...context, round: Math.min(context.round, 2) }),
  /** From the second round on each new major finding is late. */
  'all-late': (context) => settlePlanReview({ ...context, round: context.round + 1 }),
  'no-late': (context) =>
    settlePlanReview({ ...context, round: 2, before: context.before && { ...context.before, plan: '' } }),
  /** Changes that are required without a reason cost a revision. */
  'no-question': (context) => (reported, stage) => {
    const settled = settlePlanReview(context)(reported, stage)
    return stage === 'first' ? { ...settled, isUnfounded: false } : settled
  },
} as const satisfies { readonly [name: string]: (context: PlanReviewContext) => Settle }
export type PolicyName = keyof typeof policies

const maxRevisions = 5

export type Ended = {
  readonly isApproved: boolean
  readonly rounds: number
  readonly calls: number
  /** True critical and major defects that are left, and those among them that the user is shown. */
  readonly left: number
  readonly known: number
  /** The user decides, and nothing that is open is true. */
  readonly isAskedInVain: boolean
}

export type Setup = {
  readonly cell: CellName
  readonly policy: PolicyName
  readonly seed: number
  readonly given: Assumptions
  /** Instead of the cell. */
  readonly world?: Cell
}

/** One plan from its first text to its approval or to the user. */
export async function simulatePlan(
  { cell, policy, seed, given, world = cells[cell] }: Setup,
  n: number,
): Promise<Ended> {
  const chance = chanceOf(seed, cell, n)
  const cycle = startCycle(world, chance, given)
  let before: { readonly result: ReviewResult; readonly plan: string; readonly lastId: number } | null = null
  let calls = 0
  for (let round = 1; ; round += 1) {
    const plan = cycle.plan()
    const earlier = before?.result.findings ?? []
    const done = await reviewWith({
      request: {
        type: 'plan',
        content: plan,
        iteration: round,
        earlier,
        lastId: before?.lastId ?? 0,
        changes: before === null ? null : unifiedDiff(before.plan, plan, { context: 3, maxLines: 2000 }),
        contested: cycle.contested(earlier),
        rounds: maxRevisions,
        root: '/repository',
        thread: before === null ? { kind: 'start' } : { kind: 'resume', id: thread.id, used: null },
        settle: policies[policy]({
          before: before === null ? null : { ...before.result, plan: before.plan },
          round,
          plan,
          byChecklist: false,
        }),
        passTimeoutMs: 600_000,
        totalMs: 1_500_000,
      },
      maxIterations: null,
      backends: {
        codex: (question) => {
          calls += 1
          return { says: cycle.answer(question, earlier), thread: question.thread.kind === 'none' ? null : thread }
        },
      },
    })
    const result = resultOf(done)
    const lastId = done.outcome.kind === 'reviewed' ? done.outcome.lastId : 0
    const isApproved = result.verdict === 'APPROVED'
    if (isApproved || result.verdict === 'DECISION_NEEDED' || round === maxRevisions) {
      const isAskedInVain = !isApproved && cycle.known(result.findings.filter(isBlocking)) === 0
      return {
        isApproved,
        rounds: round,
        calls,
        left: cycle.left(),
        known: cycle.known(result.findings),
        isAskedInVain,
      }
    }
    cycle.revise(result.findings)
    before = { result, plan, lastId }
  }
}

const thread = { id: '0199a213-81c0-7800-8aa1-bbab2a035a53', used: null, replaced: null }

/** Shares in per cent, and means. */
export function summarise(ended: readonly Ended[]) {
  const approved = ended.filter(({ isApproved }) => isApproved)
  const share = (of: readonly Ended[], is: (each: Ended) => boolean): number =>
    Math.round((100 * of.filter(is).length) / Math.max(1, of.length))
  const mean = (of: readonly Ended[], value: (each: Ended) => number): number =>
    Math.round((100 * of.reduce((sum, each) => sum + value(each), 0)) / Math.max(1, of.length)) / 100
  return {
    'approved ≤ 3 %': share(ended, ({ isApproved, rounds }) => isApproved && rounds <= 3),
    'approved %': share(ended, ({ isApproved }) => isApproved),
    rounds: mean(ended, ({ rounds }) => rounds),
    calls: mean(ended, (each) => each.calls),
    left: mean(approved, ({ left }) => left),
    known: mean(approved, ({ known }) => known),
    'in vain %': share(ended, ({ isAskedInVain }) => isAskedInVain),
    'clean %': share(approved, ({ left }) => left === 0),
  }
}

export async function simulate(setup: Setup, plans: number): Promise<ReturnType<typeof summarise>> {
  const ended: Ended[] = []
  for (let n = 0; n < plans; n += 1) ended.push(await simulatePlan(setup, n))
  return summarise(ended)
}

/** `npm run simulate -- --plans 400 [--seed N] [--cell NAME …] [--policy NAME …] [--with '{"verifier":0}'] [--json]` */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      plans: { type: 'string', default: '100' },
      seed: { type: 'string', default: '1' },
      cell: { type: 'string', multiple: true, default: Object.keys(cells) },
      policy: { type: 'string', multiple: true, default: ['chosen'] },
      with: { type: 'string', default: '{}' },
      json: { type: 'boolean', default: false },
    },
  })
  const named = <T extends object>(names: readonly string[], of: T): (keyof T & string)[] =>
    names.map((name) => {
      if (!Object.hasOwn(of, name)) throw new Error(`${name} is none of ${Object.keys(of).join(', ')}`)
      return name as keyof T & string
    })
  const given = { ...assumptions, ...(JSON.parse(values.with) as Partial<Assumptions>) }
  const rows: object[] = []
  for (const policy of named([...values.policy, ...positionals], policies))
    for (const cell of named(values.cell, cells)) {
      const summary = await simulate({ cell, policy, seed: Number(values.seed), given }, Number(values.plans))
      rows.push({ policy, cell, ...summary })
    }
  if (values.json) console.log(JSON.stringify({ plans: Number(values.plans), seed: Number(values.seed), given, rows }))
  else console.table(rows)
}

if (import.meta.filename === process.argv[1]) await main()
