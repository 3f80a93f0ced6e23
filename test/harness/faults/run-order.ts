import { readFileSync, rmSync } from 'node:fs'
import { runProgram } from '../../support/run-program.ts'
import type { Fault, Operation, Order } from './fault-kinds.ts'

/** A program with its arguments, as it is run without a fault: `node` is the first word that is followed by a script. */
export type Started = {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: { readonly [name: string]: string }
  readonly input: string
}

export type Ran = { readonly exitCode: number | null; readonly stdout: string; readonly stderr: string }
export type Observed = Ran & {
  /** Everything that was asked of the system, where no fault was ordered. */
  readonly operations: readonly Operation[]
  /** Where the fault came about; null: it did not. */
  readonly hit: Operation | null
}

const mostMs = 90_000

export const runPlain = ({ file, args, cwd, env, input }: Started): Promise<Ran> =>
  runProgram(file, args, { cwd, env, timeoutMs: mostMs, converse: ({ stdin }) => void stdin.end(input) })

/** The same with the injector in it; what it has seen comes out beside the outcome. */
export async function runOrder(started: Started, fault: Fault | null, report: string): Promise<Observed> {
  rmSync(report, { force: true })
  const order: Order = { report, fault }
  const ran = await runPlain({ ...started, env: { ...started.env, PLAN_GATE_FAULT: JSON.stringify(order) } })
  const lines = readReport(report)
  return {
    ...ran,
    operations: lines.flatMap(([what, , operation]) => (what === 'ran' ? [operation] : [])),
    hit: lines.find(([what]) => what === 'hit')?.[2] ?? null,
  }
}

type Line = readonly [what: 'ran' | 'hit', count: number, operation: Operation]

const readReport = (path: string): Line[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)
