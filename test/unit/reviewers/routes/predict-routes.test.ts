import { describe, expect, it } from 'vitest'
import { predictRoutes } from '../../../../src/reviewers/routes.ts'
import { factsOf, type Machine, tableOf } from './run-with.ts'

const own = (rows: string) => `review:\n  routes:\n${rows}`

describe('predictRoutes', () => {
  it.each<{ name: string; yaml?: string; machine: Machine; expected: { [backend: string]: string | null } }>([
    {
      name: 'everything is there',
      machine: {},
      expected: { hounfour: null, codex: 'hounfour comes first', curl: 'hounfour comes first' },
    },
    {
      name: 'as most machines are',
      machine: { flatlineRouting: false, modelInvoke: false, openAiKey: false },
      expected: {
        hounfour: 'hounfour.flatline_routing is not true',
        codex: null,
        curl: 'it would fail: OPENAI_API_KEY is not set',
      },
    },
    {
      name: 'a bare machine',
      machine: { flatlineRouting: false, modelInvoke: false, openAiKey: false, codex: false },
      expected: {
        hounfour: 'hounfour.flatline_routing is not true',
        codex: '`codex` is not on PATH',
        curl: 'it would fail: OPENAI_API_KEY is not set',
      },
    },
    {
      name: 'execution_mode: codex with Codex',
      yaml: 'review: {execution_mode: codex}',
      machine: {},
      expected: { codex: null, curl: 'codex comes first, and ends the review' },
    },
    {
      name: 'execution_mode: codex without Codex',
      yaml: 'review: {execution_mode: codex}',
      machine: { codex: false },
      expected: { codex: 'it would fail: `codex` is not on PATH', curl: 'codex fails first, and ends the review' },
    },
    {
      name: 'a row that would fail, and falls through',
      yaml: own('    - {backend: curl, when: [always]}\n    - {backend: checklist, when: [always]}\n'),
      machine: { openAiKey: false },
      expected: { curl: 'it would fail: OPENAI_API_KEY is not set', checklist: null },
    },
    {
      name: 'an unknown condition',
      yaml: own('    - {backend: codex, when: [always, vibes]}\n    - {backend: checklist, when: [always]}\n'),
      machine: {},
      expected: { codex: '"vibes" is not a known condition', checklist: null },
    },
  ])('$name', async ({ yaml, machine, expected }) => {
    const rows = await predictRoutes(tableOf(yaml), factsOf(machine))
    expect(Object.fromEntries(rows.map(({ route, why }) => [route.backend, why]))).toEqual(expected)
  })
})
