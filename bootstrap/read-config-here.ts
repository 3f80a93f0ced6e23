import { join } from 'node:path'
import type { EffectiveConfig } from '../src/schemas/config.ts'
import { defaultConfig } from '../src/schemas/default-config.ts'
import { describeProblems } from '../src/schemas/describe-problems.ts'
import { parseConfig } from '../src/schemas/parse-config.ts'
import { readRegular } from '../src/store/read-regular.ts'
import { UserError } from '../src/system/user-error.ts'
import type { Repository } from './find-repository.ts'

const configName = 'plan-gate.yaml'

/** The configuration of the checkout that the user stands in; without one, or in a bare repository, the defaults. */
export const readConfigHere = ({ checkout }: Pick<Repository, 'checkout'>): EffectiveConfig =>
  checkout === null ? defaultConfig : readConfigIn(checkout)

export function readConfigIn(root: string): EffectiveConfig {
  const read = readRegular(root, configName)
  if (read.kind === 'absent') return defaultConfig
  const path = join(root, configName)
  if (read.kind === 'refused')
    throw new UserError(`${path} cannot be used: ${read.why}.`, 'Make it a plain file, or remove it.')
  const parsed = parseConfig(read.bytes.toString('utf8'))
  if (parsed.kind === 'valid') return parsed.config
  throw new UserError(
    `${path} is not valid:\n${describeProblems(parsed.problems, configName)
      .map((line) => `  ${line}`)
      .join('\n')}`,
    'Mend these lines; `plan-gate config --template` prints every key with its default.',
  )
}
