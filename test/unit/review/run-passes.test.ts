import { describe, expect, it } from 'vitest'
import { defaultConfig } from '../../../src/config/schema.ts'
import {
  type PassAnswer,
  type PassesOutcome,
  type PassQuestion,
  type PassRules,
  runPasses,
} from '../../../src/review/passes.ts'
import {
  type Complexity,
  type FailureClass,
  failureClasses,
  type ReviewerAnswer,
  type Thread,
} from '../../../src/schemas/review.ts'
import { failureOf } from '../reviewers/routes/failure-of.ts'
import { answer, finding } from './reviewer-answers.ts'

type Pass = Partial<Omit<PassAnswer, 'kind'>> &
  ({ says: Partial<ReviewerAnswer>; text?: string } | { fails: FailureClass } | { malformed: string })

type Setting = Partial<Omit<PassRules, 'measure' | 'multipass'>> & {
  level?: Complexity
  securityPaths?: readonly string[]
  multipass?: Partial<PassRules['multipass']>
  totalMs?: number
}

type Run = { asked: PassQuestion[]; notices: string[]; outcome: PassesOutcome }

const simple = { complexity: { risk_area_count: 0, files_affected: 1 } }
const complex = { complexity: { risk_area_count: 7, files_affected: 9 } }

/** Runs the passes against a script. Each answer takes its `tookMs` of the time there is; one too many questions throws. */
async function run(script: readonly Pass[], setting: Setting = {}): Promise<Run> {
  const { level = 'low', securityPaths = [], multipass, totalMs = 900_000, ...rules } = setting
  const asked: PassQuestion[] = []
  const notices: string[] = []
  let left = totalMs
  const outcome = await runPasses(
    {
      multipass: { ...defaultConfig.review.multipass, ...multipass },
      measure: { level, files: 1, lines: 1, securityPaths },
      single: null,
      thread: { kind: 'none' },
      isUnderstood: false,
      hasSecondReader: false,
      isDoubtful: () => false,
      passTimeoutMs: 300_000,
      ...{ name: 'codex', beside: null, second: null },
      ...rules,
    },
    {
      ask: async (question) => {
        const pass = script[asked.length]
        asked.push(question)
        if (pass === undefined) throw new Error(`asked once too often: ${JSON.stringify(question)}`)
        const { tookMs = 1_000, thread = null, tokens = asked.length * 100 } = pass
        left -= tookMs
        const common = { tookMs, thread, tokens }
        if ('fails' in pass) return { kind: 'failed', ...failureOf(pass.fails), ...common }
        if ('malformed' in pass) return { kind: 'malformed', why: 'It is no verdict.', text: pass.malformed, ...common }
        const said = answer(pass.says)
        return { kind: 'valid', answer: said, text: pass.text ?? JSON.stringify(said), ...common }
      },
      countTokens: async (text) => text.length,
      timeLeftMs: () => left,
      notice: (text) => void notices.push(text),
    },
  )
  return { asked, notices, outcome }
}

const does = ({ asked }: Run): string => asked.map(({ does }) => does).join(' ')
const answered = (outcome: PassesOutcome) => {
  if (outcome.kind !== 'answered') throw new Error(`${outcome.failure}: ${outcome.why}`)
  return outcome
}

const ok: Pass = { says: {} }
const three: readonly Pass[] = [ok, ok, ok]

describe('how deep it goes', () => {
  it.each<[string, readonly Pass[], Setting, string, Complexity | null]>([
    ['counted low, said to be simple', [{ says: simple }], {}, 'plan', 'low'],
    ['counted low, said to be neither', [{ says: { complexity: null } }, ok, ok], {}, 'plan review verify', 'medium'],
    ['counted low, said to be complex', [{ says: complex }, ok, ok], {}, 'plan review verify', 'high'],
    ['counted high, said to be simple', three, { level: 'high' }, 'plan review verify', 'medium'],
    ['counted high, said to be complex', [{ says: complex }, ok, ok], { level: 'high' }, 'plan review verify', 'high'],
    ['counted medium, said to be simple', three, { level: 'medium' }, 'plan review verify', 'medium'],
    [
      'where security is at stake',
      three,
      { level: 'high', securityPaths: ['src/auth.ts'] },
      'plan review verify',
      'high',
    ],
    [
      'simple, but described at length',
      [{ says: simple, text: 'x'.repeat(2001) }, ok, ok],
      {},
      'plan review verify',
      'high',
    ],
    [
      'simple, but described at some length',
      [{ says: simple, text: 'x'.repeat(501) }, ok, ok],
      {},
      'plan review verify',
      'medium',
    ],
    ['adaptive: false', three, { multipass: { adaptive: false } }, 'plan review verify', 'low'],
    ['a first pass without a verdict', [{ malformed: 'simple!' }, ok, ok], {}, 'plan review verify', 'medium'],
    ['--fast', [ok], { single: 'asked for' }, 'combined', null],
  ])('%s', async (_, script, setting, expected, complexity) => {
    const done = await run(script, setting)
    expect(does(done)).toBe(expected)
    expect(answered(done.outcome).complexity).toBe(complexity)
  })

  it('a single pass has no verification, one that was enough neither, three have passed it', async () => {
    const outcomes = [await run([ok], { single: 'x' }), await run([ok]), await run(three, { level: 'medium' })].map(
      ({ outcome }) => answered(outcome),
    )
    expect(outcomes.map(({ verification, mode, tokens }) => ({ verification, mode, tokens }))).toEqual([
      { verification: null, mode: 'single-pass', tokens: [100] },
      { verification: null, mode: 'multi-pass', tokens: [100] },
      { verification: 'passed', mode: 'multi-pass', tokens: [100, 200, 300] },
    ])
  })

  it.each<[string, Setting, readonly Pass[], readonly boolean[]]>([
    ['counted high, said to be complex', { level: 'high' }, [{ says: complex }, ok, ok], [true, true, true]],
    ['counted high, said to be simple', { level: 'high' }, three, [true, true, true]],
    ['counted medium', { level: 'medium' }, three, [false, false, false]],
    ['counted medium, said to be complex', { level: 'medium' }, [{ says: complex }, ok, ok], [false, true, true]],
    ['where security is at stake', { level: 'high', securityPaths: ['.env'] }, three, [true, true, true]],
    ['a single pass, counted high', { level: 'high', single: 'x' }, [ok], [true]],
    ['a single pass, counted low', { single: 'x' }, [ok], [false]],
  ])('the larger budgets: %s', async (_, setting, script, large) => {
    expect((await run(script, setting)).asked.map((question) => question.large)).toEqual(large)
  })
})

describe('what goes from pass to pass', () => {
  it('the notes of the first to the second, the whole answer of the second to the third', async () => {
    const found = [finding('It is wrong.')]
    const said = { findings: found, context_summary: 'A and B.', summary: 'Looks fine.' }
    const done = await run([{ says: said }, { says: { verdict: 'CHANGES_REQUIRED', findings: found } }, ok], {
      level: 'medium',
    })
    const [first, second, third] = done.asked.map(({ handedOn }) => handedOn)
    expect(first).toBeNull()
    expect(JSON.parse(second ?? '')).toEqual({ context_summary: 'A and B.', findings: found })
    expect(JSON.parse(third ?? '')).toEqual(answer({ verdict: 'CHANGES_REQUIRED', findings: found }))
  })

  it('what a first pass without a verdict wrote is handed on as it is', async () => {
    const { asked } = await run([{ malformed: 'I think it is fine.' }, ok, ok])
    expect(asked[1]?.handedOn).toBe('I think it is fine.')
  })

  it('the verdict is the last one’s, and never the first one’s', async () => {
    const verdicts = (...all: readonly ReviewerAnswer['verdict'][]): Pass[] =>
      all.map((verdict) => ({ says: { verdict } }))
    const ends = await Promise.all(
      [
        verdicts('APPROVED', 'APPROVED', 'CHANGES_REQUIRED'),
        verdicts('APPROVED', 'CHANGES_REQUIRED', 'APPROVED'),
        verdicts('CHANGES_REQUIRED', 'APPROVED', 'DECISION_NEEDED'),
      ].map((script) => run(script, { level: 'medium' })),
    )
    expect(ends.map(({ outcome }) => answered(outcome).answer.verdict)).toEqual([
      'CHANGES_REQUIRED',
      'APPROVED',
      'DECISION_NEEDED',
    ])
  })

  const used = { input: 1, cached: 0, output: 1, reasoning: 0 }
  const left = (id: string) => ({ thread: { id, used, replaced: null } })
  const start: Thread = { kind: 'start' }
  const none: Thread = { kind: 'none' }
  const resume = (id: string, known = true): Thread => ({ kind: 'resume', id, used: known ? used : null })

  it.each<[string, readonly Pass[], Setting, readonly Thread[]]>([
    ['no thread is asked for', [{ says: {}, ...left('A') }, ok, ok], { level: 'medium' }, [none, none, none]],
    [
      'the first starts one',
      [{ says: {}, ...left('A') }, { says: {}, ...left('A') }, ok],
      { level: 'medium', thread: start },
      [start, resume('A'), none],
    ],
    [
      'one that is known',
      [{ says: {}, ...left('A') }, ok, ok],
      { level: 'medium', thread: resume('A', false) },
      [resume('A', false), resume('A'), none],
    ],
    [
      'another one took its place',
      [{ says: {}, ...left('B') }, ok, ok],
      { level: 'medium', thread: resume('A') },
      [resume('A'), resume('B'), none],
    ],
    ['a backend without threads', three, { level: 'medium', thread: start }, [start, start, none]],
    [
      'a first pass that fails leaves one',
      [{ fails: 'timeout', ...left('A') }, ok],
      { thread: start },
      [start, resume('A')],
    ],
    ['a first pass that fails leaves none', [{ fails: 'timeout' }, ok], { thread: start }, [start, start]],
    [
      'a second pass that fails moves it',
      [{ says: {}, ...left('A') }, { fails: 'server', ...left('B') }, ok, ok],
      { level: 'medium', thread: start },
      [start, resume('A'), resume('B'), none],
    ],
    ['--fast', [ok], { single: 'x', thread: resume('A') }, [resume('A')]],
  ])('the thread: %s', async (_, script, setting, threads) => {
    expect((await run(script, setting)).asked.map(({ thread }) => thread)).toEqual(threads)
  })
})

const asksAgain = ['timeout', 'transport', 'server', 'malformed', 'refused', 'crashed'] as const
const isAskedAgain = (failure: FailureClass): boolean => asksAgain.some((each) => each === failure)

describe('a first pass that fails', () => {
  it.each(failureClasses)('%s', async (failure) => {
    const done = await run([{ fails: failure }, { says: { verdict: 'CHANGES_REQUIRED' } }])
    if (!isAskedAgain(failure)) {
      expect(does(done)).toBe('plan')
      expect(done.outcome).toMatchObject({ kind: 'failed', failure, why: `It was ${failure}.` })
      expect(done.notices).toEqual([])
      return
    }
    expect(does(done)).toBe('plan combined')
    expect(answered(done.outcome)).toMatchObject({
      answer: { verdict: 'CHANGES_REQUIRED' },
      mode: 'single-pass',
      complexity: null,
      verification: null,
      tokens: [200],
    })
    expect(done.notices).toEqual([`The first pass failed (It was ${failure}.), so there is a single combined one.`])
  })

  it.each(failureClasses)('and then the combined one: %s', async (failure) => {
    const done = await run([{ fails: 'timeout' }, { fails: failure }])
    expect(does(done)).toBe('plan combined')
    expect(done.outcome).toMatchObject({ kind: 'failed', failure })
  })

  it('and then a combined one without a verdict', async () => {
    const { outcome } = await run([{ fails: 'server' }, { malformed: 'Fine by me.' }])
    expect(outcome).toMatchObject({
      kind: 'failed',
      failure: 'malformed',
      why: 'The reviewer answered, but not with a verdict: It is no verdict.',
    })
  })
})

describe('a second pass that fails', () => {
  const medium = { level: 'medium' } as const

  it.each(failureClasses)('once: %s', async (failure) => {
    const done = await run([ok, { fails: failure }, { says: { verdict: 'CHANGES_REQUIRED' } }, ok], medium)
    if (!isAskedAgain(failure)) {
      expect(does(done)).toBe('plan review')
      expect(done.outcome).toMatchObject({ kind: 'failed', failure })
      return
    }
    expect(does(done)).toBe('plan review review verify')
    expect(answered(done.outcome).tokens).toEqual([100, 300, 400])
    expect(done.notices).toEqual([`The second pass failed (It was ${failure}.), so it is asked once more.`])
  })

  it.each<[string, readonly Pass[], FailureClass]>([
    ['twice', [{ fails: 'server' }, { fails: 'timeout' }], 'timeout'],
    ['then without an account', [{ fails: 'server' }, { fails: 'auth' }], 'auth'],
    ['twice without a verdict', [{ malformed: 'a' }, { malformed: 'b' }], 'malformed'],
    ['without a verdict, then not at all', [{ malformed: 'a' }, { fails: 'crashed' }], 'crashed'],
  ])('%s: the first one’s verdict is not taken for it', async (_, passes, failure) => {
    const done = await run([ok, ...passes], medium)
    expect(does(done)).toBe('plan review review')
    expect(done.outcome).toMatchObject({ kind: 'failed', failure })
  })

  it('without a verdict, and then with one', async () => {
    const done = await run([ok, { malformed: 'Hm.' }, ok, ok], medium)
    expect(does(done)).toBe('plan review review verify')
    expect(answered(done.outcome).verification).toBe('passed')
  })
})

describe('a third pass that fails', () => {
  const second: Pass = { says: { verdict: 'CHANGES_REQUIRED', findings: [finding('It is wrong.')] } }

  it.each(failureClasses.filter((failure) => failure !== 'cancelled'))('%s', async (failure) => {
    const done = await run([ok, second, { fails: failure }], { level: 'medium' })
    expect(answered(done.outcome)).toMatchObject({
      answer: { verdict: 'CHANGES_REQUIRED', findings: [finding('It is wrong.')] },
      verification: 'skipped',
      tokens: [100, 200],
    })
    expect(done.notices).toEqual([`The findings were not verified: It was ${failure}.`])
  })

  it('without a verdict', async () => {
    const done = await run([ok, second, { malformed: '{"verdict": "APPROVED", ' }], { level: 'medium' })
    expect(answered(done.outcome)).toMatchObject({ answer: { verdict: 'CHANGES_REQUIRED' }, verification: 'skipped' })
  })

  it('cancelled: the result is not used', async () => {
    const { outcome } = await run([ok, second, { fails: 'cancelled' }], { level: 'medium' })
    expect(outcome).toMatchObject({ kind: 'failed', failure: 'cancelled' })
  })
})

describe('when time is short', () => {
  const medium = { level: 'medium' } as const

  it.each<[string, readonly Pass[], Setting, string, 'passed' | 'skipped' | null]>([
    ['enough for one pass only from the start', [ok], { totalMs: 290_000 }, 'combined', null],
    [
      'a pass may take all of it, and starting took a moment',
      three,
      { ...medium, totalMs: 299_500 },
      'plan review verify',
      'passed',
    ],
    [
      'none left to verify in',
      [ok, { says: {}, tookMs: 200_000 }],
      { ...medium, totalMs: 400_000 },
      'plan review',
      'skipped',
    ],
    [
      'as much left as the longest pass took, and a quarter',
      [ok, { says: {}, tookMs: 160_000 }, ok],
      { ...medium, totalMs: 361_000 },
      'plan review verify',
      'passed',
    ],
    [
      'just less than that',
      [ok, { says: {}, tookMs: 160_000 }],
      { ...medium, totalMs: 360_000 },
      'plan review',
      'skipped',
    ],
  ])('%s', async (_, script, setting, expected, verification) => {
    const done = await run(script, setting)
    expect(does(done)).toBe(expected)
    expect(answered(done.outcome).verification).toBe(verification)
  })

  it('is said', async () => {
    const { notices } = await run([ok], { totalMs: 100_000 })
    expect(notices).toEqual(['There is not enough time for several passes, so there is a single one.'])
    const skipped = await run([ok, { says: {}, tookMs: 200_000 }], { ...medium, totalMs: 400_000 })
    expect(skipped.notices).toEqual(['The findings were not verified: there was no time left for that.'])
    expect((await run([ok], { totalMs: 100_000, single: 'asked for' })).notices).toEqual([])
  })

  it.each<[string, readonly Pass[], Setting, string, FailureClass]>([
    ['the first pass took it all', [{ fails: 'timeout', tookMs: 300_000 }], { totalMs: 310_000 }, 'plan', 'timeout'],
    [
      'the second pass took it all',
      [ok, { fails: 'server', tookMs: 300_000 }],
      { ...medium, totalMs: 310_000 },
      'plan review',
      'server',
    ],
    [
      'the second pass took it all and gave no verdict',
      [ok, { malformed: 'x', tookMs: 300_000 }],
      { ...medium, totalMs: 310_000 },
      'plan review',
      'malformed',
    ],
  ])('%s: the failure is reported, and not that there was no time to ask again', async (_, script, setting, ...end) => {
    const done = await run(script, setting)
    expect([does(done), done.outcome]).toEqual([end[0], expect.objectContaining({ kind: 'failed', failure: end[1] })])
  })
})

describe('a second reader', () => {
  const problems = ({ outcome }: Run) => answered(outcome).answer.findings.map(({ problem }) => problem)
  const findings = (...named: string[]): Pass => ({ says: { findings: named.map((problem) => finding(problem)) } })
  const first: Pass = { says: {}, thread: { id: 'T', used: null, replaced: null } }
  const isDoubtful = ({ severity }: { severity: string }): boolean => severity === 'major'
  const setting: Setting = { level: 'medium', hasSecondReader: true, isDoubtful, thread: { kind: 'start' } }

  it('looks beside the first, alone, and all that is found is verified twice', async () => {
    const script = [first, findings('The lock stays.'), findings('A row is lost.'), findings('A row is lost.'), ok]
    const done = await run(script, setting)
    expect(does(done)).toBe('plan review review verify verify')
    expect(done.asked[2]).toMatchObject({ thread: { kind: 'none' }, handedOn: null, continues: false })
    const [, , , once, twice] = done.asked.map(({ handedOn }) => handedOn)
    expect(once).toContain('The lock stays.')
    expect(once).toContain('A row is lost.')
    expect(twice).not.toContain('The lock stays.')
    expect(problems(done)).toEqual([])
  })

  it.each<[string, readonly Pass[], Setting, string, readonly string[]]>([
    ['nothing that blocks is verified once', [first, ok, ok, ok], {}, 'plan review review verify', []],
    [
      'a second verification that fails changes nothing',
      [first, findings('A.'), ok, findings('A.'), { fails: 'timeout' }],
      {},
      'plan review review verify verify',
      ['A.'],
    ],
    [
      'what it found stays where nothing can be verified',
      [first, findings('A.'), findings('Another thing.'), { fails: 'timeout' }],
      {},
      'plan review review verify',
      ['A.', 'Another thing.'],
    ],
    ['one that fails is done without', [first, ok, { fails: 'timeout' }, ok], {}, 'plan review review verify', []],
    [
      'it stands in for a second pass that fails',
      [first, { fails: 'timeout' }, findings('A.'), { fails: 'timeout' }, { fails: 'timeout' }],
      {},
      'plan review review review verify',
      ['A.'],
    ],
    [
      'no time for it, if nothing ran at the same time',
      [{ ...first, tookMs: 180_000 }, ok, ok],
      {},
      'plan review verify',
      [],
    ],
  ])('%s', async (_, script, more, expected, left) => {
    const done = await run(script, { ...setting, ...more })
    expect([does(done), problems(done)]).toEqual([expected, left])
  })
})
