import { join } from 'node:path'
import { describeProblems } from '../config/errors.ts'
import { parseConfig } from '../config/load.ts'
import { defaultConfig, type EffectiveConfig } from '../config/schema.ts'
import { readRegular } from '../state/files.ts'
import { configFile } from '../state/own-paths.ts'
import { UserError } from '../system/errors.ts'
import { gitOrNull } from '../system/git.ts'
import type { Repository } from '../system/repository.ts'
import type { CheckResult } from './check-result.ts'

/** What happens during a bootstrap, as it happens. One JSON object a line for programs, a short line for people. */
export type Progress =
  | ({ event: 'prerequisite' } & CheckResult)
  | { event: 'started'; step: string; detail: string }
  | { event: 'done'; step: string; detail: string; ms: number }
  | { event: 'notice'; detail: string }
  | { event: 'would'; action: 'create' | 'change' | 'keep' | 'run'; path: string; detail: string }

export type ProgressListener = (progress: Progress) => void

/** Runs one step and tells its beginning, its end and how long it took. */
export async function step<T>(
  tell: ProgressListener,
  name: string,
  detail: string,
  work: () => T | Promise<T>,
  told: (value: T) => string,
): Promise<T> {
  const since = performance.now()
  tell({ event: 'started', step: name, detail })
  const value = await work()
  tell({ event: 'done', step: name, detail: told(value), ms: Math.round(performance.now() - since) })
  return value
}

/** The configuration of the checkout that the user stands in; without one, or in a bare repository, the defaults. */
export const readConfigHere = ({ checkout }: Pick<Repository, 'checkout'>): EffectiveConfig =>
  checkout === null ? defaultConfig : readConfigIn(checkout)

/** `carried` counts where the worktree has no file of its own. */
export function readConfigIn(root: string, carried: string | null = null): EffectiveConfig {
  const read = readRegular(root, configFile)
  if (read.kind === 'absent' && carried === null) return defaultConfig
  const path = join(root, configFile)
  if (read.kind === 'refused')
    throw new UserError(`${path} cannot be used: ${read.why}.`, 'Make it a plain file, or remove it.')
  return parseConfigOf(read.kind === 'read' ? read.bytes.toString('utf8') : (carried ?? ''), path)
}

/** `name` is how the file is called to the person who has to fix it. */
export function parseConfigOf(text: string, name: string): EffectiveConfig {
  const parsed = parseConfig(text)
  if (parsed.kind === 'valid') return parsed.config
  const lines = describeProblems(parsed.problems, configFile).map((line) => `  ${line}`)
  throw new UserError(
    `${name} is not valid:\n${lines.join('\n')}`,
    'Fix these lines; `plan-gate config --template` prints every key with its default.',
  )
}

/** The checkout's file where the commit has none: what is not committed does not get into a worktree by itself. */
export async function inheritedConfig({ checkout, dir }: Repository, commit: string): Promise<string | null> {
  const read = checkout === null ? null : readRegular(checkout, configFile)
  if (read?.kind !== 'read') return null
  const isCommitted = (await gitOrNull(dir, ['cat-file', '-e', `${commit}:${configFile}`])) !== null
  return isCommitted ? null : read.bytes.toString('utf8')
}
