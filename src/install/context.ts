import { join } from 'node:path'
import { describeProblems } from '../config/errors.ts'
import { parseConfig } from '../config/load.ts'
import { defaultConfig, type EffectiveConfig } from '../config/schema.ts'
import { readRegular } from '../state/files.ts'
import { configFile } from '../state/own-paths.ts'
import { UserError } from '../system/errors.ts'
import { gitOrNull } from '../system/git.ts'
import type { Repository } from '../system/repository.ts'
import type { CheckResult } from './prerequisites.ts'

/** Progress of a bootstrap or an install: JSON lines for programs, short lines for people. */
export type ProgressLine =
  | ({ event: 'prerequisite' } & CheckResult)
  | { event: 'started'; step: string; detail: string }
  | { event: 'done'; step: string; detail: string; ms: number }
  | { event: 'notice'; detail: string }
  /** Something of the repository that is not trusted. */
  | { event: 'brings'; id: string; path: string; what: string; runs: string[]; state: 'new' | 'changed' | 'trusted' }
  | { event: 'would'; action: 'create' | 'change' | 'keep' | 'run'; path: string; detail: string }

export type ProgressListener = (progress: ProgressLine) => void

/** Runs one step and reports its start, its end and its duration. */
export async function step<T>(
  onProgress: ProgressListener,
  name: string,
  detail: string,
  work: () => T | Promise<T>,
  describe: (value: T) => string,
): Promise<T> {
  const startedAt = performance.now()
  onProgress({ event: 'started', step: name, detail })
  const value = await work()
  onProgress({ event: 'done', step: name, detail: describe(value), ms: Math.round(performance.now() - startedAt) })
  return value
}

export const selfTestStep = (onProgress: ProgressListener, prove: () => Promise<number>): Promise<number> =>
  step(onProgress, 'self-test', 'the installed hooks', prove, (checks) => `passed (${checks} checks)`)

/** The configuration of the current checkout; without one, or in a bare repository, the defaults. */
export const readConfigHere = ({ checkout }: Pick<Repository, 'checkout'>): EffectiveConfig =>
  checkout === null ? defaultConfig : readConfigIn(checkout)

/** `inherited` applies if the worktree has no file of its own. */
export function readConfigIn(root: string, inherited: string | null = null): EffectiveConfig {
  const read = readRegular(root, configFile)
  if (read.kind === 'absent' && inherited === null) return defaultConfig
  const path = join(root, configFile)
  if (read.kind === 'refused')
    throw new UserError(`${path} cannot be used: ${read.why}.`, 'Make it a plain file, or remove it.')
  return parseConfigOf(read.kind === 'read' ? read.bytes.toString('utf8') : (inherited ?? ''), path)
}

/** `name` is what the error calls the file. */
export function parseConfigOf(text: string, name: string): EffectiveConfig {
  const parsed = parseConfig(text)
  if (parsed.kind === 'valid') return parsed.config
  const lines = describeProblems(parsed.problems, configFile).map((line) => `  ${line}`)
  throw new UserError(
    `${name} is not valid:\n${lines.join('\n')}`,
    'Fix these lines; `plan-gate config --template` prints every key with its default.',
  )
}

/** The checkout's file if it is not committed, and so would not be in a new worktree. */
export async function inheritedConfig({ checkout, dir }: Repository, commit: string): Promise<string | null> {
  const read = checkout === null ? null : readRegular(checkout, configFile)
  if (read?.kind !== 'read') return null
  const isCommitted = (await gitOrNull(dir, ['cat-file', '-e', `${commit}:${configFile}`])) !== null
  return isCommitted ? null : read.bytes.toString('utf8')
}
