import { isAbsolute, resolve } from 'node:path'
import type { ConditionFacts, Fact } from '../routes/conditions.ts'
import type { EffectiveConfig } from '../schemas/config.ts'
import { quoted } from '../schemas/show-value.ts'
import { findProgram, lookForProgram } from '../system/find-program.ts'

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
    return factIf(found !== null, `hounfour.model_invoke, ${quoted(name)}, is not an executable`)
  },
  flatlineRouting: hounfour.flatline_routing,
})

const factIf = (holds: boolean, why: string): Fact => (holds ? { holds } : { holds, why })
