import { StoreError } from '../store/store-error.ts'
import { systemFailure } from '../system/system-failure.ts'
import { UserError } from '../system/user-error.ts'

/** What went wrong and the next step, never a stack unless PLAN_GATE_DEBUG asks for it. */
export function endWithError(error: unknown, json: boolean): void {
  const { message, nextStep, exitCode } = describe(error)
  if (json)
    process.stdout.write(`${JSON.stringify({ event: 'error', message, next_step: nextStep, exit_code: exitCode })}\n`)
  // It may name files, and quote what git says of them.
  process.stderr.write(`plan-gate: ${readable(message)}\n  → ${readable(nextStep)}\n`)
  if (process.env.PLAN_GATE_DEBUG === '1' && error instanceof Error) process.stderr.write(`${error.stack}\n`)
  process.exitCode = exitCode
}

/** What a terminal would obey, or would not show, is spelled out: the next step may have to be typed. */
const readable = (text: string): string =>
  text.replace(/[^\P{C}\n\t]|[\u2028\u2029]/gu, (hidden) => `\\u{${hidden.codePointAt(0)?.toString(16)}}`)

function describe(error: unknown): { message: string; nextStep: string; exitCode: number } {
  if (error instanceof UserError) return { message: error.message, nextStep: error.nextStep, exitCode: error.exitCode }
  if (error instanceof StoreError)
    return { message: error.message.replace(` ${error.next}`, ''), nextStep: error.next, exitCode: 1 }
  if (error instanceof Error && systemFailure(error) !== null)
    return { message: `${error.message}.`, nextStep: 'Put that right, then run the same command again.', exitCode: 1 }
  return {
    message: error instanceof Error ? error.message : String(error),
    nextStep: 'This should not happen. Run it again with PLAN_GATE_DEBUG=1 and report what it prints.',
    exitCode: 1,
  }
}
