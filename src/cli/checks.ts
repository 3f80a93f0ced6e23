import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, relative, resolve, sep } from 'node:path'
import { readPlanState } from '../gate/read-plan-state.ts'
import { inScope, readPlanScope } from '../gate/scope.ts'
import { findApproval, findMismatches } from '../plan/revisions.ts'
import type { PlanSummary } from '../report/summary.ts'
import { describeReviewer } from '../review/findings.ts'
import type { VerifyOutput } from '../schemas/output.ts'
import { type Approval, approvalSchema, type LedgerEvent } from '../schemas/records.ts'
import { readApproval } from '../state/approval.ts'
import { listCycles } from '../state/cycles.ts'
import { type JsonRead, readJson, readRegular } from '../state/files.ts'
import { readEvents, verifyLedger } from '../state/ledger.ts'
import { reviewDir, revisionPath } from '../state/own-paths.ts'
import { listRevisions } from '../state/revisions.ts'
import { UserError } from '../system/errors.ts'
import { asFailure, git, gitOrNull } from '../system/git.ts'
import { findRepository } from '../system/repository.ts'
import { sha256 } from '../system/sha256.ts'
import { shellWord } from '../text/own-commands.ts'
import { describePlan } from './terminal.ts'

export type Files = {
  plan: string
  approval: string
  ledger: string | null
  acceptsManual: boolean
  base: string | null
  strictScope: boolean
}

type Check = VerifyOutput['checks'][number]
type FilesChecked = { readonly output: VerifyOutput; readonly summary: PlanSummary }

/** Whether a plan is approved, from files alone: without an install, and without git unless --base is given. */
export async function checkFiles(files: Files): Promise<FilesChecked> {
  const plan = bytesOf('plan', files.plan)
  const plan_hash = sha256(plan)
  const text = plan.toString('utf8')
  const approval = approvalIn(files.approval)
  const summaryOf = (
    output: VerifyOutput,
    approved: string | null,
    findings: unknown,
    waived: unknown,
  ): FilesChecked => ({ output, summary: { output, plan: { path: files.plan, text }, approved, findings, waived } })
  if (approval === null) {
    const none = failed('approval', `there is none: ${files.approval} does not exist`, exportAgain(files))
    return summaryOf({ holds: false, checks: [none], plan_hash }, null, undefined, [])
  }
  const ledger = files.ledger === null ? null : checkLedger(files, files.ledger, approval, plan_hash)
  // The ledger takes precedence over the approval file.
  const route = ledger?.route ?? formatRoute(approval)
  const scope = files.base === null ? null : await checkScope(text, files, files.base)
  const checks = [
    checkHash(files, approval, plan_hash, plan),
    checkApprover(approval, route, files.acceptsManual),
    ...(ledger === null ? [] : [ledger.check]),
    ...(scope === null ? [] : [scope.check]),
  ]
  const output: VerifyOutput = {
    holds: checks.every((check) => check.holds),
    checks,
    plan_hash,
    manual: route === 'manual',
    approver: route,
    ...(scope === null ? {} : { out_of_scope: scope.outside }),
  }
  // Findings are read leniently where they are shown.
  const { findings, waived = [] } = approval as { readonly findings?: unknown; readonly waived?: unknown }
  return summaryOf(output, describeApproval(approval, route, ledger?.event ?? null), findings, waived)
}

/** What the ledger knows comes from the ledger. */
function describeApproval(approval: Approval, route: string, event: LedgerEvent | null): string {
  const { verification, reason, revision, at }: { readonly [field: string]: unknown } = event ?? {
    ...approval,
    revision: approval.review_version,
    at: approval.approved_at,
  }
  const why = typeof reason === 'string' ? reason : approval.reason
  const looked = { ...approval, route, verification: typeof verification === 'string' ? verification : null }
  return [
    route === 'manual' ? `by hand${why ? `: ${why}` : ''}` : `by ${describeReviewer(looked)}`,
    ...(typeof revision === 'number' ? [`revision ${revision}`] : []),
    ...(typeof at === 'string' ? [at] : []),
  ].join('; ')
}

const passed = (name: string, detail: string): Check => ({ name, holds: true, detail })
const failed = (name: string, detail: string, next?: string): Check =>
  next === undefined ? { name, holds: false, detail } : { name, holds: false, detail, next_step: next }

const exportAgain = ({ approval, ledger }: Files): string =>
  `In the worktree where it was approved: plan-gate verify --export ${shellWord(approval)}${ledger === null ? '' : ` --ledger ${shellWord(ledger)}`}; then commit what it wrote with the plan.`

function bytesOf(flag: string, file: string): Buffer {
  const read = readRegular(...placeOf(file), 64 * 1024 * 1024)
  if (read.kind === 'read') return read.bytes
  throw unusableFile(flag, file, read.kind === 'absent' ? 'it does not exist' : read.why)
}

/** Below the current folder no link on the way is followed either: it would be a part of the change that is checked. */
function placeOf(file: string): [root: string, path: string] {
  const path = relative(process.cwd(), resolve(file))
  const isBelow = path !== '' && !isAbsolute(path) && path.split(sep)[0] !== '..'
  return isBelow ? [process.cwd(), path.replaceAll(sep, '/')] : [dirname(resolve(file)), basename(file)]
}

const unusableFile = (flag: string, file: string, why: string): UserError =>
  new UserError(`--${flag} ${file} cannot be used: ${why}.`, `Give the file itself with --${flag}.`)

function approvalIn(file: string): Approval | null {
  const read: JsonRead<Approval> = readJson(...placeOf(file), approvalSchema, 1024 * 1024)
  if (read.kind === 'refused') throw unusableFile('approval', file, read.why)
  return read.kind === 'absent' ? null : read.value
}

function checkHash(files: Files, { is_optimal, plan_hash }: Approval, planHash: string, plan: Buffer): Check {
  if (is_optimal !== true) return failed('plan', 'the approval says is_optimal: false', exportAgain(files))
  if (plan_hash === planHash) return passed('plan', `it is the approved text (${planHash.slice(0, 12)})`)
  const unix = Buffer.from(plan.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')
  const was = `it is ${planHash.slice(0, 12)}, but ${plan_hash.slice(0, 12)} was approved`
  if (sha256(unix) !== plan_hash)
    return failed('plan', was, `Have this text reviewed, or restore the approved one. ${exportAgain(files)}`)
  const why = 'only its line endings differ: keep git from converting them (.gitattributes: -text)'
  return failed('plan', `${was}; ${why}`, `Add a line to .gitattributes: ${files.plan} -text`)
}

/** Only a review writes a route. */
const formatRoute = ({ route }: Approval): string => route ?? 'manual'

function checkApprover({ review_version, approved_at }: Approval, route: string, acceptsManual: boolean): Check {
  const when = typeof approved_at === 'string' ? `, ${approved_at}` : ''
  const revision = typeof review_version === 'number' ? `, revision ${review_version}` : ''
  if (route !== 'manual') return passed('approval', `by ${route}${revision}${when}`)
  return acceptsManual
    ? passed('approval', `by hand${when}`)
    : failed('approval', `by hand${when}; --no-manual rejects that`, 'Have the plan reviewed, then export again.')
}

type LedgerCheck = { check: Check; route: string | null; event: LedgerEvent | null }

function checkLedger(files: Files, file: string, approval: Approval, planHash: string): LedgerCheck {
  const chain = verifyLedger(...placeOf(file))
  if (chain.kind === 'refused') throw unusableFile('ledger', file, chain.why)
  const fails = (why: string): LedgerCheck => ({
    check: failed('ledger', why, exportAgain(files)),
    route: null,
    event: null,
  })
  if (chain.kind === 'absent') return fails(`there is none: ${file} does not exist`)
  if (chain.kind === 'broken') return fails(`line ${chain.line}: ${chain.why}`)
  const read = readEvents(...placeOf(file))
  const events = read.kind === 'read' ? read.events : []
  const { ledger_head: head } = approval as { ledger_head?: unknown }
  const isExported = head === chain.head || events.some(({ prev }) => prev === head)
  if (typeof head === 'string' && !isExported) return fails('it is not the ledger that the approval was exported with')
  const known = findApproval(events, planHash)
  if (known.kind === 'none') return fails('it has no approval of this text')
  if (known.kind === 'ended') return fails('the approval of this text was revoked')
  const route = known.kind === 'by' ? known.route : 'manual'
  const claimed = formatRoute(approval)
  if (claimed !== 'manual' && claimed !== route) return fails(`it says ${route}, but the approval says ${claimed}`)
  const words = `${chain.events} events; approved ${route === 'manual' ? 'by hand' : `by ${route}`}`
  // Also of an approval that was carried over: no other one can follow it.
  const event = events.findLast(({ type }) => type === 'approved' || type === 'approved-manually') ?? null
  return { check: passed('ledger', words), route, event }
}

async function checkScope(
  plan: string,
  files: Files,
  base: string,
): Promise<{ check: Check; outside: readonly string[] }> {
  const root = await topLevel()
  const own = [files.plan, files.approval, files.ledger].map((file) => (file === null ? null : insideOf(root, file)))
  const changed = await changedSince(base)
  const scope = readPlanScope(plan)
  const outside = changed.filter((path) => !own.includes(path) && !inScope(path, scope))
  // The approval of an earlier change still holds.
  const isOld = own[0] !== null && !changed.includes(own[0] ?? '')
  const detail = `${describeScope(changed, outside, files.strictScope)}${isOld ? '; the plan is the one of the base' : ''}`
  if (outside.length === 0 || !files.strictScope) return { outside, check: passed('scope', detail) }
  const next = 'Name them under ## Changes and have the plan approved again, or take them out of the change.'
  return { outside, check: failed('scope', detail, next) }
}

function describeScope(changed: readonly string[], outside: readonly string[], isStrict: boolean): string {
  if (outside.length === 0) return `${changed.length} files changed, all named by the plan`
  const listed = outside.slice(0, 20).join(', ')
  const more = outside.length > 20 ? ` and ${outside.length - 20} more` : ''
  return `the plan does not name ${listed}${more}${isStrict ? '' : ' (a warning; with --strict-scope a failure)'}`
}

/** A submodule has commits of its own, which the change that is checked may have brought. */
async function topLevel(): Promise<string> {
  const cwd = process.cwd()
  const { checkout } = await findRepository(cwd)
  if (checkout === null)
    throw new UserError('--base needs a git checkout, which this is not.', 'Go to the checkout, or leave --base out.')
  const outer = await git(cwd, ['rev-parse', '--show-superproject-working-tree'])
  if (outer.trim() === '') return realpathSync(checkout)
  throw new UserError(
    `--base cannot be used in a submodule (${checkout}).`,
    'Go to the top of the repository that it is in.',
  )
}

function insideOf(root: string, file: string): string | null {
  const path = relative(root, existsSync(file) ? realpathSync(file) : resolve(file))
  return path.startsWith('..') ? null : path.replaceAll(sep, '/')
}

async function changedSince(base: string): Promise<string[]> {
  const cwd = process.cwd()
  const known = await gitOrNull(cwd, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${base}^{commit}`])
  if (known === null)
    throw new UserError(
      `--base ${base} is not a commit that this clone knows.`,
      'Fetch it; in GitHub Actions: actions/checkout with fetch-depth: 0.',
    )
  const commit = known.trim()
  // The base itself, where the change was meant to be checked out, would pass.
  if ((await git(cwd, ['rev-list', '--max-count=1', `${commit}..HEAD`, '--'])) === '')
    throw new UserError(
      `HEAD has no commit that is not in ${base}: there is no change to check.`,
      'Check the change out; on pull_request_target, actions/checkout needs its ref.',
    )
  const flags = ['--name-only', '-z', '--no-renames', '--no-ext-diff', '--no-textconv', '--ignore-submodules=none']
  // Where histories have crossed, there are several: what only one of them shows has changed, too.
  const bases = await git(cwd, ['merge-base', '--all', commit, 'HEAD']).catch(asFailure)
  if (typeof bases === 'string') {
    const changed = new Set<string>()
    for (const from of bases.split('\n').filter((line) => line !== ''))
      for (const path of (await git(cwd, ['diff', ...flags, from, 'HEAD', '--'])).split('\0')) changed.add(path)
    return [...changed].filter((path) => path !== '').sort()
  }
  throw new UserError(
    `git cannot compare ${base} with HEAD: ${bases.stderr.trim() || 'it finds no commit that both come from'}`,
    'A shallow clone lacks the merge base: fetch the whole history (fetch-depth: 0).',
  )
}

export function checkRecord(root: string): Check[] {
  const read = readEvents(root)
  // Nothing else can be checked then.
  if (read.kind === 'refused') return [failed('ledger', read.why)]
  const { ended, current } = eventsByCycle(read.kind === 'read' ? read.events : [])
  // If archiving was interrupted, the ledger does not have its end yet.
  const archived = listCycles(root).flatMap(({ cycle, folder }) =>
    checkSnapshots(root, ended.get(cycle) ?? current, folder, `cycle ${cycle}, revision`),
  )
  return [
    checkOwnLedger(root),
    ...archived,
    ...checkSnapshots(root, current, reviewDir, 'revision'),
    ...findMismatches(root).map(({ name, why }) => failed(name, why)),
    checkApproval(root, current),
  ]
}

function checkOwnLedger(root: string): Check {
  const check = verifyLedger(root)
  if (check.kind === 'absent') return failed('ledger', 'there is none')
  if (check.kind === 'refused') return failed('ledger', check.why)
  if (check.kind === 'broken') return failed('ledger', `line ${check.line} of events.jsonl: ${check.why}`)
  const torn = check.tornBytes > 0 ? `, ${check.tornBytes} torn bytes at the end` : ''
  return passed('ledger', `${check.events} events, head ${check.head.slice(0, 12)}${torn}`)
}

function checkSnapshots(root: string, cycle: readonly LedgerEvent[], folder: string, label: string): Check[] {
  return listRevisions(root, folder).flatMap(({ revision, parts }) => {
    if (!parts.includes('codex.json')) return []
    const name = `${label} ${revision}`
    const submitted = cycle.findLast((event) => event.type === 'reviewed' && event.revision === revision)
    const snapshot = readRegular(root, revisionPath(revision, 'snapshot.md', folder))
    if (snapshot.kind !== 'read') return [failed(name, 'its snapshot is missing or cannot be read')]
    if (submitted === undefined) return [failed(name, 'the ledger has no such review')]
    const isSame = submitted.plan_hash === sha256(snapshot.bytes)
    return [isSame ? passed(name, String(submitted.verdict)) : failed(name, 'its snapshot is not the reviewed text')]
  })
}

function checkApproval(root: string, cycle: readonly LedgerEvent[]): Check {
  const state = readPlanState(root)
  if (state.kind !== 'approved') return failed('approval', describePlan(state))
  const read = readApproval(root)
  // Read successfully a moment ago, for the state of the plan.
  if (read.kind === 'refused' && read.errno !== undefined) return failed('approval', read.why)
  const route = read.kind === 'recorded' ? formatRoute(read.approval) : 'manual'
  const by = route === 'manual' ? 'by hand' : `by ${route}`
  if (['by', 'by-hand'].includes(findApproval(cycle, state.hash).kind)) return passed('approval', `${by}, recorded`)
  return route === 'manual'
    ? passed('approval', 'by hand, not recorded yet')
    : failed('approval', `approval.json names ${route}, but the ledger has no such approval`)
}

type EventsByCycle = {
  readonly ended: ReadonlyMap<number, readonly LedgerEvent[]>
  readonly current: readonly LedgerEvent[]
}

/** A cycle ends with the event that it was archived. */
export function eventsByCycle(events: readonly LedgerEvent[]): EventsByCycle {
  const ended = new Map<number, readonly LedgerEvent[]>()
  let current: LedgerEvent[] = []
  for (const event of events) {
    current.push(event)
    if (event.type !== 'cycle-archived') continue
    const cycle = Number(event.cycle)
    // After a crash there may be two such events.
    ended.set(cycle, [...(ended.get(cycle) ?? []), ...current])
    current = []
  }
  return { ended, current }
}
