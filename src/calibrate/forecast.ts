import type { EffectiveConfig } from '../config/schema.ts'
import { chooseEffort } from '../review/complexity.ts'
import type { PassKind } from '../review/prompts.ts'
import { estimateTokens } from '../review/tokens.ts'
import type { Calibration } from '../schemas/calibration.ts'
import type { PassTimes } from '../state/pass-times.ts'
import { type Cell, cellConfig, type Task } from './run.ts'

/** What a run will take, before any of it is paid for. */

type Forecast = Calibration['forecast']
type Setup = {
  readonly review: EffectiveConfig['review']
  readonly fast: boolean
  readonly times: PassTimes
  /** Questions to the judge, at most. */
  readonly judgeCalls: number
}

export function forecastRun(tasks: readonly Task[], setup: Setup): Forecast {
  const each = tasks.map((task) => forecastReview(task, setup))
  const calls = sum(each.map((one) => one.calls))
  const all = (values: readonly (number | null)[]): number | null =>
    values.length === 0 || values.some((value) => value === null) ? null : sum(values.map((value) => value ?? 0))
  const figures = {
    reviews: tasks.length,
    calls,
    judge_calls: setup.judgeCalls,
    seconds: all(each.map(({ seconds }) => seconds)),
    tokens: all(each.map(({ tokens }) => tokens)),
    dollars: all(each.map(({ dollars }) => dollars)),
  }
  return {
    ...figures,
    words: words(figures, tasks.length === 0 ? 0 : Math.round(sum(each.map(({ sent }) => sent)) / tasks.length)),
  }
}

type ReviewForecast = {
  readonly calls: number
  readonly seconds: number | null
  readonly tokens: number | null
  readonly dollars: number | null
  /** In all questions of the review, without what is read in the repository and without the answers. */
  readonly sent: number
}

function forecastReview({ cell, case: one }: Task, { review, fast, times }: Setup): ReviewForecast {
  const config = cellConfig(review, cell, fast)
  const { type } = one.base
  const passes = passesOf(cell, config, type)
  const known = passes.map((does) =>
    times.expect(cell.route.name, chooseEffort({ does, type, large: false, config: config.effort })),
  )
  const tokens = known.every((each) => each !== null && each.tokens !== null)
    ? sum(known.map((each) => each?.tokens ?? 0))
    : null
  const { price } = cell.route
  return {
    calls: passes.length,
    seconds: known.every((each) => each !== null) ? sum(known.map((each) => each?.ms ?? 0)) / 1000 : null,
    tokens,
    // Nine tenths of what a review uses is what it reads.
    dollars: tokens === null || price === null ? null : (tokens * (0.9 * price.input + 0.1 * price.output)) / 1_000_000,
    sent: passes.length * promptTokens(one),
  }
}

export const isInPasses = ({ route }: Pick<Cell, 'route'>, review: EffectiveConfig['review']): boolean =>
  !review.fast && review.reasoning_mode !== 'single-pass' && route.capabilities.includes('multi_pass')

/** What the engine asks in a first round that does not end after its first pass. */
function passesOf({ route }: Cell, review: EffectiveConfig['review'], type: 'plan' | 'code'): readonly PassKind[] {
  if (!isInPasses({ route }, review)) return ['combined']
  const readers = typeof review.readers === 'number' ? review.readers : type === 'plan' ? 2 : 1
  return ['plan', ...Array.from({ length: readers }, () => 'review' as const), 'verify']
}

/** Our own instructions in a question, about. */
const instructionTokens = 1_500

const promptTokens = ({ base, content }: Task['case']): number =>
  instructionTokens + estimateTokens(content) + estimateTokens(base.intent ?? '')

function words(
  { reviews, calls, judge_calls, seconds, tokens, dollars }: Omit<Forecast, 'words'>,
  sent: number,
): string {
  const toJudge = judge_calls === 0 ? '' : `up to ${countOf(judge_calls, 'question')} to the judge`
  if (reviews === 0) return `Nothing is left to be reviewed${toJudge === '' ? '' : `; ${toJudge}`}.`
  const start = `${countOf(reviews, 'review')}, about ${countOf(calls, 'question')}${toJudge === '' ? '' : ` and ${toJudge}`}`
  if (seconds === null || tokens === null)
    return `${start}. What they take is not known yet: a review is about ${countOf(Math.round(calls / reviews), 'question')} with ${inThousands(sent)} tokens together, besides what the reviewer reads in the repository and what it answers.`
  return `${start}, about ${formatHours(seconds)} and ${inThousands(tokens)} tokens${dollars === null ? '; the row has no price' : `, about $${dollars.toFixed(2)}`}, by what such passes have taken before.`
}

const countOf = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

export const inThousands = (tokens: number): string =>
  tokens < 1000
    ? `${Math.round(tokens)}`
    : tokens < 1_000_000
      ? `${Math.round(tokens / 1000)}k`
      : `${(tokens / 1_000_000).toFixed(1)}M`

export const formatHours = (seconds: number): string =>
  seconds < 90
    ? `${Math.round(seconds)} s`
    : seconds < 5400
      ? `${Math.round(seconds / 60)} min`
      : `${(seconds / 3600).toFixed(1)} h`

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)
