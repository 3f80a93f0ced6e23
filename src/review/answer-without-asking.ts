import type { ReviewType } from '../schemas/backend.ts'
import type { EffectiveConfig } from '../schemas/config.ts'
import type { Finding, ReviewResult } from '../schemas/review-result.ts'

/** A review that is switched off. */
export function skipReview(
  { type, iteration }: { readonly type: ReviewType; readonly iteration: number },
  review: EffectiveConfig['review'],
): ReviewResult | null {
  const phase = type === 'code' ? 'implementation' : type
  if (!review.enabled)
    return answer('SKIPPED', iteration, 'Reviews are switched off (review.enabled in plan-gate.yaml).')
  if (review.phases[phase]) return null
  const why = `This kind of review is switched off (review.phases.${phase} in plan-gate.yaml).`
  return answer('SKIPPED', iteration, why)
}

/** One more review of what was reviewed often enough: from here on it is the user who decides, and nobody approves. */
export function endIterations(
  { iteration, earlier }: { readonly iteration: number; readonly earlier: readonly Finding[] },
  maxIterations: number | null,
): ReviewResult | null {
  if (maxIterations === null || iteration <= maxIterations) return null
  const points = earlier.map(({ id, severity, section, problem }) => `${id} (${severity}, ${section}): ${problem}`)
  return {
    ...answer(
      'DECISION_NEEDED',
      iteration,
      `Iteration ${iteration} is past review.max_iterations (${maxIterations}), so nobody was asked again.`,
    ),
    question:
      points.length === 0
        ? 'Which points are still open is not known here: hand over the last result with --previous. Accept it as it is, or change it yourself?'
        : `These points are still open. Accept them, or settle them yourself?\n${points.map((point) => `- ${point}`).join('\n')}`,
    findings: earlier,
  }
}

const answer = (verdict: 'SKIPPED' | 'DECISION_NEEDED', iteration: number, summary: string): ReviewResult => ({
  verdict,
  is_optimal: false,
  summary,
  question: null,
  findings: [],
  previous_findings: [],
  verification: null,
  iteration,
  notices: [],
})
