import type { EffectiveConfig } from '../config/schema.ts'
import { type BackendName, type Complexity, type Effort, efforts, type ReviewType } from '../schemas/review.ts'
import type { Expected, PassTimes } from '../state/pass-times.ts'
import type { PassKind } from './prompts.ts'

type EffortChoice = {
  readonly does: PassKind
  readonly type: ReviewType
  /** As far as it is known before the pass. */
  readonly complexity: Complexity
  readonly config: EffectiveConfig['review']['effort']
}

/** The effort of a pass by `review.effort`; without a setting, the most only for complex content. */
export function chooseEffort({ does, type, complexity, config }: EffortChoice): Effort {
  const task = tasks[does]
  const ofType = config[type === 'plan' || type === 'code' ? type : 'documents']
  const configured = [ofType[task], config[task]].find((effort) => effort !== 'auto')
  if (configured !== undefined) return configured
  return complexity === 'high' && task !== 'find' ? 'xhigh' : 'high'
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
  readonly backend: BackendName
  /** The time that the pass may take. */
  readonly limitMs: number
  /** A pass of this review ended without a verdict. */
  readonly isAfterFailure: boolean
  readonly times: PassTimes
}

/** A lower effort where a pass would not end in time: a quicker verdict is worth more than none. */
export function fitEffort({ effort, backend, limitMs, isAfterFailure, times }: Fitting): {
  readonly effort: Effort
  readonly notice: string | null
} {
  const lower = efforts.slice(efforts.indexOf(effort) + 1)
  const isTooLong = (one: Effort): boolean => (times.expect(backend, one)?.ms ?? 0) >= limitMs
  if (!isAfterFailure && !isTooLong(effort)) return { effort, notice: null }
  const chosen = lower.find((one) => !isTooLong(one)) ?? lower.at(-1)
  if (chosen === undefined) return { effort, notice: null }
  const why = isAfterFailure
    ? 'the pass before it gave no verdict'
    : `such passes have taken ${seconds(times.expect(backend, effort)?.ms ?? 0)} and ${seconds(limitMs)} are left`
  return { effort: chosen, notice: `Reasoning effort ${chosen} instead of ${effort}: ${why}.` }
}

const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`

/** What passes of these efforts take together; null where one of them is not known. */
export function forecast(passes: readonly Effort[], backend: BackendName, times: PassTimes): Expected | null {
  const expected = passes.flatMap((effort) => times.expect(backend, effort) ?? [])
  if (passes.length === 0 || expected.length < passes.length) return null
  const tokens = expected.every((one) => one.tokens !== null)
    ? expected.reduce((sum, one) => sum + (one.tokens ?? 0), 0)
    : null
  return { ms: expected.reduce((sum, { ms }) => sum + ms, 0), tokens }
}
