import { existsSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { applyEnvironment } from '../config/environment.ts'
import { quoteShort } from '../config/errors.ts'
import type { EffectiveConfig } from '../config/schema.ts'
import { findEngine } from '../gate/sandbox/engine.ts'
import { readPlanScope } from '../gate/scope.ts'
import type { AskReviewer, BackendName } from '../schemas/review.ts'
import { readInstallRecord } from '../state/records.ts'
import { findProgram, locateProgram, userEnvironment, withAbsolutePath } from '../system/environment.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { checklistReviewer } from './checklist/checklist.ts'
import type { ChecklistSetup } from './checklist/plan.ts'
import { claudeReviewer } from './claude/claude.ts'
import { isClaudeCredential } from './claude/program.ts'
import { codexReviewer } from './codex/codex.ts'
import { readUserConfig } from './codex/program.ts'
import { hounfourReviewer } from './hounfour.ts'
import { openaiReviewer } from './openai/openai.ts'
import { cacheFolder } from './program-cache.ts'
import { type BuiltTable, buildRouteTable, type ConditionFacts, type Fact, type Route } from './route-table.ts'

/** The route table of this worktree, from its configuration, the environment and the reviewer chosen at install. */
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

/** Whether `--reviewer` of the install set the route table: the choice of a person, not of a file. */
export function isReviewerPinned(gitDir: string): boolean {
  const record = readInstallRecord(gitDir)
  return record.kind === 'read' && record.value.reviewer !== null
}

export function createReviewers(
  config: EffectiveConfig,
  root: string,
  given: NodeJS.ProcessEnv,
): (route: Route) => AskReviewer {
  const env = withAbsolutePath(userEnvironment(given))
  const create: { readonly [name in BackendName]: (route: Route) => AskReviewer } = {
    codex: () =>
      codexReviewer({
        program: findProgram('codex', env) ?? 'codex',
        env: programEnvironment('codex', config, env),
        cacheDir: cacheFolder(env),
        scratch: null,
        instructions: config.codex.instructions,
      }),
    claude: () =>
      claudeReviewer({
        program: findProgram('claude', env) ?? 'claude',
        env: programEnvironment('claude', config, env),
        cacheDir: cacheFolder(env),
        scratch: null,
        sensitiveFiles: config.review.sensitive_files,
        findEngine,
      }),
    curl: (row) => openaiReviewer({ env, row, defaultModel: config.review.models.documents }),
    hounfour: () =>
      hounfourReviewer({
        program: modelInvokePath(config, root),
        agent: config.hounfour.agent,
        env: programEnvironment('hounfour', config, env),
        cwd: root,
        scratch: null,
      }),
    checklist: () => checklistReviewer(checklistSetup(config, root)),
  }
  // One reviewer for all questions to a row: it remembers what its server takes.
  const made = new Map<Route, AskReviewer>()
  return (route) => {
    const reviewer = made.get(route) ?? create[route.backend](route)
    made.set(route, reviewer)
    return reviewer
  }
}

type Program = 'codex' | 'claude' | 'hounfour'

/** The key of one service is nobody else's business: a program keeps of the keys that rows name those of its own. */
export function programEnvironment(
  program: Program,
  { review }: Pick<EffectiveConfig, 'review'>,
  env: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  const keys = (review.routes ?? []).flatMap(({ api_key_env }) => api_key_env ?? [])
  return Object.fromEntries(Object.entries(env).filter(([name]) => !keys.includes(name) || isOwn[program](name, env)))
}

const isOwn: { readonly [name in Program]: (name: string, env: NodeJS.ProcessEnv) => boolean } = {
  // Its config.toml may name another for a provider.
  codex: (name, env) =>
    ['OPENAI_API_KEY', 'CODEX_API_KEY', 'CODEX_ACCESS_TOKEN'].includes(name) || readUserConfig(env).includes(name),
  claude: isClaudeCredential,
  hounfour: (name) => ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GOOGLE_API_KEY', 'GEMINI_API_KEY'].includes(name),
}

/** A relative path is resolved from the root; a bare name is looked up on PATH. */
const modelInvokePath = ({ hounfour: { model_invoke } }: Pick<EffectiveConfig, 'hounfour'>, root: string): string =>
  model_invoke.includes('/') && !isAbsolute(model_invoke) ? resolve(root, model_invoke) : model_invoke

export const checklistSetup = ({ plan }: EffectiveConfig, root: string): ChecklistSetup => ({
  requiredSections: plan.required_sections,
  maxBytes: 1_000_000,
  readChanges: readPlanScope,
  exists: (path) => existsSync(resolve(root, path)),
})

/**
 * The facts about this machine for the conditions of the route table. No program is run: only a review shows whether it
 * works and has access.
 */
export const routeFacts = (
  config: Pick<EffectiveConfig, 'hounfour'>,
  given: NodeJS.ProcessEnv,
  root: string = process.cwd(),
): ConditionFacts => {
  const env = userEnvironment(given)
  const program = (name: string) => async (): Promise<Fact> => {
    const found = locateProgram(name, env)
    return found.path === null ? { holds: false, why: found.why } : { holds: true }
  }
  return {
    codex: program('codex'),
    claude: program('claude'),
    key: async (variable) => factIf((env[variable] ?? '').trim() !== '', `${variable} is not set`),
    modelInvoke: async () =>
      factIf(
        findProgram(modelInvokePath(config, root), env) !== null,
        `hounfour.model_invoke, ${quoteShort(config.hounfour.model_invoke)}, is not an executable`,
      ),
    flatlineRouting: config.hounfour.flatline_routing,
  }
}

const factIf = (holds: boolean, why: string): Fact => (holds ? { holds } : { holds, why })
