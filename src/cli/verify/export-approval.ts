import { basename, dirname, resolve } from 'node:path'
import { planPath } from '../../gate/place-of.ts'
import { syncApproval } from '../../hooks/settle-plan.ts'
import type { ApprovalRecord } from '../../schemas/approval-record.ts'
import type { VerifyOutput } from '../../schemas/output/verify.ts'
import { readApproval } from '../../store/read-approval.ts'
import { readRegular } from '../../store/read-regular.ts'
import { throwIfUnreadable } from '../../store/refuse-unread.ts'
import { reviewPaths } from '../../store/review-paths.ts'
import { verifyLedger } from '../../store/verify-ledger.ts'
import { writeWhole } from '../../store/write-whole.ts'
import { packageVersion } from '../../system/package-files.ts'
import { checkRecord } from '../check-record.ts'
import { checkOutput } from '../write-result.ts'

/** The approval as a file for the repository, and beside it the ledger where that is wanted. Only what holds is written. */
export async function exportApproval(root: string, file: string, ledgerFile: string | null): Promise<VerifyOutput> {
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
  writeWhole(dirname(resolve(file)), basename(file), content, undefined, 0o644)
