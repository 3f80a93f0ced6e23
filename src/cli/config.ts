import { lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { pendingConfig } from '../config/compiled-config.ts'
import { invalidConfig } from '../config/errors.ts'
import { defaultConfig, type EffectiveConfig } from '../config/schema.ts'
import { isReviewerPinned } from '../reviewers/create.ts'
import { buildRouteTable, type RouteTable } from '../reviewers/route-table.ts'
import { configFile } from '../state/own-paths.ts'
import { readInstallRecord } from '../state/records.ts'
import { UserError } from '../system/errors.ts'
import { gitOrNull } from '../system/git.ts'
import { type GitDirs, readGitDirs } from '../system/git-dirs.ts'
import { packageRoot } from '../system/package.ts'
import { findCheckout } from '../system/repository.ts'
import { type ExitSignal, exitCodeOfSignal, interceptSignals } from '../system/signals.ts'
import type { Run } from './command.ts'

export const configCommand: Run<'config'> = async ({ template: isTemplate, apply }) => {
  process.stdout.write(isTemplate ? template() : `${JSON.stringify(await effectiveConfig(apply), null, 2)}\n`)
}

const template = (): string => readFileSync(join(packageRoot(), 'templates', 'plan-gate.yaml'), 'utf8')

async function effectiveConfig(apply: boolean): Promise<object> {
  const { root, gitDirs } = await findCheckout(process.cwd())
  const { compileConfig, recompileConfig } = await import('../install/compile-config.ts')
  const { problems, notices, config } = compileConfig(root)
  if (problems.length > 0) throw invalidConfig('is not valid', problems, join(root, 'plan-gate.yaml'))
  for (const notice of notices) process.stderr.write(`note: ${notice}\n`)
  if (apply) {
    recompileConfig(root)
    if (pendingConfig(root, gitDirs.own) !== null)
      throw new UserError(
        'A tool call of Claude Code runs here, which may have written plan-gate.yaml: nothing was applied.',
        'Run this again when the call has ended, or start the session again.',
        1,
      )
  }
  return config
}

export type ConfigHere = {
  config: EffectiveConfig
  root: string
  checkout: Awaited<ReturnType<typeof checkoutHere>>
  /** Whether `--reviewer` of the install set the route table. */
  chosenByUser: boolean
}

export async function configHere(): Promise<ConfigHere> {
  const checkout = await checkoutHere(process.cwd())
  if (checkout === null) return { config: defaultConfig, root: process.cwd(), checkout, chosenByUser: false }
  const { root, gitDirs } = checkout
  const file = lstatSync(join(root, configFile), { throwIfNoEntry: false })
  if (file === undefined && readInstallRecord(gitDirs.own).kind === 'absent')
    return { config: defaultConfig, root, checkout, chosenByUser: false }
  return { config: await validConfig(root), root, checkout, chosenByUser: isReviewerPinned(gitDirs.own) }
}

/** The YAML parser is loaded only where there is something to read. */
export async function validConfig(root: string): Promise<EffectiveConfig> {
  const { compileConfig } = await import('../install/compile-config.ts')
  const { config, problems } = compileConfig(root)
  if (problems.length > 0) throw invalidConfig('is not valid', problems)
  return config
}

/** The checkout of a folder, with a single call of git; null if git finds none. Throws if git could not be run. */
export async function checkoutHere(cwd: string): Promise<{ root: string; gitDirs: GitDirs } | null> {
  const listed = await gitOrNull(cwd, ['rev-parse', '--path-format=absolute', '--show-toplevel'])
  if (listed === null) return null
  const root = listed.replace(/\n$/, '')
  const gitDirs = root.includes('\n') ? null : readGitDirs(root)
  return gitDirs === null ? null : { root, gitDirs }
}

export function routeTableOf(review: EffectiveConfig['review'], { chosenByUser }: ConfigHere): RouteTable {
  const built = buildRouteTable(review, process.env, { chosenByUser })
  if (built.kind === 'table') return built.table
  throw new UserError(
    `The route table is not valid:\n${built.problems.map((line) => `  ${line}`).join('\n')}`,
    'See `plan-gate routes`.',
  )
}

export function wholeNumber(name: string, value: string, max: number): number {
  if (/^[1-9]\d{0,6}$/.test(value) && Number(value) <= max) return Number(value)
  throw new UserError(`--${name} ${value} is not a whole number from 1 to ${max}.`, `For example: --${name} 2.`)
}

/** The first Ctrl-C ends the reviewer, and then this process; the second exits at once. */
export function abortOnExitSignals() {
  const abort = new AbortController()
  let by: ExitSignal | null = null
  const release = interceptSignals((name) => {
    if (by !== null) process.exit(exitCodeOfSignal(name))
    by = name
    abort.abort()
  })
  return { abort, by: (): ExitSignal | null => by, release }
}

/** A separate bundle, because its tables are larger than everything else together. */
export const loadTokenizer = (): Promise<typeof import('../review/count-tokens.ts')> =>
  import(pathToFileURL(join(packageRoot(), 'dist', 'tokenizer.mjs')).href) as Promise<
    typeof import('../review/count-tokens.ts')
  >
