import { describe, expect, it, vi } from 'vitest'
import { gather } from '../../../src/review/readers.ts'
import { settleReview } from '../../../src/review/settle.ts'
import type { ReviewerAnswer } from '../../../src/schemas/review.ts'
import { tableOf } from '../reviewers/routes/run-with.ts'
import { failureIn, type Reviewed, resultOf, reviewWith, type Said, type Scenario } from './review-with.ts'
import { finding } from './reviewer-answers.ts'

const rows = `
  routes:
    - {backend: codex, when: [always]}
    - {backend: claude, when: [claude_available], price: {input: 10, output: 100}}
    - {backend: curl, name: local, when: [always], model: m, base_url: 'http://127.0.0.1:1/v1'}
`
const three = `review:\n  readers: [codex, claude, local]${rows}`
const approve: Said = { says: {} }
const simple = { complexity: { risk_area_count: 0, files_affected: 1 } }
const refuse = (...findings: ReviewerAnswer['findings'][number][]): Said => ({
  says: { ...simple, verdict: 'CHANGES_REQUIRED', summary: 'It is not sound.', findings },
})
const lost = finding('The rows that were written before are lost.', { section: 'Approach' })
const open = finding('Nobody checks who asks.', { section: 'Changes' })

const plan: Scenario['request'] = {
  type: 'plan',
  content: '# P\n\n## Approach\nOne.\n\n## Changes\n- `src/app.ts`: two.\n',
}
const review = (backends: NonNullable<Scenario['backends']>, more: Scenario = {}): Promise<Reviewed> =>
  reviewWith({ yaml: three, request: plan, ...more, backends })

const asked = ({ asked }: Reviewed): string[] => asked.map(({ backend, question }) => `${backend} ${passOf(question)}`)
const passOf = ({ user }: { readonly user: string }): string => /## This pass: (\w+)/.exec(user)?.[1] ?? '?'
const readers = (done: Reviewed) =>
  (resultOf(done).pass_metadata?.readers ?? []).map(({ name, verdict }) => `${name} ${verdict}`).sort()

describe('several readers', () => {
  it('who all approve, approve; each is asked once', async () => {
    const done = await review({ codex: [approve], claude: [approve], local: [approve] })
    expect(resultOf(done).verdict).toBe('APPROVED')
    expect(asked(done).sort()).toEqual(['claude find', 'codex understand', 'local find'])
    expect(readers(done)).toEqual(['claude APPROVED', 'codex APPROVED', 'local APPROVED'])
  })

  it('what one of three has found holds the plan, with its source, though the verification dropped it', async () => {
    const done = await review({ codex: [approve], claude: [refuse(lost)], local: [approve] })
    const { verdict, findings } = resultOf(done)
    expect(verdict).toBe('CHANGES_REQUIRED')
    expect(findings).toMatchObject([{ id: 'F1', problem: lost.problem, sources: ['claude'] }])
    expect(asked(done).slice(3)).toEqual(['codex verify', 'claude verify'])
    expect(readers(done)).toEqual(['claude CHANGES_REQUIRED', 'codex APPROVED', 'local APPROVED'])
  })

  it('it is withdrawn when its own row, asked afresh, drops it as well', async () => {
    const done = await review({ codex: [approve], claude: [refuse(lost), approve], local: [approve] })
    expect(resultOf(done)).toMatchObject({ verdict: 'APPROVED', findings: [] })
  })

  it.each([
    ['calls it minor', { ...lost, id: 'N1', severity: 'minor' as const }],
    ['answers about another one under its id', { ...open, id: 'N1', severity: 'advice' as const }],
  ])('it holds though the verification %s', async (_, verified) => {
    const said: Said = { says: { ...simple, findings: [verified] } }
    const done = await review({ codex: [approve, said], claude: [refuse({ ...lost, id: 'N1' })], local: [approve] })
    expect(resultOf(done).verdict).toBe('CHANGES_REQUIRED')
    expect(resultOf(done).findings).toContainEqual(
      expect.objectContaining({ ...lost, id: expect.stringMatching(/^F[12]$/), sources: ['claude'] }),
    )
  })

  it('a row that cannot be asked again keeps what it has found', async () => {
    const done = await review({ codex: [approve], claude: [refuse(lost), { fails: 'quota' }], local: [approve] })
    expect(resultOf(done)).toMatchObject({ verdict: 'CHANGES_REQUIRED', findings: [{ sources: ['claude'] }] })
  })

  it('the same problem in the same place is one finding of both, and of the graver severity', async () => {
    const same = finding('All rows that were written before are lost.', {
      section: '## Approach',
      severity: 'critical',
    })
    const done = await review({ codex: [refuse(lost)], claude: [refuse(same, open)], local: [approve] })
    expect(
      resultOf(done).findings.map(({ severity, section, sources }) => [severity, section, sources?.toSorted()]),
    ).toEqual([
      ['critical', 'Approach', ['claude', 'codex']],
      ['major', 'Changes', ['claude']],
    ])
  })

  it('two of one reader that are worded alike stay two', async () => {
    const twin = finding('The rows that were read twice are lost.', { section: 'Approach' })
    const done = await review({ codex: [approve], claude: [refuse(lost, twin)], local: [approve] })
    expect(resultOf(done).findings).toHaveLength(2)
  })

  it('changes that one requires without a finding, twice, become one', async () => {
    const done = await review({ codex: [approve], claude: [refuse()], local: [approve] })
    expect(resultOf(done)).toMatchObject({
      verdict: 'CHANGES_REQUIRED',
      findings: [{ severity: 'major', problem: 'It is not sound.', sources: ['claude'] }],
    })
  })

  it('a question of one of them goes to the user', async () => {
    const asks: Said = { says: { ...simple, verdict: 'DECISION_NEEDED', question: 'Which of the two?' } }
    const done = await review({ codex: [approve], claude: [asks], local: [approve] })
    expect(resultOf(done)).toMatchObject({ verdict: 'DECISION_NEEDED', question: 'Which of the two?' })
  })

  it('a question of one is told though another requires changes', async () => {
    const asks: Said = { says: { ...simple, verdict: 'DECISION_NEEDED', question: 'Which of the two?' } }
    const done = await review({ codex: [refuse(open)], claude: [asks], local: [approve] })
    expect(resultOf(done).verdict).toBe('CHANGES_REQUIRED')
    expect(resultOf(done).notices).toContain('The reader claude asks the user: Which of the two?')
  })

  it('one that ends after the review changes nothing of it', async () => {
    const done = await review({ codex: [approve], claude: [approve], local: [{ hangs: true, lateMs: 50 }] })
    const [passes, events] = [done.passes.length, done.events.length]
    await vi.waitFor(() => expect(done.stopped).toEqual(['local']))
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect([done.passes.length, done.events.length]).toEqual([passes, events])
    expect(done.passes.map(({ backend }) => backend)).not.toContain('local')
  })

  it('one that fails is said, and holds nobody up', async () => {
    const done = await review({ codex: [approve], claude: [{ fails: 'auth', why: 'No login.' }], local: [approve] })
    const { verdict, notices, pass_metadata } = resultOf(done)
    expect(verdict).toBe('APPROVED')
    expect(notices).toContain('The reader claude has not answered: No login.')
    expect(pass_metadata?.readers).toContainEqual({ name: 'claude', model: null, verdict: null, why: 'No login.' })
    expect(pass_metadata).toMatchObject({ calls: 3, failed_calls: 1 })
  })

  it('so is one whose conditions do not hold', async () => {
    const done = await review({ codex: [approve], local: [approve] }, { machine: { claude: false } })
    expect(resultOf(done).notices).toContain('The reader claude was not asked: `claude` is not on PATH.')
  })

  it('another leads where the first row fails, and the record says so', async () => {
    const done = await review({ codex: [{ fails: 'auth' }], claude: [refuse(lost)], local: [approve] })
    expect(asked(done)).toEqual([
      ...['codex understand', 'claude find', 'local find'],
      // What holds a plan up in its first round is verified twice.
      ...['claude verify', 'claude verify'],
    ])
    expect(resultOf(done)).toMatchObject({ verdict: 'CHANGES_REQUIRED', pass_metadata: { route: 'claude' } })
  })

  it('nobody answers: a failure, with that of the first', async () => {
    const down: Said[] = [{ fails: 'auth' }]
    const done = await review(
      { codex: down, claude: down, local: down },
      { yaml: three.replace('always]}', 'always], fail_mode: hard_fail}') },
    )
    expect(failureIn(done).failure).toBe('auth')
  })

  it('later rounds and a reviewer alone are as ever', async () => {
    const backends = { codex: [approve], claude: [approve], local: [approve] }
    const second = await review(backends, { request: { ...plan, iteration: 2, thread: { kind: 'none' } } })
    const alone = await review(backends, { yaml: `review:${rows}` })
    expect([second, alone].map((done) => new Set(done.asked.map(({ backend }) => backend)))).toEqual([
      new Set(['codex']),
      new Set(['codex']),
    ])
    expect(resultOf(alone).pass_metadata).not.toHaveProperty('readers')
  })

  it('a number: so many readers of the row that serves, none of which is outvoted either', async () => {
    const yaml = `review:\n  readers: 3${rows}`
    const done = await review({ codex: [approve, refuse(lost), approve, approve] }, { yaml })
    expect(asked(done)).toEqual(['codex understand', 'codex find', 'codex find', 'codex verify', 'codex verify'])
    expect(resultOf(done)).toMatchObject({ verdict: 'APPROVED', findings: [] })
    expect(readers(done)).toEqual(['codex 2 APPROVED', 'codex 3 APPROVED', 'codex APPROVED'])
    const held = await review({ codex: [approve, refuse(lost), approve, approve, refuse(lost)] }, { yaml })
    expect(resultOf(held)).toMatchObject({ verdict: 'CHANGES_REQUIRED', findings: [{ sources: ['codex 2'] }] })
  })

  it.each<[string, NonNullable<Scenario['request']>]>([
    ['with --fast', { ...plan, fast: true }],
    ['with several passes', plan],
  ])(
    '%s a question and a refusal without a finding count of a further reader of the same row, too',
    async (_, request) => {
      const yaml = `review:\n  readers: 2${rows}`
      const asks: Said = { says: { ...simple, verdict: 'DECISION_NEEDED', question: 'Which of the two?' } }
      const decision = await review({ codex: [approve, asks, approve, asks] }, { yaml, request })
      expect(resultOf(decision)).toMatchObject({ verdict: 'DECISION_NEEDED', question: 'Which of the two?' })
      const refusal = await review({ codex: [approve, refuse(), approve, refuse()] }, { yaml, request })
      expect(resultOf(refusal).verdict).toBe('CHANGES_REQUIRED')
    },
  )

  it('with --fast each is asked once for everything, and what one requires stands', async () => {
    const done = await review(
      { codex: [approve], claude: [refuse(lost)], local: [approve] },
      { request: { ...plan, fast: true } },
    )
    expect(asked(done)).toEqual(['codex everything', 'claude everything', 'local everything'])
    expect(resultOf(done)).toMatchObject({ verdict: 'CHANGES_REQUIRED', findings: [{ sources: ['claude'] }] })
  })

  it('a verification is not told who has found what', async () => {
    const done = await review({ codex: [approve], claude: [refuse(lost)], local: [approve] })
    const verified = done.asked[3]?.question.user ?? ''
    expect(verified).toContain(lost.problem)
    expect(verified).not.toMatch(/sources|claude/)
  })

  it('the cost is told where all prices are known', async () => {
    const done = await review({ claude: [{ ...approve, usage: 1_000 }] }, { yaml: priced })
    // 1,000 tokens at 10 dollars for a million, and 20 at 100.
    expect(resultOf(done).pass_metadata?.cost_usd).toBe(0.012)
    expect(resultOf(await review({ codex: [approve] })).pass_metadata?.cost_usd).toBeNull()
  })

  it.each([
    [
      'a name that is no row',
      `readers: [codex, cluade]${rows}`,
      '"cluade" is no row of this table; there are codex, claude, local.',
    ],
    [
      'a row of a table that does not count',
      'readers: [claude]',
      '"claude" is no row of this table; there are hounfour, codex, curl.',
    ],
  ])('%s makes the table invalid', (_, yaml, why) => {
    expect(() => tableOf(`review:\n  ${yaml}`)).toThrow(`review.readers: ${why}`)
  })

  it('all of them end with the review', async () => {
    const hangs: Said[] = [{ hangs: true }]
    const done = await review({ codex: [approve], claude: hangs, local: hangs }, { abortAt: 3 })
    expect(failureIn(done).failure).toBe('cancelled')
  })
})

describe('what another reader has found, in the next round', () => {
  const earlier = [{ ...lost, id: 'F1', sources: ['claude'] }]
  const status = (status: 'fixed' | 'withdrawn' | 'not_fixed'): Said => ({
    says: { ...simple, previous_findings: [{ id: 'F1', status, reason: 'It was looked at again and again.' }] },
  })
  const next = (backends: NonNullable<Scenario['backends']>): Promise<Reviewed> =>
    review(backends, { request: { ...plan, iteration: 2, earlier, lastId: 1, settle: settleReview(false) } })

  it.each<[string, Said, Said, string]>([
    ['fixed, says the row that serves, and so says its own', status('fixed'), status('fixed'), 'APPROVED'],
    ['fixed, and its own says no', status('fixed'), status('not_fixed'), 'CHANGES_REQUIRED'],
    ['withdrawn, and its own says no', status('withdrawn'), status('not_fixed'), 'CHANGES_REQUIRED'],
    ['fixed, and its own says nothing of it', status('fixed'), approve, 'CHANGES_REQUIRED'],
    ['fixed, and its own reports it again', status('fixed'), refuse({ ...lost, id: 'F1' }), 'CHANGES_REQUIRED'],
    ['withdrawn by both', status('withdrawn'), status('withdrawn'), 'APPROVED'],
    ['fixed, and its own cannot be asked', status('fixed'), { fails: 'quota' }, 'APPROVED'],
    ['withdrawn, and its own cannot be asked', status('withdrawn'), { fails: 'quota' }, 'CHANGES_REQUIRED'],
  ])('%s', async (_, served, own, verdict) => {
    const done = await next({ codex: [served], claude: [own], local: [approve] })
    expect(resultOf(done).verdict).toBe(verdict)
    expect(asked(done).filter((one) => one.startsWith('claude'))).toHaveLength(1)
    if (verdict !== 'APPROVED') expect(resultOf(done).findings).toMatchObject([{ id: 'F1', sources: ['claude'] }])
  })

  it('its own is asked as well when the row that serves closes it only in answer to a second question', async () => {
    const backends = { codex: [approve, status('withdrawn')], claude: [status('not_fixed')], local: [approve] }
    const done = await next(backends)
    expect(done.asked.map(({ backend }) => backend)).toEqual(['codex', 'codex', 'claude'])
    expect(resultOf(done)).toMatchObject({ verdict: 'CHANGES_REQUIRED', findings: [{ id: 'F1', sources: ['claude'] }] })
  })

  it('is not asked about while it is open, and stays its own when it is repeated', async () => {
    const repeats: Said = {
      says: { ...simple, verdict: 'CHANGES_REQUIRED', findings: [{ ...lost, id: 'F1' }], previous_findings: [] },
    }
    const done = await next({ codex: [repeats], claude: [approve], local: [approve] })
    expect(asked(done).filter((one) => one.startsWith('claude'))).toEqual([])
    expect(resultOf(done).findings).toMatchObject([{ id: 'F1', sources: ['claude'] }])
    expect(done.asked[0]?.question.user).not.toContain('sources')
  })
})

const priced = 'review:\n  routes:\n    - {backend: claude, when: [always], price: {input: 10, output: 100}}\n'

describe('a second opinion', () => {
  const opinion = (when: string, backends: NonNullable<Scenario['backends']>) =>
    review(backends, { yaml: `review:\n  second_opinion: ${when}${rows}`, request: { ...plan, iteration: 2 } })
  const many = { complexity: { risk_area_count: 9, files_affected: 9 } }
  const found = (...findings: ReviewerAnswer['findings'][number][]): Said => ({
    says: { ...many, verdict: findings.length > 0 ? 'CHANGES_REQUIRED' : 'APPROVED', findings },
  })
  const critical = { ...lost, severity: 'critical' as const }

  it.each<[string, string, Scenario['backends'], readonly string[], readonly string[]]>([
    ['never', 'never', { codex: [found(lost), found(lost), found()] }, [], []],
    [
      'the verification drops what another row holds',
      'on-disagreement',
      { codex: [found(lost), found(lost), found()], claude: [found(lost)] },
      ['claude verify'],
      [lost.problem],
    ],
    [
      'both drop it',
      'on-disagreement',
      { codex: [found(lost), found(lost), found()], claude: [found()] },
      ['claude verify'],
      [],
    ],
    ['nothing is dropped', 'on-disagreement', { codex: [found(lost)], claude: [found()] }, [], [lost.problem]],
    [
      'what is critical is verified by another row, which cannot take it away',
      'on-critical',
      { codex: [found(critical)], claude: [found()] },
      ['claude verify'],
      [lost.problem],
    ],
    [
      'what is critical and was dropped comes back',
      'on-critical',
      { codex: [found(critical), found(critical), found()], claude: [found(critical)] },
      ['claude verify'],
      [lost.problem],
    ],
    [
      'and what is major is not verified by another',
      'on-critical',
      { codex: [found(open), found(open), found()], claude: [found(open)] },
      [],
      [],
    ],
    [
      'it fails: the verification stands',
      'on-disagreement',
      { codex: [found(lost), found(lost), found()], claude: [{ fails: 'quota' }] },
      ['claude verify'],
      [],
    ],
  ])('%s', async (_, when, backends, expected, left) => {
    const done = await opinion(when, backends ?? {})
    expect(asked(done).filter((one) => one.startsWith('claude'))).toEqual(expected)
    const { verdict, findings } = resultOf(done)
    expect(findings.map(({ problem }) => problem)).toEqual(left)
    expect(verdict).toBe(left.length > 0 ? 'CHANGES_REQUIRED' : 'APPROVED')
  })

  it('it makes no approval of a refusal or of a question', async () => {
    const asks: Said = { says: { ...many, verdict: 'DECISION_NEEDED', question: 'Which?', findings: [critical] } }
    expect(resultOf(await opinion('on-critical', { codex: [asks], claude: [found()] }))).toMatchObject({
      verdict: 'DECISION_NEEDED',
      question: 'Which?',
    })
  })

  it('where there is no other row, that is said', async () => {
    const done = await reviewWith({ yaml: 'review: {second_opinion: on-critical}', machine: { openAiKey: true } })
    expect(resultOf(done).notices).not.toContain('There is no other row for a second opinion (review.second_opinion).')
    const alone = await reviewWith({
      yaml: 'review: {second_opinion: on-critical, routes: [{backend: codex, when: [always]}]}',
    })
    expect(resultOf(alone).notices).toContain('There is no other row for a second opinion (review.second_opinion).')
  })
})

describe('who is waited for', () => {
  const given = (ms: number | null, text: string, expectedMs: number | null = null) => {
    let stop = (): void => {}
    const answer = new Promise<string>((resolve) => {
      if (ms !== null) setTimeout(resolve, ms, text)
      stop = () => resolve('stopped')
    })
    return { answer, stop, expectedMs }
  }
  const timed = async (...all: ReturnType<typeof given>[]) => {
    const start = performance.now()
    const answers = await gather(all, (one) => one !== 'failed')
    return { answers, ms: performance.now() - start }
  }

  it('one of three that hangs is given a twentieth more than the slowest of the others took', async () => {
    const { answers, ms } = await timed(given(100, 'a'), given(1_000, 'b'), given(null, ''))
    expect(answers).toEqual(['a', 'b', null])
    expect(ms / 1_000).toBeGreaterThan(1.03)
    expect(ms / 1_000).toBeLessThan(1.2)
  })

  it('one that usually takes longer gets its time', async () => {
    expect((await timed(given(10, 'a'), given(20, 'b'), given(200, 'c', 5_000))).answers).toEqual(['a', 'b', 'c'])
  })

  it('one of two is waited for, and failures are no answers', async () => {
    expect((await timed(given(10, 'a'), given(200, 'b'))).answers).toEqual(['a', 'b'])
    expect((await timed(given(10, 'a'), given(20, 'failed'), given(200, 'c'))).answers).toEqual(['a', 'failed', 'c'])
  })
})
