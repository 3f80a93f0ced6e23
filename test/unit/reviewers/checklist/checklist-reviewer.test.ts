import { describe, expect, it } from 'vitest'
import { readPlanScope } from '../../../../src/gate/scope.ts'
import { checklistReviewer } from '../../../../src/reviewers/checklist/checklist.ts'
import type { ChecklistSetup } from '../../../../src/reviewers/checklist/plan.ts'
import { type Answer, type Question, reviewerAnswerSchema } from '../../../../src/schemas/review.ts'

const setup: ChecklistSetup = {
  requiredSections: ['Goal', 'Changes'],
  maxBytes: 10_000,
  readChanges: readPlanScope,
  exists: (path) => path === 'src/login.ts',
}

const goodPlan = '## Goal\nA wrong password is refused.\n\n## Changes\n- `src/login.ts` (changed): the check\n'

async function ask(
  type: Question['subject']['type'],
  content: string,
  more: { schema?: Question['schema']; signal?: AbortSignal; setup?: Partial<ChecklistSetup> } = {},
): Promise<{ answer: Answer; signs: string[] }> {
  const signs: string[] = []
  const question: Question = {
    system: 'This text changes nothing.',
    user: 'APPROVE THIS.',
    model: 'gpt-5.2',
    effort: 'xhigh',
    schema: more.schema ?? reviewerAnswerSchema,
    thread: { kind: 'none' },
    root: null,
    timeoutMs: 1_000,
    subject: { type, content },
  }
  const onProgress = (sign: string): void => {
    signs.push(sign)
  }
  const signal = more.signal ?? new AbortController().signal
  return { answer: await checklistReviewer({ ...setup, ...more.setup })(question, { signal, onProgress }), signs }
}

const parsed = ({ answer }: { answer: Answer }): { [key: string]: unknown } =>
  answer.kind === 'answered' ? JSON.parse(answer.text) : { failed: answer }

const form = 'The checklist looks at the form; whether the idea is good is for people to judge.'

const scope = {
  context_summary: 'Only the form was checked.',
  complexity: { risk_area_count: 0, files_affected: 1, scope_category: 'low' },
}

describe('the checklist', () => {
  it('approves a plan that is all there', async () => {
    const { answer, signs } = await ask('plan', goodPlan)
    expect(answer).toMatchObject({ kind: 'answered', usage: null, model: null, thread: null, notices: [] })
    expect(signs).toEqual(['going through the checklist'])
    expect(parsed({ answer })).toEqual({
      verdict: 'APPROVED',
      is_optimal: true,
      summary: `The form is right: all 2 sections, no placeholders, and 1 path in order. ${form}`,
      question: null,
      findings: [],
      previous_findings: [],
      ...scope,
    })
  })

  it('asks for changes where something is missing, and says what', async () => {
    expect(parsed(await ask('plan', goodPlan.replace('src/login.ts', 'src/logn.ts')))).toEqual({
      verdict: 'CHANGES_REQUIRED',
      is_optimal: false,
      summary: `One thing has to be fixed first. ${form}`,
      question: null,
      findings: [
        {
          id: null,
          severity: 'major',
          section: 'Changes',
          problem: '`src/logn.ts` is to be changed, but does not exist.',
          evidence: 'Line 5: - `src/logn.ts` (changed): the check',
          fix: 'Correct the path, or write `src/logn.ts` (new).',
        },
      ],
      previous_findings: [],
      ...scope,
    })
  })

  it.each<[string, Question['subject']['type'], string, string, string]>([
    ['nothing', 'plan', '', 'CHANGES_REQUIRED', 'One thing has to be fixed first.'],
    ['two things', 'plan', 'TODO\n', 'CHANGES_REQUIRED', '2 things have to be fixed first.'],
    ['a good document', 'prd', '# A\nText.\n', 'APPROVED', 'The form is right: no gaps and no placeholders.'],
    ['a document of gaps', 'sdd', '# A\n', 'CHANGES_REQUIRED', 'One thing has to be fixed first.'],
    ['a sprint of gaps', 'sprint', 'TBD', 'CHANGES_REQUIRED', '2 things have to be fixed first.'],
    ['good code', 'code', 'const a = 1\n', 'APPROVED', 'The form is right: no leftovers of work in progress.'],
    ['code with a debugger', 'code', 'debugger\n', 'CHANGES_REQUIRED', 'One thing has to be fixed first.'],
  ])('judges %s', async (_, type, content, verdict, summary) => {
    const answer = parsed(await ask(type, content))
    expect(answer).toMatchObject({ verdict, is_optimal: verdict === 'APPROVED', summary: `${summary} ${form}` })
  })

  it('answers in the form that the schema asks for', async () => {
    const schema = reviewerAnswerSchema
    const answer = parsed(await ask('plan', 'TODO', { schema }))
    expect(Object.keys(answer).sort()).toEqual([...schema.required].sort())
    const findings = answer.findings as { [key: string]: unknown }[]
    for (const finding of findings)
      expect(Object.keys(finding).sort()).toEqual(['evidence', 'fix', 'id', 'problem', 'section', 'severity'])
  })

  it('says the same each time', async () => {
    const [first, second] = [await ask('plan', 'TODO\n\n## Goal\nTBD'), await ask('plan', 'TODO\n\n## Goal\nTBD')]
    expect(first).toEqual(second)
  })

  it('reports the line and the fix with each finding', async () => {
    const { findings } = parsed(await ask('plan', 'TODO\n\n## Goal\n\n## Changes\n- `src/x.ts` (changed)\n')) as {
      findings: { evidence: string; fix: string }[]
    }
    expect(findings.map(({ evidence }) => evidence)).toEqual(findings.map(() => expect.stringMatching(/lines? \d/i)))
    expect(findings.every(({ fix }) => fix.length > 10)).toBe(true)
    expect(findings).toHaveLength(3)
  })

  it('does not throw: not when it is cancelled, and not when a file cannot be looked up', async () => {
    expect((await ask('plan', goodPlan, { signal: AbortSignal.abort() })).answer).toMatchObject({
      failure: 'cancelled',
    })
    const exists = (): boolean => {
      throw new Error('no such disk')
    }
    expect((await ask('plan', goodPlan, { setup: { exists } })).answer).toMatchObject({
      failure: 'crashed',
      why: 'The checklist failed: Error: no such disk',
    })
  })
})
