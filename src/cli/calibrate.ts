import { accessSync, constants, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { carryOut, judgeQuestionsLeft, type Place, type Run, resultOf, runKey } from '../calibrate/calibrate.ts'
import {
  type Base,
  chooseCases,
  classesOf,
  type DefectClass,
  readOwnCommits,
  readOwnPlans,
  readShippedChanges,
  readShippedPlans,
} from '../calibrate/cases.ts'
import { reviewedTasks } from '../calibrate/measure.ts'
import { formatCalibration } from '../calibrate/recommend.ts'
import {
  asEffort,
  type Cell,
  forecastRun,
  type Journal,
  openJournal,
  setJournalAside,
  type Task,
  tasksOf,
} from '../calibrate/run.ts'
import { applyEnvironment } from '../config/environment.ts'
import { either } from '../config/errors.ts'
import { nearestName } from '../config/nearest-name.ts'
import { routeFacts } from '../reviewers/create.ts'
import { cacheFolder } from '../reviewers/program-cache.ts'
import type { Route } from '../reviewers/route-table.ts'
import { predictRoutes } from '../reviewers/routes.ts'
import type { Calibration, ReviewLine } from '../schemas/calibration.ts'
import { efforts } from '../schemas/review.ts'
import { ensureFolder, putFile, readRegular, removePath } from '../state/files.ts'
import { holdLock } from '../state/lock.ts'
import { calibrationDir } from '../state/own-paths.ts'
import { openPassTimes } from '../state/pass-times.ts'
import { userEnvironment } from '../system/environment.ts'
import { UserError } from '../system/errors.ts'
import { packageVersion } from '../system/package.ts'
import { exitCodeOfSignal } from '../system/signals.ts'
import type { Run as Command, Flags } from './command.ts'
import { abortOnExitSignals, type ConfigHere, configHere, loadTokenizer, routeTableOf, wholeNumber } from './config.ts'
import { askOnTerminal, oneLine, type Terminal } from './terminal.ts'

type CalibrateFlags = Flags<'calibrate'>

export const calibrateCommand: Command<'calibrate'> = async (flags, terminal) => {
  const here = await configHere()
  const { review } = applyEnvironment(here.config.review, process.env)
  const cacheDir = cacheFolder(userEnvironment(process.env))
  const gitDir = here.checkout?.gitDirs.own ?? null
  const times = openPassTimes(gitDir, cacheDir)
  const config = { ...here.config, review }
  const place: Place = { root: here.root, gitDir, config, env: process.env, times, loadTokenizer }
  const planned = await planRun(flags, place, here, terminal)
  const home =
    here.checkout === null
      ? { root: cacheDir, folder: 'calibration' }
      : { root: here.checkout.gitDirs.common, folder: calibrationDir }
  const store: Store = { ...home, key: runKey(planned, place, packageVersion()) }
  const isFresh = flags.fresh
  const open = (): Journal => openJournal(store.root, store.folder, `${store.key}.jsonl`)
  const known = isFresh ? nothingKept : open()
  const forecast = forecastOf(planned, known, place)
  if (flags.dryRun) {
    const why = 'Nothing was reviewed: --dry-run.'
    const result = resultNow(planned, known, place, { why, judgeFailure: null })
    return terminal.answer(result, describeCases(planned, forecast))
  }
  const ask = flags.yes ? null : askOnTerminal(terminal)
  if (!flags.yes && ask === null && isPaidFor(forecast))
    throw new UserError(
      `This costs money, and nobody can be asked here. ${forecast.words}`,
      'Give --yes, or --dry-run to see the cases.',
    )
  await alone(store, async (lost) => {
    const kept = isFresh ? nothingKept : open()
    const now = forecastOf(planned, kept, place)
    if (isPaidFor(now)) {
      terminal.note(now.words)
      if (ask !== null && !(await ask('Review them now? [y/N] ')))
        throw new UserError('Nothing was reviewed.', 'Give --plans 1 or --repeat 1 for less.')
    }
    if (isFresh) setJournalAside(store.root, store.folder, `${store.key}.jsonl`)
    const journal = isFresh ? open() : kept
    const told = endOf(planned, journal, await measure(planned, place, journal, terminal, lost))
    const result = resultNow(planned, journal, place, told)
    terminal.answer(result, formatCalibration(result, terminal.paintOut))
    putFile(store.root, `${store.folder}/${store.key}.json`, `${JSON.stringify(result)}\n`, 0o600)
  })
}

type Store = { readonly root: string; readonly folder: string; readonly key: string }

const nothingKept: Journal = { lines: () => [], append: () => {} }

const isPaidFor = ({ reviews, judge_calls }: Calibration['forecast']): boolean => reviews + judge_calls > 0

function forecastOf(run: Run, journal: Journal, { config, times }: Place): Calibration['forecast'] {
  const lines = journal.lines()
  const done = new Set(reviewedTasks(run.tasks, lines).map(({ task }) => task.key))
  const left = run.tasks.filter(({ key }) => !done.has(key))
  return forecastRun(left, { review: config.review, fast: run.fast, times, judgeCalls: judgeQuestionsLeft(run, lines) })
}

type Told = { readonly why: string | null; readonly judgeFailure: string | null }

const resultNow = (planned: Run, journal: Journal, place: Place, told: Told): Calibration =>
  resultOf(planned, journal, {
    ...told,
    forecast: forecastOf(planned, journal, place),
    plan_gate: packageVersion(),
    made_at: new Date().toISOString(),
  })

const describeCases = ({ cases, cells, repeat }: Run, { words }: Calibration['forecast']): readonly string[] => [
  ...cases.map(({ id, base }) => `${oneLine(id)}${base.note === null ? '' : `  (${base.note})`}`),
  '',
  `${cases.length} copies, ${repeat} times by each of: ${cells.map(({ name }) => name).join(', ')}.`,
  words,
]

async function alone({ root, folder, key }: Store, work: (lost: AbortSignal) => Promise<void>): Promise<void> {
  const path = join(root, folder)
  try {
    mkdirSync(root, { recursive: true, mode: 0o700 })
    ensureFolder(root, folder)
    accessSync(path, constants.W_OK)
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/\. .*$/s, '') : String(error)
    throw new UserError(
      `What is paid for is kept in ${path}, and that cannot be written: ${why}.`,
      'Make it a folder that you can write, then try again.',
    )
  }
  const holder = `${folder}/${key}.pid`
  const held = await holdLock(
    join(path, `${key}.lock`),
    async (lost) => {
      putFile(root, holder, `${process.pid}\n`, 0o600)
      try {
        await work(lost)
      } finally {
        if (!lost.aborted) removePath(root, holder)
      }
    },
    { waitMs: 6_000 },
  )
  if (held.kind === 'done') return
  const read = readRegular(root, holder, 100)
  const pid = read.kind === 'read' ? /^\d+/.exec(read.bytes.toString('utf8'))?.[0] : undefined
  throw new UserError(
    `The same measurement is running already${pid === undefined ? '' : `, as process ${pid}`}.`,
    'Wait for it, or choose another --seed.',
  )
}

/** Why a run is not complete; throws where it was stopped, or nobody has answered. */
function endOf({ tasks }: Run, journal: Journal, { end, stoppedBy }: Awaited<ReturnType<typeof measure>>): Told {
  const done = reviewedTasks(tasks, journal.lines()).length
  const progress = `${done} of ${tasks.length} reviews are done and kept`
  if (end.kind === 'cancelled')
    throw new UserError(
      `Stopped: ${progress}.`,
      'The same command goes on from there.',
      exitCodeOfSignal(stoppedBy ?? 'SIGINT'),
    )
  const [first] = end.dropped
  if (first !== undefined && done === 0) throw new UserError(first.why, first.nextStep, 1)
  if (first !== undefined) process.exitCode = 1
  const left = end.dropped.map(({ cell, why, nextStep }) => `${cell} is not asked any more: ${why} ${nextStep}`)
  if (end.kind === 'calls-used-up') left.push('--max-calls is used up.')
  const { judgeFailure } = end
  if (left.length > 0) return { why: `${left.join(' ')} ${progress}; the same command goes on.`, judgeFailure }
  const why = done < tasks.length ? `Some reviews failed. ${progress}; the same command tries those again.` : null
  return { why, judgeFailure }
}

async function measure(planned: Run, place: Place, journal: Journal, terminal: Terminal, lost: AbortSignal) {
  const { abort, by, release } = abortOnExitSignals()
  // It may have been lost while the question was open.
  if (lost.aborted) abort.abort()
  lost.addEventListener('abort', () => abort.abort(), { once: true })
  const progress = progressLine(planned, reviewedTasks(planned.tasks, journal.lines()).length, terminal)
  try {
    const end = await carryOut(planned, place, { journal, signal: abort.signal, onDone: progress.onDone })
    return { end, stoppedBy: by() }
  } finally {
    progress.end()
    release()
  }
}

function progressLine({ tasks }: Run, before: number, { paint }: Terminal) {
  const isLive = process.stderr.isTTY === true && process.env.TERM !== 'dumb'
  const startedAt = performance.now()
  let done = 0
  return {
    onDone: ({ cell, repeat }: Task, { failure, verdict, seconds }: ReviewLine): void => {
      done += 1
      const left = tasks.length - before - done
      const minutes = Math.ceil(((performance.now() - startedAt) / done / 60_000) * left)
      // What the case is about is not said while others are still to be judged by people who look on.
      const line = `${before + done} of ${tasks.length}: ${cell.name}, repeat ${repeat}, ${failure ?? verdict}, ${Math.round(seconds)} s; about ${minutes} min left`
      if (isLive) process.stderr.write(`\r\u001b[K${paint('dim', line.slice(0, (process.stderr.columns ?? 80) - 1))}`)
      else process.stderr.write(`${line}\n`)
    },
    end: (): void => void (isLive && done > 0 && process.stderr.write('\r\u001b[K')),
  }
}

async function planRun(flags: CalibrateFlags, place: Place, here: ConfigHere, terminal: Terminal): Promise<Run> {
  if (flags.onlyOwn && flags.onlyShipped)
    throw new UserError('--only-own and --only-shipped leave nothing.', 'Give one of them.')
  const type = flags.diff ? 'code' : 'plan'
  const repeat = wholeNumber('repeat', flags.repeat, 100)
  const perClass = wholeNumber('plans', flags.plans, 100)
  const { routes: table, notices } = routeTableOf(place.config.review, here)
  for (const notice of notices) terminal.note(`note: ${notice}`)
  const routes =
    flags.routes === null
      ? await servingRoutes(table, place)
      : namesIn('routes', flags.routes).map((name) => routeNamed(name, table, 'routes'))
  const cells = cellsOf(routes, flags)
  const judge = flags.judge === null ? null : judgeOf(flags.judge, table, routes)
  const { bases, notes } = await basesOf(type, flags, place, here)
  for (const note of notes) terminal.note(`note: ${note}`)
  const { required_sections: requiredSections } = place.config.plan
  const cases = chooseCases(bases, {
    classes: chosenClasses(type, flags.classes),
    perClass,
    seed: flags.seed,
    requiredSections,
  })
  if (cases.every(({ defect }) => defect === null))
    throw new UserError(
      'There is nothing to measure: no defect of these classes can be made in these texts.',
      'Leave out --classes or --only-own.',
    )
  const tasks = tasksOf(cells, cases, repeat, flags.seed)
  const maxCalls = flags.maxCalls === null ? null : wholeNumber('max-calls', flags.maxCalls, 1_000_000)
  return { tasks, cells, cases, repeat, seed: flags.seed, type, fast: flags.fast, maxCalls, judge }
}

/** The checklist is no reviewer: what it knows is checked before one is asked. */
async function servingRoutes(table: readonly Route[], { config, env, root }: Place): Promise<readonly Route[]> {
  const facts = routeFacts(config, env, root)
  const rows = await Promise.all(table.map((route) => predictRoutes({ routes: [route] }, facts)))
  const serving = rows
    .flat()
    .flatMap(({ route, why }) => (why === null && route.backend !== 'checklist' ? [route] : []))
  if (serving.length > 0) return serving
  const why = rows.flat().map((row) => `  ${row.route.name}: ${row.why ?? 'it is no model'}`)
  throw new UserError(
    `No row of the route table could review now:\n${why.join('\n')}`,
    'Provide what one of them lacks, or see `plan-gate routes`.',
  )
}

function routeNamed(name: string, table: readonly Route[], flag: string): Route {
  const route = table.find((each) => each.name === name)
  const names = table.map((each) => each.name)
  return route ?? unknownName(`--${flag}: the route table has no row ${JSON.stringify(name)}.`, name, names)
}

function unknownName(what: string, name: string, names: readonly string[]): never {
  const nearest = nearestName(name, names)
  throw new UserError(what, nearest === undefined ? `There are ${names.join(', ')}.` : `Did you mean ${nearest}?`)
}

function judgeOf(name: string, table: readonly Route[], routes: readonly Route[]): Route {
  const route = routeNamed(name, table, 'judge')
  const isOther = routes.every(
    ({ backend, model, endpoint }) =>
      backend !== route.backend ||
      (backend === 'curl' && (model !== route.model || endpoint?.baseUrl !== route.endpoint?.baseUrl)),
  )
  if (isOther && route.backend !== 'checklist' && route.backend !== 'hounfour') return route
  throw new UserError(
    `--judge ${name}: ${isOther ? 'it cannot answer such a question.' : 'it would judge itself.'}`,
    'Name a row with another backend or another model.',
  )
}

function cellsOf(routes: readonly Route[], { effort, readers }: CalibrateFlags): readonly Cell[] {
  const levels = effort === null ? [null] : namesIn('effort', effort).map(effortNamed)
  const counts = readers === null ? [null] : namesIn('readers', readers).map((text) => wholeNumber('readers', text, 5))
  const nameOf = (route: Route, level: string | null, count: number | null): string =>
    [route.name, level, count === null ? null : `${count} reader${count === 1 ? '' : 's'}`]
      .filter((part) => part !== null)
      .join(' ')
  return routes.flatMap((route) =>
    levels.flatMap((effort) =>
      counts.map((readers) => ({ name: nameOf(route, effort, readers), route, effort, readers })),
    ),
  )
}

function effortNamed(name: string) {
  const effort = asEffort(name)
  if (effort !== null) return effort
  const what = `--effort: expected ${either(efforts)}, found ${JSON.stringify(name)}.`
  throw new UserError(what, 'For example: --effort high,xhigh.')
}

function chosenClasses(type: Base['type'], given: string | null): readonly DefectClass[] {
  const known = classesOf(type)
  const kind = type === 'plan' ? 'plans' : 'changes'
  return given === null
    ? known
    : namesIn('classes', given).map(
        (name) =>
          known.find((each) => each === name) ??
          unknownName(`--classes: there is no class ${JSON.stringify(name)} of ${kind}.`, name, known),
      )
}

async function basesOf(
  type: Base['type'],
  flags: CalibrateFlags,
  { root, config }: Place,
  { checkout }: ConfigHere,
): ReturnType<typeof readOwnPlans> {
  const wantsOwn = !flags.onlyShipped && checkout !== null
  const shipped = flags.onlyOwn ? [] : type === 'plan' ? readShippedPlans() : readShippedChanges()
  const own = !wantsOwn
    ? { bases: [], notes: [] }
    : type === 'plan'
      ? await readOwnPlans(root, checkout.gitDirs, config.plan.request)
      : await readOwnCommits(root, wholeNumber('commits', flags.commits, 100), {
          sensitiveFiles: config.review.sensitive_files,
          maxTokens: config.review.multipass.budgets.pass2_input,
        })
  const bases = [...own.bases, ...shipped]
  if (bases.length > 0) return { bases, notes: own.notes }
  throw new UserError(
    [
      type === 'plan'
        ? 'There is nothing to measure: no plan was approved here yet.'
        : 'There is nothing to measure: no small commit was found here.',
      ...own.notes,
    ].join('\n  '),
    'Leave out --only-own: plan-gate brings plans and changes along.',
  )
}

function namesIn(flag: string, list: string): readonly string[] {
  const names = list.split(',').map((name) => name.trim())
  if (names.includes('')) throw new UserError(`--${flag} ${list}: a name is empty.`, `Leave --${flag} out for all.`)
  return [...new Set(names)]
}
