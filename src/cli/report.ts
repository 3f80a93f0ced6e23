import { spawn } from 'node:child_process'
import { cpSync, existsSync, lstatSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { findGatedCheckout } from '../../bootstrap/find-worktree.ts'
import { compileConfig } from '../install/compile-config.ts'
import { makeRedactor } from '../redact/redact.ts'
import { escapeUntrusted } from '../redact/untrusted-text.ts'
import type { Cycle, Gate, ReportData, ReportedRevision, SessionDenials } from '../report/data.ts'
import { pageParts } from '../report/generated/page-parts.js'
import type { DecideData } from '../report/page-data.ts'
import { policyFor, renderReport } from '../report/report.ts'
import { type Calibration, calibrationSchema } from '../schemas/calibration.ts'
import type { LedgerEvent } from '../schemas/records.ts'
import { type KeptPass, keptPassSchema, reviewResultSchema, type ServedOutput } from '../schemas/review.ts'
import { accepts } from '../schemas/schema.ts'
import { readApproval, readPlanBytes } from '../state/approval.ts'
import { listCycles } from '../state/cycles.ts'
import { checkFolder, errnoOf, listNames, readJson, saveFile } from '../state/files.ts'
import { readEvents } from '../state/ledger.ts'
import { calibrationDir, reviewDir } from '../state/own-paths.ts'
import { listRevisions, readRevision } from '../state/revisions.ts'
import { listSessions, readDenials } from '../state/sessions.ts'
import { findProgram } from '../system/environment.ts'
import { UserError } from '../system/errors.ts'
import type { GitDirs } from '../system/git-dirs.ts'
import { packageVersion } from '../system/package.ts'
import { findCheckout } from '../system/repository.ts'
import { sha256 } from '../system/sha256.ts'
import { exitCodeOfSignal } from '../system/signals.ts'
import { checkRecord, eventsByCycle } from './checks.ts'
import type { Flags, Run } from './command.ts'
import { checkoutHere } from './config.ts'
import { describeApproval, readStatus, type StatusHere } from './status.ts'
import { type Terminal, withOwnCommand } from './terminal.ts'

export const reportCommand: Run<'report'> = async (flags, terminal) => {
  if (flags.serve) return serve(flags, terminal)
  const toStdout = flags.output === '-'
  if (toStdout && flags.open)
    throw new UserError('--open needs a file, not stdout.', 'Leave out --output, or name a file.')
  const { data, root, folder } = await sourceOf(flags)
  if (terminal.json) return terminal.answer(data, [])
  if (toStdout) return void process.stdout.write(renderPage(data))
  const named = flags.output === null ? null : resolve(flags.output)
  const path =
    root === null ? writePage(renderPage(data), named ?? join(folder, 'report.html')) : saveReport(root, data, named)
  terminal.out(`The report is in ${escapeUntrusted(path).replaceAll('\n', ' ')}`)
  if (flags.open) await openOrSay(pathToFileURL(path).href, 'the file', terminal)
}

async function sourceOf({ from }: Flags<'report'>): Promise<{ data: ReportData; root: string | null; folder: string }> {
  const folder = resolve(from ?? '.')
  const here =
    from === null ? await findCheckout(folder) : existsSync(join(folder, reviewDir)) ? await checkoutHere(folder) : null
  const isRoot = here !== null && (from === null || realpathSync(here.root) === realpathSync(folder))
  return isRoot
    ? { data: readWorktreeReport(here.root, here.gitDirs), root: here.root, folder }
    : { data: readKeptReviews(folder), root: null, folder }
}

async function openOrSay(href: string, what: string, terminal: Terminal): Promise<void> {
  const why = await openInBrowser(href)
  if (why !== null) terminal.note(`${terminal.paint('yellow', '!')} ${why} Open ${what} yourself.`)
}

const idleMinutes = 30

async function serve(flags: Flags<'report'>, terminal: Terminal): Promise<void> {
  if (flags.from !== null || flags.output !== null)
    throw new UserError('--serve is for this worktree, and writes no file.', 'Leave out --from and --output.')
  if (process.env.CLAUDECODE !== undefined)
    throw new UserError(
      'The page is where the user decides, and Claude Code reads what is printed here.',
      'Run plan-gate report --serve in a terminal of your own.',
      1,
    )
  const { root, gitDirs } = await findGatedCheckout(process.cwd())
  const { readPlanToDecide, serveReport } = await import('./report-server.ts')
  const again = withOwnCommand('plan-gate report --serve')
  const render = (token: string) => renderServedPage(root, gitDirs, { ...readPlanToDecide(root), token, again })
  const { url, codeUrl, ended } = await serveReport({ root, gitDirs, idleMs: idleMinutes * 60_000, render })
  terminal.answer({ url, root, idle_minutes: idleMinutes } satisfies ServedOutput, [])
  terminal.note(`The report is at ${terminal.paint('bold', url)}`)
  terminal.note('Whoever has this address can decide for you, so keep it to yourself. Ctrl-C ends it.')
  if (flags.open) await openOrSay(codeUrl(), 'the address', terminal)
  const end = await ended
  switch (end.kind) {
    case 'decided':
      return terminal.note(end.words)
    case 'idle':
      return terminal.note(`Nobody has asked for ${idleMinutes} minutes, so the server has ended.`)
    case 'gone':
      return terminal.note('The worktree is gone, so the server has ended.')
    case 'code-used-twice':
      throw new UserError(
        'The link that was handed to the browser was used twice, so somebody else may have the token: the server has ended.',
        'Start it again without --open, and paste the address into the browser.',
        1,
      )
    case 'signal':
      process.exitCode = exitCodeOfSignal(end.signal)
  }
}

/** The first of the last is for WSL. */
const openers: { readonly [platform: string]: readonly (readonly [program: string, ...args: string[]])[] } = {
  darwin: [['open']],
  win32: [['rundll32', 'url.dll,FileProtocolHandler']],
  linux: [['wslview'], ['xdg-open']],
}

async function openInBrowser(href: string): Promise<string | null> {
  let why = 'No program was found that opens a browser.'
  for (const [name, ...args] of openers[process.platform] ?? openers.linux ?? []) {
    const program = findProgram(name)
    if (program === null) continue
    const code = await startOpener(program, [...args, href])
    if (code === 0) return null
    why = `${name} failed (exit code ${code}).`
  }
  return why
}

/** An opener that is still running then is the browser itself. */
const openerTimeoutMs = 2_000

function startOpener(program: string, args: readonly string[]): Promise<number> {
  const opener = spawn(program, args, { detached: true, stdio: 'ignore' })
  opener.unref()
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(0), openerTimeoutMs)
    const end = (code: number): void => {
      clearTimeout(timer)
      resolve(code)
    }
    opener.once('error', () => end(127))
    opener.once('exit', (code) => end(code ?? 1))
  })
}

const reportPath = `${reviewDir}/report.html`

function saveReport(root: string, data: ReportData, output: string | null): string {
  const page = renderPage(data)
  if (output !== null) return writePage(page, output)
  saveFile(root, reportPath, page)
  return join(root, reportPath)
}

export const renderPage = (data: ReportData): string => renderReport(data, pageParts)

/** With the plan to be decided about; `policy` is for the header, where it also keeps the page out of frames. */
export function renderServedPage(root: string, gitDirs: GitDirs, decide: DecideData): { page: string; policy: string } {
  const page = renderReport(readReport(root, gitDirs), pageParts, decide)
  return { page, policy: `${policyFor(pageParts, true)}; frame-ancestors 'none'` }
}

export function readWorktreeReport(root: string, gitDirs: GitDirs): ReportData {
  const data = readReport(root, gitDirs)
  if (!isEmpty(data)) return data
  throw new UserError(
    'There is nothing to report yet: no plan was reviewed here, and nothing was denied.',
    'Let Claude write docs/plan.md in a gated worktree, then try again; see `plan-gate status`.',
  )
}

function readKeptReviews(folder: string): ReportData {
  const kept = existsSync(join(folder, reviewDir)) ? join(folder, reviewDir) : folder
  const root = mkdtempSync(join(tmpdir(), 'plan-gate-report-'))
  try {
    // The readers of `state` need a worktree's root, and follow no links.
    if (['events.jsonl', 'history', 'plan_v1.snapshot.md'].some((name) => existsSync(join(kept, name))))
      cpSync(kept, join(root, reviewDir), { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
    const data: ReportData = {
      ...readRecord(root, []),
      name: basename(folder),
      place: folder,
      gate: { kind: 'kept', words: 'The reviews are kept without their worktree and its gate.' },
      limit: null,
      checks: checkRecord(root).filter(({ name }) => name !== 'approval'),
    }
    if (!isEmpty(data)) return data
  } catch (error) {
    throw new UserError(`${folder} cannot be read (${errnoOf(error)}).`, 'Name a readable folder.')
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
  throw new UserError(
    `${folder} contains no reviews.`,
    'Name the folder that was given to `plan-gate uninstall --keep-reviews`, or a worktree.',
  )
}

export function writePage(page: string, path: string): string {
  try {
    writeFileSync(path, page, { mode: 0o600 })
    return path
  } catch (error) {
    const code = errnoOf(error)
    const next = code === 'ENOENT' ? `Create the folder ${dirname(path)} first.` : 'Name another file with --output.'
    throw new UserError(`${path} cannot be written (${code}).`, next)
  }
}

export function readReport(root: string, gitDirs: GitDirs): ReportData {
  const status = readStatus(root, gitDirs)
  const { patterns } = compileConfig(root).config.review.redaction
  const calibration = readCalibration(gitDirs.common)
  const plan = status.plan.kind === 'approved' ? readPlanBytes(root) : null
  const text = plan?.kind === 'read' ? makeRedactor(patterns).text(plan.bytes.toString('utf8')) : null
  return {
    ...readRecord(root, patterns),
    ...(text?.kind === 'redacted' ? { approved_plan: text.text } : {}),
    ...(calibration === null ? {} : { calibration }),
    name: basename(root),
    place: root,
    gate: gateOf(root, status),
    limit: status.limit,
    // A missing approval is a state of the gate, not a failed check.
    checks: checkRecord(root).filter(({ name }) => name !== 'approval' || status.plan.kind === 'approved'),
  }
}

function readCalibration(common: string): Calibration | null {
  const results = listNames(common, calibrationDir).flatMap((name) => {
    const read = name.endsWith('.json') ? readJson(common, `${calibrationDir}/${name}`, calibrationSchema) : null
    return read?.kind === 'read' ? [read.value] : []
  })
  return results.sort((a, b) => b.made_at.localeCompare(a.made_at))[0] ?? null
}

const isEmpty = ({ cycles, sessions, problems }: ReportData): boolean =>
  problems.length === 0 &&
  cycles.every(({ revisions, events }) => revisions.length === 0 && events.every(({ type }) => type === 'installed')) &&
  sessions.every(({ denials }) => denials.length === 0)

function readRecord(root: string, patterns: readonly string[]) {
  const redactor = makeRedactor(patterns)
  const problems: string[] = []
  return {
    made_at: new Date().toISOString(),
    version: packageVersion(),
    cycles: readCycles({ root, redact: redactor.text, problem: (words) => problems.push(words) }),
    sessions: listSessions(root).map(({ folder, session }): SessionDenials => {
      const id = session?.session_id ?? basename(folder)
      const { client_version = null, started_at = null, last_seen_at = null } = session ?? {}
      return { session: id, client_version, started_at, last_seen_at, denials: readDenials(root, id) }
    }),
    problems,
  }
}

function gateOf(root: string, { plan, review, unavailable }: StatusHere): Gate {
  if (review !== null) {
    const { revision, backend, pass, passes } = review
    return { kind: 'reviewing', words: `Revision ${revision} is with ${backend}: pass ${pass} of ${passes}.` }
  }
  const failed = unavailable === null ? '' : ` The last review failed: ${unavailable}`
  switch (plan.kind) {
    case 'missing':
      return { kind: 'no-plan', words: 'There is no plan yet.' }
    case 'open':
      return { kind: 'closed', words: `${plan.because}.${failed}` }
    case 'approved':
      return { kind: 'open', words: approvalWords(root) }
  }
}

function approvalWords(root: string): string {
  const read = readApproval(root)
  if (read.kind !== 'recorded') return 'The plan is approved.'
  const { review_version: revision, route } = read.approval
  const by = describeApproval(read.approval)
  if (typeof route === 'string' && route !== 'manual')
    return `Revision ${revision ?? '?'} of the plan is approved ${by}.`
  return `The plan was approved ${by}${by === 'by hand' ? '.' : ''}`
}

type Redact = (text: string) => { kind: 'redacted'; text: string } | { kind: 'failed'; why: string }
type Reading = { readonly root: string; readonly redact: Redact; readonly problem: (words: string) => void }

/** All cycles, the current one last. Unreadable parts are reported as problems. */
function readCycles(reading: Reading): readonly Cycle[] {
  const { root, problem } = reading
  const read = readEvents(root)
  if (read.kind === 'refused') problem(`The ledger cannot be read: ${read.why}.`)
  const { ended, current } = eventsByCycle(read.kind === 'read' ? read.events : [])
  const kept = new Map(listCycles(root).map((cycle) => [cycle.cycle, cycle]))
  const numbers = [...new Set([...ended.keys(), ...kept.keys()])].filter(Number.isInteger).sort((a, b) => a - b)
  const past = numbers.map((cycle): Cycle => {
    const found = kept.get(cycle)
    const events = ended.get(cycle) ?? []
    return found === undefined
      ? { cycle, kind: 'lost', revisions: [], approval: null, events }
      : { cycle, kind: 'archived', ...readFolder(reading, found.folder, events), events }
  })
  const now = readFolder(reading, reviewDir, current)
  return [...past, { cycle: (numbers.at(-1) ?? 0) + 1, kind: 'current', ...now, events: current }]
}

function readFolder(
  reading: Reading,
  folder: string,
  events: readonly LedgerEvent[],
): Pick<Cycle, 'revisions' | 'approval'> {
  const approval = readApproval(reading.root, `${folder}/approval.json`)
  return {
    revisions: listRevisions(reading.root, folder).map(({ revision }) => readOne(reading, folder, revision, events)),
    approval: approval.kind === 'recorded' ? approval.approval : null,
  }
}

function readOne(
  { root, redact, problem }: Reading,
  folder: string,
  revision: number,
  events: readonly LedgerEvent[],
): ReportedRevision {
  const { snapshot, result } = readRevision(root, revision, folder)
  const timeOf = (type: string): string | null =>
    events.findLast((event) => event.type === type && event.revision === revision)?.at ?? null
  const submitted = timeOf('revision-submitted')
  const bytes = snapshot.kind === 'read' ? snapshot.bytes : null
  if (snapshot.kind === 'refused') problem(`${snapshot.why}.`)
  const clean = bytes === null ? null : redact(bytes.toString('utf8'))
  if (clean?.kind === 'failed')
    problem(`Revision ${revision} is not shown: secrets in it cannot be redacted (${clean.why}).`)
  const hash = bytes === null ? null : sha256(bytes)
  const known = result.kind === 'read' && accepts(reviewResultSchema, result.value) ? result.value : null
  const isBroken = result.kind !== 'absent' && known === null
  if (isBroken) problem(`The result of revision ${revision} cannot be read.`)
  return {
    revision,
    text: clean?.kind === 'redacted' ? clean.text : null,
    plan_hash: hash,
    bytes: bytes?.length ?? 0,
    submitted_at: submitted,
    reviewed_at: timeOf('reviewed'),
    result: known,
    why_none: known !== null ? null : isBroken ? 'Its result cannot be read.' : whyNotReviewed(hash, events),
    // A revision number is reused if its review failed, so files from before are from an earlier text.
    passes: readPasses(root, folder, revision, submitted === null || known === null ? 0 : Date.parse(submitted)),
  }
}

function whyNotReviewed(hash: string | null, events: readonly LedgerEvent[]): string {
  const failed = events.findLast(({ type, plan_hash }) => type === 'review-unavailable' && plan_hash === hash)
  return failed === undefined ? 'There is no verdict yet.' : `The review failed (${failed.failure}): ${failed.why}`
}

/** Without the answers, which are in the result. */
function readPasses(root: string, folder: string, revision: number, sinceMs: number): readonly KeptPass[] {
  const passes = `${folder}/passes`
  if (checkFolder(root, passes).kind !== 'folder') return []
  const asked = (name: string): number =>
    Number(new RegExp(`^plan_v${revision}\\.pass-(\\d+)\\.json$`).exec(name)?.[1] ?? Number.NaN)
  return readdirSync(join(root, passes))
    .filter((name) => !Number.isNaN(asked(name)))
    .sort((a, b) => asked(a) - asked(b))
    .flatMap((name) => {
      const read = readJson(root, `${passes}/${name}`, keptPassSchema)
      if (read.kind !== 'read' || lstatSync(join(root, passes, name)).mtimeMs < sinceMs) return []
      const { pass, does, backend, outcome, why, duration_ms, tokens } = read.value
      return [{ pass, does, backend, outcome, why, duration_ms, tokens }]
    })
}
