import { describe, expect, it } from 'vitest'
import {
  failureClasses,
  reviewerAnswerSchema,
  reviewTypes,
  type Thread,
  type Verdict,
} from '../../../src/schemas/review.ts'
import { finding as earlierFinding } from '../../support/plan/findings.ts'
import { diffOf } from './diff-of.ts'
import { failureIn, prompts, type Reviewed, resultOf, reviewWith, type Said, type Scenario } from './review-with.ts'
import { answer, finding } from './reviewer-answers.ts'

const curlOnly = 'review: {execution_mode: curl}\n'
const large = { content: diffOf(['a.ts', 'b.ts', 'c.ts', 'd.ts'], 40) }

const does = ({ events }: Reviewed): string[] =>
  events.flatMap((event) =>
    event.kind === 'pass' ? [`${event.backend} ${event.does} ${event.pass}/${event.passes}`] : [],
  )
const traces = ({ events }: Reviewed): string[] =>
  events.flatMap((event) => (event.kind === 'trace' ? [event.line] : []))

describe('a whole review', () => {
  it('of a simple change ends after one pass, and says how it went', async () => {
    const done = await reviewWith({ backends: { codex: [{ says: { summary: 'One word.' } }] } })
    expect(done.outcome).toEqual({
      kind: 'reviewed',
      lastId: 0,
      earlier: [],
      result: {
        verdict: 'APPROVED',
        is_optimal: true,
        summary: 'One word.',
        question: null,
        findings: [],
        previous_findings: [],
        verification: null,
        iteration: 1,
        notices: [],
        pass_metadata: {
          passes_completed: 1,
          pass1_tokens: 120,
          pass2_tokens: null,
          pass3_tokens: null,
          total_duration_ms: 1000,
          reasoning_mode: 'multi-pass',
          route: 'codex',
          model: 'gpt-5.2-codex',
          complexity: 'low',
          repository: false,
          calls: 1,
          failed_calls: 0,
          malformed_calls: 0,
          input_tokens: 100,
          cached_input_tokens: 0,
          cost_usd: null,
          output_tokens: 20,
        },
      },
    })
  })

  it('of a larger one takes three, and the last word is the verifier’s', async () => {
    const done = await reviewWith({
      request: large,
      backends: {
        codex: [
          { says: { verdict: 'CHANGES_REQUIRED' } },
          { says: { verdict: 'CHANGES_REQUIRED', findings: [finding('One.'), finding('Another.')] }, usage: null },
          { says: { findings: [finding('Another.', { severity: 'minor' })] }, usage: 500 },
        ],
      },
    })
    expect(does(done)).toEqual(['codex plan 1/3', 'codex review 2/3', 'codex verify 3/3'])
    expect(resultOf(done)).toMatchObject({
      verdict: 'APPROVED',
      verification: 'passed',
      findings: [{ id: 'F1', severity: 'minor', problem: 'Another.' }],
      pass_metadata: {
        passes_completed: 3,
        pass1_tokens: 120,
        pass2_tokens: null,
        pass3_tokens: 520,
        total_duration_ms: 3000,
        complexity: 'medium',
      },
    })
  })

  it.each<[string, NonNullable<Scenario['request']>, number]>([
    ['a small diff', {}, 1],
    ['a large one', { content: diffOf(['a.ts'], 2500) }, 3],
    ['one where security is at stake', { content: diffOf(['src/auth.ts'], 1) }, 3],
    ['a plan of one file', { type: 'plan', content: '# P\n\n## Changes\n\n- `src/a.ts`: more.\n' }, 1],
    ['a plan for a workflow', { type: 'plan', content: '# P\n\n## Changes\n\n- `.github/workflows/ci.yml`\n' }, 4],
    ['a short document', { type: 'prd', content: '# R\n' }, 1],
  ])('%s: %i', async (_, request, passes) => {
    expect((await reviewWith({ request })).asked).toHaveLength(passes)
  })

  it.each<[number, Partial<ReturnType<typeof finding>>, number]>([
    [1, { severity: 'major' }, 5],
    [1, { severity: 'minor' }, 4],
    [2, { severity: 'critical' }, 3],
    [2, { severity: 'major' }, 2],
    [4, { severity: 'critical' }, 2],
  ])('of a plan in round %i, with a finding that is %j: %i questions', async (iteration, given, questions) => {
    const thread = { id: '0199a213-81c0-7800-8aa1-bbab2a035a53', used: null, replaced: null }
    const says = { verdict: 'CHANGES_REQUIRED' as const, findings: [finding('It is lost.', given)] }
    const done = await reviewWith({
      request: { type: 'plan', content: '# P\n', iteration, thread: { kind: 'resume', ...thread } },
      maxIterations: null,
      backends: { codex: [{ says: { ...says, complexity: { risk_area_count: 4, files_affected: 9 } }, thread }] },
    })
    expect(done.asked).toHaveLength(questions)
  })

  it.each<Verdict>(['APPROVED', 'CHANGES_REQUIRED', 'DECISION_NEEDED'])('%s is reported unchanged', async (verdict) => {
    const result = resultOf(await reviewWith({ backends: { codex: [{ says: { verdict, question: 'Which?' } }] } }))
    expect(result).toMatchObject({ verdict, is_optimal: verdict === 'APPROVED', question: 'Which?' })
  })

  it('numbers its findings on from those before', async () => {
    const earlier = [earlierFinding('F2', { problem: 'The lock is never released.' })]
    const done = await reviewWith({
      request: { earlier, lastId: 4, iteration: 2 },
      backends: {
        codex: [
          {
            says: {
              verdict: 'CHANGES_REQUIRED',
              findings: [finding('Still the lock.', { id: 'F2' }), finding('Something new altogether.')],
              previous_findings: [{ id: 'F2', status: 'not_fixed', reason: 'It is still there.' }],
            },
          },
        ],
      },
    })
    expect(done.outcome).toMatchObject({ lastId: 5, earlier })
    expect(resultOf(done)).toMatchObject({
      iteration: 2,
      findings: [{ id: 'F2' }, { id: 'F5' }],
      previous_findings: [{ id: 'F2', status: 'not_fixed' }],
    })
  })
})

describe('who is asked', () => {
  it('the next row, where one fails; what each was is traced', async () => {
    const done = await reviewWith({ backends: { codex: [{ fails: 'auth' }] } })
    expect(does(done)).toEqual(['codex plan 1/3', 'curl combined 1/1'])
    expect(resultOf(done).pass_metadata).toMatchObject({
      route: 'curl',
      model: 'gpt-5.2-codex',
      reasoning_mode: 'single-pass',
      complexity: null,
    })
    expect(traces(done)).toEqual([
      '[route-table] using the default routes because no routes of your own count here',
      expect.stringContaining('route 1: backend=hounfour'),
      expect.stringContaining('route 2: backend=codex'),
      expect.stringContaining('route 3: backend=curl'),
      '[route-table] skipping backend=hounfour, conditions=[flatline_routing_enabled, model_invoke_available], why=hounfour.flatline_routing is not true',
      '[route-table] trying backend=codex, conditions=[codex_available], result=pending',
      '[route-table] trying backend=codex, conditions=[codex_available], result=fail (auth)',
      '[route-table] trying backend=curl, conditions=[always], result=pending',
      '[route-table] trying backend=curl, conditions=[always], result=success',
    ])
    expect(resultOf(done).notices).toEqual([
      'The row for curl lacks the capability multi_pass, so there is a single pass.',
    ])
  })

  it('a row serves with a verdict only: two passes without one, and the next row is asked', async () => {
    const done = await reviewWith({
      request: large,
      backends: { codex: [{ says: {} }, { writes: 'It is all very good.' }] },
    })
    expect(does(done)).toEqual(['codex plan 1/3', 'codex review 2/3', 'codex review 2/3', 'curl combined 1/1'])
    expect(resultOf(done).pass_metadata?.passes_completed).toBe(1)
  })

  it.each(failureClasses.filter((failure) => failure !== 'cancelled'))('no verdict: %s', async (failure) => {
    const codes = { 'not-installed': 2, auth: 4, timeout: 3, malformed: 5 } as const
    const done = await reviewWith({ yaml: curlOnly, backends: { curl: [{ fails: failure }] } })
    expect(failureIn(done)).toMatchObject({
      failure,
      exitCode: failure in codes ? codes[failure as keyof typeof codes] : 1,
      why: `It was ${failure}.`,
      nextStep: `Fix ${failure}.`,
    })
  })

  it('no reviewer is available', async () => {
    const done = await reviewWith({
      yaml: 'review: {routes: [{backend: codex, when: [codex_available], fail_mode: hard_fail}]}\n',
      machine: { codex: false },
    })
    expect(done.asked).toEqual([])
    expect(failureIn(done)).toMatchObject({ exitCode: 2, why: expect.stringContaining('`codex` is not on PATH') })
  })

  it('prose is no verdict', async () => {
    const done = await reviewWith({
      yaml: curlOnly,
      backends: { curl: [{ writes: 'APPROVED. I have no objections.' }] },
    })
    expect(failureIn(done)).toMatchObject({ exitCode: 5, failure: 'malformed' })
  })

  it('stopped by who waits: no row is tried any more, and there is no verdict', async () => {
    for (const abortAt of [1, 2, 3]) {
      const done = await reviewWith({ request: large, abortAt })
      expect(done.asked).toHaveLength(abortAt)
      expect(failureIn(done)).toMatchObject({ failure: 'cancelled', exitCode: 1 })
    }
  })

  it('when all of the time is gone, no reviewer', async () => {
    const done = await reviewWith({
      request: { totalMs: 300_000 },
      backends: { codex: [{ fails: 'timeout', tookMs: 300_000 }] },
    })
    expect(done.asked.map(({ backend }) => backend)).toEqual(['codex'])
    expect(failureIn(done)).toMatchObject({
      failure: 'timeout',
      exitCode: 3,
      why: expect.stringContaining('It was timeout.'),
    })
  })

  it('no longer than there is time, and than the row says', async () => {
    const timeouts = async (scenario: Scenario): Promise<number[]> =>
      (await reviewWith(scenario)).asked.map(({ question }) => question.timeoutMs)
    expect(await timeouts({})).toEqual([300_000])
    expect(await timeouts({ request: { totalMs: 50_000 } })).toEqual([50_000])
    expect(
      await timeouts({
        yaml: 'review: {routes: [{backend: codex, when: [always], timeout: 7, fail_mode: hard_fail}]}\n',
      }),
    ).toEqual([7_000])
  })

  it('again, where the row allows it', async () => {
    const done = await reviewWith({
      yaml: curlOnly,
      backends: { curl: [{ fails: 'server' }, { fails: 'server' }, { says: {} }] },
    })
    expect(done.asked).toHaveLength(3)
    expect(resultOf(done).verdict).toBe('APPROVED')
    expect(done.events).toContainEqual({ kind: 'sign', text: 'curl: server; asked again after 1 s (1 of 3).' })
  })
})

describe('how it is asked', () => {
  it('with these efforts and forms, and never on a thread to verify', async () => {
    const thread: Thread = { kind: 'start' }
    const after = { thread: { id: 'T', used: null, replaced: null } }
    const done = await reviewWith({ request: { ...large, thread }, backends: { codex: [{ says: {}, ...after }] } })
    const fast = await reviewWith({ request: { ...large, thread, fast: true } })
    expect(
      [...done.asked, ...fast.asked].map(({ question: { effort, schema, thread } }) => [effort, schema, thread.kind]),
    ).toEqual([
      ['high', reviewerAnswerSchema, 'start'],
      ['high', reviewerAnswerSchema, 'resume'],
      ['high', reviewerAnswerSchema, 'none'],
      ['high', reviewerAnswerSchema, 'start'],
    ])
  })

  it('with more effort for understanding and verifying what is complex', async () => {
    const done = await reviewWith({ request: { content: diffOf(['src/auth/login.ts'], 10) } })
    expect(done.asked.map(({ question }) => question.effort)).toEqual(['xhigh', 'high', 'xhigh'])
  })

  it.each<[string, string, readonly (string | null)[]]>([
    ['', 'codex', [null, 'gpt-5.2-codex', 'gpt-5.2', 'gpt-5.2', 'gpt-5.2']],
    [curlOnly, 'curl', ['gpt-5.2', 'gpt-5.2-codex', 'gpt-5.2', 'gpt-5.2', 'gpt-5.2']],
    ['review: {models: {plan: p, code: c, documents: d}}\n', 'codex', ['p', 'c', 'd', 'd', 'd']],
  ])('%j, by %s: which model for which type', async (yaml, _, models) => {
    const asked = await Promise.all(
      reviewTypes.map((type) => reviewWith({ yaml, request: { type, content: '# It\n' } })),
    )
    expect(asked.map((done) => done.asked[0]?.question.model)).toEqual(models)
    expect(asked.map((done) => resultOf(done).pass_metadata?.model)).toEqual(models)
  })

  it.each<[string, Scenario]>([
    ['--fast', { request: { ...large, fast: true } }],
    ['review.fast', { request: large, yaml: 'review: {fast: true}\n' }],
    ['single-pass', { request: large, yaml: 'review: {reasoning_mode: single-pass}\n' }],
  ])('%s: once', async (_, scenario) => {
    const done = await reviewWith(scenario)
    expect(does(done)).toEqual(['codex combined 1/1'])
    expect(resultOf(done)).toMatchObject({
      verification: null,
      notices: [],
      pass_metadata: { reasoning_mode: 'single-pass' },
    })
  })

  it('adaptive: false → three passes for every complexity', async () => {
    expect((await reviewWith({ yaml: 'review: {multipass: {adaptive: false}}\n' })).asked).toHaveLength(3)
  })

  it('with the files of the repository only where the row can look into it', async () => {
    const request = { root: '/repo' }
    const codex = await reviewWith({ request })
    expect(codex.asked[0]?.question.root).toBe('/repo')
    expect(prompts(codex)[0]).toContain('You stand in the repository')
    const curl = await reviewWith({ request, yaml: curlOnly })
    expect(curl.asked[0]?.question.root).toBeNull()
    expect(prompts(curl)[0]).toContain('You have no repository')
    expect(resultOf(curl).notices).toContain(
      'The row for curl lacks the capability tool_access, so the reviewer sees only what it is sent.',
    )
  })

  it('what is handed over, and what it is for a backend without a model', async () => {
    const done = await reviewWith({
      request: {
        type: 'sdd',
        content: '# Design\n',
        expertise: 'You know queues.',
        context: 'The shop.',
        changes: '+new',
        earlier: [earlierFinding('F1', { problem: 'It was wrong.' })],
      },
    })
    const [prompt = ''] = prompts(done)
    for (const part of ['# Design', 'You know queues.', 'The shop.', '+new', 'It was wrong.', ' earlier findings\n'])
      expect(prompt).toContain(part)
    expect(done.asked[0]?.question.subject).toEqual({ type: 'sdd', content: '# Design\n' })
  })
})

describe('what is kept', () => {
  it('each pass in its order, also one that failed', async () => {
    const done = await reviewWith({
      request: large,
      backends: {
        codex: [
          { writes: 'Let me think about that.', usage: null },
          { fails: 'server', tookMs: 2_000 },
          { says: { summary: 'Second.' } },
          { fails: 'quota' },
        ],
      },
    })
    const second = JSON.stringify({ ...answer({ summary: 'Second.' }), is_optimal: true })
    expect(done.passes).toEqual([
      {
        pass: 1,
        does: 'plan',
        backend: 'codex',
        outcome: 'malformed',
        why: expect.stringContaining('no JSON object'),
        duration_ms: 1_000,
        effort: 'high',
        tokens: null,
        answer: 'Let me think about that.',
      },
      {
        pass: 2,
        does: 'review',
        backend: 'codex',
        outcome: 'server',
        why: 'It was server.',
        duration_ms: 2_000,
        effort: 'high',
        tokens: null,
        answer: null,
      },
      {
        pass: 2,
        does: 'review',
        backend: 'codex',
        outcome: 'valid',
        why: null,
        duration_ms: 1_000,
        effort: 'high',
        tokens: 120,
        answer: expect.any(String),
      },
      expect.objectContaining({ pass: 3, does: 'verify', outcome: 'quota', answer: null }),
    ])
    const kept = JSON.parse(done.passes[2]?.answer ?? '') as object
    expect(kept).toMatchObject({ ...JSON.parse(second), complexity: expect.anything() })
    expect(resultOf(done)).toMatchObject({
      summary: 'Second.',
      verification: 'skipped',
      notices: [
        'The second pass failed (It was server.), so it is asked once more.',
        'The findings were not verified: It was quota.',
      ],
    })
  })

  it('the thread, as soon as there is one, and for the rest of the review', async () => {
    const used = { input: 10, cached: 0, output: 1, reasoning: 0 }
    const left = (id: string, replaced: { was: string; why: string } | null = null) => ({ id, used, replaced })
    const done = await reviewWith({
      request: { ...large, thread: { kind: 'resume', id: 'OLD', used: null } },
      backends: {
        codex: [
          { fails: 'timeout', thread: left('NEW', { was: 'OLD', why: 'It is gone.' }) },
          { says: {}, thread: left('NEW') },
        ],
      },
    })
    expect(done.threads).toEqual([left('NEW', { was: 'OLD', why: 'It is gone.' }), left('NEW')])
    expect(done.asked.map(({ question }) => question.thread)).toEqual([
      { kind: 'resume', id: 'OLD', used: null },
      { kind: 'resume', id: 'NEW', used },
    ])
  })

  it('what a backend did otherwise than asked for', async () => {
    const done = await reviewWith({ backends: { codex: [{ says: {}, notices: ['Effort xhigh was left out.'] }] } })
    expect(resultOf(done).notices).toEqual(['Effort xhigh was left out.'])
    expect(done.events).toContainEqual({ kind: 'notice', text: 'Effort xhigh was left out.' })
  })

  it('a notice that comes twice, once', async () => {
    const said: Said = { says: {}, notices: ['Again.'] }
    const done = await reviewWith({ request: large, backends: { codex: [said, said, said] } })
    expect(resultOf(done).notices).toEqual(['Again.'])
    expect(done.events.filter(({ kind }) => kind === 'notice')).toHaveLength(1)
  })
})

describe('what needs no reviewer', () => {
  it.each<[string, NonNullable<Scenario['request']>, string]>([
    ['review: {enabled: false}', {}, 'review.enabled'],
    ['review: {phases: {implementation: false}}', { type: 'code' }, 'review.phases.implementation'],
    ['review: {phases: {plan: false}}', { type: 'plan' }, 'review.phases.plan'],
    ['review: {phases: {prd: false}}', { type: 'prd' }, 'review.phases.prd'],
    ['review: {phases: {sdd: false}}', { type: 'sdd' }, 'review.phases.sdd'],
    ['review: {phases: {sprint: false}}', { type: 'sprint', iteration: 99 }, 'review.phases.sprint'],
  ])('%s', async (yaml, request, key) => {
    const done = await reviewWith({ yaml, request, redact: () => ({ kind: 'failed', why: 'not asked for' }) })
    expect(done.asked).toEqual([])
    expect(resultOf(done)).toMatchObject({
      verdict: 'SKIPPED',
      is_optimal: false,
      summary: expect.stringContaining(key),
      findings: [],
    })
    expect(resultOf(done).pass_metadata).toBeUndefined()
  })

  it('the other phases go on', async () => {
    const yaml = 'review: {phases: {plan: false, prd: false, sdd: false, sprint: false}}\n'
    expect(resultOf(await reviewWith({ yaml })).verdict).toBe('APPROVED')
  })

  it.each<[number, number | null, number]>([
    [3, 3, 1],
    [4, 3, 0],
    [1000, null, 1],
    [2, 1, 0],
  ])('iteration %i of at most %s: asked %i times', async (iteration, maxIterations, times) => {
    expect((await reviewWith({ request: { iteration }, maxIterations })).asked).toHaveLength(times)
  })

  it('past the limit it is the user who decides about what is open', async () => {
    const earlier = [earlierFinding('F3', { problem: 'It is wrong.' }), earlierFinding('F7', { severity: 'minor' })]
    const done = await reviewWith({ request: { iteration: 4, earlier, lastId: 7 } })
    expect(done.outcome).toMatchObject({ lastId: 7 })
    expect(resultOf(done)).toMatchObject({
      verdict: 'DECISION_NEEDED',
      is_optimal: false,
      iteration: 4,
      findings: earlier,
      question:
        'These points are still open. Accept them, or resolve them yourself?\n' +
        '- F3 (major, Approach): It is wrong.\n- F7 (minor, Approach): Problem F7.',
    })
    const unknown = await reviewWith({ request: { iteration: 4 } })
    expect(resultOf(unknown)).toMatchObject({
      verdict: 'DECISION_NEEDED',
      question: expect.stringContaining('--previous'),
    })
  })
})

describe('budgets', () => {
  const words = (count: number, word: string): string => `${word} `.repeat(count)

  it('2 MB of content are cut to what the reviewer can read, and that is said', async () => {
    const content = diffOf(['src/a.ts', 'src/b.ts'], 90_000)
    expect(content.length).toBeGreaterThan(2_000_000)
    const done = await reviewWith({ request: { content } })
    const sizes = prompts(done).map((prompt) => prompt.length / 4)
    for (const size of sizes) expect(size).toBeLessThan(35_000)
    expect(Math.max(...sizes)).toBeGreaterThan(25_000)
    expect(prompts(done).every((prompt) => prompt.includes('src/b.ts +45000 -0'))).toBe(true)
    expect(resultOf(done).notices).toEqual([
      expect.stringMatching(/^The content is longer than its budget of 30000 tokens: /),
    ])
  })

  it('a plan is never cut', async () => {
    const content = `# P\n\n## Goal\n\n${words(40_000, 'goal')}\n\n## Changes\n\n- \`a.ts\`: x\n\n## Risks\n\n${words(40_000, 'risk')}\n`
    const done = await reviewWith({ request: { type: 'plan', content } })
    for (const prompt of prompts(done)) expect(prompt).toContain(content)
    expect(resultOf(done).notices).toEqual([])
  })

  it('of 200 long findings the gravest are handed over whole, and none is left out', async () => {
    const earlier = Array.from({ length: 200 }, (_, n) =>
      earlierFinding(`F${n + 1}`, { severity: n % 40 === 39 ? 'critical' : 'minor', problem: words(600, `p${n}`) }),
    )
    const done = await reviewWith({ request: { type: 'plan', content: '# P\n', earlier } })
    const [prompt = ''] = prompts(done)
    expect(prompt.length).toBeLessThan(150_000)
    for (const { id, severity, problem } of earlier) {
      expect(prompt).toContain(`"id":"${id}"`)
      if (severity === 'critical') expect(prompt).toContain(problem)
    }
    expect(resultOf(done).notices).toContainEqual(
      expect.stringMatching(
        /^The earlier findings are longer than their budget of \d+ tokens: \d+ of 200 are shortened\.$/,
      ),
    )
  })

  it.each<[string, boolean, readonly (readonly number[])[]]>([
    [
      'each part has its own',
      false,
      [
        [20_000, 4_000, 6_000, 6_000, 0],
        [20_000, 4_000, 6_000, 6_000, 0],
        [20_000, 4_000, 6_000, 6_000, 6_000],
      ],
    ],
    [
      'a complex review has larger ones',
      true,
      [
        [20_000, 4_000, 6_000, 6_000, 0],
        [30_000, 4_000, 6_000, 6_000, 4_000],
        [30_000, 4_000, 6_000, 6_000, 10_000],
      ],
    ],
  ])('%s', async (_, isComplex, limits) => {
    const findings = Array.from({ length: 60 }, (_, i) => finding(`${i}: ${words(200, 'zyx')}`))
    const done = await reviewWith({
      request: {
        content: words(40_000, 'abc'),
        expertise: words(9_000, 'def'),
        context: words(9_000, 'ghi'),
        changes: words(9_000, 'jkl'),
      },
      backends: {
        codex: [
          { says: { complexity: { risk_area_count: 4, files_affected: 1 }, findings: isComplex ? findings : [] } },
          { says: { findings } },
        ],
      },
    })
    expect(done.asked).toHaveLength(3)
    for (const [pass, prompt] of prompts(done).entries())
      for (const [part, word] of ['abc', 'def', 'ghi', 'jkl', 'zyx'].entries()) {
        // Four letters are a token here.
        const count = prompt.split(`${word} `).length - 1
        const limit = limits[pass]?.[part] ?? 0
        expect([pass, word, count <= limit, count >= limit * 0.5]).toEqual([pass, word, true, true])
      }
  })

  it('what stays within them is handed over whole, without a tokenizer', async () => {
    const tokenizer = () => Promise.reject(new Error('not asked for'))
    const done = await reviewWith({ tokenizer, request: { content: 'x'.repeat(19_000), context: 'y'.repeat(5_000) } })
    expect(prompts(done)[0]).toContain('x'.repeat(19_000))
    expect(resultOf(done).notices).toEqual([])
  })

  it('are those of the configuration', async () => {
    const yaml = 'review: {multipass: {budgets: {pass2_input: 100}}}\n'
    const done = await reviewWith({ yaml, request: { content: words(500, 'abc') } })
    expect(prompts(done)[0]?.split('abc ').length).toBeLessThan(102)
  })
})
