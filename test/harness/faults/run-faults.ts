import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { someCells } from './choose-cells.ts'
import { runTable, type Table } from './run-table.ts'
import { scenes } from './scenes.ts'
import { describeCell, showTable } from './show-table.ts'
import { mounts, surroundings, whyNoMounts } from './surroundings.ts'
import { faultTrial, surroundingTrial } from './trials.ts'

/**
 * `npm run faults`: the whole table. `-- --scene <part of a name>`, `--kind <kind>` and `--at <n>` pick from it, and
 * `--most <n>` with `--phase <n>` takes about so many cells of each scene. It takes hours: `--part 3/10` is the third of
 * ten parts that make up the whole, for as many nights or machines. `--report <file>` keeps what ran, and
 * `-- --show <file> …` is the table of such files.
 */
const { values, positionals: reports } = parseArgs({
  allowPositionals: true,
  options: {
    scene: { type: 'string', default: '' },
    kind: { type: 'string' },
    at: { type: 'string' },
    most: { type: 'string', default: 'Infinity' },
    phase: { type: 'string', default: '0' },
    part: { type: 'string', default: '1/1' },
    report: { type: 'string' },
    show: { type: 'boolean', default: false },
  },
})
const isWanted = ({ kind, at }: { kind: string; at: number | null }): boolean =>
  (values.kind === undefined || values.kind === kind) && (values.at === undefined || Number(values.at) === at)
const [part = 1, parts = 1] = values.part.split('/').map(Number)
if (!(part >= 1 && part <= parts)) throw new Error(`--part ${values.part} is no part of a whole, as 3/10 is`)
const isOfPart = (_: unknown, index: number): boolean => index % parts === part - 1

const since = performance.now()
let judged = 0
const table = values.show ? readReports() : await runParts()
if (values.report !== undefined) writeFileSync(values.report, JSON.stringify(table))
console.log(showTable(table))
if (whyNoMounts !== null) console.log(`Nothing could be mounted, so no disk was full or read-only: ${whyNoMounts}`)
const ran = table.cells.filter(({ hit }) => hit !== null)
const wrong = ran.filter(({ problems }) => problems.length > 0)
console.log(`It took ${secondsSince()} s.`)
const isWhole = process.argv.length === 2
if (isWhole && ran.length < 300) console.log('That is fewer than 300 cells, so this table proves nothing.')
process.exitCode = wrong.length > 0 || (isWhole && ran.length < 300) ? 1 : 0

function readReports(): Table {
  const tables = reports.map((path) => JSON.parse(readFileSync(path, 'utf8')) as Table)
  for (const { cells } of tables)
    for (const cell of cells) if (cell.problems.length > 0) console.log(describeCell(cell))
  return {
    cells: tables.flatMap(({ cells }) => cells),
    configured: tables.reduce((sum, { configured }) => sum + configured, 0),
  }
}

function runParts(): Promise<Table> {
  const everywhere = [...surroundings, ...(whyNoMounts === null ? mounts : [])].map(surroundingTrial)
  return runTable(
    scenes.filter(({ name }) => name.includes(values.scene)),
    (faults) => [
      ...everywhere.filter(isWanted).filter(isOfPart),
      ...someCells(faults.filter(isWanted).filter(isOfPart), Number(values.most), Number(values.phase)).map(faultTrial),
    ],
    (cell) => {
      judged += 1
      if (judged % 50 === 0) console.error(`${judged} cells in ${secondsSince()} s, now ${cell.scene}`)
      if (cell.problems.length > 0) console.log(describeCell(cell))
    },
  )
}

function secondsSince(): number {
  return Math.round((performance.now() - since) / 1000)
}
