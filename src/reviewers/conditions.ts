/** The conditions that a row of the route table can name. */
import { keyName, quoteShort } from '../config/errors.ts'

/** `why` ends a sentence: "codex is not on PATH". */
export type Fact = { readonly holds: true } | { readonly holds: false; readonly why: string }

/** Facts about the machine and the configuration, looked up on demand. */
export type ConditionFacts = {
  readonly codex: () => Promise<Fact>
  readonly claude: () => Promise<Fact>
  /** Whether the environment has the key of this name. */
  readonly key: (variable: string) => Promise<Fact>
  readonly modelInvoke: () => Promise<Fact>
  readonly flatlineRouting: boolean
}

type Condition = { readonly name: string; readonly ask: (facts: ConditionFacts) => Fact | Promise<Fact> }

const yes: Fact = { holds: true }

/** A route table names conditions; it cannot define one, and nothing in it is evaluated as code. */
const conditions = [
  { name: 'always', ask: () => yes },
  { name: 'claude_available', ask: ({ claude }) => claude() },
  { name: 'codex_available', ask: ({ codex }) => codex() },
  {
    name: 'flatline_routing_enabled',
    ask: ({ flatlineRouting }) =>
      flatlineRouting ? yes : { holds: false, why: 'hounfour.flatline_routing is not true' },
  },
  { name: 'model_invoke_available', ask: ({ modelInvoke }) => modelInvoke() },
  { name: 'openai_key_set', ask: ({ key }) => key('OPENAI_API_KEY') },
] as const satisfies readonly Condition[]

export const conditionNames: readonly string[] = conditions.map(({ name }) => name)

/** The first fact that does not hold; the conditions after it are not evaluated. */
export async function evaluateConditions(names: readonly string[], facts: ConditionFacts): Promise<Fact> {
  for (const name of names) {
    const fact = await evaluate(name, facts)
    if (!fact.holds) return fact
  }
  return yes
}

/** Never throws: a condition that throws does not hold. */
async function evaluate(name: string, facts: ConditionFacts): Promise<Fact> {
  const condition: Condition | undefined = conditions.find((known) => known.name === name)
  if (condition === undefined) return { holds: false, why: `${quoteShort(name)} is not a known condition` }
  try {
    return await condition.ask(facts)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { holds: false, why: `${name} could not be determined: ${quoteShort(message)}` }
  }
}

/** The same facts, each looked up at most once. */
export const cacheFacts = (facts: ConditionFacts): ConditionFacts => ({
  codex: memoize(facts.codex),
  claude: memoize(facts.claude),
  key: memoizeBy(facts.key),
  modelInvoke: memoize(facts.modelInvoke),
  flatlineRouting: facts.flatlineRouting,
})

function memoize(ask: () => Promise<Fact>): () => Promise<Fact> {
  let answer: Promise<Fact> | undefined
  return async () => {
    answer ??= ask()
    return answer
  }
}

function memoizeBy(ask: (name: string) => Promise<Fact>): (name: string) => Promise<Fact> {
  const asks = new Map<string, () => Promise<Fact>>()
  return async (name) => {
    const known = asks.get(name) ?? memoize(() => ask(name))
    asks.set(name, known)
    return known()
  }
}

export const showConditions = (names: readonly string[]): string => names.map(keyName).join(', ')

/** For a trace: `backend=curl, name=ollama`. */
export const routeLabel = ({ name, backend }: { readonly name: string; readonly backend: string }): string =>
  name === backend ? `backend=${backend}` : `backend=${backend}, name=${name}`
