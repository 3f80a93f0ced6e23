import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Failure } from '../../schemas/review.ts'
import { asRecord } from '../../text/json.ts'
import { failureOf } from '../failure.ts'
import { type GroupOutcome, runInGroup } from '../process.ts'
import { flagsIn, identifyProgram, readCached, writeCached } from '../program-cache.ts'
import { failureOfHelp } from '../program-failures.ts'
import { type CodexSetup, codexEnvironment } from './environment.ts'
import { classifyFailure, codexProgram } from './failures.ts'

type CapabilityResult =
  | ({ readonly kind: 'known' } & Capabilities)
  | { readonly kind: 'failed'; readonly failure: Failure }

type Within = { readonly timeoutMs: number; readonly signal: AbortSignal }

/** Read once for each Codex and cached: starting it costs more than all other preparations of a review. */
export async function readCapabilities(setup: CodexSetup, folder: string, within: Within): Promise<CapabilityResult> {
  const identity = identifyProgram(setup.program)
  if (identity === null) return notInstalled(`Codex was not found: ${setup.program}.`, codexProgram.install)
  const key = { name: 'codex', identity }
  const cached = setup.cacheDir === null ? null : readCached(setup.cacheDir, key, parseCapabilities)
  if (cached !== null) return { kind: 'known', ...cached }
  const found = await readHelp(setup, folder, within)
  if (found.kind === 'known' && setup.cacheDir !== null) writeCached(setup.cacheDir, key, found)
  return found
}

async function readHelp(setup: CodexSetup, folder: string, within: Within): Promise<CapabilityResult> {
  // An empty CODEX_HOME, so that an error in the user's configuration does not make a feature look unknown.
  const env = { ...codexEnvironment(setup.env), CODEX_HOME: folder }
  const run = (...args: string[]): Promise<GroupOutcome> =>
    runInGroup(setup.program, args, {
      cwd: tmpdir(),
      env,
      input: '',
      timeoutMs: Math.min(within.timeoutMs, 15_000),
      silenceMs: null,
      signal: within.signal,
      maxOutputBytes: 256 * 1024,
    })
  const [exec, resume, features, instructions] = await Promise.all([
    run('exec', '--help'),
    run('exec', 'resume', '--help'),
    run('features', 'list'),
    // Not in any help; one that knows the setting reports that the file is missing, before it looks for a prompt.
    run('exec', '--skip-git-repo-check', '-c', `model_instructions_file=${JSON.stringify(join(folder, 'none'))}`, '-'),
  ])
  const failed = [exec, resume].find((outcome) => outcome.kind !== 'ended' || outcome.exitCode !== 0)
  if (failed !== undefined) return { kind: 'failed', failure: helpFailure(failed) }
  const help = { exec: textOf(exec), resume: textOf(resume) }
  const missing = missingCapabilities(help)
  if (missing.length > 0)
    return notInstalled(
      `This Codex is too old for reviews: it lacks ${missing.join(', ')}.`,
      'Update it: npm i -g @openai/codex@latest; or use another reviewer.',
    )
  return {
    kind: 'known',
    features: featuresIn(textOf(features)),
    canIgnoreRules: flagsIn(help.exec).has('--ignore-rules'),
    canReplaceInstructions: instructions.kind === 'ended' && instructions.stderr.includes('model instructions file'),
  }
}

const textOf = (outcome: GroupOutcome): string =>
  outcome.kind === 'ended' && outcome.exitCode === 0 ? outcome.stdout : ''

const helpFailure = (outcome: GroupOutcome): Failure =>
  (outcome.kind === 'ended' || outcome.kind === 'killed-by'
    ? classifyFailure(outcome.stderr, [])?.failure
    : undefined) ?? failureOfHelp(codexProgram, outcome)

const notInstalled = (why: string, nextStep: string): CapabilityResult => ({
  kind: 'failed',
  failure: failureOf('not-installed', why, nextStep),
})

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
} as const

/** Beyond the required flags. */
export type Capabilities = {
  /** As `codex features list` names them. */
  readonly features: readonly string[]
  readonly canIgnoreRules: boolean
  readonly canReplaceInstructions: boolean
}

type HelpTexts = { exec: string; resume: string }

/** The required flags that this Codex lacks. */
export function missingCapabilities(help: HelpTexts): string[] {
  const exec = flagsIn(help.exec)
  const resume = flagsIn(help.resume)
  return [
    ...required.exec.filter((flag) => !exec.has(flag)).map((flag) => `exec ${flag}`),
    ...required.resume.filter((flag) => !resume.has(flag)).map((flag) => `exec resume ${flag}`),
  ]
}

/** Lines such as `shell_tool    stable    true`, without the removed features that old configurations may name. */
export const featuresIn = (list: string): string[] =>
  [...list.matchAll(/^([a-z][\w.]*) +(\S.*?) +(?:true|false)\s*$/gm)].flatMap(([, name, stage]) =>
    name === undefined || stage === 'removed' ? [] : name,
  )

export function parseCapabilities(text: string): Capabilities | null {
  const value: unknown = JSON.parse(text)
  const { features, canIgnoreRules, canReplaceInstructions } = asRecord(value)
  if (typeof canIgnoreRules !== 'boolean' || typeof canReplaceInstructions !== 'boolean') return null
  if (!Array.isArray(features)) return null
  const names = features.filter((name): name is string => typeof name === 'string')
  return { features: names, canIgnoreRules, canReplaceInstructions }
}
