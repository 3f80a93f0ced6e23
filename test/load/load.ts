import { writeFileSync } from 'node:fs'
import { round } from '../bench/measure.ts'
import { type Growth, growthOf } from './growth.ts'
import { medianOf } from './run-measured.ts'
import type { Measured } from './scenario.ts'
import { bareNode } from './scenarios/worktrees-at-once.ts'
import { scenarios } from './scenarios.ts'

/**
 * `npm run load [-- --json] [--only words] [--output file]`: what plan-gate takes where everything is a thousand times
 * as much as usual, and how that grows. All is told as so many times what bare node takes on the same machine.
 */
const option = (name: string): string | null => {
  const at = process.argv.indexOf(name)
  return at === -1 ? null : (process.argv[at + 1] ?? '')
}
const json = process.argv.includes('--json')
const only = option('--only') ?? ''
const output = option('--output')

type Row = Measured & { scenario: string; size: number; unit: string; cpu_ratio: number; peak_ratio: number }
type Summary = { scenario: string; what: string; cpu: Growth; exponent: number | null; memory: Growth }

const base = await medianOf(5, bareNode)
const rows: Row[] = []
for (const { name, unit, sizes, run } of scenarios.filter(({ name }) => name.includes(only)))
  for (const size of sizes.full) {
    const since = performance.now()
    for (const measured of await run(size))
      rows.push({
        ...measured,
        scenario: name,
        size,
        unit,
        cpu_ratio: measured.cpu_ms / base.cpu_ms,
        peak_ratio: measured.peak_mb / base.peak_mb,
      })
    if (!json) console.error(`${name}, ${size} ${unit}: ${round((performance.now() - since) / 1000, 1)} s`)
  }

const report = { node: process.version, bare_node: base, rows, growth: summaries() }
if (output !== null) writeFileSync(output, `${JSON.stringify(report, null, 2)}\n`)
if (json) console.log(JSON.stringify(report))
else printTable()

function summaries(): Summary[] {
  const kinds = [...new Set(rows.map(({ scenario, what }) => JSON.stringify([scenario, what])))]
  return kinds.map((kind) => {
    const [scenario = '', what = ''] = JSON.parse(kind) as string[]
    const of = rows.filter((row) => row.scenario === scenario && row.what === what)
    const cpu = growthOf(
      of.map(({ size, cpu_ms }) => ({ size, value: cpu_ms })),
      base.cpu_ms,
    )
    const memory = growthOf(
      of.map(({ size, peak_mb }) => ({ size, value: peak_mb })),
      base.peak_mb,
    )
    return { scenario, what, cpu: cpu.growth, exponent: cpu.exponent, memory: memory.growth }
  })
}

function printTable(): void {
  console.log(`bare node: ${round(base.cpu_ms, 0)} ms of processor, ${round(base.peak_mb, 0)} MB\n`)
  for (const { scenario, what, cpu, exponent, memory } of report.growth) {
    console.log(`${scenario}: ${what}`)
    for (const row of rows.filter((each) => each.scenario === scenario && each.what === what))
      console.log(
        `  ${String(row.size).padStart(7)} ${row.unit.padEnd(10)} ${column(row.ms, 'ms')} ${column(row.cpu_ms, 'ms cpu')} ${String(round(row.cpu_ratio, 1)).padStart(7)} × node  ${column(row.peak_mb, 'MB')} ${String(round(row.peak_ratio, 1)).padStart(5)} × node  ${column(row.read_kb, 'kB read')}`,
      )
    console.log(`  grows: time ${cpu}${exponent === null ? '' : ` (n^${round(exponent, 2)})`}, memory ${memory}\n`)
  }
}

function column(value: number, unit: string): string {
  return `${String(round(value, 0)).padStart(8)} ${unit}`
}
