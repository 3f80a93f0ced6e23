import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { isReviewerPinned } from '../hooks/reviewer-was-chosen.ts'
import type { EffectiveConfig } from '../schemas/config.ts'
import { defaultConfig } from '../schemas/default-config.ts'
import { readInstallRecord } from '../store/install-record.ts'
import { UserError } from '../system/user-error.ts'
import { checkoutHere } from './checkout-here.ts'

export type ConfigHere = {
  config: EffectiveConfig
  root: string
  checkout: Awaited<ReturnType<typeof checkoutHere>>
  /** Whether `--reviewer` of the install made the route table. */
  chosenByUser: boolean
}

/** The configuration of the checkout, with the choices of its install; outside of one, the defaults. */
export async function configHere(): Promise<ConfigHere> {
  const checkout = await checkoutHere(process.cwd())
  if (checkout === null) return { config: defaultConfig, root: process.cwd(), checkout, chosenByUser: false }
  const { root, gitDirs } = checkout
  // To read a configuration takes a parser, which is not loaded where there is nothing to read.
  const file = lstatSync(join(root, configName), { throwIfNoEntry: false })
  if (file === undefined && readInstallRecord(gitDirs.own).kind === 'absent')
    return { config: defaultConfig, root, checkout, chosenByUser: false }
  const { compileConfig } = await import('../hooks/compile-config.ts')
  const { config, problems } = compileConfig(root)
  if (problems.length > 0) throw invalidConfig('is not valid', problems)
  return { config: config as EffectiveConfig, root, checkout, chosenByUser: isReviewerPinned(gitDirs.own) }
}

const configName = 'plan-gate.yaml'

export const invalidConfig = (what: string, problems: readonly string[], name: string = configName): UserError =>
  new UserError(
    `${name} ${what}:\n${problems.map((line) => `  ${line}`).join('\n')}`,
    'Mend these lines; `plan-gate config --template` prints every key with its default.',
  )
