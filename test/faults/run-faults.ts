import { someCells } from './choose-cells.ts'
import { runTable } from './run-table.ts'
import { scenes } from './scenes.ts'
import { describeCell, showTable } from './show-table.ts'

/** `npm run faults [-- --scene <part of a name>] [--most <cells a scene>] [--phase <n>] [--at <n>] [--kind <kind>]` */
const flagValue = (flag: string): string | undefined => {
  const at = process.argv.indexOf(flag)
  return at === -1 ? undefined : process.argv[at + 1]
}
const [part = '', most, phase, at, kind] = ['--scene', '--most', '--phase', '--at', '--kind'].map(flagValue)
const since = performance.now()
const table = await runTable(
  scenes.filter(({ name }) => name.includes(part)),
  (cells) =>
    someCells(
      cells.filter(
        (cell) => (at === undefined || cell.at === Number(at)) && (kind === undefined || cell.kind === kind),
      ),
      Number(most ?? Number.POSITIVE_INFINITY),
      Number(phase ?? 0),
    ),
  (cell) => {
    if (cell.problems.length > 0) console.log(describeCell(cell))
  },
)
console.log(showTable(table))
const ran = table.cells.filter(({ hit }) => hit !== null)
const open = ran.filter(({ problems }) => problems.length > 0)
console.log(`in ${Math.round((performance.now() - since) / 1000)} s`)
process.exitCode = open.length === 0 ? 0 : 1
