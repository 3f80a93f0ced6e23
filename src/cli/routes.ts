import { readFileSync } from 'node:fs'
import { describeProblems, invalidConfig } from '../config/errors.ts'
import { parseConfig } from '../config/load.ts'
import { routeFacts } from '../reviewers/create.ts'
import { cacheFolder } from '../reviewers/program-cache.ts'
import {
  buildRouteTable,
  canonicalTable,
  pinProblem,
  type Route,
  type RouteTable,
  showConditions,
} from '../reviewers/route-table.ts'
import { describeRow, describeServing, type Prediction, predictRoutes } from '../reviewers/routes.ts'
import type { RoutesOutput } from '../schemas/output.ts'
import { openPassTimes } from '../state/pass-times.ts'
import { userEnvironment } from '../system/environment.ts'
import { UserError } from '../system/errors.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { sha256 } from '../system/sha256.ts'
import type { Run } from './command.ts'
import { type ConfigHere, configHere } from './config.ts'
import type { Paint } from './terminal.ts'

export const routesCommand: Run<'routes'> = async (flags, terminal) => {
  const { config, name, root, chosenByUser } =
    flags.config === null ? { name: 'plan-gate.yaml', ...(await configHere()) } : configIn(flags.config)
  const { policy } = config.review
  // Shown also where it is not the pinned one: whoever pins it has to see it.
  const unpinned = { ...config.review, policy: { ...policy, routes_sha256: null } }
  const built = buildRouteTable(unpinned, process.env, { chosenByUser })
  if (built.kind === 'invalid') throw invalid(name, built.problems)
  const { table } = built
  const hash = sha256(canonicalTable(table))
  const facts = routeFacts(config, process.env, root)
  const env = userEnvironment(process.env)
  const times = openPassTimes(readGitDirs(root)?.own ?? null, cacheFolder(env))
  const predicted = await predictRoutes(table, facts)
  const rows = predicted.map((row) => ({ ...row, about: describeRow(row.route, times, env) }))
  const serves = rows.find(({ why }) => why === null)?.route.name ?? null
  const shown: Shown = { table, hash, rows, serves }
  if (terminal.json) terminal.out(JSON.stringify(asJson(shown)))
  else {
    for (const line of asText(shown, terminal.paintOut)) terminal.out(line)
    const { warnings } = await describeServing(table, config.review, facts, times, env)
    for (const warning of warnings) terminal.note(`note: ${warning}.`)
    for (const notice of table.notices) terminal.note(`note: ${notice}`)
  }
  const problem = pinProblem(table, policy.routes_sha256)
  if (problem !== null) throw invalid(name, [problem])
}

type Source = Pick<ConfigHere, 'config' | 'root' | 'chosenByUser'> & { name: string }

function configIn(file: string): Source {
  const parsed = parseConfig(textOf(file))
  if (parsed.kind === 'invalid') throw invalid(file, describeProblems(parsed.problems, file))
  return { config: parsed.config, name: file, root: process.cwd(), chosenByUser: false }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? error.code : String(error)
    throw new UserError(`${file} cannot be read (${why}).`, 'Give the path of a plan-gate.yaml.')
  }
}

const invalid = (name: string, problems: readonly string[]): UserError =>
  invalidConfig('gives no route table', problems, name)

type Shown = {
  readonly table: RouteTable
  readonly hash: string
  readonly rows: readonly (Prediction & { readonly about: string })[]
  readonly serves: string | null
}

const asJson = ({ table: { origin, notices }, hash, rows, serves }: Shown): RoutesOutput => ({
  origin,
  sha256: hash,
  routes: rows.map(({ route, why, about }) => ({
    name: route.name,
    backend: route.backend,
    model: route.model,
    about,
    when: route.when,
    capabilities: route.capabilities,
    fail_mode: route.failMode,
    timeout_seconds: route.timeoutMs === null ? null : route.timeoutMs / 1000,
    retries: route.retries,
    serves: why === null,
    why,
  })),
  serves,
  notices,
})

function asText({ table, hash, rows, serves }: Shown, paint: Paint): string[] {
  const cells = rows.map(({ route }, index) => cellsOf(route, index))
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  return [
    paint('bold', table.origin === 'default' ? 'the built-in route table' : 'your own route table'),
    ...rows.flatMap(({ why, about }, index) => {
      const line = (cells[index] ?? []).map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
      const now = why === null ? paint('green', 'usable now') : paint('dim', `not now: ${why}`)
      return [`${line}  ${now}`, paint('dim', `   ${about}`)]
    }),
    paint('dim', `sha256 ${hash}`),
    serves === null
      ? `${paint('red', 'No route can be used now.')} Provide what one of them lacks, or install with --reviewer checklist.`
      : `${serves} would be used now.`,
  ]
}

const cellsOf = ({ name, backend, when, failMode, retries, timeoutMs }: Route, index: number): readonly string[] => [
  `${index + 1}`,
  name === backend ? name : `${name} (${backend})`,
  showConditions(when),
  [
    failMode,
    ...(retries === 0 ? [] : [`retries ${retries}`]),
    ...(timeoutMs === null ? [] : [`timeout ${timeoutMs / 1000} s`]),
  ].join(', '),
]
