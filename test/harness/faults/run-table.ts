import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { allCells } from './choose-cells.ts'
import type { Fault } from './fault-kinds.ts'
import { type Cell, judgeCell } from './judge-cell.ts'
import { type Reference, refer } from './reference.ts'
import type { Scene } from './scenes.ts'
import type { Trial } from './trials.ts'
import { openWardrobe, type Wardrobe } from './worlds.ts'

export type Table = { readonly cells: readonly Cell[]; readonly configured: number }

/** What is tried in a scene, of all the faults that there are in it. */
export type Choose = (faults: readonly Fault[], reference: Reference) => readonly Trial[]

/** Runs the cells of these scenes, two scenes at a time, each in a world of its own. */
export async function runTable(
  scenes: readonly Scene[],
  choose: Choose,
  tell: (cell: Cell) => void = () => {},
): Promise<Table> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'faults-')))
  const waiting = [...scenes]
  const cells: Cell[] = []
  let configured = 0
  try {
    const injector = buildInjector(folder)
    const lane = async (wardrobe: Wardrobe): Promise<void> => {
      for (let scene = waiting.shift(); scene !== undefined; scene = waiting.shift()) {
        const reference = await refer(scene, wardrobe, injector)
        for (const trial of choose(allCells(reference.operations), reference)) {
          configured += 1
          const cell = await judgeCell(reference, trial, wardrobe, injector)
          cells.push(cell)
          tell(cell)
        }
      }
    }
    await Promise.all(['one', 'two'].map((name) => lane(openWardrobe(laneFolder(folder, name)))))
    return { cells, configured }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

function laneFolder(folder: string, name: string): string {
  mkdirSync(join(folder, name))
  return join(folder, name)
}

/** A script of its own, because the programs that it is loaded into know no TypeScript. */
function buildInjector(folder: string): string {
  const outfile = join(folder, 'inject-fault.cjs')
  const entry = fileURLToPath(new URL('inject-fault.ts', import.meta.url))
  buildSync({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'cjs', logLevel: 'warning' })
  return outfile
}
