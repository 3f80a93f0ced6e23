import { join } from 'node:path'
import { accepts, bool, type FromSchema, objectOf, texts } from '../../schemas/schema.ts'
import type { GroupOutcome } from '../process.ts'
import { failureOfHelp, missingFlags, type RunHelp, readCapabilitiesOf, tooOld, type Within } from '../program-cache.ts'
import { type CodexSetup, codexEnvironment } from './environment.ts'
import { classifyFailure, codexProgram } from './failures.ts'

/** Beyond the required flags. `features`: as `codex features list` names them. */
const capabilitiesSchema = objectOf({ features: texts, canIgnoreRules: bool, canReplaceInstructions: bool })
export type Capabilities = FromSchema<typeof capabilitiesSchema>

export const readCapabilities = (setup: CodexSetup, folder: string, within: Within) => {
  // An empty CODEX_HOME, so that an error in the user's configuration does not make a feature look unknown.
  const env = { ...codexEnvironment(setup.env), CODEX_HOME: folder }
  return readCapabilitiesOf(codexProgram, setup, env, within, parseCapabilities, (run) => readHelp(run, folder))
}

async function readHelp(run: RunHelp, folder: string) {
  const [exec, resume, features, instructions] = await Promise.all([
    run('exec', '--help'),
    run('exec', 'resume', '--help'),
    run('features', 'list'),
    // Not in any help; one that knows the setting reports that the file is missing, before it looks for a prompt.
    run('exec', '--skip-git-repo-check', '-c', `model_instructions_file=${JSON.stringify(join(folder, 'none'))}`, '-'),
  ])
  for (const outcome of [exec, resume]) {
    if (outcome.kind === 'ended' && outcome.exitCode === 0) continue
    const hasSaidWhy = outcome.kind === 'ended' || outcome.kind === 'killed-by'
    const known = hasSaidWhy ? classifyFailure(outcome.stderr, []) : null
    return { failure: known?.failure ?? failureOfHelp(codexProgram, outcome) }
  }
  const help = { exec: textOf(exec), resume: textOf(resume) }
  const missing = missingCapabilities(help)
  if (missing.length > 0) return tooOld(codexProgram, missing)
  return {
    features: featuresIn(textOf(features)),
    canIgnoreRules: missingFlags(help.exec, ['--ignore-rules']).length === 0,
    canReplaceInstructions: instructions.kind === 'ended' && instructions.stderr.includes('model instructions file'),
  }
}

const textOf = (outcome: GroupOutcome): string =>
  outcome.kind === 'ended' && outcome.exitCode === 0 ? outcome.stdout : ''

/** The flags of `codex exec` and `codex exec resume` that a review uses. */
const required = {
  exec: [
    '--json',
    '--sandbox',
    '--cd',
    '--skip-git-repo-check',
    '--output-last-message',
    '--output-schema',
    '--ephemeral',
    '--model',
  ],
  resume: ['--json', '--model'],
}

/** The required flags that this Codex lacks, by its help texts. */
export const missingCapabilities = ({ exec, resume }: { exec: string; resume: string }): string[] => [
  ...missingFlags(exec, required.exec).map((flag) => `exec ${flag}`),
  ...missingFlags(resume, required.resume).map((flag) => `exec resume ${flag}`),
]

/** Lines such as `shell_tool    stable    true`, without the removed features that old configurations may name. */
export const featuresIn = (list: string): string[] =>
  [...list.matchAll(/^([a-z][\w.]*) +(\S.*?) +(?:true|false)\s*$/gm)].flatMap(([, name, stage]) =>
    name === undefined || stage === 'removed' ? [] : name,
  )

export function parseCapabilities(text: string): Capabilities | null {
  const value: unknown = JSON.parse(text)
  return accepts(capabilitiesSchema, value) ? value : null
}
