import type { BackendName } from '../schemas/backend.ts'
import { keyName, quoted } from '../schemas/show-value.ts'

/** `why` is the end of a sentence: "codex is not on PATH". */
export type Fact = { readonly holds: true } | { readonly holds: false; readonly why: string }

/** What conditions may ask about the machine and the configuration. Nothing is looked up before it is asked for. */
export type ConditionFacts = {
  readonly codex: () => Promise<Fact>
  readonly openAiKey: () => Promise<Fact>
  readonly modelInvoke: () => Promise<Fact>
  readonly flatlineRouting: boolean
}

type Condition = { readonly name: string; readonly ask: (facts: ConditionFacts) => Fact | Promise<Fact> }

const yes: Fact = { holds: true }

/** All conditions there are. A route table names them; it cannot define one, and nothing in it is ever evaluated. */
const conditions = [
  { name: 'always', ask: () => yes },
  { name: 'codex_available', ask: ({ codex }) => codex() },
  {
    name: 'flatline_routing_enabled',
    ask: ({ flatlineRouting }) =>
      flatlineRouting ? yes : { holds: false, why: 'hounfour.flatline_routing is not true' },
  },
  { name: 'model_invoke_available', ask: ({ modelInvoke }) => modelInvoke() },
  { name: 'openai_key_set', ask: ({ openAiKey }) => openAiKey() },
] as const satisfies readonly Condition[]

export type ConditionName = (typeof conditions)[number]['name']
export const conditionNames: readonly string[] = conditions.map(({ name }) => name)

/** Without it the backend can only fail, whatever its row asks for. */
export const needOf: { readonly [name in BackendName]: ConditionName } = {
  hounfour: 'model_invoke_available',
  codex: 'codex_available',
  curl: 'openai_key_set',
  checklist: 'always',
}

/** Whether all of them hold; the first that does not says why, and the rest is not asked. */
export async function evaluateConditions(names: readonly string[], facts: ConditionFacts): Promise<Fact> {
  for (const name of names) {
    const fact = await evaluate(name, facts)
    if (!fact.holds) return fact
  }
  return yes
}

/** Never throws: what cannot be found out does not hold. */
async function evaluate(name: string, facts: ConditionFacts): Promise<Fact> {
  const condition: Condition | undefined = conditions.find((known) => known.name === name)
  if (condition === undefined) return { holds: false, why: `${quoted(name)} is not a known condition` }
  try {
    return await condition.ask(facts)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { holds: false, why: `${name} could not be found out: ${quoted(message)}` }
  }
}

/** The same facts, each looked up at most once. */
export const askOnce = (facts: ConditionFacts): ConditionFacts => ({
  codex: once(facts.codex),
  openAiKey: once(facts.openAiKey),
  modelInvoke: once(facts.modelInvoke),
  flatlineRouting: facts.flatlineRouting,
})

function once(ask: () => Promise<Fact>): () => Promise<Fact> {
  let answer: Promise<Fact> | undefined
  return async () => {
    answer ??= ask()
    return answer
  }
}

export const showConditions = (names: readonly string[]): string => names.map(keyName).join(', ')
