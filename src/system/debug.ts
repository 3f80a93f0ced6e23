import { writeSync } from 'node:fs'

/** Prints with PLAN_GATE_DEBUG=1. Synchronous: hooks end by `process.exit`, which drops pending writes. */
export function debug(line: string): void {
  if (process.env.PLAN_GATE_DEBUG !== '1') return
  try {
    writeSync(2, `plan-gate debug: ${line}\n`)
  } catch {
    // stderr is closed.
  }
}
