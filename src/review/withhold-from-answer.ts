import { withholdQuotes } from '../safety/sensitive-files.ts'
import type { ReviewerAnswer } from '../schemas/review-result.ts'

/** A reviewer may have opened what it should not have: what it quotes of such a file goes, its finding stays. */
export function withholdFromAnswer(
  answer: ReviewerAnswer,
  sensitiveFiles: readonly string[],
): { readonly answer: ReviewerAnswer; readonly files: readonly string[] } {
  const files = new Set<string>()
  const clean = (text: string): string => {
    const withheld = withholdQuotes(text, sensitiveFiles)
    for (const file of withheld.files) files.add(file)
    return withheld.text
  }
  const cleaned: ReviewerAnswer = {
    ...answer,
    summary: clean(answer.summary),
    context_summary: answer.context_summary === null ? null : clean(answer.context_summary),
    question: answer.question === null ? null : clean(answer.question),
    findings: answer.findings.map((finding) => ({
      ...finding,
      problem: clean(finding.problem),
      evidence: clean(finding.evidence),
      fix: clean(finding.fix),
    })),
    previous_findings: answer.previous_findings.map((status) => ({ ...status, reason: clean(status.reason) })),
  }
  return { answer: cleaned, files: [...files] }
}
