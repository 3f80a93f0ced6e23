import { countSeverities } from './count-severities.ts'
import { failureWords } from './failure-words.ts'
import type { Neutralise, PlanOutcome } from './plan-news.ts'
import { oneLine } from './tell-findings.ts'

/** The same as `tellClaude`, in one line for the eyes of the user. */
export const formatForUser = (news: PlanOutcome, neutralise: Neutralise): string =>
  `plan-gate: ${lineOn(news, neutralise)}`

function lineOn(news: PlanOutcome, neutralise: Neutralise): string {
  switch (news.kind) {
    case 'approved':
      return `revision ${news.revision} of the plan is approved. Claude asks you before anything is executed.`
    case 'changes-required':
      return `revision ${news.revision} of the plan is not approved: ${countSeverities(news.review.findings)}, ${news.left} more to be reviewed.${stuckIn(news, neutralise)} ${file(news.revision)}`
    case 'decision-needed':
      return `the reviewer has a question for you: ${oneLine(news.question ?? '', 300, neutralise) || 'see'} ${file(news.revision)}`
    case 'limit-reached':
      return `${news.revision} revisions without approval. You decide: plan-gate continue, or plan-gate approve --force --reason "…".${stuckIn(news, neutralise)} ${file(news.revision)}`
    case 'unavailable':
      return `no review: ${failureWords[news.failure].what}. ${oneLine(news.nextStep, 300, neutralise) || failureWords[news.failure].remedy} Nothing was counted; the gate stays closed.`
    case 'skipped':
      return `the plan was not reviewed: ${oneLine(news.why, 300, neutralise)} Only you can approve it: plan-gate approve --force --reason "…".`
    case 'changed-during-review':
      return 'the plan changed while it was under review; nothing was approved, and nothing counted.'
    case 'checklist':
      return `the plan is not ready for review: ${news.findings.length} ${news.findings.length === 1 ? 'point' : 'points'} to mend first.`
    case 'same-plan':
      return `the plan is the same text as revision ${news.revision} (${news.verdict}); it was not reviewed again.`
    case 'too-long':
      return `the plan has ${news.bytes} bytes and ${news.limit} are the limit; it was not reviewed.`
    case 'not-utf8':
      return 'the plan is not UTF-8 text; it was not reviewed.'
  }
}

const stuckIn = ({ review }: { review: { stuck: readonly string[] } }, neutralise: Neutralise): string => {
  const [first] = review.stuck
  return first === undefined ? '' : ` Stuck: ${oneLine(first, 160, neutralise)}`
}

const file = (revision: number): string => `(.claude/review/plan_v${revision}.annotated.md)`
