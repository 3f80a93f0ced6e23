import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { conditionNames, evaluateConditions, type Route } from '../../../../src/reviewers/route-table.ts'
import { type Attempt, runRoutes } from '../../../../src/reviewers/routes.ts'
import { backendNames, failureClasses } from '../../../../src/schemas/review.ts'
import { failureOf } from './failure-of.ts'
import { factsOf, plainRoute, runWith, type Scenario, tableOf } from './run-with.ts'

const row = (backend: Route['backend'], failMode: Route['failMode'] = 'fallthrough', when = ['always']): Route => ({
  ...plainRoute,
  name: backend,
  backend,
  when,
  failMode,
})
const three = { routes: [row('hounfour'), row('codex'), row('curl')] }

/** True at the nth question and ever after. */
function fromThe(nth: number): () => boolean {
  let asked = 0
  return () => ++asked >= nth
}

describe('runRoutes', () => {
  it('answers with the row that served and what it said', async () => {
    expect((await runWith(three, { fails: { hounfour: 'refused' } })).outcome).toEqual({
      kind: 'served',
      route: row('codex'),
      value: 'by codex',
      failures: [{ name: 'hounfour', ...failureOf('refused') }],
      skipped: [],
    })
  })

  it('answers with all that went wrong, in order', async () => {
    const table = { routes: [row('checklist', 'hard_fail', ['nope']), row('codex'), row('curl', 'hard_fail')] }
    expect((await runWith(table, { fails: { codex: 'quota', curl: 'auth' } })).outcome).toEqual({
      kind: 'unserved',
      because: 'hard-fail',
      failures: [
        { name: 'codex', ...failureOf('quota') },
        { name: 'curl', ...failureOf('auth') },
      ],
      skipped: [{ name: 'checklist', why: '"nope" is not a known condition' }],
    })
  })

  type Ending = { name: string; table?: { routes: Route[] }; scenario: Scenario; because: string; tried: string[] }
  it.each<Ending>([
    {
      name: 'hard_fail ends it, regardless of later rows',
      table: { routes: [row('codex', 'hard_fail'), row('curl')] },
      scenario: { fails: { codex: 'transport' } },
      because: 'hard-fail',
      tried: ['codex'],
    },
    {
      name: 'a hard_fail row that is passed over ends nothing',
      table: { routes: [row('codex', 'hard_fail', ['codex_available']), row('curl')] },
      scenario: { machine: { codex: false }, fails: { curl: 'server' } },
      because: 'exhausted',
      tried: ['curl'],
    },
    {
      name: 'all fall through',
      scenario: { fails: { hounfour: 'server', codex: 'server', curl: 'server' } },
      because: 'exhausted',
      tried: ['hounfour', 'codex', 'curl'],
    },
    {
      name: 'no condition holds',
      table: { routes: [row('codex', 'hard_fail', ['codex_available']), row('curl', 'hard_fail', ['openai_key_set'])] },
      scenario: { machine: { codex: false, openAiKey: false } },
      because: 'no-route',
      tried: [],
    },
    {
      name: 'the attempts are used up',
      scenario: { maxAttempts: 2, fails: { hounfour: 'server', codex: 'server' } },
      because: 'attempts',
      tried: ['hounfour', 'codex'],
    },
    { name: 'no attempt is allowed', scenario: { maxAttempts: 0 }, because: 'attempts', tried: [] },
    { name: 'no time at all', scenario: { timeLeftMs: () => 0 }, because: 'deadline', tried: [] },
    { name: 'less than no time', scenario: { timeLeftMs: () => -5 }, because: 'deadline', tried: [] },
    { name: 'cancelled before', scenario: { isCancelled: () => true }, because: 'cancelled', tried: [] },
    {
      name: 'cancelled, and no time left',
      scenario: { isCancelled: () => true, timeLeftMs: () => 0 },
      because: 'cancelled',
      tried: [],
    },
    {
      name: 'a backend says that it was cancelled',
      scenario: { fails: { hounfour: 'cancelled' } },
      because: 'cancelled',
      tried: ['hounfour'],
    },
    {
      name: 'cancelled meanwhile, which looked like a crash',
      scenario: { fails: { hounfour: 'crashed' }, isCancelled: fromThe(2) },
      because: 'cancelled',
      tried: ['hounfour'],
    },
    {
      name: 'cancelled during the last row, which failed for good',
      table: { routes: [row('codex', 'hard_fail')] },
      scenario: { fails: { codex: 'crashed' }, isCancelled: fromThe(2) },
      because: 'cancelled',
      tried: ['codex'],
    },
    {
      name: 'no time after the first row',
      scenario: {
        fails: { hounfour: 'timeout' },
        timeLeftMs: (
          (over) => () =>
            over() ? 0 : 1
        )(fromThe(2)),
      },
      because: 'deadline',
      tried: ['hounfour'],
    },
    {
      name: 'the last row takes the rest of the time',
      table: { routes: [row('codex')] },
      scenario: {
        fails: { codex: 'timeout' },
        timeLeftMs: (
          (over) => () =>
            over() ? 0 : 1
        )(fromThe(2)),
      },
      because: 'exhausted',
      tried: ['codex'],
    },
  ])('$name → $because', async ({ table = three, scenario, because, tried }) => {
    const run = await runWith(table, scenario)
    expect([run.outcome.kind === 'unserved' && run.outcome.because, run.tried]).toEqual([because, tried])
  })

  it('traces where it ended, and why', async () => {
    const { trace } = await runWith(three, { maxAttempts: 1, fails: { hounfour: 'server' } })
    expect(trace).toEqual([
      '[route-table] trying backend=hounfour, conditions=[always], result=pending',
      '[route-table] trying backend=hounfour, conditions=[always], result=fail (server)',
      '[route-table] ended before backend=codex, conditions=[always], why=attempts',
    ])
    expect((await runWith(three, { timeLeftMs: () => 0 })).trace).toEqual([
      '[route-table] ended before backend=hounfour, conditions=[always], why=deadline',
    ])
  })

  it('retries and rows share one budget', async () => {
    const left: boolean[] = []
    const outcome = await runRoutes<string>(three, {
      facts: factsOf(),
      timeLeftMs: () => 1,
      maxAttempts: 4,
      isCancelled: () => false,
      trace: () => {},
      attempt: async (_, budget) => {
        left.push(budget.take(), budget.take())
        return { kind: 'failure', ...failureOf('server') }
      },
    })
    expect(left).toEqual([true, true, false, false])
    expect(outcome).toMatchObject({ because: 'attempts', failures: [{ name: 'hounfour' }, { name: 'codex' }] })
  })

  it('two reviews do not share facts', async () => {
    let asked = 0
    const facts = { ...factsOf(), codex: async () => ({ holds: ++asked > 1 }) as { holds: true } }
    const table = { routes: [row('codex', 'hard_fail', ['codex_available'])] }
    expect((await runWith(table, { facts })).outcome.kind).toBe('unserved')
    expect((await runWith(table, { facts })).outcome.kind).toBe('served')
  })

  it('every class of failure but one falls through', async () => {
    const after = await Promise.all(
      failureClasses.map(async (failure) => (await runWith(tableOf(), { fails: { hounfour: failure } })).tried.at(-1)),
    )
    expect(failureClasses.filter((_, index) => after[index] !== 'codex')).toEqual(['cancelled'])
  })
})

describe('any table on any machine', () => {
  const route: fc.Arbitrary<Route> = fc.record({
    backend: fc.constantFrom(...backendNames),
    when: fc.array(fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...conditionNames) }, fc.string()), {
      maxLength: 2,
    }),
    capabilities: fc.constant([]),
    failMode: fc.oneof(
      { weight: 3, arbitrary: fc.constant('fallthrough' as const) },
      fc.constant('hard_fail' as const),
    ),
    timeoutMs: fc.constant(null),
    retries: fc.constant(0),
    name: fc.constant('row'),
    model: fc.constant(null),
    endpoint: fc.constant(null),
    price: fc.constant(null),
  })
  const failing = fc
    .constantFrom(...failureClasses, ...Array<'cancelled'>(4).fill('cancelled'))
    .map((name): Attempt<string> => ({ kind: 'failure', ...failureOf(name) }))
  const setup = fc.record({
    rows: fc.array(
      fc.record({ route, attempt: fc.oneof(failing, fc.constant({ kind: 'success' as const, value: 'v' })) }),
    ),
    machine: fc.record({
      codex: fc.boolean(),
      openAiKey: fc.boolean(),
      modelInvoke: fc.boolean(),
      flatlineRouting: fc.boolean(),
    }),
    broken: fc.boolean(),
    maxAttempts: fc.integer({ min: 0, max: 5 }),
  })

  it('the first row whose conditions hold and that succeeds serves, and nothing after a hard failure', async () => {
    const ends = new Set<string>()
    await fc.assert(
      fc.asyncProperty(setup, async ({ rows, machine, broken, maxAttempts }) => {
        const real = factsOf(machine)
        const facts = {
          ...real,
          codex: async () => {
            if (broken) throw new Error('broken')
            return real.codex()
          },
        }
        const tried: Route[] = []
        const trace: string[] = []
        const outcome = await runRoutes<string>(
          { routes: rows.map((one) => one.route) },
          {
            facts,
            timeLeftMs: () => 1,
            maxAttempts,
            isCancelled: () => false,
            trace: (line) => void trace.push(line),
            attempt: async (one) => {
              tried.push(one)
              return rows.find((other) => other.route === one)?.attempt ?? { kind: 'failure', ...failureOf('crashed') }
            },
          },
        )
        const expected = await expectedOf(rows, { ...real, codex: facts.codex }, maxAttempts)
        ends.add(outcome.kind === 'served' ? 'served' : outcome.because)
        expect(outcome.kind === 'served' ? outcome.route : outcome.because).toBe(expected.end)
        expect(tried).toEqual(expected.tried)
        expect(tried.length).toBeLessThanOrEqual(maxAttempts)
        for (const isPending of [true, false])
          expect(
            trace.filter((line) => line.includes('] trying ') && line.endsWith('result=pending') === isPending).length,
          ).toBe(tried.length)
        expect(trace.every((line) => line.startsWith('[route-table] ') && !line.includes('\n'))).toBe(true)
      }),
      { numRuns: 500 },
    )
    expect([...ends].toSorted()).toEqual(['attempts', 'cancelled', 'exhausted', 'hard-fail', 'no-route', 'served'])
  })

  /** The same said as a search instead of a loop. */
  async function expectedOf(
    rows: readonly { route: Route; attempt: Attempt<string> }[],
    facts: ReturnType<typeof factsOf>,
    maxAttempts: number,
  ): Promise<{ end: Route | string; tried: Route[] }> {
    const holds = await Promise.all(rows.map(async (one) => (await evaluateConditions(one.route.when, facts)).holds))
    const usable = rows.filter((_, index) => holds[index])
    const last = usable.findIndex(
      ({ route, attempt }) =>
        attempt.kind === 'success' || attempt.failure === 'cancelled' || route.failMode === 'hard_fail',
    )
    const needed = last < 0 ? usable : usable.slice(0, last + 1)
    const tried = needed.slice(0, maxAttempts).map(({ route }) => route)
    if (needed.length > maxAttempts) return { end: 'attempts', tried }
    const decisive = usable[last]
    if (decisive === undefined) return { end: usable.length === 0 ? 'no-route' : 'exhausted', tried }
    if (decisive.attempt.kind === 'success') return { end: decisive.route, tried }
    return { end: decisive.attempt.failure === 'cancelled' ? 'cancelled' : 'hard-fail', tried }
  }

  it('no fact is looked up twice', async () => {
    await fc.assert(
      fc.asyncProperty(setup, async ({ rows, machine }) => {
        const asked: string[] = []
        const real = factsOf(machine)
        const noted = (name: 'codex' | 'claude' | 'modelInvoke') => async () => {
          asked.push(name)
          return real[name]()
        }
        const facts = {
          codex: noted('codex'),
          claude: noted('claude'),
          key: async (variable: string) => {
            asked.push(variable)
            return real.key(variable)
          },
          modelInvoke: noted('modelInvoke'),
          flatlineRouting: real.flatlineRouting,
        }
        const table = { routes: rows.map(({ route }) => ({ ...route, failMode: 'fallthrough' as const })) }
        await runWith(table, { facts, fails: Object.fromEntries(backendNames.map((name) => [name, 'server'])) })
        expect(new Set(asked).size).toBe(asked.length)
      }),
    )
  })
})
