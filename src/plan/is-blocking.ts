import type { Finding } from '../schemas/review-result.ts'

/** Whether it keeps a plan from being approved. */
export const isBlocking = ({ severity }: Pick<Finding, 'severity'>): boolean =>
  severity === 'critical' || severity === 'major'
