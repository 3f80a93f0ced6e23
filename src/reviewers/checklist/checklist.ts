import type { AskReviewer, Question } from '../../schemas/review.ts'
import { pluralize } from '../../text/clean.ts'
import { cancelledFailure, failedAnswer, failureOf } from '../failure.ts'
import type { PlannedChange } from './changes.ts'
import { checkDiff, diffFiles } from './diff.ts'
import type { ChecklistFinding } from './finding.ts'
import { type ChecklistSetup, checkDocument, checkPlan } from './plan.ts'

/** A deterministic reviewer without network or key: it checks the form, never the idea. */
export const checklistReviewer =
  (setup: ChecklistSetup): AskReviewer =>
  async (question, { signal, onProgress }) => {
    if (signal.aborted) return failedAnswer(cancelledFailure)
    onProgress('going through the checklist')
    try {
      const checked = check(question.subject, setup)
      const text = JSON.stringify(answerOf(question, checked))
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
      return { findings: checkPlan(content, setup), passed: describePlan(setup, changes), files: changes.length }
    }
    case 'code':
      return {
        findings: checkDiff(content),
        passed: 'no leftovers of work in progress',
        files: diffFiles(content).length,
      }
    case 'prd':
    case 'sdd':
    case 'sprint':
      return { findings: checkDocument(content, setup.maxBytes), passed: 'no gaps and no placeholders', files: 0 }
  }
}

function describePlan({ requiredSections }: ChecklistSetup, changes: readonly PlannedChange[]): string {
  const paths = new Set(changes.map(({ pattern }) => pattern)).size
  const rest = `no placeholders, and ${pluralize(paths, 'path')} in order`
  return requiredSections.length === 0 ? rest : `all ${pluralize(requiredSections.length, 'section')}, ${rest}`
}

const formOnly = 'The checklist looks at the form; whether the idea is good is for people to judge.'

function answerOf({ schema }: Question, { findings, passed, files }: Checked): object {
  const blocking = findings.filter(({ severity }) => severity === 'critical' || severity === 'major').length
  const minor = findings.length - blocking
  const isApproved = blocking === 0
  const result = isApproved
    ? `The form is right: ${passed}.`
    : `${blocking === 1 ? 'One thing has' : `${blocking} things have`} to be fixed first.`
  const hints = minor === 0 ? '' : ` There ${minor === 1 ? 'is one hint' : `are ${minor} hints`} besides.`
  const firstPass = {
    context_summary: 'Only the form was checked.',
    complexity: { risk_area_count: 0, files_affected: files, scope_category: 'low' },
  }
  return {
    ...(schema === null ? {} : firstPass),
    verdict: isApproved ? 'APPROVED' : 'CHANGES_REQUIRED',
    is_optimal: isApproved,
    summary: `${result}${hints} ${formOnly}`,
    question: null,
    findings,
    previous_findings: [],
  }
}
