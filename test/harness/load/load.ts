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
type Summary = { scenario: string; what: string; sizes_ratio: number; cpu: Growth; memory: Growth }

const base = await medianOf(5, bareNode)
const rows: Row[] = []
const failed: { scenario: string; size: number; why: string }[] = []
for (const { name, unit, sizes, run } of scenarios.filter(({ name }) => name.includes(only)))
  for (const size of sizes.full) {
    const since = performance.now()
    try {
      for (const measured of await run(size))
        rows.push({
          scenario: name,
          size,
          unit,
          ...usageOf(measured),
          cpu_ratio: round(measured.cpu_ms / base.cpu_ms, 2),
          peak_ratio: round(measured.peak_mb / base.peak_mb, 2),
        })
    } catch (error) {
      failed.push({ scenario: name, size, why: error instanceof Error ? error.message : String(error) })
    }
    // A run takes minutes, and what was measured until it was ended is worth having.
    if (output !== null) writeFileSync(output, `${JSON.stringify(report(), null, 2)}\n`)
    if (!json) console.error(`${name}, ${size} ${unit}: ${round((performance.now() - since) / 1000, 1)} s`)
  }

if (json) console.log(JSON.stringify(report()))
else printTable()
process.exitCode = failed.length === 0 ? 0 : 1

function report(): object {
  const bare_node = usageOf({ what: 'node -e 0', ...base })
  return { node: process.version, bare_node, rows, growth: summaries(), failed }
}

/** Without what the program said. */
function usageOf({ what, ms, cpu_ms, peak_mb, read_kb, git_runs }: Measured): Measured {
  return {
    what,
    ms: round(ms, 1),
    cpu_ms: round(cpu_ms, 1),
    peak_mb: round(peak_mb, 1),
    read_kb: round(read_kb, 0),
    git_runs,
  }
}

function summaries(): Summary[] {
  const kinds = [...new Set(rows.map(({ scenario, what }) => JSON.stringify([scenario, what])))]
  return kinds.map((kind) => {
    const [scenario = '', what = ''] = JSON.parse(kind) as string[]
    const of = rows.filter((row) => row.scenario === scenario && row.what === what)
    const points = (value: (row: Row) => number) => of.map((row) => ({ size: row.size, value: value(row) }))
    return {
      scenario,
      what,
      sizes_ratio: (of.at(-1)?.size ?? 1) / (of[0]?.size ?? 1),
      cpu: growthOf(
        points(({ cpu_ms }) => cpu_ms),
        base.cpu_ms,
      ),
      memory: growthOf(
        points(({ peak_mb }) => peak_mb),
        base.peak_mb,
      ),
    }
  })
}

function printTable(): void {
  console.log(`bare node: ${round(base.cpu_ms, 0)} ms of processor, ${round(base.peak_mb, 0)} MB\n`)
  for (const { scenario, what, sizes_ratio, cpu, memory } of summaries()) {
    console.log(`${scenario}: ${what}`)
    for (const row of rows.filter((each) => each.scenario === scenario && each.what === what)) console.log(lineOf(row))
    console.log(
      `  ${round(sizes_ratio, 1)} × the size: time × ${ratioOf(cpu)}, ${wordsFor(cpu)}; memory × ${ratioOf(memory)}, ${memory.word}\n`,
    )
  }
  for (const { scenario, size, why } of failed) console.log(`FAILED ${scenario}, ${size}: ${why}`)
}

function lineOf(row: Row): string {
  const times = (ratio: number): string => `${String(round(ratio, 1)).padStart(6)} × node`
  return [
    `  ${String(row.size).padStart(7)} ${row.unit.padEnd(9)}`,
    column(row.ms, 'ms'),
    `${column(row.cpu_ms, 'ms cpu')} ${times(row.cpu_ratio)}`,
    `${column(row.peak_mb, 'MB')} ${times(row.peak_ratio)}`,
    column(row.read_kb, 'kB read'),
    `${row.git_runs} git`,
  ].join('  ')
}

function column(value: number, unit: string): string {
  return `${String(round(value, 0)).padStart(7)} ${unit}`
}

function ratioOf({ ratio }: Growth): string {
  return ratio === null ? '?' : String(round(ratio, 1))
}

function wordsFor({ word, exponent }: Growth): string {
  return exponent === null || word === 'constant' ? word : `${word} (n^${round(exponent, 2)})`
}
