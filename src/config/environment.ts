/** Environment variables, which win over `plan-gate.yaml` for one run. */
import { efforts } from '../schemas/review.ts'
import type { Schema } from '../schemas/schema.ts'
import { configSchema, type EffectiveConfig } from './schema.ts'

export type ReviewConfig = EffectiveConfig['review']
export type Env = { readonly [name: string]: string | undefined }

/** The keys below `review` that they stand for, whose types and bounds the schema has. */
const variables: readonly (readonly [name: string, ...path: string[]])[] = [
  ['PLAN_GATE_FAST', 'fast'],
  ['PLAN_GATE_TIMEOUT', 'timeout_seconds'],
  ['PLAN_GATE_ADAPTIVE', 'multipass', 'adaptive'],
  ['PLAN_GATE_PASS1_OUTPUT_BUDGET', 'multipass', 'budgets', 'pass1_output'],
  ['PLAN_GATE_PASS2_INPUT_BUDGET', 'multipass', 'budgets', 'pass2_input'],
  ['PLAN_GATE_PASS2_OUTPUT_BUDGET', 'multipass', 'budgets', 'pass2_output'],
  ['PLAN_GATE_PASS3_INPUT_BUDGET', 'multipass', 'budgets', 'pass3_input'],
]

/** An invalid value is reported and not used. */
export function applyEnvironment(review: ReviewConfig, env: Env): { review: ReviewConfig; notices: readonly string[] } {
  const notices: string[] = []
  let changed = review
  for (const [name, ...path] of variables) {
    const given = env[name] ?? ''
    if (given === '') continue
    const schema = path.reduce<Schema>((at, key) => at.properties?.[key] ?? {}, configSchema.properties.review)
    const value = schema.type === 'boolean' ? flagIn(given) : wholeIn(given, schema)
    if (value !== undefined) changed = withValue(changed, path, value) as ReviewConfig
    else if (schema.type === 'boolean') notices.push(`${name} is neither 1 nor 0, so it is ignored.`)
    else notices.push(`${name} is not a whole number from ${schema.minimum} to ${schema.maximum}, so it is ignored.`)
  }
  return { review: { ...changed, effort: effortOr(env, review.effort, notices) }, notices }
}

const withValue = (block: object, [key = '', ...rest]: readonly string[], value: unknown): object => ({
  ...block,
  [key]: rest.length === 0 ? value : withValue((block as { readonly [key: string]: object })[key] ?? {}, rest, value),
})

const flagIn = (given: string): boolean | undefined =>
  /^(1|true|yes|on)$/i.test(given) ? true : /^(0|false|no|off)$/i.test(given) ? false : undefined

/** Within the bounds of the file: a timer that is set for too long fires at once. */
const wholeIn = (given: string, { minimum = 0, maximum = 0 }: Schema): number | undefined =>
  /^\d{1,7}$/.test(given) && Number(given) >= minimum && Number(given) <= maximum ? Number(given) : undefined

/** For every pass of every type. */
function effortOr(env: Env, byConfig: ReviewConfig['effort'], notices: string[]): ReviewConfig['effort'] {
  const given = env.PLAN_GATE_EFFORT ?? ''
  if (given === '') return byConfig
  const effort = efforts.find((one) => one === given.toLowerCase())
  const passes = effort && { understand: effort, find: effort, verify: effort }
  if (passes !== undefined) return { ...passes, plan: passes, code: passes, documents: passes }
  notices.push(`PLAN_GATE_EFFORT is none of ${efforts.join(', ')}, so it is ignored.`)
  return byConfig
}

export type ReflectSettings = EffectiveConfig['reflect'] & {
  /** `PLAN_GATE_REFLECT_MODEL`: for every call. */
  readonly override: string | null
}

/** null where reflection is off: by the environment, by the file, or because only the checklist reviews, which reads no code. */
export function reflectSettings({ reflect, review }: EffectiveConfig, env: Env): ReflectSettings | null {
  const isEnabled = flagIn(env.PLAN_GATE_REFLECT ?? '') ?? reflect.enabled
  const readsCode = review.routes === undefined || review.routes.some(({ backend }) => backend !== 'checklist')
  if (!isEnabled || !readsCode) return null
  return { ...reflect, enabled: true, override: env.PLAN_GATE_REFLECT_MODEL?.trim() || null }
}
