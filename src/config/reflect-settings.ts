import type { EffectiveConfig } from './schema.ts'

export type ReflectSettings = EffectiveConfig['reflect'] & {
  /** `PLAN_GATE_REFLECT_MODEL`: for each call, whatever the weight of the matter. */
  readonly override: string | null
}

export type Env = {
  readonly PLAN_GATE_REFLECT?: string | undefined
  readonly PLAN_GATE_REFLECT_MODEL?: string | undefined
}

/** What is neither is no word on it. */
function switchOf(value: string | undefined): boolean | null {
  if (/^(?:1|true|yes|on)$/i.test(value ?? '')) return true
  return /^(?:0|false|no|off)$/i.test(value ?? '') ? false : null
}

const hasReader = (routes: EffectiveConfig['review']['routes']): boolean =>
  routes === undefined || routes.some(({ backend }) => backend !== 'checklist')

/**
 * How the implementation is followed, or null: not at all. The environment wins over the file, and where only the
 * checklist reviews there is nobody who reads code.
 */
export function reflectSettings({ reflect, review }: EffectiveConfig, env: Env): ReflectSettings | null {
  const asked = switchOf(env.PLAN_GATE_REFLECT)
  if (!(asked ?? reflect.enabled) || !hasReader(review.routes)) return null
  const override = env.PLAN_GATE_REFLECT_MODEL?.trim() ?? ''
  return { ...reflect, enabled: true, override: override === '' ? null : override }
}
