import { existsSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { applyEnvironment } from '../config/environment.ts'
import { quoteShort } from '../config/errors.ts'
import type { EffectiveConfig } from '../config/schema.ts'
import { readPlanScope } from '../gate/scope.ts'
import type { AskReviewer, BackendName } from '../schemas/review.ts'
import { readInstallRecord } from '../state/records.ts'
import { findProgram, lookForProgram, withAbsolutePath } from '../system/find-program.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { checklistReviewer } from './checklist/code.ts'
import type { ChecklistSetup } from './checklist/plan.ts'
import { cacheFolder } from './codex/capabilities.ts'
import { codexReviewer } from './codex/codex.ts'
import { hounfourReviewer } from './hounfour.ts'
import { openaiReviewer } from './openai.ts'
import { type BuiltTable, buildRouteTable, type ConditionFacts, type Fact } from './routes.ts'

/** Who may be asked in this worktree, by its configuration, the environment and what its install chose. */
export function readRouteTable(
  root: string,
  config: EffectiveConfig,
  env: NodeJS.ProcessEnv,
): { readonly review: EffectiveConfig['review']; readonly built: BuiltTable } {
  const { review } = applyEnvironment(config.review, env)
  const gitDir = readGitDirs(root)?.own
  const chosenByUser = gitDir !== undefined && isReviewerPinned(gitDir)
  return { review, built: buildRouteTable(review, env, { chosenByUser }) }
}

/** Whether `--reviewer` of the install made the route table: a choice of the person at the keyboard, not of a file. */
export function isReviewerPinned(gitDir: string): boolean {
  const record = readInstallRecord(gitDir)
  return record.kind === 'read' && record.value.reviewer !== null
}

/** The four doors, as this machine and this configuration have them. */
export function createReviewers(
  config: EffectiveConfig,
  root: string,
  given: NodeJS.ProcessEnv,
): { readonly [name in BackendName]: AskReviewer } {
  const env = withAbsolutePath(given)
  const { models } = config.review
  const modelInvoke = config.hounfour.model_invoke
  return {
    codex: codexReviewer({
      program: findProgram('codex', env) ?? 'codex',
      env,
      cacheDir: cacheFolder(env),
      scratch: null,
    }),
    curl: openaiReviewer({ env, defaultModel: models.documents }),
    hounfour: hounfourReviewer({
      program: modelInvoke.includes('/') && !isAbsolute(modelInvoke) ? resolve(root, modelInvoke) : modelInvoke,
      agent: config.hounfour.agent,
      env,
      cwd: root,
      scratch: null,
    }),
    checklist: checklistReviewer(checklistSetup(config, root)),
  }
}

export const checklistSetup = ({ plan }: EffectiveConfig, root: string): ChecklistSetup => ({
  requiredSections: plan.required_sections,
  maxBytes: plan.max_bytes,
  readChanges: readPlanScope,
  exists: (path) => existsSync(resolve(root, path)),
})

/**
 * What the conditions of the route table ask about this machine. Nothing is run: whether a program can do what a review
 * needs, and is let in, only its backend can tell. `root` is what a relative `hounfour.model_invoke` is seen from.
 */
export const routeFacts = (
  { hounfour }: Pick<EffectiveConfig, 'hounfour'>,
  env: NodeJS.ProcessEnv,
  root: string = process.cwd(),
): ConditionFacts => ({
  codex: async () => {
    const look = lookForProgram('codex', env)
    return look.path === null ? { holds: false, why: look.why } : { holds: true }
  },
  openAiKey: async () => factIf((env.OPENAI_API_KEY ?? '').trim() !== '', 'OPENAI_API_KEY is not set'),
  modelInvoke: async () => {
    const name = hounfour.model_invoke
    const isPath = name.includes('/') && !isAbsolute(name)
    const found = findProgram(isPath ? resolve(root, name) : name, env)
    return factIf(found !== null, `hounfour.model_invoke, ${quoteShort(name)}, is not an executable`)
  },
  flatlineRouting: hounfour.flatline_routing,
})

const factIf = (holds: boolean, why: string): Fact => (holds ? { holds } : { holds, why })
