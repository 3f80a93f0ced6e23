import { checkChanges, type PlannedChange } from './check-changes.ts'
import { checkPlaceholders } from './check-placeholders.ts'
import { checkSections } from './check-sections.ts'
import { checkSize } from './check-size.ts'
import { type ChecklistFinding, finding } from './finding.ts'
import { readMarkdown } from './read-markdown.ts'

export type ChecklistSetup = {
  /** The names of the `##` headings that a plan must have. */
  readonly requiredSections: readonly string[]
  readonly maxBytes: number
  readonly readChanges: (plan: string) => readonly PlannedChange[]
  /** Whether a path of the worktree is there, as a file or a folder. */
  readonly exists: (path: string) => boolean
}

/** What can be said about a plan without understanding it: whether it is all there, and whether its paths are. */
export function checkPlan(plan: string, setup: ChecklistSetup): readonly ChecklistFinding[] {
  if (plan.trim() === '') return [emptyPlan(setup.requiredSections)]
  const markdown = readMarkdown(plan)
  return [
    ...checkSize(plan, setup.maxBytes, 'plan'),
    ...checkSections(markdown, setup.requiredSections),
    ...checkChanges(markdown, setup.readChanges(plan), setup.exists),
    ...checkPlaceholders(markdown, setup.requiredSections),
  ]
}

function emptyPlan(required: readonly string[]): ChecklistFinding {
  const headings = required.map((name) => `\`## ${name}\``).join(', ')
  return finding('critical', 'Plan', {
    problem: 'The plan is empty.',
    evidence: 'There is no text from line 1 on.',
    fix: headings === '' ? 'Write the plan.' : `Write the plan under these headings: ${headings}.`,
  })
}
