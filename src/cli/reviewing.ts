import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { EffectiveConfig } from '../config/schema.ts'
import { buildRouteTable, type RouteTable } from '../reviewers/route-table.ts'
import { UserError } from '../system/errors.ts'
import { packageRoot } from '../system/package.ts'
import { type ExitSignal, exitCodeOfSignal, interceptSignals } from '../system/signals.ts'
import type { ConfigHere } from './config-here.ts'

/** What `review` and `calibrate` share. */

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
