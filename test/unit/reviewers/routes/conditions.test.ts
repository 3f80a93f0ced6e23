import { describe, expect, it } from 'vitest'
import {
  type ConditionFacts,
  cacheFacts,
  conditionNames,
  evaluateConditions,
  showConditions,
} from '../../../../src/reviewers/route-table.ts'
import { factsOf, type Machine } from './run-with.ts'

/** Facts that say which of them were asked. */
function counted(machine: Machine = {}): { facts: ConditionFacts; asked: string[] } {
  const asked: string[] = []
  const real = factsOf(machine)
  const note = (name: string, ask: ConditionFacts['codex']) => async () => {
    asked.push(name)
    return ask()
  }
  const facts = {
    codex: note('codex', real.codex),
    claude: note('claude', real.claude),
    key: async (variable: string) => {
      asked.push('openAiKey')
      return real.key(variable)
    },
    modelInvoke: note('modelInvoke', real.modelInvoke),
    flatlineRouting: real.flatlineRouting,
  }
  return { facts, asked }
}

describe('conditions', () => {
  it('there are six of them', () => {
    expect(conditionNames).toEqual([
      'always',
      'claude_available',
      'codex_available',
      'flatline_routing_enabled',
      'model_invoke_available',
      'openai_key_set',
    ])
  })

  it.each<{ names: readonly string[]; machine: Machine; why: string | null; asked: readonly string[] }>([
    { names: [], machine: {}, why: null, asked: [] },
    { names: ['always'], machine: {}, why: null, asked: [] },
    { names: ['codex_available'], machine: {}, why: null, asked: ['codex'] },
    { names: ['codex_available'], machine: { codex: false }, why: '`codex` is not on PATH', asked: ['codex'] },
    { names: ['openai_key_set'], machine: {}, why: null, asked: ['openAiKey'] },
    {
      names: ['openai_key_set'],
      machine: { openAiKey: false },
      why: 'OPENAI_API_KEY is not set',
      asked: ['openAiKey'],
    },
    { names: ['model_invoke_available'], machine: {}, why: null, asked: ['modelInvoke'] },
    { names: ['flatline_routing_enabled'], machine: {}, why: null, asked: [] },
    {
      names: ['flatline_routing_enabled', 'model_invoke_available'],
      machine: { flatlineRouting: false, modelInvoke: false },
      why: 'hounfour.flatline_routing is not true',
      asked: [],
    },
    {
      names: ['always', 'model_invoke_available', 'codex_available'],
      machine: { modelInvoke: false },
      why: 'model-invoke is not an executable',
      asked: ['modelInvoke'],
    },
    { names: ['never'], machine: {}, why: '"never" is not a known condition', asked: [] },
    { names: ['always', ''], machine: {}, why: '"" is not a known condition', asked: [] },
    { names: ['toString'], machine: {}, why: '"toString" is not a known condition', asked: [] },
    { names: ['ALWAYS'], machine: {}, why: '"ALWAYS" is not a known condition', asked: [] },
    { names: ['always '], machine: {}, why: '"always " is not a known condition', asked: [] },
  ])('$names on $machine → $why', async ({ names, machine, why, asked }) => {
    const seen = counted(machine)
    const fact = await evaluateConditions(names, seen.facts)
    expect(fact).toEqual(why === null ? { holds: true } : { holds: false, why })
    expect(seen.asked).toEqual(asked)
  })

  it('what cannot be found out does not hold, once and again', async () => {
    const broken = async (): Promise<never> => {
      throw new Error('EIO\nread')
    }
    const facts = cacheFacts({ ...factsOf(), codex: broken })
    const expected = { holds: false, why: 'codex_available could not be determined: "EIO�nread"' }
    const first = await evaluateConditions(['codex_available'], facts)
    expect(first).toEqual(await evaluateConditions(['codex_available'], facts))
    expect(first).toEqual({
      ...expected,
      why: expect.stringMatching(/^codex_available could not be determined: "EIO.*read"$/),
    })
  })

  it('each fact is looked up once, even by two at the same time', async () => {
    const { facts, asked } = counted()
    const once = cacheFacts(facts)
    const names = ['codex_available', 'openai_key_set', 'model_invoke_available']
    await Promise.all([evaluateConditions(names, once), evaluateConditions(names, once)])
    await evaluateConditions(names, once)
    expect(asked.toSorted()).toEqual(['codex', 'modelInvoke', 'openAiKey'])
  })

  it('a name from a file cannot break out of a line', () => {
    expect(showConditions(['always', 'a\u202e]\n[x', 'b'])).toBe('always, "a�]\\n[x", b')
  })
})
