import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { allCells, cellsOnce } from './choose-cells.ts'
import type { Fault } from './fault-kinds.ts'
import { type Cell, judgeCell } from './judge-cell.ts'
import { type Reference, refer } from './reference.ts'
import type { Scene } from './scenes.ts'
import type { Trial } from './trials.ts'
import { openWardrobe, type Wardrobe } from './worlds.ts'

/** What is tried in a scene, of all the faults that there are in it. */
export type Choose = (faults: readonly Fault[], reference: Reference) => readonly Trial[]

type Options = {
  readonly tell?: (cell: Cell) => void
  /** Everything in every scene, instead of once what is the same in several. */
  readonly isRepeated?: boolean
  /** How often it goes through the scenes, each time with a part of the cells of each. */
  readonly rounds?: number
}

/** Runs the cells of these scenes, two scenes at a time, each in a world of its own. */
export async function runTable(
  scenes: readonly Scene[],
  choose: Choose,
  { tell = () => {}, isRepeated = false, rounds = 1 }: Options = {},
): Promise<readonly Cell[]> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'faults-')))
  const cells: Cell[] = []
  try {
    const injector = buildInjector(folder)
    const lanes = ['one', 'two'].map((name, index) => ({
      wardrobe: openWardrobe(laneFolder(folder, name)),
      scenes: scenes.filter((_, place) => place % 2 === index),
    }))
    const references = await Promise.all(
      lanes.map(async ({ wardrobe, scenes }) => {
        const found: Reference[] = []
        for (const scene of scenes) found.push(await refer(scene, wardrobe, injector))
        return found
      }),
    )
    const once = cellsOnce(references.flat())
    const trialsOf = (reference: Reference): readonly Trial[] =>
      choose((isRepeated ? null : once.get(reference)) ?? allCells(reference.operations), reference)
    const chosen = references.map((found) => found.map((reference) => ({ reference, trials: trialsOf(reference) })))
    const runLane = async ({ wardrobe }: { wardrobe: Wardrobe }, lane: number): Promise<void> => {
      for (let round = 0; round < rounds; round++)
        for (const { reference, trials } of chosen[lane] ?? [])
          for (const trial of trials.filter((_, index) => index % rounds === round)) {
            const cell = await judgeCell(reference, trial, wardrobe, injector)
            cells.push(cell)
            tell(cell)
          }
    }
    await Promise.all(lanes.map(runLane))
    return cells
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
