import { describe, expect, it } from 'vitest'
import { compareCells, notesOn, proposeRoutes } from '../../../src/calibrate/recommend.ts'
import { shareOf } from '../../../src/calibrate/statistics.ts'
import { parseConfig } from '../../../src/config/load.ts'
import { defaultRoutes } from '../../../src/reviewers/route-table.ts'
import type { CellResult } from '../../../src/schemas/calibration.ts'

/** Each case three times; so many of the cases are found, always or never. */
const share = (hits: number, of: number, bases = of) =>
  shareOf(Array.from({ length: of }, (_, n) => ({ hits: n < hits ? 3 : 0, of: 3, base: `${n % bases}` })))

const cell = (name: string, found: number, blocks: number, more: Partial<CellResult> = {}): CellResult => ({
  name,
  route: name,
  model: null,
  effort: 'auto',
  readers: null,
  reviews: 390,
  failed: 0,
  recall: share(found, 100),
  held: share(found, 100),
  false_blocks: share(blocks, 30),
  unsure: 0,
  classes: [],
  seconds: 60,
  tokens: 1000,
  calls: 3,
  dollars: null,
  ...more,
})

const [, codex, curl] = defaultRoutes
if (codex === undefined || curl === undefined) throw new Error('two routes')
const cells = [
  { name: 'a', route: { ...curl, name: 'a', model: 'm', timeoutMs: 90_000 }, effort: null, readers: null },
  {
    name: 'b',
    route: { ...codex, name: 'b', price: { input: 1, cached: 0.1, output: 8 } },
    effort: 'high',
    readers: 2,
  },
] as const
const orderOf = (...results: readonly CellResult[]) => proposeRoutes(results, cells)?.yaml.match(/"name":"(\w+)"/g)

describe('two reviewers', () => {
  it('are not ranked where their intervals meet, and it is said what it would take', () => {
    const [comparison] = compareCells([cell('a', 71, 3), cell('b', 66, 3)])
    expect(comparison).toMatchObject({ is_apart: false })
    expect(comparison?.words).toMatch(
      /^a and b cannot be distinguished: 0\.71 \(.*\) and 0\.66 \(.*\)\. It would take more plans or classes/,
    )
    const why = proposeRoutes([cell('a', 71, 3, { seconds: 90 }), cell('b', 66, 3)], cells)?.why ?? []
    expect(why[0]).toContain('not proven better than a, and stands before it because it is faster')
  })

  it('are ranked where their intervals do not', () => {
    const results = [cell('a', 40, 3), cell('b', 90, 3, { seconds: 600 })]
    expect(compareCells(results)).toMatchObject([
      { is_apart: true, words: expect.stringMatching(/^b finds more than a/) },
    ])
    expect(orderOf(...results)).toEqual(['"name":"b"', '"name":"a"'])
  })

  it('are ranked by price where nothing is proven and both are known', () => {
    expect(orderOf(cell('a', 70, 3, { dollars: 9 }), cell('b', 70, 3, { dollars: 3, seconds: 600 }))).toEqual([
      '"name":"b"',
      '"name":"a"',
    ])
  })

  it('are not ranked by what they find where the one that finds more holds up more for nothing', () => {
    const results = [cell('a', 90, 25), cell('b', 40, 0, { seconds: 10 })]
    expect(compareCells(results)[0]?.words).toContain('It also holds up more for nothing')
    expect(orderOf(...results)).toEqual(['"name":"b"', '"name":"a"'])
  })
})

describe('from too little', () => {
  it.each([
    ['three cases each', [cell('a', 0, 0, { recall: share(0, 3) }), cell('b', 0, 0, { recall: share(0, 3) })]],
    ['equal shares of few', [cell('a', 0, 0, { recall: share(5, 10) }), cell('b', 0, 0, { recall: share(5, 10) })]],
  ])('no order follows, and none are as good as the same: %s', (_, results) => {
    const [comparison] = compareCells(results)
    expect(comparison?.words).toContain('says nothing: it takes 20 or more for each, so more plans')
    expect(comparison?.words).not.toContain('as good as')
    expect(proposeRoutes(results, cells)).toBeNull()
    expect(notesOn(results, 'plan').join(' ')).toMatch(/No order is proposed: of independent cases, a about \d+ and b/)
  })

  it('nor where nobody found anything', () => {
    const results = [cell('a', 0, 3), cell('b', 0, 3)]
    expect(compareCells(results)[0]?.words).toMatch(/Neither found anything\.$/)
    expect(proposeRoutes(results, cells)).toBeNull()
    expect(notesOn(results, 'plan')).toEqual(['No order is proposed: nobody found anything.'])
  })

  it('of plans nothing follows for other plans', () => {
    const own = cell('a', 0, 3, { recall: share(30, 60, 3) })
    expect(notesOn([own], 'plan')).toEqual([
      'All copies are of 3 plans: the intervals are about these only, and not about other plans.',
    ])
    expect(notesOn([cell('a', 70, 3)], 'plan')).toEqual([])
  })

  it('they are as good as the same where there are enough', () => {
    expect(compareCells([cell('a', 50, 3), cell('b', 50, 3)])[0]?.words).toMatch(/as good as the same\.$/)
  })
})

it('proposes what plan-gate.yaml accepts, with the effort and the readers of the best', () => {
  const proposal = proposeRoutes([cell('a', 40, 3), cell('b', 90, 3, { effort: 'high', readers: 2 })], cells)
  const parsed = parseConfig(`${proposal?.yaml}\n`)
  expect(parsed).toMatchObject({
    kind: 'valid',
    config: {
      review: {
        readers: 2,
        effort: { find: 'high' },
        routes: [
          { name: 'b', backend: 'codex', fail_mode: 'fallthrough', price: { input: 1, cached: 0.1, output: 8 } },
          { name: 'a', backend: 'curl', fail_mode: 'hard_fail', model: 'm', timeout: 90 },
        ],
      },
    },
  })
  expect(proposeRoutes([], cells)).toBeNull()
})
