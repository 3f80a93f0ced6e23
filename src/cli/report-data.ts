import { cpSync, existsSync, lstatSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { compileConfig } from '../install/compile-config.ts'
import { makeRedactor } from '../redact/redact.ts'
import type { Cycle, Gate, ReportData, ReportedRevision, SessionDenials } from '../report/data.ts'
import { pageParts } from '../report/generated/page-parts.js'
import type { DecideData } from '../report/page-data.ts'
import { policyFor, renderReport } from '../report/report.ts'
import { type Calibration, calibrationSchema } from '../schemas/calibration.ts'
import type { LedgerEvent } from '../schemas/records.ts'
import { type KeptPass, keptPassSchema, type ReviewResult, reviewResultSchema } from '../schemas/review.ts'
import { accepts } from '../schemas/schema.ts'
import { readApproval, readPlanBytes } from '../state/approval.ts'
import { listCycles } from '../state/cycles.ts'
import { checkFolder, errnoOf, listNames, readJson, saveFile } from '../state/files.ts'
import { readEvents } from '../state/ledger.ts'
import { calibrationDir, reviewDir } from '../state/own-paths.ts'
import { listRevisions, readRevision } from '../state/revisions.ts'
import { listSessions, readDenials } from '../state/sessions.ts'
import { UserError } from '../system/errors.ts'
import type { GitDirs } from '../system/git-dirs.ts'
import { packageVersion } from '../system/package.ts'
import { sha256 } from '../system/sha256.ts'
import { checkRecord, eventsByCycle } from './check-record.ts'
import { describeApproval, readStatus, type StatusHere } from './status.ts'

const reportPath = `${reviewDir}/report.html`

/** Writes the report of a worktree; `output` null: in `.claude/review`. */
export async function writeReport(root: string, gitDirs: GitDirs, output: string | null): Promise<{ path: string }> {
  const page = renderPage(readWorktreeReport(root, gitDirs))
  if (output !== null) return { path: writePage(page, output) }
  saveFile(root, reportPath, page)
  return { path: join(root, reportPath) }
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

/** From a folder of kept reviews, or one that contains `.claude/review`. */
export function readKeptReviews(folder: string): ReportData {
  const kept = existsSync(join(folder, reviewDir)) ? join(folder, reviewDir) : folder
  const root = mkdtempSync(join(tmpdir(), 'plan-gate-report-'))
  try {
    // The readers of `state` need a worktree's root, and follow no links.
    if (['events.jsonl', 'history', 'plan_v1.snapshot.md'].some((name) => existsSync(join(kept, name))))
      cpSync(kept, join(root, reviewDir), { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
    const data = readKeptReport(root, folder)
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

/** The newest one that can be read. */
function readCalibration(common: string): Calibration | null {
  const results = listNames(common, calibrationDir).flatMap((name) => {
    const read = name.endsWith('.json') ? readJson(common, `${calibrationDir}/${name}`, calibrationSchema) : null
    return read?.kind === 'read' ? [read.value] : []
  })
  return results.sort((a, b) => b.made_at.localeCompare(a.made_at))[0] ?? null
}

/** Kept reviews, without their plan and gate. */
function readKeptReport(root: string, folder: string): ReportData {
  return {
    ...readRecord(root, []),
    name: basename(folder),
    place: folder,
    gate: { kind: 'kept', words: 'The reviews are kept without their worktree and its gate.' },
    limit: null,
    checks: checkRecord(root).filter(({ name }) => name !== 'approval'),
  }
}

/** No revision, no denial, and no event except `installed`. */
const isEmpty = ({ cycles, sessions, problems }: ReportData): boolean =>
  problems.length === 0 &&
  cycles.every(({ revisions, events }) => revisions.length === 0 && events.every(({ type }) => type === 'installed')) &&
  sessions.every(({ denials }) => denials.length === 0)

type Record = Pick<ReportData, 'made_at' | 'version' | 'cycles' | 'sessions' | 'problems'>

function readRecord(root: string, patterns: readonly string[]): Record {
  const redactor = makeRedactor(patterns)
  const problems: string[] = []
  const cycles = readCycles({ root, redact: redactor.text, problem: (words) => problems.push(words) })
  return {
    made_at: new Date().toISOString(),
    version: packageVersion(),
    cycles,
    sessions: listSessions(root).map(({ folder, session }): SessionDenials => {
      const id = session?.session_id ?? basename(folder)
      return {
        session: id,
        client_version: session?.client_version ?? null,
        started_at: session?.started_at ?? null,
        last_seen_at: session?.last_seen_at ?? null,
        denials: readDenials(root, id),
      }
    }),
    problems,
  }
}

function gateOf(root: string, { plan, review, unavailable }: StatusHere): Gate {
  if (review !== null)
    return {
      kind: 'reviewing',
      words: `Revision ${review.revision} is with ${review.backend}: pass ${review.pass} of ${review.passes}.`,
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
  if (typeof route !== 'string' || route === 'manual')
    return `The plan was approved ${by}${by === 'by hand' ? '.' : ''}`
  return `Revision ${revision ?? '?'} of the plan is approved ${by}.`
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
  const about = (type: string) => events.findLast((event) => event.type === type && event.revision === revision)
  const submitted = about('revision-submitted')
  const bytes = snapshot.kind === 'read' ? snapshot.bytes : null
  if (snapshot.kind === 'refused') problem(`${snapshot.why}.`)
  const clean = bytes === null ? null : redact(bytes.toString('utf8'))
  if (clean?.kind === 'failed')
    problem(`Revision ${revision} is not shown: secrets in it cannot be redacted (${clean.why}).`)
  const hash = bytes === null ? null : sha256(bytes)
  const known = result.kind === 'read' && accepts(reviewResultSchema, result.value) ? result.value : null
  if (result.kind !== 'absent' && known === null) problem(`The result of revision ${revision} cannot be read.`)
  return {
    revision,
    text: clean?.kind === 'redacted' ? clean.text : null,
    plan_hash: hash,
    bytes: bytes?.length ?? 0,
    submitted_at: submitted?.at ?? null,
    reviewed_at: about('reviewed')?.at ?? null,
    result: known,
    why_none: known === null ? missingReviewReason(result.kind !== 'absent', hash, events) : null,
    passes: readPasses(root, folder, revision, known, submitted),
  }
}

function missingReviewReason(hasResult: boolean, hash: string | null, events: readonly LedgerEvent[]): string {
  if (hasResult) return 'Its result cannot be read.'
  const failed = events.findLast(({ type, plan_hash }) => type === 'review-unavailable' && plan_hash === hash)
  return failed === undefined ? 'There is no verdict yet.' : `The review failed (${failed.failure}): ${failed.why}`
}

function readPasses(
  root: string,
  folder: string,
  revision: number,
  result: ReviewResult | null,
  submitted: LedgerEvent | undefined,
): readonly KeptPass[] {
  const passes = `${folder}/passes`
  if (checkFolder(root, passes).kind !== 'folder') return []
  const since = submitted === undefined || result === null ? 0 : Date.parse(submitted.at)
  return readdirSync(join(root, passes))
    .flatMap((name) => {
      const [, of, asked] = /^plan_v(\d+)\.pass-(\d+)\.json$/.exec(name) ?? []
      return Number(of) === revision ? [{ name, asked: Number(asked) }] : []
    })
    .sort((a, b) => a.asked - b.asked)
    .flatMap(({ name }) => {
      const read = readJson(root, `${passes}/${name}`, keptPassSchema)
      // A revision number is reused if its review failed, so older files are from an earlier text.
      const isOlder = lstatSync(join(root, passes, name)).mtimeMs < since
      return read.kind === 'read' && !isOlder ? [withoutAnswer(read.value)] : []
    })
}

/** The answers are in the result. */
const withoutAnswer = ({ pass, does, backend, outcome, why, duration_ms, tokens }: KeptPass): KeptPass => ({
  pass,
  does,
  backend,
  outcome,
  why,
  duration_ms,
  tokens,
})
