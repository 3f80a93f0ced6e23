import { inlineCommands } from '../gate/loaded-text.ts'
import { recompileConfig, restoreConfig } from '../install/compile-config.ts'
import { readTrust } from '../install/trust.ts'
import { reviewPlan } from '../plan/review-plan.ts'
import { makeRedactor } from '../redact/redact.ts'
import { askReflection } from '../reflect/ask.ts'
import { reflectAtStop, reflectBeforeCompaction } from '../reflect/at-stop.ts'
import { ownBundle } from '../system/load-bundle.ts'
import { findBypass } from './bypassed-call.ts'
import { runSessionHook } from './session.ts'

/** Everything that needs a reviewer, reads YAML or is rare, as one bundle: the reviewers are most of its size. */
export const reviews = {
  findBypass,
  reviewPlan,
  askReflection,
  reflectAtStop,
  reflectBeforeCompaction,
  runSessionHook,
  makeRedactor,
}
export const yamlReaders = { inlineCommands, readTrust, recompileConfig, restoreConfig }

ownBundle('reviews', { reviews, yamlReaders })
