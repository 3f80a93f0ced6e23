import { UserError } from '../../src/system/user-error.ts'
import type { ProgressListener } from '../progress.ts'
import type { CheckResult } from './row.ts'

/** Tells each row, and stops at the first that failed: nothing has been created yet. */
export async function assertPrerequisites(tell: ProgressListener, rows: readonly CheckResult[]): Promise<void> {
  for (const row of rows) tell({ event: 'prerequisite', ...row })
  const failure = rows.find((row) => row.status === 'failed')
  if (failure !== undefined)
    throw new UserError(`${failure.name}: ${failure.detail}.`, failure.remedy ?? 'See `plan-gate doctor`.')
}
