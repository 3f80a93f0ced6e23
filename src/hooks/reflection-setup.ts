import type { FollowSettings } from '../reflect/follow-session.ts'
import { type ReflectSettings, reflectSettings } from '../reflect/reflect-settings.ts'
import type { CompiledConfig } from '../schemas/compiled-config.ts'
import type { EffectiveConfig } from '../schemas/config.ts'
import { gateConfig } from './gate-config.ts'

export type ReflectionSetup = { readonly compiled: CompiledConfig; readonly settings: ReflectSettings }

/** null: nobody follows the implementation here. */
export async function reflectionSetup(root: string): Promise<ReflectionSetup | null> {
  const compiled = await gateConfig(root)
  if (compiled.problems.length > 0) return null
  const settings = reflectSettings(compiled.config as EffectiveConfig, process.env)
  return settings === null ? null : { compiled, settings }
}

export const followSettings = ({ dedup, quiet_seconds, max_calls, max_tokens }: ReflectSettings): FollowSettings => ({
  ttlMs: dedup.ttl_seconds * 1000,
  maxEntries: dedup.max_entries,
  quietMs: quiet_seconds * 1000,
  limits: { maxCalls: max_calls ?? null, maxTokens: max_tokens ?? null },
})
