import { randomUUID } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { syncApproval } from '../plan/sync-approval.ts'
import { formatProblem, formatSummary } from '../report/summary.ts'
import type { VerifyOutput } from '../schemas/output.ts'
import type { ApprovalRecord } from '../schemas/records.ts'
import { readApproval } from '../state/approval.ts'
import { readRegular, throwIfUnreadable } from '../state/files.ts'
import { verifyLedger } from '../state/ledger.ts'
import { planPath, reviewPaths } from '../state/own-paths.ts'
import { UserError } from '../system/errors.ts'
import { packageVersion } from '../system/package.ts'
import { findCheckout } from '../system/repository.ts'
import { clipEnd } from '../text/clean.ts'
import { checkFiles, type Files } from './check-files.ts'
import { checkRecord } from './check-record.ts'
import { listFindings } from './findings.ts'
import { newCommand } from './new-command.ts'
import { checkOutput, writeResult } from './output-file.ts'
import { oneLine, openTerminal } from './terminal.ts'

type Flags = {
  export?: string
  plan?: string
  approval?: string
  ledger?: string
  manual: boolean
  base?: string
  strictScope?: boolean
  summary?: string
  github?: boolean
  json?: boolean
}

export const verifyCommand = (): Command =>
  newCommand(
    'verify',
    'Check the ledger and the approval here, or with --plan (in CI, without an install) that a plan is approved.',
    [
      ['plan-gate verify', 'the ledger’s chain, each snapshot, the approval'],
      'plan-gate verify --export docs/plan.approval.json --ledger docs/plan.events.jsonl',
      'plan-gate verify --plan docs/plan.md --approval docs/plan.approval.json --no-manual',
      'plan-gate verify --plan docs/plan.md --approval docs/plan.approval.json --base origin/main',
    ],
    `Exit code: 0 everything holds and the plan is approved, 1 something does not hold, 2 bad input.
An exported approval could be written by anybody who can push; with the ledger that is harder.`,
  )
    .option('--plan <file>', 'the plan to check, as it was merged')
    .option('--approval <file>', 'its approval: approval.json, or what --export wrote')
    .option('--ledger <file>', 'its ledger; with --export a copy is written there')
    .option('--no-manual', 'reject manual approvals')
    .option('--base <commit>', 'also list changed files since then that the plan does not name')
    .option('--strict-scope', 'fail because of such files: exit code 1')
    .option('--export <file>', 'write the approval to a file that a team can commit, if everything holds')
    .option('--summary <file>', 'write the verdict, the findings and the plan there, as Markdown')
    .addOption(
      new Option('--github', 'in GitHub Actions: also annotations, and the outputs of the step').conflicts('json'),
    )
    .option('--json', 'the checks as JSON on stdout')
    .action(run)

async function run(flags: Flags): Promise<void> {
  const github = flags.github === true ? openGitHub() : null
  const terminal = openTerminal(flags.json === true)
  const { summary } = flags
  if (summary !== undefined) checkOutput(summary, '--summary')
  const output = await outputFor(flags).catch((error: unknown) => {
    const [message, next] = [error instanceof Error ? error.message : String(error), nextStepOf(error)]
    if (summary !== undefined) writeResult(summary, formatProblem(message, next))
    github?.tellProblem(message, next)
    throw error
  })
  github?.tell(output, flags.strictScope === true)
  process.exitCode = output.holds ? 0 : 1
  if (terminal.json) return terminal.out(JSON.stringify(output))
  for (const { name, holds, detail, next_step: next } of output.checks) {
    const isWarning = holds && name === 'scope' && (output.out_of_scope ?? []).length > 0
    const [style, mark] = isWarning
      ? (['yellow', '!'] as const)
      : holds
        ? (['green', '✓'] as const)
        : (['red', '✗'] as const)
    const line = `${terminal.paintOut(style, mark)} ${name}  ${oneLine(detail)}`
    terminal.out(next === undefined ? line : `${line}\n  → ${oneLine(next)}`)
  }
  if (flags.export === undefined) return
  for (const file of output.exported ?? []) terminal.note(`written   ${file}`)
  if (!output.holds) terminal.note('Nothing was written: an approval is only exported if everything holds.')
}

const nextStepOf = (error: unknown): string =>
  error instanceof UserError ? error.nextStep : 'See the log of this step.'

async function outputFor(flags: Flags): Promise<VerifyOutput> {
  if (flags.plan !== undefined) {
    const { output, summary } = await checkFiles(filesIn(flags, flags.plan))
    if (flags.summary !== undefined) writeResult(flags.summary, formatSummary(summary))
    return output
  }
  assertNoPlanFlags(flags)
  const { root } = await findCheckout(process.cwd())
  if (flags.export !== undefined) return exportApproval(root, flags.export, flags.ledger ?? null)
  const checks = checkRecord(root)
  return { holds: checks.every(({ holds }) => holds), checks }
}

function filesIn(flags: Flags, plan: string): Files {
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
  const used = {
    '--approval': flags.approval !== undefined,
    '--ledger': flags.ledger !== undefined && flags.export === undefined,
    '--no-manual': !flags.manual,
    '--base': flags.base !== undefined,
    '--strict-scope': flags.strictScope === true,
    '--summary': flags.summary !== undefined,
    '--github': flags.github === true,
  }
  const names = Object.entries(used).flatMap(([name, isUsed]) => (isUsed ? [name] : []))
  if (names.length > 0)
    throw new UserError(`${names.join(' and ')} can only be used with --plan.`, 'Name the plan: --plan docs/plan.md.')
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
  throwIfUnreadable(reviewPaths.approval, read)
  throwIfUnreadable(reviewPaths.ledger, ledger)
  throwIfUnreadable(reviewPaths.ledger, bytes)
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
    findings: listFindings(root)
      .findings.slice(0, 200)
      .map(({ id, severity, state, section, problem, reason }) => ({
        id,
        severity,
        state,
        section: clipEnd(section, 200),
        problem: clipEnd(problem, 600),
        reason: clipEnd(reason, 300),
      })),
  }
  writeResult(file, `${JSON.stringify(record, null, 2)}\n`)
  if (ledgerFile !== null) writeResult(ledgerFile, bytes.bytes)
  return { holds: true, checks, exported: [file, ...(ledgerFile === null ? [] : [ledgerFile])] }
}

/**
 * GitHub's runner obeys lines like `::set-output …` in what a step prints, and names of files could be such lines: it is
 * told not to until the process ends. The annotations come after that.
 */
function openGitHub() {
  const token = randomUUID()
  const annotations: string[] = []
  process.stdout.write(`::stop-commands::${token}\n`)
  process.once('exit', () => void process.stdout.write([`::${token}::`, ...annotations, ''].join('\n')))
  const outputs = process.env.GITHUB_OUTPUT ?? ''
  return {
    tell: ({ holds, checks, plan_hash = '', approver = '', out_of_scope }: VerifyOutput, isStrict: boolean): void => {
      const values = {
        holds,
        approver: holds ? oneLine(approver) : '',
        'plan-hash': plan_hash,
        unplanned: out_of_scope?.length ?? '',
      }
      const lines = Object.entries(values).map(([name, value]) => `${name}=${value}\n`)
      if (outputs !== '') appendFileSync(outputs, lines.join(''))
      for (const { name, holds, detail, next_step: next = '' } of checks)
        if (!holds) annotations.push(annotation('error', { title: `plan-gate: ${name}` }, `${detail}\n→ ${next}`))
      for (const file of (out_of_scope ?? []).slice(0, maxAnnotations)) {
        const level = isStrict ? 'error' : 'warning'
        annotations.push(annotation(level, { file, title: 'plan-gate' }, 'The plan does not name this file.'))
      }
    },
    tellProblem: (message: string, next: string): void => {
      annotations.push(annotation('error', { title: 'plan-gate' }, `${message}\n→ ${next}`))
    },
  }
}

/** GitHub shows no more of a step. */
const maxAnnotations = 10

function annotation(level: 'error' | 'warning', properties: { readonly [name: string]: string }, text: string): string {
  const named = Object.entries(properties).map(([name, value]) => `${name}=${escapeProperty(value)}`)
  return `::${level} ${named.join(',')}::${escapeMessage(text.split('\n').map(oneLine).join('\n'))}`
}

const escapeMessage = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

const escapeProperty = (text: string): string => escapeMessage(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
