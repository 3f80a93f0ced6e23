import type { Finding } from '../../../src/schemas/review.ts'

/** A finding of which a test says only what it is about. */
export const finding = (id: string, given: Partial<Finding> = {}): Finding => ({
  id,
  severity: 'major',
  section: 'Approach',
  problem: `Problem ${id}.`,
  evidence: '',
  fix: 'Fix it.',
  ...given,
})
