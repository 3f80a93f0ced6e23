import type { EarlierFinding, Finding, ReviewResult } from '../schemas/review-result.ts'
import { findingStatus } from './findings/fate-of-finding.ts'

/**
 * What a review comes to in the light of the one before: an earlier finding is open until the reviewer says what became
 * of it, and an approval stands only if nothing is open that holds back an approval. Nothing becomes an approval here.
 */
export function settleResult(result: ReviewResult, earlier: readonly Finding[]): ReviewResult {
  // Nobody was asked.
  if (result.pass_metadata === undefined) return result
  const previous = earlier.map((finding) => fateOf(finding, result))
  const isRepeated = (id: string): boolean => result.findings.some((finding) => finding.id === id)
  const isOpen = (id: string): boolean => previous.some((fate) => fate.id === id && fate.status === 'not_fixed')
  const findings = [...result.findings, ...earlier.filter(({ id }) => isOpen(id) && !isRepeated(id))]
  const blocking = findings.filter(({ severity }) => severity === 'critical' || severity === 'major')
  const settled = { ...result, findings, previous_findings: previous }
  if (result.verdict !== 'APPROVED' || blocking.length === 0) return settled
  const ids = blocking.map(({ id }) => id).join(', ')
  const notice = `The reviewer approved while ${ids} ${blocking.length === 1 ? 'is' : 'are'} open: not approved.`
  return {
    ...settled,
    verdict: 'CHANGES_REQUIRED',
    is_optimal: false,
    notices: [...(result.notices ?? []), notice],
  }
}

function fateOf({ id }: Finding, { verdict, findings, previous_findings = [] }: ReviewResult): EarlierFinding {
  // Who approves the whole has said enough about its parts.
  const inSilence: Omit<EarlierFinding, 'id'> =
    verdict === 'APPROVED'
      ? { status: 'fixed', reason: 'The reviewer approved, and says nothing more about it.' }
      : { status: 'not_fixed', reason: 'The reviewer did not say what became of it.' }
  return findingStatus(id, { findings, statuses: previous_findings, inSilence })
}
