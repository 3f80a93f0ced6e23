import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalTable, describeRoutes, type Route } from '../../../../src/reviewers/route-table.ts'
import { backendNames } from '../../../../src/schemas/review.ts'
import { sha256 } from '../../../../src/system/sha256.ts'
import { tableOf } from './run-with.ts'

const text = fc.oneof(fc.constantFrom('a', 'b', 'a,b', 'a","b', 'null'), fc.string({ maxLength: 4 }))
const route: fc.Arbitrary<Route> = fc.record({
  backend: fc.constantFrom(...backendNames),
  when: fc.array(text, { maxLength: 2 }),
  capabilities: fc.array(text, { maxLength: 2 }),
  failMode: fc.constantFrom('fallthrough' as const, 'hard_fail' as const),
  timeoutMs: fc.option(fc.integer({ min: 1, max: 3 })),
  retries: fc.integer({ min: 0, max: 2 }),
  name: fc.constantFrom('a', 'b', ...backendNames),
  model: fc.option(fc.constantFrom('m', 'n')),
  endpoint: fc.option(
    fc.record({
      baseUrl: fc.option(fc.constantFrom('https://one.example/v1', 'https://two.example/v1')),
      apiKeyEnv: fc.option(fc.constantFrom('ONE_KEY', 'TWO_KEY')),
      api: fc.constantFrom('auto' as const, 'chat' as const, 'responses' as const),
      allowHttp: fc.boolean(),
    }),
  ),
  // What a review costs is not part of who makes it.
  price: fc.constant(null),
})
const routes = fc.array(route, { maxLength: 2 })

describe('canonicalTable', () => {
  it('is the same for equal tables', () => {
    fc.assert(
      fc.property(routes, (rows) => {
        const shuffled = rows.map((row) => Object.fromEntries(Object.entries(row).toReversed()) as Route)
        expect(canonicalTable({ routes: shuffled })).toBe(canonicalTable({ routes: rows }))
      }),
    )
  })

  it('is another one for every other table', () => {
    const changed = fc.record({ rows: fc.array(route, { minLength: 1, maxLength: 3 }), change: route, at: fc.nat() })
    fc.assert(
      fc.property(changed, routes, ({ rows, change, at }, others) => {
        for (const other of [rows.with(at % rows.length, change), others])
          expect(canonicalTable({ routes: other }) === canonicalTable({ routes: rows })).toBe(
            JSON.stringify(sorted(other)) === JSON.stringify(sorted(rows)),
          )
      }),
    )
  })

  it('is pinned: who pins the hash in CI must not find it changed by an upgrade', () => {
    expect(sha256(canonicalTable(tableOf('')))).toBe('af3c54008433877940dba6a273a035a23e33d96f81ce96d68924c2b8fc0f09f8')
  })
})

const sorted = (rows: readonly Route[]): object =>
  rows.map((row) => Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1)))

describe('describeRoutes', () => {
  it('lists the built-in table', () => {
    expect(describeRoutes(tableOf(''))).toEqual([
      '[route-table] using the default routes because no routes of your own count here',
      '[route-table] route 1: backend=hounfour, conditions=[flatline_routing_enabled, model_invoke_available], ' +
        'capabilities=[agent_binding, metering, trust_scopes], fail_mode=fallthrough, timeout=default, retries=0',
      '[route-table] route 2: backend=codex, conditions=[codex_available], ' +
        'capabilities=[sandbox, ephemeral, multi_pass, tool_access], fail_mode=fallthrough, timeout=default, retries=0',
      '[route-table] route 3: backend=curl, conditions=[always], capabilities=[basic], fail_mode=hard_fail, ' +
        'timeout=default, retries=3',
    ])
  })

  it('lists a custom table, and what of it was ignored', () => {
    const yaml = 'review:\n  routes:\n    - {backend: curl, when: [no way], capabilities: [a b], timeout: 90}\n'
    expect(describeRoutes(tableOf(yaml))).toEqual([
      '[route-table] using routes of your own',
      '[route-table] route 1: backend=curl, conditions=["no way"], capabilities=["a b"], fail_mode=fallthrough, ' +
        'timeout=90s, retries=0',
      expect.stringMatching(/^\[route-table\] notice: review\.routes\[0\]\.when: "no way" is not/),
      expect.stringMatching(/^\[route-table\] notice: review\.routes: after the last row, curl,/),
    ])
  })

  it('says why routes of one’s own do not count', () => {
    const yaml = 'review:\n  routes:\n    - {backend: checklist, when: [always]}\n'
    expect(describeRoutes(tableOf(yaml, { CI: 'true' })).at(-1)).toBe(
      '[route-table] notice: Using the default routes because in CI review.routes counts only with ' +
        'PLAN_GATE_CUSTOM_ROUTES=1.',
    )
  })
})
