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

const yes: Fact = { holds: true }

/** A route table names conditions; it cannot define one, and nothing in it is evaluated as code. */
const conditions: { readonly [name: string]: (facts: ConditionFacts) => Fact | Promise<Fact> } = {
  always: () => yes,
  claude_available: ({ claude }) => claude(),
  codex_available: ({ codex }) => codex(),
  flatline_routing_enabled: ({ flatlineRouting }) =>
    flatlineRouting ? yes : { holds: false, why: 'hounfour.flatline_routing is not true' },
  model_invoke_available: ({ modelInvoke }) => modelInvoke(),
  openai_key_set: ({ key }) => key('OPENAI_API_KEY'),
}

export const conditionNames: readonly string[] = Object.keys(conditions)

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
  const ask = Object.hasOwn(conditions, name) ? conditions[name] : undefined
  if (ask === undefined) return { holds: false, why: `${quoteShort(name)} is not a known condition` }
  try {
    return await ask(facts)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { holds: false, why: `${name} could not be determined: ${quoteShort(message)}` }
  }
}

/** The same facts, each looked up at most once. */
export function cacheFacts(facts: ConditionFacts): ConditionFacts {
  const answers = new Map<string, Promise<Fact>>()
  const once = (name: string, ask: () => Promise<Fact>): Promise<Fact> => {
    const answer = answers.get(name) ?? ask()
    answers.set(name, answer)
    return answer
  }
  return {
    codex: () => once('codex', facts.codex),
    claude: () => once('claude', facts.claude),
    key: (variable) => once(`the key ${variable}`, () => facts.key(variable)),
    modelInvoke: () => once('model-invoke', facts.modelInvoke),
    flatlineRouting: facts.flatlineRouting,
  }
}

export const showConditions = (names: readonly string[]): string => names.map(keyName).join(', ')

/** For a trace: `backend=curl, name=ollama`. */
export const routeLabel = ({ name, backend }: { readonly name: string; readonly backend: string }): string =>
  name === backend ? `backend=${backend}` : `backend=${backend}, name=${name}`
