import type { ReviewerAnswer } from '../../../src/schemas/review.ts'

/** What a reviewer of a test says: nothing is wrong, and it is simple. */
export const answer = (more: Partial<ReviewerAnswer> = {}): ReviewerAnswer => ({
  verdict: 'APPROVED',
  summary: 'It holds.',
  question: null,
  findings: [],
  previous_findings: [],
  context_summary: 'One file.',
  complexity: { risk_area_count: 0, files_affected: 1 },
  ...more,
})

export const finding = (problem: string, more: Partial<ReviewerAnswer['findings'][number]> = {}) => ({
  id: null,
  severity: 'major' as const,
  section: 'src/app.ts:1',
  problem,
  evidence: 'the line itself',
  fix: 'Fix it.',
  ...more,
})
