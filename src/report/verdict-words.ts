import { isBlocking } from '../plan/is-blocking.ts'
import type { Severity, Verdict } from '../schemas/review-result.ts'
import type { Gate, Revision } from './report-data.ts'
import type { FindingTrace } from './trace-findings.ts'

/** What a colour means. Beside it there is always a word and a mark, for those who do not see it. */
export type Tone = 'good' | 'wait' | 'ask' | 'bad' | 'plain'

export type Label = { readonly tone: Tone; readonly mark: string; readonly words: string }

const ofVerdict: { readonly [V in Verdict]: Label } = {
  APPROVED: { tone: 'good', mark: '✓', words: 'Approved' },
  CHANGES_REQUIRED: { tone: 'wait', mark: '✎', words: 'Changes required' },
  DECISION_NEEDED: { tone: 'ask', mark: '?', words: 'Decision needed' },
  SKIPPED: { tone: 'plain', mark: '–', words: 'Skipped' },
}

export const revisionLabel = ({ result }: Pick<Revision, 'result'>): Label =>
  result === null ? { tone: 'plain', mark: '…', words: 'No verdict' } : ofVerdict[result.verdict]

/** For verdicts out of the ledger, which may be of a later version. */
export const verdictLabel = (verdict: string): Label =>
  ofVerdict[verdict as Verdict] ?? { tone: 'plain', mark: '·', words: verdict }

export const gateLabels: { readonly [K in Gate['kind']]: Label } = {
  open: { tone: 'good', mark: '✓', words: 'The gate is open' },
  closed: { tone: 'wait', mark: '■', words: 'The gate is closed' },
  'no-plan': { tone: 'plain', mark: '■', words: 'The gate is closed' },
  reviewing: { tone: 'ask', mark: '…', words: 'Under review' },
  kept: { tone: 'plain', mark: '▤', words: 'Kept reviews' },
}

export const severityTones: { readonly [S in Severity]: Tone } = {
  critical: 'bad',
  major: 'wait',
  minor: 'plain',
  advice: 'plain',
}

/** What is only advice may stay open. */
export const fateTone = ({ fate, finding }: FindingTrace): Tone =>
  fate === 'fixed' ? 'good' : fate === 'open' && isBlocking(finding) ? 'wait' : 'plain'
