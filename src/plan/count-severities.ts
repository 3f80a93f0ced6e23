import { type Finding, severities } from '../schemas/review-result.ts'

/** `1 critical, 2 major`; 'no findings' where there are none. */
export function countSeverities(findings: readonly Pick<Finding, 'severity'>[]): string {
  const counts = severities.flatMap((severity) => {
    const count = findings.filter((finding) => finding.severity === severity).length
    return count === 0 ? [] : [`${count} ${severity}`]
  })
  return counts.join(', ') || 'no findings'
}

/** The gravest first; otherwise as they came. */
export const bySeverity = <F extends Pick<Finding, 'severity'>>(findings: readonly F[]): readonly F[] =>
  severities.flatMap((severity) => findings.filter((finding) => finding.severity === severity))
