import { type Severity, severities } from '../../schemas/review-result.ts'

/** What models say instead. */
const words: { readonly [severity in Severity]: string } = {
  critical: 'critical crit blocker blocking blocks fatal showstopper catastrophic emergency p0 sev0 s0',
  major: 'major high severe serious significant important error bug must p1 sev1 s1',
  minor: 'minor medium moderate low warning warn should p2 sev2 s2 p3',
  advice: 'advice info informational information note nit nitpick trivial cosmetic style suggestion optional p4',
}

const bySeverity = severities.map((severity) => ({ severity, words: new Set(words[severity].split(' ')) }))

/** The most severe word in it; what nobody knows is taken seriously. */
export function readSeverity(value: unknown): Severity {
  return knownSeverity(value) ?? 'major'
}

export function knownSeverity(value: unknown): Severity | null {
  // Codex's own reviews number their priorities.
  const text = typeof value === 'number' ? `p${value}` : value
  if (typeof text !== 'string') return null
  const given = text
    .slice(0, 100)
    .toLowerCase()
    .split(/[^a-z0-9]+/)
  return bySeverity.find(({ words }) => given.some((word) => words.has(word)))?.severity ?? null
}
