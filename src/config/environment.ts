/** Environment variables, which win over `plan-gate.yaml` for one run. */
import { efforts } from '../schemas/review.ts'
import type { EffectiveConfig } from './schema.ts'

export type ReviewConfig = EffectiveConfig['review']
export type Env = { readonly [name: string]: string | undefined }

/** An invalid value is reported and not used. */
export function applyEnvironment(review: ReviewConfig, env: Env): { review: ReviewConfig; notices: readonly string[] } {
  const notices: string[] = []
  const budget = (name: string, byConfig: number): number => wholeOr(env, name, byConfig, [100, 1000000], notices)
  const { budgets } = review.multipass
  return {
    review: {
      ...review,
      fast: flagOr(env, 'PLAN_GATE_FAST', review.fast, notices),
      timeout_seconds: wholeOr(env, 'PLAN_GATE_TIMEOUT', review.timeout_seconds, [1, 3600], notices),
      effort: effortOr(env, review.effort, notices),
      multipass: {
        ...review.multipass,
        adaptive: flagOr(env, 'PLAN_GATE_ADAPTIVE', review.multipass.adaptive, notices),
        budgets: {
          ...budgets,
          pass1_output: budget('PLAN_GATE_PASS1_OUTPUT_BUDGET', budgets.pass1_output),
          pass2_input: budget('PLAN_GATE_PASS2_INPUT_BUDGET', budgets.pass2_input),
          pass2_output: budget('PLAN_GATE_PASS2_OUTPUT_BUDGET', budgets.pass2_output),
          pass3_input: budget('PLAN_GATE_PASS3_INPUT_BUDGET', budgets.pass3_input),
        },
      },
    },
    notices,
  }
}

function flagOr(env: Env, name: string, byConfig: boolean, notices: string[]): boolean {
  const given = env[name] ?? ''
  if (given === '') return byConfig
  if (/^(1|true|yes|on)$/i.test(given)) return true
  if (/^(0|false|no|off)$/i.test(given)) return false
  notices.push(`${name} is neither 1 nor 0, so it is ignored.`)
  return byConfig
}

/** Within the bounds of the file: a timer that is set for too long fires at once. */
function wholeOr(
  env: Env,
  name: string,
  byConfig: number,
  [min, max]: readonly [number, number],
  notices: string[],
): number {
  const given = env[name] ?? ''
  if (given === '') return byConfig
  if (/^\d{1,7}$/.test(given) && Number(given) >= min && Number(given) <= max) return Number(given)
  notices.push(`${name} is not a whole number from ${min} to ${max}, so it is ignored.`)
  return byConfig
}

/** For every pass of every type. */
function effortOr(env: Env, byConfig: ReviewConfig['effort'], notices: string[]): ReviewConfig['effort'] {
  const given = env.PLAN_GATE_EFFORT ?? ''
  if (given === '') return byConfig
  const effort = efforts.find((one) => one === given.toLowerCase())
  if (effort === undefined) {
    notices.push(`PLAN_GATE_EFFORT is none of ${efforts.join(', ')}, so it is ignored.`)
    return byConfig
  }
  const passes = { understand: effort, find: effort, verify: effort }
  return { ...passes, plan: passes, code: passes, documents: passes }
}

export type ReflectSettings = EffectiveConfig['reflect'] & {
  /** `PLAN_GATE_REFLECT_MODEL`: for every call. */
  readonly override: string | null
}

/** null where reflection is off: by the environment, by the file, or because only the checklist reviews, which reads no code. */
export function reflectSettings({ reflect, review }: EffectiveConfig, env: Env): ReflectSettings | null {
  const isEnabled = flagOr(env, 'PLAN_GATE_REFLECT', reflect.enabled, [])
  const readsCode = review.routes === undefined || review.routes.some(({ backend }) => backend !== 'checklist')
  if (!isEnabled || !readsCode) return null
  return { ...reflect, enabled: true, override: env.PLAN_GATE_REFLECT_MODEL?.trim() || null }
}
