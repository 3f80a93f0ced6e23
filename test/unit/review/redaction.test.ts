import { describe, expect, it } from 'vitest'
import { makeRedactor } from '../../../src/redact/redact.ts'
import { finding as earlierFinding } from '../../support/plan/findings.ts'
import { assigned, fakeSecrets } from '../../support/review/fake-secrets.ts'
import { diffOf } from './diff-of.ts'
import { failureIn, prompts, type Reviewed, resultOf, reviewWith, type Scenario, smallDiff } from './review-with.ts'
import { finding } from './reviewer-answers.ts'

const { github, openai, aws, slack } = fakeSecrets

/** Everything that a review leaves behind, on the way to a reviewer, a file or a screen, as one text. */
const traceOf = ({ outcome, asked, events, passes, threads }: Reviewed): string =>
  JSON.stringify({ outcome, asked, events, passes, threads })

const leaks = (done: Reviewed): string[] =>
  Object.entries(fakeSecrets).flatMap(([name, secret]) => (traceOf(done).includes(secret) ? [name] : []))

const large = { content: diffOf(['a.ts', 'b.ts', 'c.ts', 'd.ts'], 40) }

describe('no secret leaves', () => {
  it.each<[string, Scenario]>([
    ['in the content', { request: { content: smallDiff.replace('+two', `+const token = '${github}'`) } }],
    ['in a plan', { request: { type: 'plan', content: `# P\n\n## Changes\n\n- \`a.ts\`: use ${openai}\n` } }],
    [
      'in JSON',
      { request: { type: 'sdd', content: JSON.stringify({ deep: [{ key: aws, text: `Bearer ${slack}` }] }) } },
    ],
    ['in the expertise', { request: { expertise: assigned } }],
    ['in the context', { request: { context: `It uses ${aws} and ${slack}.` } }],
    ['in the diff since then', { request: { changes: `+${assigned}` } }],
    [
      'in what was found before',
      {
        request: {
          earlier: [earlierFinding('F1', { section: github, problem: assigned, evidence: slack, fix: `Drop ${aws}.` })],
          iteration: 2,
        },
      },
    ],
    [
      'in what was found before, past the last iteration',
      {
        request: { earlier: [earlierFinding('F1', { problem: `It is ${github}.`, evidence: assigned })], iteration: 9 },
      },
    ],
    [
      'in a good answer',
      {
        backends: {
          codex: [
            {
              says: {
                verdict: 'CHANGES_REQUIRED',
                summary: `The key ${openai} is in it.`,
                context_summary: assigned,
                question: slack,
                findings: [finding(`It is ${github}.`, { evidence: assigned, fix: `Not ${aws}.`, section: slack })],
                previous_findings: [{ id: 'F1', status: 'fixed', reason: github }],
              },
            },
          ],
        },
      },
    ],
    ['in an answer without a verdict', { backends: { codex: [{ writes: `I have seen ${github} and ${assigned}.` }] } }],
    [
      'in what goes from pass to pass',
      { request: large, backends: { codex: [{ says: { context_summary: assigned, findings: [finding(github)] } }] } },
    ],
    [
      'in the reason of a failure',
      { yaml: 'review: {execution_mode: curl}', backends: { curl: [{ fails: 'auth', why: `It says: ${openai}` }] } },
    ],
    [
      'in what a backend says by the way',
      {
        backends: {
          codex: [
            {
              says: {},
              notices: [`It went on without ${aws}.`],
              thread: { id: 'T', used: null, replaced: { was: 'S', why: `It is gone: ${github}` } },
            },
          ],
        },
      },
    ],
    [
      'in a sign of life',
      { backends: { codex: [{ says: {}, signs: [`codex is running curl -H "Bearer ${slack}"`] }] } },
    ],
  ])('%s', async (_, scenario) => {
    expect(leaks(await reviewWith(scenario))).toEqual([])
  })

  it('and what is blanked is marked, so that the reviewer sees that something was there', async () => {
    const [prompt = ''] = prompts(await reviewWith({ request: { context: `We use ${github} there.` } }))
    expect(prompt).toMatch(/We use \S*redacted\S* there\./i)
  })

  it('neither where a budget would cut it in two', async () => {
    for (const shift of [0, 7, 15, 22, 29, 36]) {
      const yaml = 'review: {multipass: {budgets: {pass2_input: 100}}}\n'
      const content = `${'x '.repeat(180)}${'y'.repeat(shift)} ${github} ${'z '.repeat(400)}`
      const done = await reviewWith({ yaml, request: { content } })
      expect(traceOf(done)).not.toContain(github.slice(0, 12))
      expect(traceOf(done)).not.toContain(github.slice(-12))
    }
  })

  it('nor what the user’s own patterns name', async () => {
    const done = await reviewWith({
      yaml: 'review: {redaction: {patterns: ["key-[0-9]{6}"]}}\n',
      request: { context: 'The number is key-123456.' },
      backends: { codex: [{ says: { summary: 'It names key-654321.' } }] },
    })
    expect(traceOf(done)).not.toMatch(/key-\d{6}/)
  })
})

describe('where secrets cannot be blanked', () => {
  const broken: Scenario = { redact: makeRedactor(['(a+']).text }

  it('no reviewer is asked, and nothing is saved', async () => {
    const done = await reviewWith(broken)
    expect({ ...done, outcome: null, events: [] }).toEqual({
      outcome: null,
      asked: [],
      events: [],
      passes: [],
      threads: [],
      stopped: [],
    })
    expect(failureIn(done)).toMatchObject({
      exitCode: 2,
      why: expect.stringMatching(/^Secrets could not be blanked: /),
      nextStep: 'Fix review.redaction.patterns in plan-gate.yaml.',
    })
  })

  it('nor are the open points shown, past the last iteration', async () => {
    const earlier = [earlierFinding('F1', { problem: `It is ${github}.` })]
    const done = await reviewWith({ ...broken, request: { iteration: 9, earlier } })
    expect([failureIn(done).exitCode, leaks(done)]).toEqual([2, []])
  })

  it('in an answer, it is no answer', async () => {
    const redactor = makeRedactor([])
    const redact = (text: string) =>
      text.includes(github) ? ({ kind: 'failed', why: 'It took too long.' } as const) : redactor.text(text)
    const done = await reviewWith({
      yaml: 'review: {execution_mode: curl}\n',
      redact,
      backends: { curl: [{ says: { summary: github }, notices: [github] }] },
    })
    expect(failureIn(done)).toMatchObject({ exitCode: 5, failure: 'malformed' })
    expect(done.passes).toEqual([expect.objectContaining({ outcome: 'malformed', answer: '' })])
    expect(leaks(done)).toEqual([])
  })

  it('in the notes of a first reader, the second goes on without them', async () => {
    const redactor = makeRedactor([])
    const redact = (text: string) =>
      text.includes(github) ? ({ kind: 'failed', why: 'It took too long.' } as const) : redactor.text(text)
    const done = await reviewWith({ redact, backends: { codex: [{ says: { summary: github } }, { says: {} }] } })
    expect(resultOf(done).verdict).toBe('APPROVED')
    expect(prompts(done)[1]).toContain('The first pass left no notes.')
    expect(leaks(done)).toEqual([])
  })
})

describe('files that hold secrets', () => {
  const env = diffOf(['src/app.ts'], 1) + diffOf(['.env.production'], 1).replace('+line 0', '+DOOR=open-sesame-4711')

  it('are not sent, and that is said', async () => {
    const done = await reviewWith({ request: { content: env } })
    expect(prompts(done).join()).not.toContain('open-sesame-4711')
    expect(prompts(done).join()).toContain('line 0 of src/app.ts')
    expect(resultOf(done).notices?.join()).toContain('.env.production')
  })

  it('are not quoted, and the finding stays', async () => {
    const evidence = '.env:1\n```\nDOOR=open-sesame-4711\n```'
    const done = await reviewWith({
      request: { root: '/repo' },
      backends: {
        codex: [{ says: { verdict: 'CHANGES_REQUIRED', findings: [finding('It is open.', { evidence })] } }],
      },
    })
    const { findings, notices } = resultOf(done)
    expect(findings).toMatchObject([{ id: 'F1', problem: 'It is open.' }])
    expect(JSON.stringify([findings, done.passes])).not.toContain('open-sesame-4711')
    expect(notices?.join()).toContain('.env')
  })
})
