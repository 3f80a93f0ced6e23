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
import { type JsonRead, readJson, readRegular, throwIfUnreadable, writeAtomic } from '../state/files.ts'
import { readEvents, verifyLedger } from '../state/ledger.ts'
import { isOwnPath, planPath, reviewPaths } from '../state/own-paths.ts'
import { UserError } from '../system/errors.ts'
import { asFailure, git, gitOrNull } from '../system/git.ts'
import { packageVersion } from '../system/package.ts'
import { findCheckout } from '../system/repository.ts'
import { sha256 } from '../system/sha256.ts'
import { type Check, checkRecord } from './check-record.ts'
import { checkOutput } from './output-file.ts'
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
    .description('Check the record here, or with --plan (in CI, without an installation) that a plan is approved.')
    .option('--plan <file>', 'the plan to check, as it was merged')
    .option('--approval <file>', 'its approval: approval.json, or what --export wrote')
    .option('--ledger <file>', 'the ledger that goes with it; with --export a copy is written there')
    .option('--no-manual', 'an approval by hand does not do')
    .option('--base <commit>', 'also tell which files were changed since then that the plan does not name')
    .option('--strict-scope', 'such files count: exit code 1')
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
An exported approval proves no more than that somebody who can push has written it; the ledger makes it harder.`,
      ),
    )
    .action(run)

async function run(flags: Flags): Promise<void> {
  const terminal = openTerminal(flags.json === true)
  const output = await outputFor(flags)
  process.exitCode = output.holds ? 0 : 1
  if (terminal.json) return terminal.out(JSON.stringify(output))
  const isTold = (name: string): boolean => name === 'scope' && (output.out_of_scope ?? []).length > 0
  for (const { name, holds, detail } of output.checks) {
    const mark = holds
      ? isTold(name)
        ? terminal.paintOut('yellow', '!')
        : terminal.paintOut('green', '✓')
      : terminal.paintOut('red', '✗')
    terminal.out(`${mark} ${name}  ${escapeUntrusted(detail)}`)
  }
  if (flags.export === undefined) return
  for (const file of output.exported ?? []) terminal.note(`written   ${file}`)
  if (!output.holds) terminal.note('Nothing was written: only what holds is exported.')
}

async function outputFor(flags: Flags): Promise<VerifyOutput> {
  if (flags.plan !== undefined) return checkFiles(filesIn(flags, flags.plan))
  refuseWithoutPlan(flags)
  const { root } = await findCheckout(process.cwd())
  if (flags.export !== undefined) return exportApproval(root, flags.export, flags.ledger ?? null)
  const checks = checkRecord(root)
  return { holds: checks.every(({ holds }) => holds), checks }
}

function filesIn(flags: Flags, plan: string): Parameters<typeof checkFiles>[0] {
  const { approval, ledger = null, base = null, strictScope = false } = flags
  if (flags.export !== undefined)
    throw new UserError(
      '--export and --plan are two different things.',
      'Export where the plan was approved; check the files in CI.',
    )
  if (approval === undefined)
    throw new UserError('--plan needs the approval to hold it against.', 'Give it: --approval docs/plan.approval.json.')
  if (strictScope && base === null)
    throw new UserError('--strict-scope needs to know since when.', 'Give a commit: --base origin/main.')
  return { plan, approval, ledger, base, strictScope, manualWillDo: flags.manual }
}

/** Without --plan they would silently check nothing. */
function refuseWithoutPlan(flags: Flags): void {
  const given = [
    ...(flags.approval === undefined ? [] : ['--approval']),
    ...(flags.ledger === undefined || flags.export !== undefined ? [] : ['--ledger']),
    ...(flags.manual ? [] : ['--no-manual']),
    ...(flags.base === undefined ? [] : ['--base']),
    ...(flags.strictScope === true ? ['--strict-scope'] : []),
  ]
  if (given.length > 0)
    throw new UserError(`${given.join(' and ')} can only be used with --plan.`, 'Name the plan: --plan docs/plan.md.')
}

type Files = {
  plan: string
  approval: string
  ledger: string | null
  /** Whether an approval by hand will do. */
  manualWillDo: boolean
  base: string | null
  strictScope: boolean
}

/** Whether a plan is approved, from nothing but files: no installation, no git unless a change is to be looked at. */
async function checkFiles(files: Files): Promise<VerifyOutput> {
  const plan = bytesOf('plan', files.plan)
  const planHash = sha256(plan)
  const approval = approvalIn(files.approval)
  if (approval === null) {
    const checks = [failed('approval', `there is none: ${files.approval} does not exist`)]
    return { holds: false, checks, plan_hash: planHash }
  }
  const ledger = files.ledger === null ? null : checkLedger(files.ledger, approval, planHash)
  // What is on record weighs more than what a file says of itself.
  const route = ledger?.route ?? formatRoute(approval)
  const scope = files.base === null ? null : await checkScope(plan.toString('utf8'), files, files.base)
  const checks = [
    checkHash(approval, planHash, plan),
    checkApprover(approval, route, files.manualWillDo),
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
  const read = readRegular(...placeOf(file), 64 * 1024 * 1024)
  if (read.kind === 'read') return read.bytes
  throw unusableFile(flag, file, read.kind === 'absent' ? 'it does not exist' : read.why)
}

const placeOf = (file: string): [root: string, path: string] => [dirname(resolve(file)), basename(file)]

const unusableFile = (flag: string, file: string, why: string): UserError =>
  new UserError(`--${flag} ${file} cannot be used: ${why}.`, `Give the file itself with --${flag}.`)

function approvalIn(file: string): Approval | null {
  const read: JsonRead<Approval> = readJson(...placeOf(file), validate, 64 * 1024)
  if (read.kind === 'refused') throw unusableFile('approval', file, read.why)
  return read.kind === 'absent' ? null : read.value
}

function checkHash({ is_optimal, plan_hash }: Approval, planHash: string, plan: Buffer): Check {
  if (is_optimal !== true) return failed('plan', 'the approval says is_optimal: false')
  if (plan_hash === planHash) return passed('plan', `it is the text that was approved (${planHash.slice(0, 12)})`)
  const unix = Buffer.from(plan.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')
  const hint =
    sha256(unix) === plan_hash ? '; only its line ends differ: keep git from changing them (.gitattributes: -text)' : ''
  return failed('plan', `it is ${planHash.slice(0, 12)}, and ${plan_hash.slice(0, 12)} was approved${hint}`)
}

/** Only reviews write a route. */
const formatRoute = ({ route }: Approval): string => route ?? 'manual'

function checkApprover({ review_version, approved_at }: Approval, route: string, manualWillDo: boolean): Check {
  const when = typeof approved_at === 'string' ? `, ${approved_at}` : ''
  const revision = typeof review_version === 'number' ? `, revision ${review_version}` : ''
  if (route !== 'manual') return passed('approval', `by ${route}${revision}${when}`)
  return manualWillDo
    ? passed('approval', `by hand${when}`)
    : failed('approval', `by hand${when}; --no-manual asks for a reviewer’s`)
}

type LedgerCheck = { check: Check; route: string | null }

function checkLedger(file: string, approval: Approval, planHash: string): LedgerCheck {
  const place = placeOf(file)
  const chain = verifyLedger(...place)
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
  const read = readEvents(...place)
  const events = read.kind === 'read' ? read.events : []
  const { ledger_head: head } = approval as { ledger_head?: unknown }
  const hashes = [...events.map(({ prev }) => prev), chain.head]
  if (typeof head === 'string' && !hashes.includes(head)) return fails('it is not the one that the approval comes from')
  const known = findApproval(events, planHash)
  switch (known.kind) {
    case 'none':
      return fails('it knows of no approval of this text')
    case 'ended':
      return fails('the approval of this text was revoked')
    case 'by-hand':
    case 'by': {
      const route = known.kind === 'by' ? known.route : 'manual'
      const said = formatRoute(approval)
      if (said !== 'manual' && said !== route) return fails(`it says ${route}, and the approval says ${said}`)
      return {
        check: passed('ledger', `${chain.events} events; approved ${route === 'manual' ? 'by hand' : `by ${route}`}`),
        route,
      }
    }
  }
}

/** Which files differ between the base and HEAD that the plan does not name. The plan and its record go without saying. */
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
  return { outside, check: { name: 'scope', holds, detail: describe(changed, outside, files.strictScope) } }
}

function describe(changed: readonly string[], outside: readonly string[], isStrict: boolean): string {
  if (outside.length === 0) return `${changed.length} files changed, none that the plan does not name`
  const listed = outside.slice(0, 20).join(', ')
  const more = outside.length > 20 ? ` and ${outside.length - 20} more` : ''
  return `the plan does not name ${listed}${more}${isStrict ? '' : ' (only told; --strict-scope makes it count)'}`
}

async function topLevel(): Promise<string> {
  const found = await gitOrNull(process.cwd(), ['rev-parse', '--show-toplevel'])
  if (found !== null) return realpathSync(found.replace(/\n$/, ''))
  throw new UserError('--base needs a git checkout, and this is none.', 'Go to the checkout, or leave --base out.')
}

const insideOf = (root: string, file: string): string[] => {
  const path = relative(root, realOrGiven(file))
  return path.startsWith('..') ? [] : [path.replaceAll(sep, '/')]
}

function realOrGiven(file: string): string {
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
    'A shallow clone lacks what they have in common: fetch the whole history (fetch-depth: 0).',
  )
}

/** The approval as a file for the repository, and beside it the ledger where that is wanted. Only what holds is written. */
async function exportApproval(root: string, file: string, ledgerFile: string | null): Promise<VerifyOutput> {
  for (const each of [file, ...(ledgerFile === null ? [] : [ledgerFile])]) checkOutput(each, '--export')
  // An approval by hand may not have been put on record yet.
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
  const { is_optimal, plan_hash, ...more } = read.approval
  const record: ApprovalRecord = {
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
  put(file, `${JSON.stringify(record, null, 2)}\n`)
  if (ledgerFile !== null) put(ledgerFile, bytes.bytes)
  return { holds: true, checks, exported: [file, ...(ledgerFile === null ? [] : [ledgerFile])] }
}

const put = (file: string, content: string | Uint8Array): void =>
  writeAtomic(dirname(resolve(file)), basename(file), content, 0o644)
