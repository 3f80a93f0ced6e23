import { randomUUID } from 'node:crypto'
import { appendFileSync } from 'node:fs'
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
import { checkFiles, checkRecord, type Files } from './checks.ts'
import type { Flags, Run } from './command.ts'
import { listFindings } from './findings.ts'
import { checkOutput, oneLine, writeResult } from './terminal.ts'

type VerifyFlags = Flags<'verify'>

export const verifyCommand: Run<'verify'> = async (flags, terminal) => {
  const github = flags.github ? openGitHub() : null
  const { summary } = flags
  if (summary !== null) checkOutput(summary, '--summary')
  const output = await outputFor(flags).catch((error: unknown) => {
    const [message, next] = [error instanceof Error ? error.message : String(error), nextStepOf(error)]
    if (summary !== null) writeResult(summary, formatProblem(message, next))
    github?.tellProblem(message, next)
    throw error
  })
  github?.tell(output, flags.strictScope)
  process.exitCode = output.holds ? 0 : 1
  if (terminal.json) return terminal.answer(output, [])
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
  if (flags.export === null) return
  for (const file of output.exported ?? []) terminal.note(`written   ${file}`)
  if (!output.holds) terminal.note('Nothing was written: an approval is only exported if everything holds.')
}

const nextStepOf = (error: unknown): string =>
  error instanceof UserError ? error.nextStep : 'See the log of this step.'

async function outputFor(flags: VerifyFlags): Promise<VerifyOutput> {
  if (flags.plan !== null) {
    const { output, summary } = await checkFiles(filesIn(flags, flags.plan))
    if (flags.summary !== null) writeResult(flags.summary, formatSummary(summary))
    return output
  }
  assertNoPlanFlags(flags)
  const { root } = await findCheckout(process.cwd())
  if (flags.export !== null) return exportApproval(root, flags.export, flags.ledger)
  const checks = checkRecord(root)
  return { holds: checks.every(({ holds }) => holds), checks }
}

function filesIn(flags: VerifyFlags, plan: string): Files {
  const { approval, ledger, base, strictScope } = flags
  if (flags.export !== null)
    throw new UserError(
      '--export and --plan cannot be combined.',
      'Export where the plan was approved; check the files in CI.',
    )
  if (approval === null) throw new UserError('--plan needs the approval.', 'Add --approval docs/plan.approval.json.')
  if (strictScope && base === null) throw new UserError('--strict-scope needs a base.', 'Add --base origin/main.')
  return { plan, approval, ledger, base, strictScope, acceptsManual: flags.manual }
}

/** Without --plan they would have no effect. */
function assertNoPlanFlags(flags: VerifyFlags): void {
  const used = {
    '--approval': flags.approval !== null,
    '--ledger': flags.ledger !== null && flags.export === null,
    '--no-manual': !flags.manual,
    '--base': flags.base !== null,
    '--strict-scope': flags.strictScope,
    '--summary': flags.summary !== null,
    '--github': flags.github,
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
