import type { EffectiveConfig } from '../../schemas/config.ts'
import type { Complexity, ReviewerAnswer } from '../../schemas/review-result.ts'
import type { Measure } from './measure-content.ts'

type Thresholds = EffectiveConfig['review']['multipass']['thresholds']

/**
 * Both signals must be low for a review to end after its first pass: what can be counted, which the reviewed text cannot
 * talk its way out of, and what the reviewer made of it. Security-sensitive paths are high whatever anybody says.
 */
export function classifyComplexity(measure: Measure, model: Complexity): Complexity {
  if (measure.securityPaths.length > 0 || model === 'high') return 'high'
  return measure.level === 'low' && model === 'low' ? 'low' : 'medium'
}

/** A first pass that does not say how complex it is counts as one that found it neither simple nor complex. */
export function modelSignal(
  complexity: ReviewerAnswer['complexity'],
  scopeTokens: number,
  thresholds: Thresholds,
): Complexity {
  if (complexity === null) return 'medium'
  const { risk_area_count: risks } = complexity
  if (risks > thresholds.high_risk_areas || scopeTokens > thresholds.high_scope_tokens) return 'high'
  return risks <= thresholds.low_risk_areas && scopeTokens <= thresholds.low_scope_tokens ? 'low' : 'medium'
}
