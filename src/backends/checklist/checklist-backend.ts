import type { Answer, Backend, Question } from '../../schemas/backend.ts'
import type { PlannedChange } from './check-changes.ts'
import { checkDiff } from './check-diff.ts'
import { checkDocument } from './check-document.ts'
import { type ChecklistSetup, checkPlan } from './check-plan.ts'
import type { ChecklistFinding } from './finding.ts'
import { readDiff } from './read-diff.ts'

/** A reviewer without a network, a key or an opinion: it sees what is missing, and always sees the same. */
export const checklistBackend =
  (setup: ChecklistSetup): Backend =>
  async (question, { signal, tell }) => {
    if (signal.aborted)
      return failed('cancelled', 'The review was stopped.', 'Start the review again when you are ready.')
    tell('going through the checklist')
    try {
      const checked = check(question.subject, setup)
      const text = JSON.stringify(answerOf(question, checked))
      return { kind: 'answered', text, usage: null, model: null, thread: null, notices: [] }
    } catch (error) {
      return failed(
        'crashed',
        `The checklist failed: ${String(error).slice(0, 300)}`,
        'Use another reviewer, and report this.',
      )
    }
  }

type Checked = { readonly findings: readonly ChecklistFinding[]; readonly what: string; readonly files: number }

function check({ type, content }: Question['subject'], setup: ChecklistSetup): Checked {
  switch (type) {
    case 'plan': {
      const changes = setup.readChanges(content)
      return { findings: checkPlan(content, setup), what: describePlan(setup, changes), files: changes.length }
    }
    case 'code':
      return { findings: checkDiff(content), what: 'no leftovers of work in progress', files: readDiff(content).length }
    case 'prd':
    case 'sdd':
    case 'sprint':
      return { findings: checkDocument(content, setup.maxBytes), what: 'no gaps and no placeholders', files: 0 }
  }
}

function describePlan({ requiredSections }: ChecklistSetup, changes: readonly PlannedChange[]): string {
  const sections = counted(requiredSections.length, 'section')
  const paths = new Set(changes.map(({ pattern }) => pattern)).size
  const rest = `no placeholders, and ${counted(paths, 'path')} in order`
  return requiredSections.length === 0 ? rest : `all ${sections}, ${rest}`
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

const modesty = 'The checklist looks at the form; whether the idea is good is for people to judge.'

const outcomes = ['critical', 'major'] as const

function answerOf({ schema }: Question, { findings, what, files }: Checked): object {
  const hard = findings.filter(({ severity }) => outcomes.some((outcome) => outcome === severity)).length
  const isFine = hard === 0
  return {
    ...(schema?.$id === 'first-pass' ? firstPass(files) : {}),
    verdict: isFine ? 'APPROVED' : 'CHANGES_REQUIRED',
    is_optimal: isFine,
    summary: `${summaryOf(hard, findings.length - hard, what)} ${modesty}`,
    question: null,
    findings,
    previous_findings: [],
  }
}

/** All of it is known after one pass. */
const firstPass = (files: number): object => ({
  context_summary: 'Only the form was checked.',
  complexity: { risk_area_count: 0, files_affected: files, scope_category: 'low' },
})

function summaryOf(hard: number, soft: number, what: string): string {
  const hints = soft === 0 ? '' : ` There ${soft === 1 ? 'is one hint' : `are ${soft} hints`} besides.`
  if (hard === 0) return `The form is right: ${what}.${hints}`
  return `${hard === 1 ? 'One thing has' : `${hard} things have`} to be mended first.${hints}`
}

const failed = (failure: 'cancelled' | 'crashed', why: string, nextStep: string): Answer => ({
  kind: 'failed',
  failure,
  why,
  nextStep,
  retryAfterMs: null,
  thread: null,
  notices: [],
})
