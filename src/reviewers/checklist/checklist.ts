import type { AskReviewer, Question } from '../../schemas/review.ts'
import { pluralize } from '../../text/clean.ts'
import { cancelledFailure, failedAnswer, failureOf } from '../failure.ts'
import { addedLines, checkDiff } from './diff.ts'
import { type ChecklistFinding, type ChecklistSetup, checkDocument, checkPlan } from './plan.ts'

/** A deterministic reviewer without network or key: it checks the form, never the idea. */
export const checklistReviewer =
  (setup: ChecklistSetup): AskReviewer =>
  async (question, { signal, onProgress }) => {
    if (signal.aborted) return failedAnswer(cancelledFailure)
    onProgress('going through the checklist')
    try {
      const text = JSON.stringify(answerOf(question, check(question.subject, setup)))
      return { kind: 'answered', text, usage: null, model: null, thread: null, notices: [] }
    } catch (error) {
      const why = `The checklist failed: ${String(error).slice(0, 300)}`
      return failedAnswer(failureOf('crashed', why, 'Use another reviewer, and report this.'))
    }
  }

type Checked = { readonly findings: readonly ChecklistFinding[]; readonly passed: string; readonly files: number }

function check({ type, content }: Question['subject'], setup: ChecklistSetup): Checked {
  switch (type) {
    case 'plan': {
      const changes = setup.readChanges(content)
      const paths = pluralize(new Set(changes.map(({ pattern }) => pattern)).size, 'path')
      const sections = setup.requiredSections.length
      const passed = `${sections === 0 ? '' : `all ${pluralize(sections, 'section')}, `}no placeholders, and ${paths} in order`
      return { findings: checkPlan(content, setup), passed, files: changes.length }
    }
    case 'code': {
      const files = addedLines(content).length
      return { findings: checkDiff(content), passed: 'no leftovers of work in progress', files }
    }
    case 'prd':
    case 'sdd':
    case 'sprint':
      return { findings: checkDocument(content, setup.maxBytes), passed: 'no gaps and no placeholders', files: 0 }
  }
}

const formOnly = 'The checklist looks at the form; whether the idea is good is for people to judge.'

function answerOf({ schema }: Question, { findings, passed, files }: Checked): object {
  const isApproved = findings.length === 0
  const result = isApproved
    ? `The form is right: ${passed}.`
    : `${findings.length === 1 ? 'One thing has' : `${findings.length} things have`} to be fixed first.`
  const firstPass = {
    context_summary: 'Only the form was checked.',
    complexity: { risk_area_count: 0, files_affected: files, scope_category: 'low' },
  }
  return {
    ...(schema === null ? {} : firstPass),
    verdict: isApproved ? 'APPROVED' : 'CHANGES_REQUIRED',
    is_optimal: isApproved,
    summary: `${result} ${formOnly}`,
    question: null,
    findings,
    previous_findings: [],
  }
}
