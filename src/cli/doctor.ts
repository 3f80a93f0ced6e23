import { checkMoved, headlineOf, movedRow, runDoctor, worstStatus } from '../../bootstrap/doctor.ts'
import type { CheckResult } from '../install/prerequisites.ts'
import type { DoctorResult } from '../schemas/output.ts'
import { findCheckout, MovedError } from '../system/repository.ts'
import type { Run } from './command.ts'
import { progressPrinter } from './terminal.ts'

export const doctorCommand: Run<'doctor'> = async (_, terminal) => {
  const { root, results } = await examine(process.cwd())
  const print = progressPrinter(terminal)
  for (const result of results) print({ event: 'prerequisite', ...result })
  const status = worstStatus(results)
  const headline = headlineOf(results)
  if (terminal.json) terminal.out(JSON.stringify({ event: 'result', root, status, headline } satisfies DoctorResult))
  else terminal.note(`\n${headline}`)
  process.exitCode = status === 'failed' ? 1 : 0
}

/** A moved worktree is a finding like any other: git itself does not know it. */
async function examine(cwd: string): Promise<{ root: string; results: CheckResult[] }> {
  try {
    const { root, gitDirs } = await findCheckout(cwd)
    return { root, results: [...(await checkMoved(cwd)), ...(await runDoctor(root, gitDirs))] }
  } catch (error) {
    if (!(error instanceof MovedError)) throw error
    return { root: cwd, results: [movedRow(error)] }
  }
}
