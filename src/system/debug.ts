import { writeSync } from 'node:fs'

/** For whoever asks why, with PLAN_GATE_DEBUG=1. Written at once: hooks end by `process.exit`, which loses what waits. */

export function debug(line: string): void {
  if (process.env.PLAN_GATE_DEBUG !== '1') return
  try {
    writeSync(2, `plan-gate debug: ${line}\n`)
  } catch {
    // Nobody listens.
  }
}
