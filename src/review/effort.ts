import type { EffectiveConfig } from '../config/schema.ts'
import { type Effort, efforts, type ReviewType } from '../schemas/review.ts'
import type { Expected, PassTimes } from '../state/pass-times.ts'
import type { PassKind } from './prompts.ts'

type EffortChoice = {
  readonly does: PassKind
  readonly type: ReviewType
  /** The content is complex, as far as that is known. */
  readonly large: boolean
  readonly config: EffectiveConfig['review']['effort']
}

/** The effort of a pass by `review.effort`; without a setting, the most only for complex content. */
export function chooseEffort({ does, type, large, config }: EffortChoice): Effort {
  const task = tasks[does]
  const ofType = config[type === 'plan' || type === 'code' ? type : 'documents']
  const configured = [ofType[task], config[task]].find((effort) => effort !== 'auto')
  if (configured !== undefined) return configured
  return large && task !== 'find' ? 'xhigh' : 'high'
}

const tasks = {
  plan: 'understand',
  review: 'find',
  combined: 'find',
  settle: 'find',
  verify: 'verify',
  arbitrate: 'verify',
} as const satisfies { readonly [pass in PassKind]: string }

type Fitting = {
  readonly effort: Effort
  /** The name of the row. */
  readonly backend: string
  /** The time that the pass may take. */
  readonly limitMs: number
  /** How many passes of this review have ended without an answer in time. */
  readonly timeouts: number
  readonly times: PassTimes | undefined
}

/** This pass and those after it. */
export const passesFrom = (does: PassKind, pass: number, passes: number): readonly PassKind[] =>
  passes === 1 ? [does] : (['plan', 'review', 'verify'] as const).slice(pass - passes - 1)

/** A lower effort where a pass would not end in time: a quicker verdict is worth more than none. */
export function fitEffort({ effort, backend, limitMs, timeouts, times }: Fitting): {
  readonly effort: Effort
  readonly notice: string | null
} {
  const expected = (one: Effort): number => times?.expect(backend, one)?.ms ?? 0
  const allowed = efforts.slice(Math.min(efforts.indexOf(effort) + timeouts, efforts.length - 1))
  const chosen = allowed.find((one) => expected(one) < limitMs) ?? 'low'
  if (chosen === effort) return { effort, notice: null }
  const why =
    chosen === allowed[0]
      ? 'a pass before it was not answered in time'
      : `such passes have taken ${seconds(expected(allowed[0] ?? effort))}, and ${seconds(limitMs)} are left`
  return { effort: chosen, notice: `Reasoning effort ${chosen} instead of ${effort}: ${why}.` }
}

const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`

/** What passes of these efforts take together; null where one of them is not known. */
export function forecast(passes: readonly Effort[], backend: string, times: PassTimes | undefined): Expected | null {
  const expected = passes.flatMap((effort) => times?.expect(backend, effort) ?? [])
  if (passes.length === 0 || expected.length < passes.length) return null
  const tokens = expected.every((one) => one.tokens !== null)
    ? expected.reduce((sum, one) => sum + (one.tokens ?? 0), 0)
    : null
  return { ms: expected.reduce((sum, { ms }) => sum + ms, 0), tokens }
}
