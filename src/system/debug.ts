import { writeSync } from 'node:fs'

export const isDebugging = (): boolean => process.env.PLAN_GATE_DEBUG === '1'

/** Prints with PLAN_GATE_DEBUG=1. Synchronous: hooks end by `process.exit`, which drops pending writes. */
export function debug(line: string): void {
  if (!isDebugging()) return
  try {
    writeSync(2, `plan-gate debug: ${line}\n`)
  } catch {
    // stderr is closed.
  }
}
