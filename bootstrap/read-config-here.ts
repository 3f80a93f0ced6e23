import { join } from 'node:path'
import type { EffectiveConfig } from '../src/schemas/config.ts'
import { defaultConfig } from '../src/schemas/default-config.ts'
import { describeProblems } from '../src/schemas/describe-problems.ts'
import { parseConfig } from '../src/schemas/parse-config.ts'
import { readRegular } from '../src/store/read-regular.ts'
import { gitOrNull } from '../src/system/git.ts'
import { UserError } from '../src/system/user-error.ts'
import type { Repository } from './find-repository.ts'

const configName = 'plan-gate.yaml'

/** The configuration of the checkout that the user stands in; without one, or in a bare repository, the defaults. */
export const readConfigHere = ({ checkout }: Pick<Repository, 'checkout'>): EffectiveConfig =>
  checkout === null ? defaultConfig : readConfigIn(checkout)

/** `carried` counts where the worktree has no file of its own. */
export function readConfigIn(root: string, carried: string | null = null): EffectiveConfig {
  const read = readRegular(root, configName)
  if (read.kind === 'absent' && carried === null) return defaultConfig
  const path = join(root, configName)
  if (read.kind === 'refused')
    throw new UserError(`${path} cannot be used: ${read.why}.`, 'Make it a plain file, or remove it.')
  return parseConfigOf(read.kind === 'read' ? read.bytes.toString('utf8') : (carried ?? ''), path)
}

/** `name` is how the file is called to the person who has to mend it. */
export function parseConfigOf(text: string, name: string): EffectiveConfig {
  const parsed = parseConfig(text)
  if (parsed.kind === 'valid') return parsed.config
  const lines = describeProblems(parsed.problems, configName).map((line) => `  ${line}`)
  throw new UserError(
    `${name} is not valid:\n${lines.join('\n')}`,
    'Mend these lines; `plan-gate config --template` prints every key with its default.',
  )
}

/** The checkout's file where the commit has none: what is not committed does not get into a worktree by itself. */
export async function carriedConfig({ checkout, dir }: Repository, commit: string): Promise<string | null> {
  const read = checkout === null ? null : readRegular(checkout, configName)
  if (read?.kind !== 'read') return null
  const isCommitted = (await gitOrNull(dir, ['cat-file', '-e', `${commit}:${configName}`])) !== null
  return isCommitted ? null : read.bytes.toString('utf8')
}
