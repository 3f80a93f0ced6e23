import { withholdFromDiff } from '../safety/sensitive-files.ts'
import type { Finding } from '../schemas/review-result.ts'
import { collectCleaner } from './collect-cleaner.ts'
import type { ReviewDependencies, ReviewRequest } from './review-request.ts'

/** What a review is made from, without a secret in it. */
export type Material = Pick<ReviewRequest, 'type' | 'content' | 'expertise' | 'context' | 'changes' | 'earlier'>

export type Prepared =
  | { readonly kind: 'prepared'; readonly material: Material; readonly notices: readonly string[] }
  | { readonly kind: 'failed'; readonly why: string }

/** Before anything else is done with it: a secret that is cut in two by a budget would not be known for one any more. */
export function prepareMaterial(
  request: ReviewRequest,
  sensitiveFiles: readonly string[],
  { redact }: Pick<ReviewDependencies, 'redact'>,
): Prepared {
  const withheld = withholdFromDiff(request.content, sensitiveFiles)
  const { clean, failed } = collectCleaner(redact)
  const cleanOrNone = (text: string | null): string | null => (text === null ? null : clean(text))
  const material: Material = {
    type: request.type,
    content: clean(withheld.diff),
    expertise: cleanOrNone(request.expertise),
    context: cleanOrNone(request.context),
    changes: cleanOrNone(request.changes),
    earlier: request.earlier.map((finding) => cleanFinding(finding, clean)),
  }
  const why = failed()
  if (why !== null) return { kind: 'failed', why: `Secrets could not be blanked: ${why}` }
  const { files } = withheld
  const notices = files.length === 0 ? [] : [`Not sent, because such files hold secrets: ${files.join(', ')}.`]
  return { kind: 'prepared', material, notices }
}

const cleanFinding = (finding: Finding, clean: (text: string) => string): Finding => ({
  ...finding,
  section: clean(finding.section),
  problem: clean(finding.problem),
  evidence: clean(finding.evidence),
  fix: clean(finding.fix),
})
