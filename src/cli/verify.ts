import { realpathSync } from 'node:fs'
import { basename, dirname, relative, resolve, sep } from 'node:path'
import { Command } from 'commander'
import { inScope, readPlanScope } from '../gate/scope.ts'
import { findApproval } from '../plan/revisions.ts'
import { syncApproval } from '../plan/sync-approval.ts'
import { escapeUntrusted } from '../redact/untrusted-text.ts'
import validate from '../schemas/generated/approval.js'
import type { VerifyOutput } from '../schemas/output.ts'
import type { Approval, ApprovalRecord } from '../schemas/records.ts'
import { readApproval } from '../state/approval.ts'
import { type JsonRead, readJson, readRegular, throwIfUnreadable } from '../state/files.ts'
import { readEvents, verifyLedger } from '../state/ledger.ts'
import { isOwnPath, planPath, reviewPaths } from '../state/own-paths.ts'
import { UserError } from '../system/errors.ts'
import { asFailure, git, gitOrNull } from '../system/git.ts'
import { packageVersion } from '../system/package.ts'
import { findCheckout, findRepository } from '../system/repository.ts'
import { sha256 } from '../system/sha256.ts'
import { type Check, checkRecord } from './check-record.ts'
import { checkOutput, writeResult } from './output-file.ts'
import { helpText, openTerminal } from './terminal.ts'

type Flags = {
  export?: string
  plan?: string
  approval?: string
  ledger?: string
  manual: boolean
  base?: string
  strictScope?: boolean
  json?: boolean
}

export const verifyCommand = (): Command =>
  new Command('verify')
    .description(
      'Check the ledger and the approval here, or with --plan (in CI, without an install) that a plan is approved.',
    )
    .option('--plan <file>', 'the plan to check, as it was merged')
    .option('--approval <file>', 'its approval: approval.json, or what --export wrote')
    .option('--ledger <file>', 'its ledger; with --export a copy is written there')
    .option('--no-manual', 'reject manual approvals')
    .option('--base <commit>', 'also list changed files since then that the plan does not name')
    .option('--strict-scope', 'fail because of such files: exit code 1')
    .option('--export <file>', 'write the approval to a file that a team can commit, if everything holds')
    .option('--json', 'the checks as JSON on stdout')
    .addHelpText(
      'after',
      helpText(
        [
          ['plan-gate verify', 'the ledger’s chain, each snapshot, the approval'],
          ['plan-gate verify --export docs/plan.approval.json --ledger docs/plan.events.jsonl'],
          ['plan-gate verify --plan docs/plan.md --approval docs/plan.approval.json --no-manual'],
          ['plan-gate verify --plan docs/plan.md --approval docs/plan.approval.json --base origin/main'],
        ],
        `Exit code: 0 everything holds and the plan is approved, 1 something does not hold, 2 bad input.
An exported approval could be written by anybody who can push; with the ledger that is harder.`,
      ),
    )
    .action(run)

async function run(flags: Flags): Promise<void> {
  const terminal = openTerminal(flags.json === true)
  const output = await outputFor(flags)
  process.exitCode = output.holds ? 0 : 1
  if (terminal.json) return terminal.out(JSON.stringify(output))
  const isWarning = (name: string): boolean => name === 'scope' && (output.out_of_scope ?? []).length > 0
  for (const { name, holds, detail } of output.checks) {
    const mark = holds
      ? isWarning(name)
        ? terminal.paintOut('yellow', '!')
        : terminal.paintOut('green', '✓')
      : terminal.paintOut('red', '✗')
    terminal.out(`${mark} ${name}  ${escapeUntrusted(detail)}`)
  }
  if (flags.export === undefined) return
  for (const file of output.exported ?? []) terminal.note(`written   ${file}`)
  if (!output.holds) terminal.note('Nothing was written: an approval is only exported if everything holds.')
}

async function outputFor(flags: Flags): Promise<VerifyOutput> {
  if (flags.plan !== undefined) return checkFiles(filesIn(flags, flags.plan))
  assertNoPlanFlags(flags)
  const { root } = await findCheckout(process.cwd())
  if (flags.export !== undefined) return exportApproval(root, flags.export, flags.ledger ?? null)
  const checks = checkRecord(root)
  return { holds: checks.every(({ holds }) => holds), checks }
}

function filesIn(flags: Flags, plan: string): Parameters<typeof checkFiles>[0] {
  const { approval, ledger = null, base = null, strictScope = false } = flags
  if (flags.export !== undefined)
    throw new UserError(
      '--export and --plan cannot be combined.',
      'Export where the plan was approved; check the files in CI.',
    )
  if (approval === undefined)
    throw new UserError('--plan needs the approval.', 'Add --approval docs/plan.approval.json.')
  if (strictScope && base === null) throw new UserError('--strict-scope needs a base.', 'Add --base origin/main.')
  return { plan, approval, ledger, base, strictScope, acceptsManual: flags.manual }
}

/** Without --plan they would have no effect. */
function assertNoPlanFlags(flags: Flags): void {
  const flagsUsed = [
    ...(flags.approval === undefined ? [] : ['--approval']),
    ...(flags.ledger === undefined || flags.export !== undefined ? [] : ['--ledger']),
    ...(flags.manual ? [] : ['--no-manual']),
    ...(flags.base === undefined ? [] : ['--base']),
    ...(flags.strictScope === true ? ['--strict-scope'] : []),
  ]
  if (flagsUsed.length > 0)
    throw new UserError(
      `${flagsUsed.join(' and ')} can only be used with --plan.`,
      'Name the plan: --plan docs/plan.md.',
    )
}

type Files = {
  plan: string
  approval: string
  ledger: string | null
  acceptsManual: boolean
  base: string | null
  strictScope: boolean
}

/** Whether a plan is approved, from files alone: without an install, and without git unless --base is given. */
async function checkFiles(files: Files): Promise<VerifyOutput> {
  const plan = bytesOf('plan', files.plan)
  const planHash = sha256(plan)
  const approval = approvalIn(files.approval)
  if (approval === null) {
    const checks = [failed('approval', `there is none: ${files.approval} does not exist`)]
    return { holds: false, checks, plan_hash: planHash }
  }
  const ledger = files.ledger === null ? null : checkLedger(files.ledger, approval, planHash)
  // The ledger takes precedence over the approval file.
  const route = ledger?.route ?? formatRoute(approval)
  const scope = files.base === null ? null : await checkScope(plan.toString('utf8'), files, files.base)
  const checks = [
    checkHash(approval, planHash, plan),
    checkApprover(approval, route, files.acceptsManual),
    ...(ledger === null ? [] : [ledger.check]),
    ...(scope === null ? [] : [scope.check]),
  ]
  return {
    holds: checks.every(({ holds }) => holds),
    checks,
    plan_hash: planHash,
    manual: route === 'manual',
    ...(scope === null ? {} : { out_of_scope: scope.outside }),
  }
}

const passed = (name: string, detail: string): Check => ({ name, holds: true, detail })
const failed = (name: string, detail: string): Check => ({ name, holds: false, detail })

function bytesOf(flag: string, file: string): Buffer {
  const read = readRegular(...splitPath(file), 64 * 1024 * 1024)
  if (read.kind === 'read') return read.bytes
  throw unusableFile(flag, file, read.kind === 'absent' ? 'it does not exist' : read.why)
}

const splitPath = (file: string): [root: string, path: string] => [dirname(resolve(file)), basename(file)]

const unusableFile = (flag: string, file: string, why: string): UserError =>
  new UserError(`--${flag} ${file} cannot be used: ${why}.`, `Give the file itself with --${flag}.`)

function approvalIn(file: string): Approval | null {
  const read: JsonRead<Approval> = readJson(...splitPath(file), validate, 64 * 1024)
  if (read.kind === 'refused') throw unusableFile('approval', file, read.why)
  return read.kind === 'absent' ? null : read.value
}

function checkHash({ is_optimal, plan_hash }: Approval, planHash: string, plan: Buffer): Check {
  if (is_optimal !== true) return failed('plan', 'the approval says is_optimal: false')
  if (plan_hash === planHash) return passed('plan', `it is the approved text (${planHash.slice(0, 12)})`)
  const unix = Buffer.from(plan.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')
  const hint =
    sha256(unix) === plan_hash
      ? '; only its line endings differ: keep git from converting them (.gitattributes: -text)'
      : ''
  return failed('plan', `it is ${planHash.slice(0, 12)}, but ${plan_hash.slice(0, 12)} was approved${hint}`)
}

/** Only a review writes a route. */
const formatRoute = ({ route }: Approval): string => route ?? 'manual'

function checkApprover({ review_version, approved_at }: Approval, route: string, acceptsManual: boolean): Check {
  const when = typeof approved_at === 'string' ? `, ${approved_at}` : ''
  const revision = typeof review_version === 'number' ? `, revision ${review_version}` : ''
  if (route !== 'manual') return passed('approval', `by ${route}${revision}${when}`)
  return acceptsManual
    ? passed('approval', `by hand${when}`)
    : failed('approval', `by hand${when}; --no-manual rejects that`)
}

type LedgerCheck = { check: Check; route: string | null }

function checkLedger(file: string, approval: Approval, planHash: string): LedgerCheck {
  const location = splitPath(file)
  const chain = verifyLedger(...location)
  const fails = (why: string): LedgerCheck => ({ check: failed('ledger', why), route: null })
  switch (chain.kind) {
    case 'absent':
      return fails(`there is none: ${file} does not exist`)
    case 'refused':
      throw unusableFile('ledger', file, chain.why)
    case 'broken':
      return fails(`line ${chain.line}: ${chain.why}`)
    case 'intact':
  }
  const read = readEvents(...location)
  const events = read.kind === 'read' ? read.events : []
  const { ledger_head: head } = approval as { ledger_head?: unknown }
  const hashes = [...events.map(({ prev }) => prev), chain.head]
  if (typeof head === 'string' && !hashes.includes(head))
    return fails('it is not the ledger that the approval was exported with')
  const known = findApproval(events, planHash)
  switch (known.kind) {
    case 'none':
      return fails('it has no approval of this text')
    case 'ended':
      return fails('the approval of this text was revoked')
    case 'by-hand':
    case 'by': {
      const route = known.kind === 'by' ? known.route : 'manual'
      const claimed = formatRoute(approval)
      if (claimed !== 'manual' && claimed !== route) return fails(`it says ${route}, but the approval says ${claimed}`)
      return {
        check: passed('ledger', `${chain.events} events; approved ${route === 'manual' ? 'by hand' : `by ${route}`}`),
        route,
      }
    }
  }
}

/** The files changed since the base that the plan does not name. plan-gate's own files need not be named. */
async function checkScope(
  plan: string,
  files: Files,
  base: string,
): Promise<{ check: Check; outside: readonly string[] }> {
  const root = await topLevel()
  const exempt = [files.plan, files.approval, files.ledger].flatMap((file) =>
    file === null ? [] : insideOf(root, file),
  )
  const changed = await changedSince(base)
  const scope = readPlanScope(plan)
  const outside = changed.filter((path) => !exempt.includes(path) && !isOwnPath(path) && !inScope(path, scope))
  const holds = outside.length === 0 || !files.strictScope
  return { outside, check: { name: 'scope', holds, detail: describeScope(changed, outside, files.strictScope) } }
}

function describeScope(changed: readonly string[], outside: readonly string[], isStrict: boolean): string {
  if (outside.length === 0) return `${changed.length} files changed, all named by the plan`
  const listed = outside.slice(0, 20).join(', ')
  const more = outside.length > 20 ? ` and ${outside.length - 20} more` : ''
  return `the plan does not name ${listed}${more}${isStrict ? '' : ' (a warning; with --strict-scope a failure)'}`
}

async function topLevel(): Promise<string> {
  const { checkout } = await findRepository(process.cwd())
  if (checkout !== null) return realpathSync(checkout)
  throw new UserError('--base needs a git checkout, which this is not.', 'Go to the checkout, or leave --base out.')
}

const insideOf = (root: string, file: string): string[] => {
  const path = relative(root, realOrResolved(file))
  return path.startsWith('..') ? [] : [path.replaceAll(sep, '/')]
}

function realOrResolved(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return resolve(file)
  }
}

async function changedSince(base: string): Promise<string[]> {
  const cwd = process.cwd()
  const known = await gitOrNull(cwd, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${base}^{commit}`])
  if (known === null)
    throw new UserError(
      `--base ${base} is not a commit that this clone knows.`,
      'Fetch it; in GitHub Actions: actions/checkout with fetch-depth: 0.',
    )
  const flags = ['--name-only', '-z', '--no-renames', '--no-ext-diff', '--no-textconv', '--ignore-submodules=none']
  const range = `${known.trim()}...HEAD`
  const diff = await git(cwd, ['diff', ...flags, range, '--']).catch(asFailure)
  if (typeof diff === 'string') return diff.split('\0').filter((path) => path !== '')
  throw new UserError(
    `git cannot compare ${base} with HEAD: ${diff.stderr}`,
    'A shallow clone lacks the merge base: fetch the whole history (fetch-depth: 0).',
  )
}

/** Writes the approval, and on request the ledger, for the repository, if everything holds. */
async function exportApproval(root: string, file: string, ledgerFile: string | null): Promise<VerifyOutput> {
  for (const each of [file, ...(ledgerFile === null ? [] : [ledgerFile])]) checkOutput(each, '--export')
  // A manual approval may not be recorded yet.
  await syncApproval(root)
  const checks = checkRecord(root)
  const ledger = verifyLedger(root)
  const read = readApproval(root)
  const bytes = readRegular(root, reviewPaths.ledger, 256 * 1024 * 1024)
  for (const [path, one] of [
    [reviewPaths.approval, read],
    [reviewPaths.ledger, ledger],
    [reviewPaths.ledger, bytes],
  ] as const)
    throwIfUnreadable(path, one)
  const isWhole = checks.every(({ holds }) => holds)
  if (!isWhole || ledger.kind !== 'intact' || read.kind !== 'recorded' || bytes.kind !== 'read')
    return { holds: false, checks, exported: [] }
  const { is_optimal, plan_hash, codex_thread_id: _, ...more } = read.approval
  const record: ApprovalRecord = {
    ...more,
    version: 1,
    plan: planPath,
    is_optimal,
    plan_hash,
    review_version: more.review_version ?? null,
    approved_at: more.approved_at ?? null,
    verification: more.verification ?? null,
    route: more.route ?? 'manual',
    reason: more.reason ?? null,
    ledger_head: ledger.head,
    ledger_events: ledger.events,
    plan_gate: packageVersion(),
  }
  writeResult(file, `${JSON.stringify(record, null, 2)}\n`)
  if (ledgerFile !== null) writeResult(ledgerFile, bytes.bytes)
  return { holds: true, checks, exported: [file, ...(ledgerFile === null ? [] : [ledgerFile])] }
}
