import { existsSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import type { ChecklistSetup } from '../backends/checklist/check-plan.ts'
import { checklistBackend } from '../backends/checklist/checklist-backend.ts'
import { cacheFolder } from '../backends/codex/cache-folder.ts'
import { codexBackend } from '../backends/codex/codex-backend.ts'
import { curlBackend } from '../backends/curl/curl-backend.ts'
import { hounfourBackend } from '../backends/hounfour/hounfour-backend.ts'
import { readPlanScope } from '../gate/scope/read-plan-scope.ts'
import type { ReviewDependencies } from '../review/review-request.ts'
import type { EffectiveConfig } from '../schemas/config.ts'
import { findProgram } from '../system/find-program.ts'
import { withAbsolutePath } from '../system/search-path.ts'

/** The four doors, as this machine and this configuration have them. */
export function reviewBackends(
  config: EffectiveConfig,
  root: string,
  given: NodeJS.ProcessEnv,
): ReviewDependencies['backends'] {
  const env = withAbsolutePath(given)
  const { models } = config.review
  const modelInvoke = config.hounfour.model_invoke
  return {
    codex: codexBackend({
      program: findProgram('codex', env) ?? 'codex',
      env,
      cacheDir: cacheFolder(env),
      scratch: null,
    }),
    curl: curlBackend({ env, defaultModel: models.documents }),
    hounfour: hounfourBackend({
      program: modelInvoke.includes('/') && !isAbsolute(modelInvoke) ? resolve(root, modelInvoke) : modelInvoke,
      agent: config.hounfour.agent,
      env,
      cwd: root,
      scratch: null,
    }),
    checklist: checklistBackend(checklistSetup(config, root)),
  }
}

export const checklistSetup = ({ plan }: EffectiveConfig, root: string): ChecklistSetup => ({
  requiredSections: plan.required_sections,
  maxBytes: plan.max_bytes,
  readChanges: readPlanScope,
  exists: (path) => existsSync(resolve(root, path)),
})
