import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { invalidConfig } from '../config/errors.ts'
import { defaultConfig, type EffectiveConfig } from '../config/schema.ts'
import { isReviewerPinned } from '../reviewers/create.ts'
import { configFile } from '../state/own-paths.ts'
import { readInstallRecord } from '../state/records.ts'
import { gitOrNull } from '../system/git.ts'
import { type GitDirs, readGitDirs } from '../system/git-dirs.ts'

export type ConfigHere = {
  config: EffectiveConfig
  root: string
  checkout: Awaited<ReturnType<typeof checkoutHere>>
  /** Whether `--reviewer` of the install set the route table. */
  chosenByUser: boolean
}

/** The configuration of the checkout and its install; outside of a checkout, the defaults. */
export async function configHere(): Promise<ConfigHere> {
  const checkout = await checkoutHere(process.cwd())
  if (checkout === null) return { config: defaultConfig, root: process.cwd(), checkout, chosenByUser: false }
  const { root, gitDirs } = checkout
  // Without a file, the YAML parser is not loaded.
  const file = lstatSync(join(root, configFile), { throwIfNoEntry: false })
  if (file === undefined && readInstallRecord(gitDirs.own).kind === 'absent')
    return { config: defaultConfig, root, checkout, chosenByUser: false }
  const { compileConfig } = await import('../install/compile-config.ts')
  const { config, problems } = compileConfig(root)
  if (problems.length > 0) throw invalidConfig('is not valid', problems)
  return { config, root, checkout, chosenByUser: isReviewerPinned(gitDirs.own) }
}

/** The checkout of a folder, with a single call of git; null if git finds none. Throws if git could not be run. */
export async function checkoutHere(cwd: string): Promise<{ root: string; gitDirs: GitDirs } | null> {
  const listed = await gitOrNull(cwd, ['rev-parse', '--path-format=absolute', '--show-toplevel'])
  if (listed === null) return null
  const root = listed.replace(/\n$/, '')
  const gitDirs = root.includes('\n') ? null : readGitDirs(root)
  return gitDirs === null ? null : { root, gitDirs }
}
