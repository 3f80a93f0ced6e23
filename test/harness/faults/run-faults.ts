import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { someCells } from './choose-cells.ts'
import type { Fault, FaultKind } from './fault-kinds.ts'
import type { Cell } from './judge-cell.ts'
import { type Choose, runTable } from './run-table.ts'
import { scenes } from './scenes.ts'
import { describeCell, showTable } from './show-table.ts'
import { mounts, surroundings, whyNoMounts } from './surroundings.ts'
import { faultTrial, surroundingTrial } from './trials.ts'

/**
 * `npm run faults`: the table, with what is the same in several scenes once; `-- --repeated` is everything in every
 * scene. `--scene <part of a name>`, `--kind <kind>` and `--at <n>` pick from it, `--most <n>` with `--phase <n>` takes
 * about so many cells of each scene, and `--part 3/10` is the third of ten parts that make up the whole, for as many
 * nights or machines. `--report <file>` keeps each cell as it ends; begun once more, it leaves out what was right.
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
    repeated: { type: 'boolean', default: false },
    report: { type: 'string' },
    show: { type: 'boolean', default: false },
  },
})
const isWanted = ({ kind, at }: { kind: string; at: number | null }): boolean =>
  (values.kind === undefined || values.kind === kind) && (values.at === undefined || Number(values.at) === at)
const faultOf = (kind: string, at: number): Fault => ({ kind: kind as FaultKind, at })
const [part = 1, parts = 1] = values.part.split('/').map(Number)
if (!(part >= 1 && part <= parts)) throw new Error(`--part ${values.part} is no part of a whole, as 3/10 is`)
const isOfPart = (_: unknown, index: number): boolean => index % parts === part - 1

type Report = { readonly ordered: number; readonly cells: readonly Cell[] }
const keyOf = ({ scene, kind, at }: Pick<Cell, 'scene' | 'kind' | 'at'>): string => `${scene}, ${kind}, ${at}`
const reported = (values.show ? reports : [values.report ?? '']).map(readReport)
const known = new Map(reported.flatMap(({ cells }) => cells.map((cell) => [keyOf(cell), cell])))
const isRight = ({ problems }: Cell): boolean => problems.length === 0
const kept = [...known.values()].filter((cell) => values.show || isRight(cell))
for (const cell of kept) if (!isRight(cell)) console.log(describeCell(cell))

const since = performance.now()
let [ordered, judged] = [reported.reduce((sum, report) => sum + report.ordered, 0), 0]
const cells = [...kept, ...(values.show ? [] : await runParts())]
console.log(showTable(cells, ordered))
if (whyNoMounts !== null) console.log(`Nothing could be mounted, so no disk was full or read-only: ${whyNoMounts}`)
const ran = cells.filter(({ hit }) => hit !== null)
console.log(`It took ${secondsSince()} s.`)
const isWhole = process.argv.length === 2
if (isWhole && ran.length < 300) console.log('That is fewer than 300 cells, so this table proves nothing.')
process.exitCode = !ran.every(isRight) || (isWhole && ran.length < 300) ? 1 : 0

/** A line for each cell, and before those of a run one with how many there are to be. */
function readReport(path: string): Report {
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const lines = text.split('\n').slice(0, -1)
  const read = lines.map((line) => JSON.parse(line) as Cell | Pick<Report, 'ordered'>)
  const last = read.findLast((line) => 'ordered' in line)
  return { ordered: last?.ordered ?? 0, cells: read.filter((line) => 'scene' in line) }
}

function keep(line: Cell | Pick<Report, 'ordered'>): void {
  if (values.report !== undefined) appendFileSync(values.report, `${JSON.stringify(line)}\n`)
}

async function runParts(): Promise<readonly Cell[]> {
  ordered = 0
  // Both together name one fault, which need not be one of the table.
  const one = values.kind === undefined || values.at === undefined ? null : faultOf(values.kind, Number(values.at))
  const everywhere = [...surroundings, ...(whyNoMounts === null ? mounts : [])].map(surroundingTrial)
  const choose: Choose = (faults, { scene }) => {
    const wanted = one === null ? faults.filter(isWanted).filter(isOfPart) : [one]
    const trials = [
      ...everywhere.filter(isWanted).filter(isOfPart),
      ...someCells(wanted, Number(values.most), Number(values.phase)).map(faultTrial),
    ]
    ordered += trials.length
    const isNew = (cell: Cell | undefined): boolean => cell === undefined || !isRight(cell)
    return trials.filter(({ kind, at }) => isNew(known.get(keyOf({ scene: scene.name, kind, at }))))
  }
  const tell = (cell: Cell): void => {
    if (judged === 0) keep({ ordered })
    keep(cell)
    judged += 1
    if (judged % 50 === 0) console.error(`${judged} cells in ${secondsSince()} s, now ${cell.scene}`)
    if (!isRight(cell)) console.log(describeCell(cell))
  }
  const wanted = scenes.filter(({ name }) => name.includes(values.scene))
  return runTable(wanted, choose, { tell, isRepeated: values.repeated, rounds: 10 })
}

function secondsSince(): number {
  return Math.round((performance.now() - since) / 1000)
}
